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

interface StationWorld {
  readonly name: string;
  readonly types: number;
  readonly products: number;
  readonly firing: number;
  readonly withoutRules: number;
  readonly total?: number;
  readonly failing?: FailureReason;
  readonly ageS?: number;
  readonly complete?: 0 | 1;
  readonly pending?: number;
  readonly rejected?: number;
  /** Whether the station knows which resources can have alerts; by default yes. */
  readonly alertability?: boolean;
  /** Beginning of the keys of its types; by default `t`. */
  readonly type?: string;
  /** Value of the label `team` of its resources; by default there is no such label. */
  readonly team?: string;
}

/** A station that was never refreshed. */
export function recordUnknownStation({ add }: Recorder, station: string, failing: FailureReason): void {
  add('telemetry_station_info', { station, upstream: 'main', zone: 'z1' }, 1);
  add('telemetry_station_up', { station }, 0);
  add('telemetry_station_last_attempt_timestamp_seconds', { station }, (ago) => NOW_S - ago);
  for (const reason of FAILURE_REASONS)
    add('telemetry_station_failure', { station, reason }, reason === failing ? 1 : 0);
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

export function recordStation({ add }: Recorder, world: StationWorld): void {
  const { name: station, types, products, firing, withoutRules, total = 600, failing, ageS = 20, complete = 1 } = world;
  const { pending = 0, rejected = 0, alertability = true, type: key = 't', team } = world;
  const groups = types * products;
  const owner = team === undefined ? {} : { team };
  add('telemetry_station_info', { station, upstream: 'main', zone: 'z1' }, 1);
  add('telemetry_station_up', { station }, failing === undefined ? 1 : 0);
  for (const reason of FAILURE_REASONS)
    add('telemetry_station_failure', { station, reason }, reason === failing ? 1 : 0);
  // The success may be later than the timestamp of the scrape.
  add('telemetry_station_last_success_timestamp_seconds', { station }, (ago) =>
    ageS === 20 ? NOW_S - ago + 1 : NOW_S - ageS,
  );
  add('telemetry_station_last_attempt_timestamp_seconds', { station }, (ago) => NOW_S - ago);
  add('telemetry_station_refresh_duration_seconds', { station }, 3);
  add('telemetry_station_listing_complete', { station }, complete);
  add('telemetry_station_listing_reported_resources', { station }, total);
  add('telemetry_station_listing_pages', { station }, Math.ceil(total / 100));
  add('telemetry_station_listing_duplicate_resources', { station }, 0);
  add('telemetry_station_listing_rejected_resources', { station }, rejected);
  add('telemetry_station_listing_invalid_fields', { station, field: 'sku' }, 0);
  add('telemetry_station_exporter_series', { station }, total * 5);
  add('telemetry_station_exporter_series_withheld', { station }, 0);
  for (let group = 0; group < groups; group++) {
    const resource_type = `resource_type.${key}${group % types}`;
    const product = `product.p${Math.floor(group / types)}`;
    const of = { station, resource_type, product, ...owner };
    const states = { INACTIVE: total - firing - pending, PENDING: pending, FIRING: firing };
    for (const [state, count] of Object.entries(states))
      if (count > 0) add('telemetry_station_resources', { ...of, state: `ALERTSTATE_${state}` }, count / groups);
    add('telemetry_station_alert_rules', of, total / groups);
    if (alertability) add('telemetry_station_alertable_resources', of, total / groups);
    add('telemetry_station_resources_without_alert_rules', of, withoutRules / groups);
    for (const gpu_model of ['', 'H800'])
      add('telemetry_station_sku_quantity', { ...of, gpu_model, unit: gpu_model ? 'GPU' : 'GiB' }, 64);
  }
  for (let type = 0; type < types; type++) {
    const resource_type = `resource_type.${key}${type}`;
    // The first type has no label.
    add(
      'telemetry_station_resource_type_info',
      { station, resource_type, resource_type_label: type === 0 ? '' : `Type ${type}` },
      1,
    );
    add('telemetry_station_resources_added_total', { station, resource_type }, (ago) => HISTORY_S - ago);
    add('telemetry_station_resources_removed_total', { station, resource_type }, 0);
    add(
      'telemetry_station_resource_state_changes_total',
      { station, resource_type, state: 'ALERTSTATE_FIRING' },
      (ago) => HISTORY_S - ago,
    );
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

export function recordExporter({ add }: Recorder, world: ExporterWorld): void {
  const {
    ordinal = 0,
    totalShards = 1,
    reloaded = 1,
    scrapeSeconds = 0.2,
    rateLimit,
    waiting = 0,
    downSinceS = 0,
    failedScrapeSeconds = 10,
  } = world;
  const isDown = (ago: number) => downSinceS > 0 && ago < downSinceS;
  const exposed = (value: Value) => (ago: number) =>
    isDown(ago) ? undefined : typeof value === 'number' ? value : value(ago);
  add('up', {}, (ago) => (isDown(ago) ? 0 : 1));
  add('scrape_duration_seconds', {}, (ago) => (isDown(ago) ? failedScrapeSeconds : scrapeSeconds));
  const counted = exposed((ago) => HISTORY_S - ago);
  const upstream = 'main';
  add('telemetry_station_exporter_build_info', { version: '1.0.0', node_version: 'v24' }, exposed(1));
  add('telemetry_station_exporter_config_last_reload_successful', {}, exposed(reloaded));
  add('telemetry_station_exporter_config_last_reload_success_timestamp_seconds', {}, exposed(NOW_S - 3600));
  add('telemetry_station_exporter_shard_ordinal', {}, exposed(ordinal));
  add('telemetry_station_exporter_total_shards', {}, exposed(totalShards));
  add('telemetry_station_exporter_cache_hits_total', {}, counted);
  add('telemetry_station_exporter_cache_misses_total', {}, counted);
  add('telemetry_station_exporter_api_requests_total', { upstream }, counted);
  for (const reason of FAILURE_REASONS) {
    const failed = rateLimit !== undefined && reason === 'rate_limited';
    add('telemetry_station_exporter_api_request_failures_total', { upstream, reason }, failed ? counted : exposed(0));
  }
  add('telemetry_station_exporter_api_request_retries_total', { upstream }, counted);
  for (const le of ['0.5', '1', '+Inf']) {
    const labels = { upstream, le };
    add('telemetry_station_exporter_api_request_duration_seconds', labels as { upstream: string }, counted, '_bucket');
  }
  add('telemetry_station_exporter_api_requests_in_flight', { upstream }, exposed(1));
  add('telemetry_station_exporter_api_requests_waiting', { upstream }, exposed(waiting));
  add('telemetry_station_exporter_api_request_wait_seconds_total', { upstream }, counted);
  add(
    'telemetry_station_exporter_api_requests_throttled_total',
    { upstream },
    rateLimit === undefined ? exposed(0) : counted,
  );
  add('telemetry_station_exporter_api_rate_limit', { upstream }, exposed(rateLimit ?? Number.POSITIVE_INFINITY));
  add('telemetry_station_exporter_page_size_reductions_total', { upstream }, exposed(0));
  add('telemetry_station_exporter_refreshes_waiting', { upstream }, exposed(waiting));
  add('telemetry_station_exporter_oldest_waiting_refresh_seconds', { upstream }, exposed(waiting));
  add('telemetry_station_exporter_hanging_stations', { upstream }, exposed(0));
  add('process_start_time_seconds', {}, exposed(NOW_S - 7200));
  add('process_resident_memory_bytes', {}, exposed(2e8));
  add('process_cpu_seconds_total', {}, counted);
  add('nodejs_eventloop_lag_p99_seconds', {}, exposed(0.01));
}
