import type { ParsedFamily } from '../exposition/parse-exposition.ts';

/** Families by name without the prefix; samples by their labels as JSON, without `station` and `upstream`. */
export type StationMetrics = Record<string, Record<string, number>>;

const PREFIX = 'telemetry_station_';
const OWN_PREFIX = 'telemetry_station_exporter_';

/** The families that are published without a snapshot. */
const HEALTH_FAMILIES = [
  'info',
  'up',
  'failure',
  'failure_info',
  'data_timestamp_seconds',
  'last_success_timestamp_seconds',
  'last_attempt_timestamp_seconds',
  'refresh_duration_seconds',
];

/** The families of the station's snapshot. */
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

const REASONS = 'not_tried timeout network tls auth forbidden not_found rate_limited status body internal'.split(' ');

/** The samples of a station that fails with this reason; undefined: of a station that is up. */
export function expectedState(failing: string | undefined): ReturnType<typeof stateOf> {
  const failure = REASONS.map((reason) => [JSON.stringify({ reason }), reason === failing ? 1 : 0]);
  return { up: failing === undefined ? 1 : 0, failure: Object.fromEntries(failure) };
}

/** Without the counters, which depend on previous snapshots. */
export function withoutCounters(data: StationMetrics): StationMetrics {
  return Object.fromEntries(Object.entries(data).filter(([family]) => !family.endsWith('_total')));
}

function publishedOf(
  families: Map<string, ParsedFamily>,
  station: string,
  select: (family: string) => boolean,
): StationMetrics {
  const published: StationMetrics = {};
  for (const [name, { samples }] of families) {
    const family = name.slice(PREFIX.length);
    const here = samples.filter(({ labels }) => labels['station'] === station);
    if (name.startsWith(OWN_PREFIX) || !select(family) || here.length === 0) continue;
    published[family] = Object.fromEntries(
      here.map(({ labels: { station: _station, upstream: _upstream, ...rest }, value }) => [
        JSON.stringify(rest),
        value,
      ]),
    );
  }
  return published;
}
