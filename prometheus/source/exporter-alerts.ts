import { CLUSTER, labelList } from '../promql/cluster.ts';
import type { Parameters } from './parameters.ts';
import { BY_JOB, BY_STATION, BY_TARGET, BY_UPSTREAM, JOB_TEXT, metric, type RuleGroup, STATION_TEXT } from './rule.ts';

const buildInfo = metric('telemetry_station_exporter_build_info');
const stationUp = metric('telemetry_station_up');
const failures = metric('telemetry_station_exporter_api_request_failures_total');
const requests = metric('telemetry_station_exporter_api_requests_total');
const totalShards = metric('telemetry_station_exporter_total_shards');

/** Targets that exposed exporter or station metrics within a range: a failed scrape exposes nothing. */
const onTargets = (range: string) => `and on ${BY_TARGET}
(
  last_over_time(${buildInfo}[${range}])
  or
  last_over_time(${stationUp}[${range}])
)`;

/** The exporter itself. Targets are recognized by their metrics, whatever the job name. */
export const exporterAlerts = (parameters: Parameters): RuleGroup => ({
  name: 'telemetry-station-exporter',
  rules: [
    {
      alert: 'TelemetryStationExporterDown',
      comment: 'Targets that exposed exporter or station metrics within the last day.',
      expr: `${metric('up')} == 0
${onTargets('1d')}`,
      summary: 'Telemetry station exporter is down.',
      description: `Every scrape of {{ $labels.instance }} (${JOB_TEXT}) has failed for at least ${parameters.TelemetryStationExporterDown.for}.`,
      first: 'Check whether the process runs and can be reached; the targets page of Prometheus shows the error.',
      dashboard: 'exporter',
    },
    {
      alert: 'TelemetryStationExporterAbsent',
      comment:
        'A removed target has no `up` series that could be 0. Of several clusters, each that had an exporter within the last day.',
      expr: `absent(${buildInfo})
and
absent(${metric('telemetry_station_info')})
or
(
  group by ${labelList()} (
    last_over_time(${buildInfo}{${CLUSTER}!=""}[1d])
    or
    last_over_time(${metric('telemetry_station_info')}{${CLUSTER}!=""}[1d])
  )
  unless on ${labelList()}
  (
    ${buildInfo}
    or
    ${metric('telemetry_station_info')}
  )
)`,
      summary: 'No telemetry station exporter is scraped.',
      description: `No target{{ with $labels.${CLUSTER} }} of cluster {{ . }}{{ end }} has exposed telemetry station metrics for at least ${parameters.TelemetryStationExporterAbsent.for}.`,
      first: 'Check the scrape configuration or service discovery of Prometheus.',
      dashboard: 'exporter',
    },
    {
      alert: 'TelemetryStationExporterReloadFailed',
      comment: 'The exporter keeps the previous configuration, so no other metric shows the failure.',
      expr: `${metric('telemetry_station_exporter_config_last_reload_successful')} == 0`,
      summary: 'Telemetry station exporter failed to reload its configuration.',
      description: `Exporter {{ $labels.instance }} (${JOB_TEXT}) has run with its previous configuration or web configuration for at least ${parameters.TelemetryStationExporterReloadFailed.for}, because it rejected the latest one.`,
      first: 'Read the problems in its log, or run `check` on the configuration file.',
      dashboard: 'exporter',
    },
    {
      alert: 'TelemetryStationScrapesFailing',
      comment:
        'Scrapes that fail now and then: TelemetryStationExporterDown needs all of them to fail. A restart misses one or two of 15.',
      expr: `1 - avg_over_time(${metric('up')}[15m]) > ${parameters.TelemetryStationScrapesFailing.share}
${onTargets('1h')}`,
      summary: 'Telemetry station scrapes fail repeatedly.',
      description: `{{ $value | humanizePercentage }} of the scrapes of {{ $labels.instance }} (${JOB_TEXT}) failed within 15 minutes. It has been more than the threshold for at least ${parameters.TelemetryStationScrapesFailing.for}.`,
      first:
        'If scrapes time out, set `cache.refresh: background` or raise `scrape_timeout`; otherwise check for restarts.',
      dashboard: 'exporter',
    },
    {
      alert: 'TelemetryStationScrapeSlow',
      comment:
        '80% of the default scrape_timeout of 10s. Adjust the threshold to your scrape_timeout, which Prometheus exposes only behind a feature flag.',
      expr: `max by ${BY_TARGET} (${metric('scrape_duration_seconds')}) > ${parameters.TelemetryStationScrapeSlow.seconds}
${onTargets('1h')}`,
      summary: 'Telemetry station scrapes are close to the scrape timeout.',
      description: `Scrapes of {{ $labels.instance }} (${JOB_TEXT}) take {{ $value | humanizeDuration }}; they have been slow for at least ${parameters.TelemetryStationScrapeSlow.for}.`,
      first: 'Set `cache.refresh: background`: scrapes then do not wait for the service.',
      dashboard: 'exporter',
    },
    {
      alert: 'TelemetryStationApiThrottled',
      comment: 'Retries handle occasional 429 responses; above 5%, the configuration exceeds the limit of the service.',
      expr: `sum by ${BY_UPSTREAM} (rate(${failures}{reason="rate_limited"}[10m]))
/
sum by ${BY_UPSTREAM} (rate(${requests}[10m]))
> ${parameters.TelemetryStationApiThrottled.share}`,
      summary: 'Service throttles the telemetry station exporter.',
      description: `The service rejects {{ $value | humanizePercentage }} of the requests to upstream {{ $labels.upstream }} (${JOB_TEXT}) with 429. It has been above the threshold for at least ${parameters.TelemetryStationApiThrottled.for}.`,
      first: 'Send fewer requests: raise `cache.ttl` or `page_size`.',
      dashboard: 'exporter',
    },
    {
      alert: 'TelemetryStationOverloaded',
      comment: 'Due refreshes wait longer than twice the default of cache.ttl. Adjust the threshold to your ttl.',
      expr: `max by ${BY_UPSTREAM} (${metric('telemetry_station_exporter_oldest_waiting_refresh_seconds')}) > ${parameters.TelemetryStationOverloaded.seconds}`,
      summary: 'Telemetry station refreshes exceed the capacity of their upstream.',
      description: `The oldest refresh in the queue of upstream {{ $labels.upstream }} (${JOB_TEXT}) has waited {{ $value | humanizeDuration }}. There has been more work than capacity for at least ${parameters.TelemetryStationOverloaded.for}; the data of all its stations becomes older.`,
      first:
        'Raise `concurrency` or `page_size` if the service allows it, raise `cache.ttl`, configure fewer `products`, or add shards.',
      dashboard: 'exporter',
    },
    {
      alert: 'TelemetryStationSeriesWithheld',
      comment: 'Only per-resource series are withheld; aggregates stay exact.',
      expr: `max by ${BY_STATION} (${metric('telemetry_station_exporter_series_withheld')}) > ${parameters.TelemetryStationSeriesWithheld.series}`,
      summary: 'Telemetry station has too many resources for per-resource series.',
      description: `{{ $value }} per-resource series of ${STATION_TEXT} have not been published for at least ${parameters.TelemetryStationSeriesWithheld.for}, because it has more resources than max_resources.`,
      first: 'Raise `max_resources` if Prometheus can hold the series; aggregates are not affected.',
      dashboard: 'exporter',
    },
    {
      alert: 'TelemetryStationShardsIncomplete',
      comment:
        'Stations of a missing shard are not refreshed; shards that disagree on --total-shards leave gaps as well.',
      expr: `count by ${BY_JOB} (count_values by ${BY_JOB} ("ordinal", ${metric('telemetry_station_exporter_shard_ordinal')}))
< on ${BY_JOB}
max by ${BY_JOB} (${totalShards})
or
min by ${BY_JOB} (${totalShards}) < max by ${BY_JOB} (${totalShards})`,
      summary: 'Telemetry station exporter shards do not cover all stations.',
      description: `Shards of ${JOB_TEXT} have been missing, or have disagreed on the number of shards, for at least ${parameters.TelemetryStationShardsIncomplete.for}. Some stations are not refreshed.`,
      first: 'Find the missing shard in the table Processes of the dashboard.',
      dashboard: 'exporter',
    },
  ],
});
