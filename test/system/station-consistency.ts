import { DOWN_REASONS } from '../../src/model/failure.ts';
import { dataOf, healthOf, type StationMetrics } from '../e2e/station-metrics.ts';
import type { ParsedFamily } from '../exposition/parse-exposition.ts';

/** The samples of one station that have to be consistent. */
export type StationSamples = ReturnType<typeof samplesOf>;

export function samplesOf(families: Map<string, ParsedFamily>, station: string) {
  const [health, data] = [healthOf(families, station), dataOf(families, station)];
  const sample = (metrics: StationMetrics, family: string) => metrics[family]?.['{}'];
  const reasons = Object.entries(health['failure'] ?? {});
  return {
    up: sample(health, 'up'),
    reasons: reasons.length,
    failingReasons: reasons.filter(([, value]) => value === 1).map(([reason]) => reason),
    lastAttempt: sample(health, 'last_attempt_timestamp_seconds'),
    lastSuccess: sample(health, 'last_success_timestamp_seconds'),
    resources: Object.values(data['resources'] ?? {}).reduce((sum, count) => sum + count, 0),
    infos: Object.keys(data['resource_info'] ?? {}).length,
    complete: sample(data, 'listing_complete'),
    reported: sample(data, 'listing_reported_resources'),
    rejected: sample(data, 'listing_rejected_resources'),
  };
}

/** Contradictions between the samples of a station; there must be none, whatever the service does. */
export function inconsistencies(samples: StationSamples): string[] {
  return [...healthInconsistencies(samples), ...dataInconsistencies(samples)];
}

function healthInconsistencies({ up, reasons, failingReasons, lastAttempt, lastSuccess }: StationSamples): string[] {
  const found: string[] = [];
  if (up !== 0 && up !== 1) found.push(`up is ${up}`);
  if (reasons !== DOWN_REASONS.length) found.push(`there are ${reasons} reasons`);
  if (up === 1 && failingReasons.length > 0) found.push(`up, but failing with ${failingReasons}`);
  if (up === 0 && failingReasons.length !== 1) found.push(`down with ${failingReasons.length} reasons`);
  if (up === 1 && lastSuccess !== lastAttempt)
    found.push(`up, but the last success (${lastSuccess}) was not the last attempt`);
  if (lastSuccess !== undefined && lastSuccess > (lastAttempt ?? 0)) found.push('a success after the last attempt');
  return found;
}

function dataInconsistencies(samples: StationSamples): string[] {
  const { resources, infos, complete, reported, rejected, lastSuccess } = samples;
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
