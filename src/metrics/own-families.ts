import type { FamilyDescription } from './family.ts';

/** What the exporter tells of itself. */
export const OWN_FAMILIES = {
  buildInfo: {
    name: 'telemetry_station_exporter_build_info',
    help: 'The version of the exporter and of Node.',
    type: 'gauge',
    labels: ['version', 'revision', 'node_version'],
  },
  apiRequests: {
    name: 'telemetry_station_exporter_api_requests_total',
    help: 'Requests sent to the service, retries included.',
    type: 'counter',
    labels: ['upstream'],
  },
  apiRequestFailures: {
    name: 'telemetry_station_exporter_api_request_failures_total',
    help: 'Requests that failed, by reason.',
    type: 'counter',
    labels: ['upstream', 'reason'],
  },
  apiRequestRetries: {
    name: 'telemetry_station_exporter_api_request_retries_total',
    help: 'Requests sent again after a failure.',
    type: 'counter',
    labels: ['upstream'],
  },
  apiRequestDuration: {
    name: 'telemetry_station_exporter_api_request_duration_seconds',
    help: 'How long requests to the service took, body included.',
    type: 'histogram',
    labels: ['upstream'],
  },
  apiRequestsInFlight: {
    name: 'telemetry_station_exporter_api_requests_in_flight',
    help: 'Requests under way.',
    type: 'gauge',
    labels: ['upstream'],
  },
  apiRequestsWaiting: {
    name: 'telemetry_station_exporter_api_requests_waiting',
    help: 'Requests that wait for their turn under concurrency and requests_per_second.',
    type: 'gauge',
    labels: ['upstream'],
  },
  apiRequestWait: {
    name: 'telemetry_station_exporter_api_request_wait_seconds_total',
    help: 'Time that requests have waited for their turn.',
    type: 'counter',
    labels: ['upstream'],
  },
  apiRequestsThrottled: {
    name: 'telemetry_station_exporter_api_requests_throttled_total',
    help: 'Requests that the service answered with 429 or Retry-After; each burst of them halves api_rate_limit.',
    type: 'counter',
    labels: ['upstream'],
  },
  apiRateLimit: {
    name: 'telemetry_station_exporter_api_rate_limit',
    help: 'Requests per second that may be sent now: at most requests_per_second, less after throttled requests; +Inf for no limit.',
    type: 'gauge',
    labels: ['upstream'],
  },
  pageSizeReductions: {
    name: 'telemetry_station_exporter_page_size_reductions_total',
    help: 'Times that a refresh went on with smaller pages because the service answered 413, or 429 without Retry-After.',
    type: 'counter',
    labels: ['upstream'],
  },
  cacheHits: {
    name: 'telemetry_station_exporter_cache_hits_total',
    help: 'Stations read by scrapes without asking the service.',
    type: 'counter',
    labels: [],
  },
  cacheMisses: {
    name: 'telemetry_station_exporter_cache_misses_total',
    help: 'Stations read by scrapes that had to wait for a refresh.',
    type: 'counter',
    labels: [],
  },
  series: {
    name: 'telemetry_station_exporter_series',
    help: 'Series published for the station.',
    type: 'gauge',
    labels: ['station'],
  },
  seriesWithheld: {
    name: 'telemetry_station_exporter_series_withheld',
    help: 'Per-resource series not published because the station has more resources than max_resources.',
    type: 'gauge',
    labels: ['station'],
  },
  configReloadSuccessful: {
    name: 'telemetry_station_exporter_config_last_reload_successful',
    help: 'Whether the latest attempt to load the configuration succeeded.',
    type: 'gauge',
    labels: [],
  },
  configReloadTimestamp: {
    name: 'telemetry_station_exporter_config_last_reload_success_timestamp_seconds',
    help: 'When the configuration was last loaded successfully.',
    type: 'gauge',
    labels: [],
  },
  shardOrdinal: {
    name: 'telemetry_station_exporter_shard_ordinal',
    help: 'The shard of this process.',
    type: 'gauge',
    labels: [],
  },
  totalShards: {
    name: 'telemetry_station_exporter_total_shards',
    help: 'How many shards share the stations.',
    type: 'gauge',
    labels: [],
  },
} as const satisfies Record<string, FamilyDescription>;
