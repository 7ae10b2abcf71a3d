import { metric, type RuleGroup } from './rule.ts';

const buildInfo = metric('telemetry_station_exporter_build_info');
const stationUp = metric('telemetry_station_up');
const failures = metric('telemetry_station_exporter_api_request_failures_total');
const requests = metric('telemetry_station_exporter_api_requests_total');
const totalShards = metric('telemetry_station_exporter_total_shards');

/** The exporter itself. Targets are recognized by their metrics, whatever the job name. */
export const exporterAlerts: RuleGroup = {
  name: 'telemetry-station-exporter',
  rules: [
    {
      alert: 'TelemetryStationExporterDown',
      comment: 'Targets that exposed exporter or station metrics within the last day.',
      expr: `${metric('up')} == 0
and on (job, instance)
(
  last_over_time(${buildInfo}[1d])
  or
  last_over_time(${stationUp}[1d])
)`,
      for: '5m',
      severity: 'critical',
      summary: 'Telemetry station exporter is down.',
      description: 'Scrapes of {{ $labels.instance }} (job {{ $labels.job }}) have failed for 5 minutes.',
    },
    {
      alert: 'TelemetryStationExporterAbsent',
      comment: 'A removed target has no `up` series that could be 0.',
      expr: `absent(${buildInfo})
and
absent(${metric('telemetry_station_info')})`,
      for: '10m',
      severity: 'critical',
      summary: 'No telemetry station exporter is scraped.',
      description: 'No target has exposed telemetry station metrics for 10 minutes.',
    },
    {
      alert: 'TelemetryStationExporterReloadFailed',
      comment: 'The exporter keeps the previous configuration, so no other metric shows the failure.',
      expr: `${metric('telemetry_station_exporter_config_last_reload_successful')} == 0
or
${metric('telemetry_station_exporter_web_config_last_reload_successful')} == 0`,
      for: '5m',
      severity: 'warning',
      summary: 'Telemetry station exporter failed to reload its configuration.',
      description:
        'Exporter {{ $labels.instance }} (job {{ $labels.job }}) rejected its latest configuration or web configuration and still runs the previous one.',
    },
    {
      alert: 'TelemetryStationApiThrottled',
      comment: 'Retries handle occasional 429 responses; above 5%, the configuration exceeds the limit of the service.',
      expr: `sum by (job, upstream) (rate(${failures}{reason="rate_limited"}[10m]))
/
sum by (job, upstream) (rate(${requests}[10m]))
> 0.05`,
      for: '10m',
      severity: 'warning',
      summary: 'Service throttles the telemetry station exporter.',
      description:
        'The service rejects {{ $value | humanizePercentage }} of the requests to upstream {{ $labels.upstream }} (job {{ $labels.job }}) with 429.',
    },
    {
      alert: 'TelemetryStationScrapeSlow',
      comment:
        '80% of the default scrape_timeout of 10s. Adjust the threshold to your scrape_timeout, which Prometheus exposes only behind a feature flag.',
      expr: `max by (job, instance) (${metric('scrape_duration_seconds')}) > 8
and on (job, instance)
(
  ${buildInfo}
  or
  ${stationUp}
)`,
      for: '15m',
      severity: 'warning',
      summary: 'Telemetry station scrapes are close to the scrape timeout.',
      description: 'Scrapes of {{ $labels.instance }} (job {{ $labels.job }}) take {{ $value | humanizeDuration }}.',
    },
    {
      alert: 'TelemetryStationSeriesWithheld',
      comment: 'Only per-resource series are withheld; aggregates stay exact.',
      expr: `max by (job, station) (${metric('telemetry_station_exporter_series_withheld')}) > 0`,
      for: '15m',
      severity: 'warning',
      summary: 'Telemetry station has too many resources for per-resource series.',
      description:
        '{{ $value }} per-resource series of station {{ $labels.station }} are not published, because it has more resources than max_resources.',
    },
    {
      alert: 'TelemetryStationShardsIncomplete',
      comment: 'Stations of a missing shard are not refreshed; shards that disagree on --total-shards leave gaps as well.',
      expr: `count by (job) (count_values by (job) ("ordinal", ${metric('telemetry_station_exporter_shard_ordinal')}))
< on (job)
max by (job) (${totalShards})
or
min by (job) (${totalShards}) < max by (job) (${totalShards})`,
      for: '5m',
      severity: 'critical',
      summary: 'Telemetry station exporter shards do not cover all stations.',
      description: 'Shards of job {{ $labels.job }} are missing or disagree on the number of shards. Some stations are not refreshed.',
    },
  ],
};
