import type { ParsedFamily } from '../metrics/parse-exposition.ts';

/** Families by their names without the prefix; samples by their labels, in order, without the station. */
export type StationMetrics = Record<string, Record<string, number>>;

const PREFIX = 'telemetry_station_';
const OWN_PREFIX = 'telemetry_station_exporter_';

/** What stays when a station's data has gone. */
export const HEALTH_FAMILIES = [
  'info',
  'up',
  'failure',
  'last_success_timestamp_seconds',
  'last_attempt_timestamp_seconds',
  'refresh_duration_seconds',
];

/** Everything that comes from the station's snapshot. */
export function dataOf(families: Map<string, ParsedFamily>, station = 'ts'): StationMetrics {
  return publishedOf(families, station, (family) => !HEALTH_FAMILIES.includes(family));
}

export function healthOf(families: Map<string, ParsedFamily>, station = 'ts'): StationMetrics {
  return publishedOf(families, station, (family) => HEALTH_FAMILIES.includes(family));
}

/** Whether the latest refresh succeeded, and the value of every reason. */
export function stateOf(families: Map<string, ParsedFamily>, station = 'ts') {
  const { up, failure } = healthOf(families, station);
  return { up: up?.['{}'], failure };
}

const REASONS = 'timeout network tls auth forbidden not_found rate_limited status body internal'.split(' ');

/** The state of a station that fails for this reason, or of one that does not fail. */
export function expectedState(reason: string | undefined): ReturnType<typeof stateOf> {
  return { up: reason === undefined ? 1 : 0, failure: reasonCounts(reason === undefined ? {} : { [reason]: 1 }) };
}

/** A value for every reason: the given one, or 0. */
export function reasonCounts(counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(REASONS.map((reason) => [JSON.stringify({ reason }), counts[reason] ?? 0]));
}

/** One of the exporter's own families, by the values of its labels without the upstream. */
export function ownOf(families: Map<string, ParsedFamily>, family: string, upstream = 'main'): Record<string, number> {
  const samples = families.get(`${OWN_PREFIX}${family}`)?.samples ?? [];
  const here = samples.filter(({ labels }) => labels['upstream'] === undefined || labels['upstream'] === upstream);
  return Object.fromEntries(here.map(({ labels: { upstream: _, ...rest }, value }) => [JSON.stringify(rest), value]));
}

/** Without the counts of changes, which remember all snapshots before. */
export function withoutCounters(data: StationMetrics): StationMetrics {
  return Object.fromEntries(Object.entries(data).filter(([family]) => !family.endsWith('_total')));
}

function publishedOf(families: Map<string, ParsedFamily>, station: string, wanted: (family: string) => boolean): StationMetrics {
  const published: StationMetrics = {};
  for (const [name, { samples }] of families) {
    const family = name.slice(PREFIX.length);
    const here = samples.filter(({ labels }) => labels['station'] === station);
    if (name.startsWith(OWN_PREFIX) || !wanted(family) || here.length === 0) continue;
    published[family] = Object.fromEntries(here.map(({ labels: { station: _, ...rest }, value }) => [JSON.stringify(rest), value]));
  }
  return published;
}
