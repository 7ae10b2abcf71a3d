import { described, type FamilyDescription, type LabelsOf, type Row } from './family.ts';

/** Limits of the web server: the values of the label `limit`. */
export const WEB_LIMITS = [
  'max_connections',
  'pipelined_requests',
  'max_requests',
  'pages',
  'reloads',
  'password_checks',
  'rate_limit',
] as const;

export type WebLimit = (typeof WEB_LIMITS)[number];

/** The families of the requests to an upstream, in exposition order. */
export const UPSTREAM_FAMILIES = ownFamilies(['upstream'], {
  api_requests_total: {
    help: 'Requests sent to the service, including retries.',
    exampleTitle: 'Requests per second by upstream',
    example: 'sum by (upstream) (rate(telemetry_station_exporter_api_requests_total[5m]))',
  },
  api_request_failures_total: {
    help: 'Failed requests to the service.',
    labels: ['reason'],
    exampleTitle: 'Failed requests per second by upstream and reason',
    example: 'sum by (upstream, reason) (rate(telemetry_station_exporter_api_request_failures_total[5m])) > 0',
  },
  api_request_retries_total: {
    help: 'Retries of failed requests.',
    exampleTitle: 'Share of requests that are retries',
    example:
      'sum by (upstream) (rate(telemetry_station_exporter_api_request_retries_total[5m])) / sum by (upstream) (rate(telemetry_station_exporter_api_requests_total[5m]))',
  },
  api_requests_in_flight: {
    help: 'Requests in flight.',
    exampleTitle: 'Peak of requests in flight, to compare with concurrency',
    example: 'max_over_time(telemetry_station_exporter_api_requests_in_flight[10m])',
  },
  api_requests_waiting: {
    help: 'Requests queued by concurrency and requests_per_second.',
    exampleTitle: 'Peak of queued requests',
    example: 'max_over_time(telemetry_station_exporter_api_requests_waiting[10m])',
  },
  api_requests_throttled_total: {
    help: 'Requests throttled: answered with 429, or with 503 while others were accepted.',
    exampleTitle: 'Upstreams that throttle requests',
    example: 'sum by (upstream) (increase(telemetry_station_exporter_api_requests_throttled_total[1h])) > 0',
  },
  api_rate_limit: {
    isExperimental: true,
    help: 'Current request rate limit in requests per second, +Inf if unlimited.',
    exampleTitle: 'Upstreams with a rate limit in force',
    example: 'telemetry_station_exporter_api_rate_limit < +Inf',
  },
  oldest_waiting_refresh_seconds: {
    help: 'Longest time that a refresh has waited for its first request, in seconds.',
    exampleTitle: 'Upstreams whose stations wait longer than a minute',
    example: 'telemetry_station_exporter_oldest_waiting_refresh_seconds > 60',
  },
  hanging_stations: {
    isExperimental: true,
    help: 'Stations without a reply to their latest request; they are limited to one request at a time.',
    exampleTitle: 'Upstreams with hanging stations',
    example: 'telemetry_station_exporter_hanging_stations > 0',
  },
  api_request_duration_seconds: {
    help: 'Duration of requests to the service in seconds, including the response body.',
    type: 'histogram',
    exampleTitle: '95th percentile of the request duration in seconds',
    example:
      'histogram_quantile(0.95, sum by (upstream, le) (rate(telemetry_station_exporter_api_request_duration_seconds_bucket[5m])))',
  },
});

/** The families of the process, in exposition order. */
export const EXPORTER_FAMILIES = ownFamilies([], {
  records: {
    help: 'Records held for all stations.',
    exampleTitle: 'Share of the record limit in use',
    example:
      'telemetry_station_exporter_records / on (job, instance) telemetry_station_exporter_records_limit{limit="records"}',
  },
  records_limit: {
    help: 'Maximum number of records of one station (records_per_station) and of all (records).',
    labels: ['limit'],
    exampleTitle: 'Stations whose resources alone are more than 80 % of their limit',
    example:
      'sum by (job, instance, station) (telemetry_station_resources) > on (job, instance) group_left () 0.8 * telemetry_station_exporter_records_limit{limit="records_per_station"}',
  },
  config_last_reload_successful: {
    help: 'Whether the last reload of the configuration (main) or the web configuration (web) was successful.',
    labels: ['config'],
    exampleTitle: 'Exporters that rejected their latest configuration',
    example: 'telemetry_station_exporter_config_last_reload_successful == 0',
  },
  config_last_reload_success_timestamp_seconds: {
    help: 'Timestamp of the last successful reload of the configuration (main) or the web configuration (web).',
    labels: ['config'],
    exampleTitle: 'Age of the configuration in seconds',
    example: 'time() - telemetry_station_exporter_config_last_reload_success_timestamp_seconds{config="main"}',
  },
  scrape_bytes: {
    isExperimental: true,
    help: 'Size of the last complete scrape of all stations, as text (identity) and compressed (gzip).',
    labels: ['encoding'],
    exampleTitle: 'Exporters whose scrape is larger than the default limit of vmagent and VictoriaMetrics',
    example: 'telemetry_station_exporter_scrape_bytes{encoding="identity"} > 16 * 1024 * 1024',
  },
  web_limits_reached_total: {
    help: 'Requests and connections that reached a limit of the web server.',
    labels: ['limit'],
    exampleTitle: 'Limits of the web server that were reached in the last hour',
    example: 'sum by (limit) (increase(telemetry_station_exporter_web_limits_reached_total[1h])) > 0',
  },
  time_seconds: {
    help: 'Time of the exporter, which the ages of its timestamps count from.',
    exampleTitle: 'Clocks that differ from that of Prometheus by more than a minute',
    example: 'abs(time() - telemetry_station_exporter_time_seconds) > 60',
  },
  build_info: {
    help: 'Build information of the exporter.',
    labels: ['version', 'revision', 'node_version'],
    exampleTitle: 'Exporters by version',
    example: 'count by (version) (telemetry_station_exporter_build_info)',
  },
  shard_ordinal: {
    help: 'Shard ordinal of this exporter.',
    exampleTitle: 'Targets by shard',
    example: 'count_values("shard", telemetry_station_exporter_shard_ordinal)',
  },
  total_shards: {
    help: 'Total number of shards.',
    exampleTitle: 'Missing shards',
    example:
      'max(telemetry_station_exporter_total_shards) - count(count_values("shard", telemetry_station_exporter_shard_ordinal))',
  },
});

export const STATION_OWN_FAMILIES = ownFamilies(['station'], {
  series_withheld: {
    help: 'Series withheld because the station exceeds max_resources or max_firing_resources.',
    exampleTitle: 'Stations above max_resources or max_firing_resources',
    example: 'telemetry_station_exporter_series_withheld > 0',
  },
});

/** The exporter's own families, by the rest of their names. */
export const OWN_FAMILIES = { ...UPSTREAM_FAMILIES, ...EXPORTER_FAMILIES, ...STATION_OWN_FAMILIES };

interface OwnRow extends Row<unknown> {
  readonly type?: 'histogram';
}

/** `first`: labels before those of the row. */
function ownFamilies<const First extends readonly string[], const Rows extends Readonly<Record<string, OwnRow>>>(
  first: First,
  rows: Rows,
): { readonly [Key in keyof Rows & string]: OwnFamily<`telemetry_station_exporter_${Key}`, First, Rows[Key]> } {
  return described(rows, first, { prefix: 'telemetry_station_exporter_' });
}

interface OwnFamily<Name extends string, First extends readonly string[], Given extends OwnRow>
  extends FamilyDescription {
  readonly name: Name;
  readonly labels: readonly [...First, ...LabelsOf<Given['labels']>];
  readonly type: Given['type'] extends 'histogram' ? 'histogram' : Name extends `${string}_total` ? 'counter' : 'gauge';
}
