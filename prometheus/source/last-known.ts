import { deduplicate, FIRING } from '../promql/metric.ts';
import type { Parameters } from './parameters.ts';
import { RECORDED } from './recording.ts';
import { BY_STATION, metric, type RecordingRule, stationQuery } from './rule.ts';

/**
 * What nobody knows is not resolved: alerts on resources stay as they were last known while their station has no data, for at most six hours.
 *
 * LAST_KNOWN and LAST_FIRING have the time of an evaluation as their value. They are equal for a resource that was firing when its station was last
 * known, which `last_over_time` alone does not show: it also finds resources that had stopped to fire before. All are recorded in the group
 * of the alerts, so that they are evaluated one after another and for the same time.
 */
const CONFIGURED = 'job_instance_station:telemetry_station_configured';
const LAST_KNOWN = 'job_station:telemetry_station_last_known:timestamp_seconds';
const LAST_FIRING = 'job_station_resource_id_name:telemetry_station_resource_firing:timestamp_seconds';

const KEPT = '6h';
const KEPT_S = 6 * 3600;

const health = metric('telemetry_station_up');

/**
 * A station that a scraped target no longer publishes was removed from the configuration. Where the target is down, nobody knows: the series
 * keeps itself, so that a station removed before does not come back. Its selector has no range, because a series that ended must not count.
 */
const configuredStations = `0 * ${health} + 1
or
(
  ${CONFIGURED}
  and on (job, instance)
  ${metric('up')} == 0
)`;

/** A target that is gone counts for five minutes: until then, its successor may not have been scraped. */
const stillConfigured = `${CONFIGURED}
    or
    last_over_time(${CONFIGURED}[5m]) unless on (job, instance) ${metric('up')}`;

const firingNow = `sum by ${BY_STATION} (${deduplicate('telemetry_station_resources', `${metric('telemetry_station_resources')}{alert_state${FIRING}}`)})`;

export const lastKnownRules = (parameters: Parameters): readonly RecordingRule[] => [
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
      'When a resource was last firing. Reads only the series of firing resources; a station with more than `limit` of them has none.',
    expr: `0 * max by (job, station, resource_id, name) (${metric('telemetry_station_resource_state')}{alert_state${FIRING}}) + time()
unless on ${BY_STATION}
${firingNow} > ${parameters.TelemetryStationResourceFiring.limit}`,
  },
];

/** The resources that fire, or fired when their station was last known. */
export const FIRING_RESOURCES = `${LAST_FIRING}
  or
  last_over_time(${LAST_FIRING}[${KEPT}]) == on ${BY_STATION} group_left () ${LAST_KNOWN}`;

const firing = `${RECORDED.resourcesByAlertState}{alert_state${FIRING}}`;

/** Their number, also where resources have no series. */
export const FIRING_COUNT = `max by ${BY_STATION} (${firing})
  or
  max by ${BY_STATION} (last_over_time(${firing}[${KEPT}])) and on ${BY_STATION} ${LAST_KNOWN}`;

const lastSuccess = metric('telemetry_station_last_success_timestamp_seconds');
const dataAge = `round(time() - (max(last_over_time(${lastSuccess}{}[1d])) or max(${LAST_KNOWN}{})))`;
const asMinutes = 'humanizeDuration | reReplaceAll "m [0-9]+s$" " min" | reReplaceAll "h " " h "';

/**
 * Template that marks what is not known now, with the age of the data: ` (last known 40 min ago)`. It compares with the timestamp of the sample:
 * with a query offset, templates are evaluated later than the rules.
 */
export const LAST_KNOWN_MARK = `{{ with ${stationQuery(`${LAST_KNOWN}{} < timestamp(${LAST_KNOWN}{})`)} }} (last known {{ with ${stationQuery(dataAge)} }}{{ . | first | value | ${asMinutes} }}{{ end }} ago: the station has no data now){{ end }}`;
