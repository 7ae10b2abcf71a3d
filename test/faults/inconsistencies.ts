import { DOWN_REASONS } from '../../src/model/failure.ts';
import type { StationSamples } from './station-samples.ts';

const REASONS = DOWN_REASONS.length;

/** Contradictions between the samples of a station; there must be none, whatever the service does. */
export function inconsistencies(samples: StationSamples): string[] {
  return [...healthInconsistencies(samples), ...dataInconsistencies(samples)];
}

function healthInconsistencies({
  up,
  reasons,
  failingReasons: holding,
  lastAttempt,
  lastSuccess,
}: StationSamples): string[] {
  const found: string[] = [];
  if (up !== 0 && up !== 1) found.push(`up is ${up}`);
  if (reasons !== REASONS) found.push(`there are ${reasons} reasons`);
  if (up === 1 && holding.length > 0) found.push(`up, but failing with ${holding}`);
  if (up === 0 && holding.length > 1) found.push(`failing with ${holding} at once`);
  if (up === 0 && holding.length === 0) found.push('failing without a reason');
  if (up === 1 && lastSuccess !== lastAttempt)
    found.push(`up, but the last success (${lastSuccess}) was not the last attempt`);
  if (lastSuccess !== undefined && lastSuccess > (lastAttempt ?? 0)) found.push('a success after the last attempt');
  return found;
}

function dataInconsistencies({
  resources,
  infos,
  complete,
  reported,
  rejected,
  lastSuccess,
}: StationSamples): string[] {
  if (complete === undefined) {
    return resources + infos > 0 || reported !== undefined || rejected !== undefined
      ? ['data without listing_complete']
      : [];
  }
  const found: string[] = [];
  if (lastSuccess === undefined) found.push('data without a success');
  if (resources !== infos) found.push(`${resources} resources in total, but ${infos} info series`);
  if (complete === 1 && reported !== undefined && infos !== reported)
    found.push(`complete with ${infos} resources of ${reported}`);
  if (complete === 1 && rejected !== 0) found.push(`complete with ${rejected} rejected records`);
  return found;
}
