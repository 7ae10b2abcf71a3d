import { deduplicate, FIRING } from '../promql/metric.ts';
import type { Parameters } from './parameters.ts';
import { RECORDED } from './recording.ts';
import {
  BY_STATION,
  BY_TYPE,
  deduplicated,
  LINK_START,
  LISTING_COMPLETE,
  metric,
  type RuleGroup,
  stationQuery,
} from './rule.ts';

const WITHOUT_RULES = metric('telemetry_station_resources_without_alert_rules');

/** Resources without alert rules by these labels. Each target is summed up, and of replicas the largest sum counts. */
const withoutRules = (labels: string, series: string = WITHOUT_RULES) =>
  `max by (${labels}) (sum by (instance, ${labels}) (${series}))`;

/** How many more there are than an hour ago; a group that is new counts from 0 if its station is not new. */
const newWithoutRules = (labels: string) => `${withoutRules(labels)}
  - on (${labels})
  (
    ${withoutRules(labels, `${WITHOUT_RULES} offset 1h`)}
    or
    (
      0 * ${withoutRules(labels)}
      and on ${BY_STATION}
      max by ${BY_STATION} (${metric('telemetry_station_listing_complete')} offset 1h)
    )
  )`;

const TYPE_LABELS = 'job, station, resource_type';

const RESOURCE_INFO = `query (printf \`${metric('telemetry_station_resource_info')}{job=%q,station=%q,resource_id=%q}\` $labels.job $labels.station $labels.resource_id)`;
const infoLabel = (label: string) => `{{ with ${RESOURCE_INFO} }}{{ . | first | label "${label}" }}{{ end }}`;

const firingCount = `sum by ${BY_STATION} (${deduplicate('telemetry_station_resources', `${metric('telemetry_station_resources')}{state${FIRING}}`)})`;
const firing = `${metric('telemetry_station_resource_state')}{state${FIRING}}`;

/** Share of a capacity lost within 6 hours; one that disappeared has no series and counts as 0. */
const capacityLoss = (selector: string) =>
  `1 - (${RECORDED.capacity}${selector} or 0 * max_over_time(${RECORDED.capacity}${selector}[6h])) / (max_over_time(${RECORDED.capacity}${selector}[6h]) > 0)`;

/** Resources of the stations. Only the first alert reads per-resource series. */
export const resourceAlerts = (parameters: Parameters, ownerLabel: string): RuleGroup => ({
  name: 'telemetry-station-resources',
  rules: [
    {
      alert: 'TelemetryStationResourceFiring',
      comment:
        'Matches states by name, because the service documents no firing state. Reads only the series of firing resources: a join with the info series would read all. Prometheus needs about a millisecond per alert: a station with more than `limit` firing resources has TelemetryStationManyResourcesFiring alone, and the value is the start of the dashboard link.',
      expr: `${LINK_START} * max by (job, station, resource_id, name) (${firing})
unless on ${BY_STATION}
${firingCount} > ${parameters.TelemetryStationResourceFiring.limit}`,
      labels: {
        display_name: infoLabel('display_name'),
        resource_type: infoLabel('resource_type'),
        [ownerLabel]: infoLabel(ownerLabel),
      },
      linkStart: '{{ $value | printf "%.0f" }}',
      summary: 'Resource alert is firing.',
      description: `Resource {{ $labels.name }}{{ with ${RESOURCE_INFO} }} ({{ . | first | label "display_name" }}, {{ . | first | label "resource_type" }}){{ end }} of station {{ $labels.station }} (job {{ $labels.job }}) has been firing for at least ${parameters.TelemetryStationResourceFiring.for}. Its id: {{ $labels.resource_id }}.`,
      first: 'Open the resource in the console of the service and find the firing alert rule.',
      dashboard: 'resources',
    },
    {
      alert: 'TelemetryStationManyResourcesFiring',
      comment:
        'One alert for a mass failure: the example Alertmanager configuration inhibits the alerts of its single resources.',
      expr: `${firingCount} > ${parameters.TelemetryStationManyResourcesFiring.resources}`,
      summary: 'Many resources of a telemetry station are firing.',
      description: `{{ $value }} resources of station {{ $labels.station }} (job {{ $labels.job }}) are firing. It has been more than ${parameters.TelemetryStationManyResourcesFiring.resources} for at least ${parameters.TelemetryStationManyResourcesFiring.for}.`,
      first: 'Look for a common cause: the dashboard shows the types that fire.',
      dashboard: 'station',
    },
    {
      alert: 'TelemetryStationAlertableWithoutRules',
      comment:
        'One alert per type and owner, because a station may have thousands of such resources. Needs `alertability`.',
      expr: `${withoutRules(`${TYPE_LABELS}, ${ownerLabel}`)} > ${parameters.TelemetryStationAlertableWithoutRules.resources}
and on ${BY_STATION}
${deduplicated('telemetry_station_alertable_resources')}`,
      summary: 'Alertable resources have no alert rules.',
      description: `{{ $value }} alertable resources of type {{ $labels.resource_type }} have no alert rules, some of that type for at least ${parameters.TelemetryStationAlertableWithoutRules.for}. Station: {{ $labels.station }} (job {{ $labels.job }}).`,
      first: 'Add alert rules in the service, or exclude the type from this alert.',
      dashboard: 'station',
    },
    {
      alert: 'TelemetryStationNewResourcesWithoutRules',
      comment:
        'More resources without rules than an hour ago, and resources were added since. The number by type must have grown too: a changed configuration of owners adds none.',
      expr: `(
  ${newWithoutRules(`${TYPE_LABELS}, ${ownerLabel}`)}
) > ${parameters.TelemetryStationNewResourcesWithoutRules.resources}
and on ${BY_TYPE}
(
  ${newWithoutRules(TYPE_LABELS)}
) > 0
and on ${BY_TYPE}
max by ${BY_TYPE} (increase(${metric('telemetry_station_resources_added_total')}[1h])) > 0`,
      summary: 'New resources have no alert rules.',
      description:
        'Station {{ $labels.station }} (job {{ $labels.job }}) has {{ $value }} more resources of type {{ $labels.resource_type }} without alert rules than an hour ago.',
      first: 'Add alert rules for the new resources in the service.',
      dashboard: 'station',
    },
    {
      alert: 'TelemetryStationResourcesLost',
      comment: 'Only listings that are verified complete show removed resources.',
      expr: `${RECORDED.resources} < (1 - ${parameters.TelemetryStationResourcesLost.share}) * max_over_time(${RECORDED.resources}[1h])
and on ${BY_STATION}
${LISTING_COMPLETE}`,
      summary: 'Telemetry station lost many of its resources.',
      description: `Station {{ $labels.station }} (job {{ $labels.job }}) has {{ $value }} resources; within the last hour it had {{ with ${stationQuery(`max_over_time(${RECORDED.resources}{}[1h])`)} }}{{ . | first | value }}{{ end }}. The listing is verified complete.`,
      first: 'Compare with the console of the service: were resources deleted, or did the account lose access to them?',
      dashboard: 'station',
    },
    {
      alert: 'TelemetryStationCapacityDropped',
      comment: 'One alert per station, with all units and GPU models in its text.',
      expr: `max by ${BY_STATION} (
  ${capacityLoss('')}
) > ${parameters.TelemetryStationCapacityDropped.share}
and on ${BY_STATION}
${LISTING_COMPLETE}`,
      summary: 'Telemetry station capacity dropped.',
      description: `Station {{ $labels.station }} (job {{ $labels.job }}) has less capacity than within the last 6 hours:{{ range $index, $loss := ${stationQuery(`round(100 * (${capacityLoss('{}')})) > 100 * ${parameters.TelemetryStationCapacityDropped.share}`)} | sortByLabel "unit" }}{{ if $index }},{{ end }} -{{ $loss.Value }}% {{ $loss.Labels.unit }}{{ with $loss.Labels.gpu_model }} ({{ . }}){{ end }}{{ end }}. The listing is verified complete.`,
      first: 'Check whether workloads ended as planned; otherwise find the removed resources.',
      dashboard: 'station',
    },
  ],
});
