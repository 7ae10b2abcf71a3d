import type { LabelOf, MetricName } from '../../../prometheus/promql/metric.ts';
import { FAILURE_REASONS, type FailureReason } from '../../../src/model/failure.ts';

/** When the panels are looked at; the data of the worlds ends here. */
export const NOW_S = Date.UTC(2026, 0, 15, 13, 0, 0) / 1000;
export const HISTORY_S = 6 * 3600;

export type Labels<Name extends MetricName> = { readonly [Label in LabelOf<Name>]?: string };

/** Metric names and labels that do not exist fail to compile. */
export function series<Name extends MetricName>(name: Name, labels: Labels<Name>, suffix = ''): string {
  const pairs = Object.entries<unknown>(labels).map(([label, value]) => `${label}="${value}"`);
  return `${name}${suffix}{${pairs.join(',')}}`;
}

/** A value at a time of the history, in seconds before now. */
export type Value = number | ((ago: number) => number | undefined);

export interface Recorder {
  add<Name extends MetricName>(name: Name, labels: Labels<Name>, value: Value, suffix?: string): void;
}

type MetricWith<Label> = { [Name in MetricName]: [Label] extends [LabelOf<Name>] ? Name : never }[MetricName];

/** A series of each metric, all with the same labels. */
function addAll<Label extends string = never>(
  { add }: Recorder,
  labels: Readonly<Record<Label, string>>,
  values: Partial<Record<MetricWith<Label>, Value>>,
): void {
  for (const [name, value] of Object.entries(values)) add(name as MetricName, labels, value as Value);
}

interface StationWorld {
  readonly name: string;
  readonly types?: number;
  readonly products?: number;
  readonly firing?: number;
  readonly withoutRules?: number;
  /** Resources whose number of alert rules is unknown, beside those of `silentTypes`. */
  readonly unknownCoverage?: number;
  /** How many of the types have no number of alert rules for any resource: the last ones. */
  readonly silentTypes?: number;
  readonly total?: number;
  readonly failing?: FailureReason;
  readonly ageS?: number;
  readonly complete?: 0 | 1;
  readonly pending?: number;
  readonly rejected?: number;
  /** Resources in a state of unknown meaning. */
  readonly escalated?: number;
  /** Whether the station knows which resources can have alerts; by default yes. */
  readonly alertability?: boolean;
  /** Beginning of the keys of its types; by default `t`. */
  readonly type?: string;
  /** Value of the label `team` of its resources; by default there is no such label. */
  readonly team?: string;
}

/** The series of a station that was never refreshed. */
export function recordHealth(recorder: Recorder, station: string, failing?: FailureReason): void {
  recorder.add('telemetry_station_info', { station, upstream: 'main', zone: 'z1' }, 1);
  for (const reason of FAILURE_REASONS)
    recorder.add('telemetry_station_failure', { station, reason }, reason === failing ? 1 : 0);
  addAll(
    recorder,
    { station },
    {
      telemetry_station_up: failing === undefined ? 1 : 0,
      telemetry_station_last_attempt_timestamp_seconds: (ago) => NOW_S - ago,
    },
  );
}

/** Records until the target went down. */
export function until(downSinceS: number, { add }: Recorder): Recorder {
  return {
    add: (name, labels, value, suffix) =>
      add(
        name,
        labels,
        (ago) => (ago < downSinceS ? undefined : typeof value === 'number' ? value : value(ago)),
        suffix,
      ),
  };
}

/** Records from the time on when a station was first published. */
export function since(sinceS: number, { add }: Recorder): Recorder {
  return {
    add: (name, labels, value, suffix) =>
      add(name, labels, (ago) => (ago > sinceS ? undefined : typeof value === 'number' ? value : value(ago)), suffix),
  };
}

const counted = (ago: number) => HISTORY_S - ago;

export function recordStation(recorder: Recorder, world: StationWorld): void {
  const { name: station, types = 3, products = 1, firing = 0, withoutRules = 0, total = 600, ageS = 20 } = world;
  const { pending = 0, escalated = 0, complete = 1, rejected = 0, alertability = true, type: key = 't', team } = world;
  const { unknownCoverage = 0, silentTypes = 0 } = world;
  const groups = types * products;
  recordHealth(recorder, station, world.failing);
  addAll(
    recorder,
    { station },
    {
      // The success may be later than the timestamp of the scrape.
      telemetry_station_last_success_timestamp_seconds: (ago) => (ageS === 20 ? NOW_S - ago + 1 : NOW_S - ageS),
      telemetry_station_refresh_duration_seconds: 3,
      telemetry_station_listing_complete: rejected > 0 ? 0 : complete,
      telemetry_station_listing_reported_resources: total,
      telemetry_station_listing_pages: Math.ceil(total / 100),
      telemetry_station_listing_duplicate_resources: 0,
      telemetry_station_listing_rejected_resources: rejected,
      telemetry_station_exporter_series: total * 5,
      telemetry_station_exporter_series_withheld: 0,
    },
  );
  const reasons = { rejected_records: rejected > 0 ? 1 : 0, total_mismatch: 1 - complete };
  for (const [reason, holds] of Object.entries(reasons))
    recorder.add('telemetry_station_listing_incomplete', { station, reason }, holds);
  recorder.add('telemetry_station_listing_invalid_fields', { station, field: 'sku' }, 0);
  for (let group = 0; group < groups; group++) {
    const resource_type = `resource_type.${key}${group % types}`;
    const product = `product.p${Math.floor(group / types)}`;
    const labels = { station, resource_type, product };
    const of: typeof labels = { ...labels, ...(team !== undefined && { team }) };
    const inactive = total - firing - pending - escalated;
    for (const [state, alert_state, count] of [
      ['ALERTSTATE_INACTIVE', 'inactive', inactive],
      ['ALERTSTATE_PENDING', 'pending', pending],
      ['ALERTSTATE_FIRING', 'firing', firing],
      ['ALERTSTATE_ESCALATED', 'unknown', escalated],
    ] as const)
      if (count > 0) recorder.add('telemetry_station_resources', { ...of, state, alert_state }, count / groups);
    const isSilent = group % types >= types - silentTypes;
    addAll(recorder, of, {
      ...(!isSilent && {
        telemetry_station_alert_rules: total / groups,
        telemetry_station_resources_with_alert_rules: (total - withoutRules - unknownCoverage) / groups,
        telemetry_station_resources_without_alert_rules: withoutRules / groups,
      }),
      telemetry_station_resources_with_unknown_alert_coverage: (isSilent ? total : unknownCoverage) / groups,
      ...(alertability && { telemetry_station_alertable_resources: total / groups }),
    });
    for (const gpu_model of ['', 'H800'])
      recorder.add('telemetry_station_sku_quantity', { ...of, gpu_model, unit: gpu_model ? 'GPU' : 'GiB' }, 64);
  }
  for (let type = 0; type < types; type++) {
    const of = { station, resource_type: `resource_type.${key}${type}` };
    // The first type has no label.
    const resource_type_label = type === 0 ? '' : `Type ${type}`;
    recorder.add('telemetry_station_resource_type_info', { ...of, resource_type_label }, 1);
    addAll(recorder, of, {
      telemetry_station_resources_added_total: counted,
      telemetry_station_resources_removed_total: 0,
    });
    const firings = { ...of, state: 'ALERTSTATE_FIRING', alert_state: 'firing' };
    recorder.add('telemetry_station_resource_state_changes_total', firings, counted);
  }
}

interface ExporterWorld {
  readonly ordinal?: number;
  readonly totalShards?: number;
  readonly reloaded?: 0 | 1;
  readonly scrapeSeconds?: number;
  readonly rateLimit?: number;
  readonly waiting?: number;
  readonly downSinceS?: number;
  /** Duration of the failed scrapes; by default they time out. */
  readonly failedScrapeSeconds?: number;
}

export function recordExporter(recorder: Recorder, world: ExporterWorld = {}): void {
  const { rateLimit, waiting = 0, downSinceS = 0, scrapeSeconds = 0.2, failedScrapeSeconds = 10 } = world;
  const isDown = (ago: number) => ago < downSinceS;
  const upstream = 'main';
  addAll(
    recorder,
    {},
    {
      up: (ago) => (isDown(ago) ? 0 : 1),
      scrape_duration_seconds: (ago) => (isDown(ago) ? failedScrapeSeconds : scrapeSeconds),
    },
  );
  const exposed = until(downSinceS, recorder);
  exposed.add('telemetry_station_exporter_build_info', { version: '1.0.0', node_version: 'v24' }, 1);
  addAll(
    exposed,
    {},
    {
      telemetry_station_exporter_config_last_reload_successful: world.reloaded ?? 1,
      telemetry_station_exporter_config_last_reload_success_timestamp_seconds: NOW_S - 3600,
      telemetry_station_exporter_shard_ordinal: world.ordinal ?? 0,
      telemetry_station_exporter_total_shards: world.totalShards ?? 1,
      process_start_time_seconds: NOW_S - 7200,
      process_resident_memory_bytes: 2e8,
      process_cpu_seconds_total: counted,
      nodejs_eventloop_lag_p99_seconds: 0.01,
    },
  );
  addAll(
    exposed,
    { upstream },
    {
      telemetry_station_exporter_api_requests_total: counted,
      telemetry_station_exporter_api_request_retries_total: counted,
      telemetry_station_exporter_api_requests_in_flight: 1,
      telemetry_station_exporter_api_requests_waiting: waiting,
      telemetry_station_exporter_api_requests_throttled_total: rateLimit === undefined ? 0 : counted,
      telemetry_station_exporter_api_rate_limit: rateLimit ?? Number.POSITIVE_INFINITY,
      telemetry_station_exporter_refreshes_waiting: waiting,
      telemetry_station_exporter_oldest_waiting_refresh_seconds: waiting,
      telemetry_station_exporter_hanging_stations: 0,
    },
  );
  for (const reason of FAILURE_REASONS) {
    const failed = rateLimit !== undefined && reason === 'rate_limited';
    exposed.add('telemetry_station_exporter_api_request_failures_total', { upstream, reason }, failed ? counted : 0);
  }
  for (const le of ['0.5', '1', '+Inf']) {
    const labels = { upstream, le } as { upstream: string };
    exposed.add('telemetry_station_exporter_api_request_duration_seconds', labels, counted, '_bucket');
  }
}
