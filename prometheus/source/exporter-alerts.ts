import { metric, type RuleGroup } from './rule.ts';

const buildInfo = metric('telemetry_station_exporter_build_info');
const stationUp = metric('telemetry_station_up');
const failures = metric('telemetry_station_exporter_api_request_failures_total');
const requests = metric('telemetry_station_exporter_api_requests_total');
const totalShards = metric('telemetry_station_exporter_total_shards');

/** About the exporter itself. Its targets are known by what they have told, whatever their job is called. */
export const exporterAlerts: RuleGroup = {
  name: 'telemetry-station-exporter',
  rules: [
    {
      alert: 'TelemetryStationExporterDown',
      about: 'A target that told of an exporter, or of one of its stations, within the last day.',
      expr: `${metric('up')} == 0
and on (job, instance)
(
  last_over_time(${buildInfo}[1d])
  or
  last_over_time(${stationUp}[1d])
)`,
      for: '5m',
      severity: 'critical',
      summary: 'An exporter of telemetry stations does not answer.',
      description: 'Prometheus has had no answer from {{ $labels.instance }} of job {{ $labels.job }} for 5 minutes (up is {{ $value }}).',
    },
    {
      alert: 'TelemetryStationExporterAbsent',
      about: 'When the target itself is gone, nothing is left that could be down.',
      expr: `absent(${buildInfo})
and
absent(${metric('telemetry_station_info')})`,
      for: '10m',
      severity: 'critical',
      summary: 'No exporter of telemetry stations is scraped.',
      description: 'For 10 minutes no target has told of a telemetry station or of its exporter (absent is {{ $value }}).',
    },
    {
      alert: 'TelemetryStationExporterReloadFailed',
      about: 'The old configuration keeps serving, so nothing else shows it.',
      expr: `${metric('telemetry_station_exporter_config_last_reload_successful')} == 0`,
      for: '5m',
      severity: 'warning',
      summary: 'The exporter of telemetry stations rejected its configuration.',
      description:
        'The latest configuration was rejected by {{ $labels.instance }} of job {{ $labels.job }} (successful is {{ $value }}); the one before is still in force.',
    },
    {
      alert: 'TelemetryStationApiThrottled',
      about: 'Single refusals are healed by retries; one request in twenty is a limit that is too low for what is asked.',
      expr: `sum by (job, upstream) (rate(${failures}{reason="rate_limited"}[10m]))
/
sum by (job, upstream) (rate(${requests}[10m]))
> 0.05`,
      for: '10m',
      severity: 'warning',
      summary: 'The service throttles the exporter of telemetry stations.',
      description:
        '{{ $value | humanizePercentage }} of the requests to upstream {{ $labels.upstream }} (job {{ $labels.job }}) are refused as too many.',
    },
    {
      alert: 'TelemetryStationScrapeSlow',
      about:
        'Four fifths of Prometheus’ default scrape_timeout of 10s. With another timeout this threshold has to move with it: Prometheus tells its timeouts only behind a feature flag.',
      expr: `max by (job, instance) (${metric('scrape_duration_seconds')}) > 8
and on (job, instance)
(
  ${buildInfo}
  or
  ${stationUp}
)`,
      for: '15m',
      severity: 'warning',
      summary: 'Scrapes of telemetry stations take nearly as long as they may.',
      description:
        'Scrapes of {{ $labels.instance }} of job {{ $labels.job }} take {{ $value | humanizeDuration }}, close to their deadline.',
    },
    {
      alert: 'TelemetryStationSeriesWithheld',
      about: 'Aggregates stay exact; what is missing is each resource by itself.',
      expr: `max by (job, station) (${metric('telemetry_station_exporter_series_withheld')}) > 0`,
      for: '15m',
      severity: 'warning',
      summary: 'A telemetry station has more resources than are published one by one.',
      description:
        '{{ $value }} series about single resources of station {{ $labels.station }} are withheld, because it has more than max_resources.',
    },
    {
      alert: 'TelemetryStationShardsIncomplete',
      about: 'A shard that is missing, or shards that disagree on how many they are, leave stations that nobody asks for.',
      expr: `count by (job) (count_values by (job) ("ordinal", ${metric('telemetry_station_exporter_shard_ordinal')}))
< on (job)
max by (job) (${totalShards})
or
min by (job) (${totalShards}) < max by (job) (${totalShards})`,
      for: '5m',
      severity: 'critical',
      summary: 'The shards of the exporter do not cover all telemetry stations.',
      description:
        'Only {{ $value }} shards of job {{ $labels.job }} are present, or agree on how many there are: some stations are asked by nobody.',
    },
  ],
};
