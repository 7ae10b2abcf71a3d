import { labelList } from '../promql/cluster.ts';
import { deduplicate, FIRING, FIRING_OR_UNKNOWN, KNOWN, UNKNOWN } from '../promql/metric.ts';
import type { Parameters } from './parameters.ts';
import { RECORDED } from './recording.ts';
import {
  BY_RESOURCE,
  BY_STATION,
  BY_TARGET,
  deduplicated,
  LISTING_COMPLETE,
  MAY_MISS_RESOURCES,
  MISSING_RESOURCES_QUERY,
  metric,
  type RecordingRule,
  resourceQuery,
  STATION_TEXT,
  stationQuery,
} from './rule.ts';

/**
 * Alerts on resources stay as they were last known, for at most six hours, while it is unknown whether the resources still fire.
 *
 * The value of LAST_KNOWN, LAST_FIRING and LAST_MANY_FIRING is the time of an evaluation. Alerts follow the latter two, which select their own
 * series to keep it: a selector without a range returns what the previous evaluation recorded. All are in the group of the alerts, so that
 * Prometheus evaluates them in order and for the same time.
 */
const CONFIGURED = 'cluster_job_instance_station:telemetry_station_configured';
const LAST_KNOWN = 'cluster_job_station:telemetry_station_last_known:timestamp_seconds';
const LAST_FIRING = 'cluster_job_station_resource_id_name:telemetry_station_resource_firing:timestamp_seconds';
const MANY_FIRING_OWNER = 'cluster_job_station_owner:telemetry_station_many_resources_firing:info';
const LAST_MANY_FIRING = 'cluster_job_station:telemetry_station_many_resources_firing:timestamp_seconds';

const KEPT = '6h';
const KEPT_S = 6 * 3600;

const health = metric('telemetry_station_up');
const states = metric('telemetry_station_resource_state');
const resources = metric('telemetry_station_resources');

/**
 * A station that a scraped target no longer publishes was removed from the configuration. Where the target is down, that is unknown: the series
 * keeps itself, so that a station removed before does not come back. Its selector has no range, because a series that ended must not count.
 */
const configuredStations = `0 * ${health} + 1
or
(
  ${CONFIGURED}
  and on ${BY_TARGET}
  ${metric('up')} == 0
)`;

/** A target that is gone counts for five minutes: until then, its successor may not have been scraped. */
const stillConfigured = `${CONFIGURED}
    or
    last_over_time(${CONFIGURED}[5m]) unless on ${BY_TARGET} ${metric('up')}`;

const firingNow = `sum by ${BY_STATION} (${deduplicate('telemetry_station_resources', `${resources}{alert_state${FIRING}}`)})`;

/** The largest number of listed resources that can be firing: those that are known to, and those of which it is unknown. */
const mayBeFiring = `sum by ${BY_STATION} (
      ${deduplicate('telemetry_station_resources', `${resources}{alert_state${FIRING_OR_UNKNOWN}}`)}
      or
      ${deduplicated('telemetry_station_listing_rejected_resources')}
    )`;

export const lastKnownRules = (parameters: Parameters, ownerLabel: string): readonly RecordingRule[] => [
  {
    record: CONFIGURED,
    comment: 'The stations in the configuration of each target; while a target is down, those it had before.',
    expr: configuredStations,
  },
  {
    record: LAST_KNOWN,
    comment:
      'When the data of a station was last published: now, or at most six hours ago for a station that is still configured.',
    expr: `0 * max by ${BY_STATION} (${metric('telemetry_station_listing_complete')}) + time()
or
(
  last_over_time(${LAST_KNOWN}[${KEPT}]) > time() - ${KEPT_S}
  and on ${BY_STATION}
  (
    ${stillConfigured}
  )
)`,
  },
  {
    record: LAST_FIRING,
    comment:
      'When a resource was last seen firing: now, or at most six hours ago. Ends when it has a state of known meaning, when a listing is complete without it, and with its station. A station with more than `limit` firing resources has none.',
    expr: `(
  0 * max by ${labelList('job', 'station', 'resource_id', 'name')} (${states}{alert_state${FIRING}}) + time()
  or
  (
    (
      ${LAST_FIRING}
      or
      last_over_time(${LAST_FIRING}[${KEPT}]) == on ${BY_STATION} group_left () ${LAST_KNOWN}
    ) > time() - ${KEPT_S}
    and on ${BY_STATION}
    ${LAST_KNOWN}
    unless on ${BY_RESOURCE}
    ${states}{alert_state${KNOWN}}
    unless on ${BY_RESOURCE}
    (
      ${LAST_FIRING}
      and on ${BY_STATION}
      ${LISTING_COMPLETE}
      unless on ${BY_RESOURCE}
      ${metric('telemetry_station_resource_info')}
      unless on ${BY_RESOURCE}
      ${states}
    )
  )
)
unless on ${BY_STATION}
${firingNow} > ${parameters.TelemetryStationResourceFiring.limit}`,
  },
  {
    record: LAST_MANY_FIRING,
    comment:
      'When more than `resources` were last seen firing: now, or at most six hours ago. Ends when a listing without missing resources shows that fewer can be firing, counting all in states of unknown meaning and all rejected records.',
    expr: `0 * (${firingNow} > ${parameters.TelemetryStationManyResourcesFiring.resources}) + time()
or
(
  (
    ${LAST_MANY_FIRING}
    or
    last_over_time(${LAST_MANY_FIRING}[${KEPT}]) == ${LAST_KNOWN}
  ) > time() - ${KEPT_S}
  and on ${BY_STATION}
  (
    ${LAST_KNOWN} < time()
    or
    ${mayBeFiring} > ${parameters.TelemetryStationManyResourcesFiring.resources}
    or
    ${MAY_MISS_RESOURCES}
  )
)`,
  },
  {
    record: MANY_FIRING_OWNER,
    comment:
      'The owner of all resources of a station with many firing ones, when they were first seen; without the label if there was none, or more than one. The alert keeps it: other labels would be another alert.',
    expr: `(
  ${MANY_FIRING_OWNER}
  or on ${BY_STATION}
  (
    group by ${labelList('job', 'station', ownerLabel)} (${resources})
    and on ${BY_STATION}
    count by ${BY_STATION} (group by ${labelList('job', 'station', ownerLabel)} (${resources})) == 1
  )
  or on ${BY_STATION}
  0 * ${LAST_MANY_FIRING} + 1
)
and on ${BY_STATION}
${LAST_MANY_FIRING}`,
  },
];

/** The resources that fire, or fired when it was last known. */
export const FIRING_RESOURCES = LAST_FIRING;

const firing = `${RECORDED.resourcesByAlertState}{alert_state${FIRING}}`;

/** The number of firing resources of stations with many, as last known, with the owner of the station if it has one. */
export const manyFiring = (ownerLabel: string) => `(
  max by ${BY_STATION} (${firing})
  or
  max by ${BY_STATION} (last_over_time(${firing}[${KEPT}]))
)
* on ${BY_STATION} group_left (${ownerLabel})
${MANY_FIRING_OWNER}`;

const lastSuccess = `max(last_over_time(${metric('telemetry_station_last_success_timestamp_seconds')}{}[1d]))`;
const asMinutes = 'humanizeDuration | reReplaceAll "m [0-9]+s$" " min" | reReplaceAll "h " " h "';

/** Template of the age of what is last known: `40 min`. Data that was published may have been older than the evaluation. */
const ageSince = (query: (expression: string) => string, seen: string) =>
  `{{ with ${query(`round(time() - min(${lastSuccess} or ${seen}))`)} }}{{ . | first | value | ${asMinutes} }}{{ end }}`;

/** Holds for stations without data. It compares with the timestamp of the sample: with a query offset, templates are evaluated later than the rules. */
const withoutData = stationQuery(`${LAST_KNOWN}{} < timestamp(${LAST_KNOWN}{})`);

const notKnownNow = `{{ with ${resourceQuery(`${states}{resource,alert_state${UNKNOWN}}`)} }}its state is {{ . | first | label "state" }} now, of unknown meaning{{ else }}{{ with ${resourceQuery(`${metric('telemetry_station_resource_info')}{resource}`)} }}it has no state now{{ else }}it is not in the listing now, which is incomplete{{ end }}{{ end }}`;

/** Template that marks a resource of which it is unknown whether it fires, with the reason: ` (last known 40 min ago: it has no state now)`. */
export const RESOURCE_MARK = `{{ with ${resourceQuery(`${LAST_FIRING}{resource} < timestamp(${LAST_FIRING}{resource})`)} }} (last known ${ageSince(resourceQuery, `${LAST_FIRING}{resource}`)} ago: {{ with ${withoutData} }}the station has no data now{{ else }}${notKnownNow}{{ end }}){{ end }}`;

const ago = `${ageSince(stationQuery, `${LAST_MANY_FIRING}{}`)} ago`;
const unknownNow = `sum(${RECORDED.resourcesByAlertState}{alert_state${UNKNOWN}} or max(${metric('telemetry_station_listing_rejected_resources')}{})) > 0`;

/** Template of the five owners with the most firing resources: ` (owners with the most: storage 12, network 9)`; nothing where resources have no owners. */
function ownersText(ownerLabel: string): string {
  const firingOnes = `${resources}{alert_state${FIRING},${ownerLabel}!=""}`;
  const byOwner = `max by (${ownerLabel}) (sum by (instance, ${ownerLabel}) (${firingOnes}))`;
  return `{{ with ${stationQuery(`topk(5, ${byOwner})`)} }} (owners with the most:{{ range $index, $owner := . }}{{ if $index }},{{ end }} {{ $owner.Labels.${ownerLabel} }} {{ $owner.Value }}{{ end }}){{ end }}`;
}

/** The text depends on whether the number is known at the time when there were so many. */
export function manyFiringText({ TelemetryStationManyResourcesFiring: many }: Parameters, ownerLabel: string): string {
  const station = `resources of ${STATION_TEXT}`;
  const fewer = `More than ${many.resources} ${station} were firing, last known ${ago}. {{ with ${withoutData} }}The station has no data now{{ else }}Now {{ $value }} are known to be firing{{ with ${stationQuery(unknownNow)} }}, and {{ . | first | value }} may be: their states are of unknown meaning, or their records are rejected{{ end }}{{ with ${MISSING_RESOURCES_QUERY} }}; others may be missing from the listing, which is incomplete{{ end }}{{ end }}`;
  const known = `{{ $value }} ${station} are firing${ownersText(ownerLabel)}{{ with ${withoutData} }} (last known ${ago}: the station has no data now){{ end }}. It has been more than ${many.resources} for at least ${many.for}`;
  return `{{ with ${stationQuery(`${LAST_MANY_FIRING}{} < ${LAST_KNOWN}{}`)} }}${fewer}{{ else }}${known}{{ end }}.`;
}
