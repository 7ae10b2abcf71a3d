import type { StationSamples } from './station-samples.ts';

const REASONS = 10;

/** Where what is published of a station contradicts itself; none, however the service behaves. */
export function inconsistencies(tally: StationSamples): string[] {
  return [...healthInconsistencies(tally), ...dataInconsistencies(tally)];
}

function healthInconsistencies({ up, reasons, failingReasons: holding, lastAttempt, lastSuccess }: StationSamples): string[] {
  const found: string[] = [];
  if (up !== 0 && up !== 1) found.push(`up is ${up}`);
  if (reasons !== REASONS) found.push(`there are ${reasons} reasons`);
  if (up === 1 && holding.length > 0) found.push(`up, and failing by ${holding}`);
  if (up === 0 && holding.length > 1) found.push(`failing by ${holding} at once`);
  if (up === 0 && lastAttempt !== undefined && holding.length === 0) found.push('failing for no reason');
  if (up === 1 && lastSuccess !== lastAttempt) found.push(`up, though the last success (${lastSuccess}) was not the last attempt`);
  if (lastSuccess !== undefined && lastSuccess > (lastAttempt ?? 0)) found.push('a success after the last attempt');
  return found;
}

function dataInconsistencies({ resources, infos, complete, reported, rejected, lastSuccess }: StationSamples): string[] {
  if (complete === undefined) {
    return resources + infos > 0 || reported !== undefined || rejected !== undefined ? ['data without a word on whether it is whole'] : [];
  }
  const found: string[] = [];
  if (lastSuccess === undefined) found.push('data without a success');
  if (resources !== infos) found.push(`${resources} resources in sum, ${infos} one by one`);
  if (complete === 1 && reported !== undefined && infos + (rejected ?? 0) !== reported) {
    found.push(`called whole with ${infos} resources and ${rejected} rejected of ${reported}`);
  }
  return found;
}
