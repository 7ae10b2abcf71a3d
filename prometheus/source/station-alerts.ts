import { FAILURE_ADVICE, FAILURE_REASONS } from '../../src/model/failure.ts';
import { UNKNOWN } from '../promql/metric.ts';
import type { Parameters } from './parameters.ts';
import { RECORDED } from './recording.ts';
import {
  BY_JOB,
  BY_STATION,
  deduplicated,
  JOB_TEXT,
  LISTED_REASONS,
  metric,
  ONLY_REJECTED,
  type RuleGroup,
  STATION_TEXT,
  stationQuery,
} from './rule.ts';

const failure = metric('telemetry_station_failure');
const eachReason = `range $index, $failure := ${stationQuery(`max by (reason) (max_over_time(${failure}{}[5m])) == 1`)} | sortByLabel "reason"`;
const reasons = `{{ ${eachReason} }}{{ if $index }}, {{ end }}{{ $failure.Labels.reason }}{{ end }}`;

/** What to do about each of the reasons. */
const advice = FAILURE_REASONS.map(
  (reason) => `{{ if eq $failure.Labels.reason "${reason}" }}${FAILURE_ADVICE[reason].advice}{{ end }}`,
).join('');
const adviceForReasons = `{{ ${eachReason} }}${advice} {{ end }}`;

const lastSuccessTime = metric('telemetry_station_last_success_timestamp_seconds');
const lastSuccess = `{{ with ${stationQuery(`max(${lastSuccessTime}{})`)} }}{{ . | first | value | humanizeTimestamp }}{{ else }}none since the exporter started{{ end }}`;

/** The ten most common states of unknown meaning, with their numbers. */
const unknownStates = `topk(10, max by (state) (sum by (instance, state) (${metric('telemetry_station_resources')}{alert_state${UNKNOWN}})))`;
const listedStates = `{{ range $index, $state := ${stationQuery(unknownStates)} | sortByLabel "state" }}{{ if $index }}, {{ end }}{{ with $state.Labels.state }}{{ . }}{{ else }}no state{{ end }} ({{ $state.Value }}){{ end }}`;

/** Stations that cannot be refreshed or listed completely. */
export const stationAlerts = (parameters: Parameters): RuleGroup => ({
  name: 'telemetry-station-stations',
  rules: [
    {
      alert: 'TelemetryStationDown',
      comment:
        'One alert per station: the reason may change while it fails. Before the first refresh, a station has no failure.',
      expr: `${deduplicated('telemetry_station_up')} == 0
and on ${BY_STATION}
max by ${BY_STATION} (max_over_time(${failure}[5m])) == 1`,
      summary: 'Telemetry station cannot be refreshed.',
      description: `All refreshes of ${STATION_TEXT} have failed for at least ${parameters.TelemetryStationDown.for}. Reason: ${reasons}. Last success: ${lastSuccess}.`,
      first: `${adviceForReasons}The page of the station on the exporter has the error message.`,
      dashboard: 'station',
    },
    {
      alert: 'TelemetryStationDataStale',
      comment:
        'Fifteen minutes is the default of max_stale: older data is no longer published. A restart during an outage forgets the last success, and a station may never have had one (value 0).',
      expr: `(
  time() - max by ${BY_STATION} (last_over_time(${lastSuccessTime}[1d]))
  and on ${BY_STATION}
  ${deduplicated('telemetry_station_up')}
) > ${parameters.TelemetryStationDataStale.seconds}
or
(
  ${deduplicated('telemetry_station_up')} == 0
  and on ${BY_STATION}
  max by ${BY_STATION} (${metric('telemetry_station_up')} offset ${parameters.TelemetryStationDataStale.seconds}s)
)
unless on ${BY_STATION}
max by ${BY_STATION} (last_over_time(${lastSuccessTime}[1d]))`,
      summary: 'Telemetry station data is stale.',
      description: `{{ if $value }}The last successful refresh of ${STATION_TEXT} was {{ $value | humanizeDuration }} ago.{{ else }}No refresh of ${STATION_TEXT} has succeeded within a day.{{ end }} Data older than max_stale is not published.`,
      first:
        'If TelemetryStationDown fires too, follow its runbook. Otherwise check whether the exporter is scraped or overloaded.',
      dashboard: 'station',
    },
    {
      alert: 'TelemetryStationListingIncomplete',
      comment:
        'A single incomplete listing is normal while resources are added and removed. Where rejected records are the only reason, TelemetryStationRecordsRejected is the alert.',
      expr: `min by ${BY_STATION} (${metric('telemetry_station_listing_complete')}) == 0
unless on ${BY_STATION}
${ONLY_REJECTED}`,
      summary: 'Telemetry station listing is incomplete.',
      description: `No listing of ${STATION_TEXT} has been verified complete for at least ${parameters.TelemetryStationListingIncomplete.for}. Reason: ${LISTED_REASONS}. Resources may be missing from its metrics.`,
      first: 'Compare reported and received resources on the dashboard.',
      dashboard: 'station',
    },
    {
      alert: 'TelemetryStationRecordsRejected',
      comment: 'Rejected records are not included in any other metric: the listing is incomplete.',
      expr: `${deduplicated('telemetry_station_listing_rejected_resources')} > ${parameters.TelemetryStationRecordsRejected.records}`,
      summary: 'Telemetry station lists records without a usable id.',
      description: `{{ $value }} records of ${STATION_TEXT} have had no usable resource_id for at least ${parameters.TelemetryStationRecordsRejected.for}. They are not counted as resources, and resources that may be among them are not counted as removed.`,
      first: 'Find the records on the page of the station and report them to the operators of the service.',
      dashboard: 'station',
    },
    {
      alert: 'TelemetryStationUnknownState',
      comment: 'A state of unknown meaning may be a firing one, for which no other alert fires.',
      expr: `sum by ${BY_STATION} (${RECORDED.resourcesByAlertState}{alert_state${UNKNOWN}}) > ${parameters.TelemetryStationUnknownState.resources}`,
      summary: 'Telemetry station has resources in states of unknown meaning.',
      description: `{{ $value }} resources of ${STATION_TEXT} are in states of unknown meaning: ${listedStates}. It has been more than ${parameters.TelemetryStationUnknownState.resources} for at least ${parameters.TelemetryStationUnknownState.for}; if one of these states means firing, its resources raise no alert.`,
      first: 'Find out what the states mean and add them to `states` in the configuration of the exporter.',
      dashboard: 'station',
    },
    {
      alert: 'TelemetryStationNoStations',
      comment: 'Evaluated per job, because a single shard may have no stations.',
      expr: `count by ${BY_JOB} (${metric('telemetry_station_exporter_build_info')})
unless on ${BY_JOB}
count by ${BY_JOB} (${metric('telemetry_station_info')})`,
      summary: 'Telemetry station exporter publishes no stations.',
      description: `Exporters of ${JOB_TEXT} are up but have published no stations for at least ${parameters.TelemetryStationNoStations.for}.`,
      first: 'Check `stations` in the configuration, and the log since the last reload.',
      dashboard: 'exporter',
    },
  ],
});
