import { CLUSTER, labelList } from '../promql/cluster.ts';
import { FIRING_RESOURCES, lastKnownRules, MANY_FIRING, manyFiringText, RESOURCE_MARK } from './last-known.ts';
import type { Parameters } from './parameters.ts';
import { RECORDED, TYPE_LABELS, withoutRulesBy } from './recording.ts';
import {
  BY_STATION,
  BY_TYPE,
  deduplicated,
  JOB_TEXT,
  LISTING_ADDS_UP,
  LISTING_COMPLETE,
  metric,
  type RuleGroup,
  resourceQuery,
  STATION_TEXT,
  stationQuery,
} from './rule.ts';

const BY_COMPARABLE = labelList('job', 'station', 'rejected_records');

/** How many more there are than an hour ago, in comparable listings; a group that is new counts from 0 if its station is not new. */
const newWithoutRules = (withoutRules: string) => `${withoutRules}
  -
  (
    ${withoutRules} offset 1h
    or
    (
      0 * ${withoutRules}
      and on ${BY_COMPARABLE}
      (
        ${RECORDED.comparable} offset 1h
        or
        ${withoutRules} offset 1h
      )
    )
  )`;

const info = `${metric('telemetry_station_resource_info')}{resource}`;

/**
 * The info series of the alert's resource. Without one the latest of the last hours: the labels of the alert must not change while its station
 * has no data, or it would resolve and fire anew. The subquery finds the latest, because the resource may have been renamed; it does not find a
 * series between two of its steps, which counts as the oldest.
 */
const latestInfo = `topk(1, max_over_time(timestamp(${info})[7h:1m]) or 0 * last_over_time(${info}[7h]))`;
const withInfo = (text: string) =>
  `{{ with ${resourceQuery(info)} }}${text}{{ else }}{{ with ${resourceQuery(latestInfo)} }}${text}{{ end }}{{ end }}`;
const infoLabel = (label: string) => withInfo(`{{ . | first | label "${label}" }}`);

const rejected = deduplicated('telemetry_station_listing_rejected_resources');

/** The resources that are left at most: each rejected record may be one. */
const mostResources = `(${RECORDED.resources} + on ${BY_STATION} ${rejected} or ${RECORDED.resources})`;
const rejectedText = `{{ with ${stationQuery(`max(${metric('telemetry_station_listing_rejected_resources')}{}) > 0`)} }}, even if the {{ . | first | value }} rejected records are among its resources{{ end }}`;

/** Share of a capacity lost within 6 hours of comparable listings; one that disappeared has no series and counts as 0. */
const capacityLoss = (selector: string) => {
  const capacity = `${RECORDED.comparableCapacity}${selector}`;
  const largest = `max_over_time(${capacity}[6h])`;
  return `1 - (${capacity} or 0 * ${largest}) / (${largest} > 0)
  and on ${BY_COMPARABLE}
  ${RECORDED.comparable}${selector}`;
};

const BY_SKU = labelList('station', 'gpu_model', 'unit');

/** Template of the expected quantity. */
const expectedQuery = `query (printf \`${RECORDED.expected}{${CLUSTER}=%[1]q,station=%[2]q,gpu_model=%[3]q,unit=%[4]q}\` $labels.${CLUSTER} $labels.station $labels.gpu_model $labels.unit)`;

/** Resources of the stations. Only the first alert reads per-resource series. */
export const resourceAlerts = (parameters: Parameters, ownerLabel: string): RuleGroup => ({
  name: 'telemetry-station-resources',
  rules: [
    ...lastKnownRules(parameters),
    {
      alert: 'TelemetryStationResourceFiring',
      comment:
        'Stays as last known while it is unknown whether the resource fires, see docs/runbooks. Prometheus needs about a millisecond per alert: a station with more than `limit` firing resources has TelemetryStationManyResourcesFiring alone. The value is the number of resources.',
      expr: `0 * ${FIRING_RESOURCES} + 1`,
      labels: {
        display_name: infoLabel('display_name'),
        resource_type: infoLabel('resource_type'),
        [ownerLabel]: infoLabel(ownerLabel),
      },
      summary: 'Resource alert is firing.',
      description: `Resource {{ $labels.name }}${withInfo(' ({{ . | first | label "display_name" }}, {{ . | first | label "resource_type" }})')} of ${STATION_TEXT} has been firing for at least ${parameters.TelemetryStationResourceFiring.for}${RESOURCE_MARK}. Its id: {{ $labels.resource_id }}.`,
      first: 'Open the resource in the console of the service and find the firing alert rule.',
      dashboard: 'resources',
    },
    {
      alert: 'TelemetryStationManyResourcesFiring',
      comment:
        'One alert for a mass failure: the example Alertmanager configuration inhibits the alerts of its single resources. Stays as last known as well.',
      expr: MANY_FIRING,
      summary: 'Many resources of a telemetry station are firing.',
      description: manyFiringText(parameters),
      first: 'Look for a common cause: the dashboard shows the types that fire.',
      dashboard: 'station',
    },
    {
      alert: 'TelemetryStationAlertableWithoutRules',
      comment:
        'One alert per type and owner, because a station may have thousands of such resources. Needs `alertability` or exemptions.',
      expr: `${withoutRulesBy(...TYPE_LABELS, ownerLabel)} > ${parameters.TelemetryStationAlertableWithoutRules.resources}
and on ${BY_STATION}
${deduplicated('telemetry_station_alertable_resources')}`,
      summary: 'Alertable resources have no alert rules.',
      description: `{{ $value }} alertable resources of type {{ $labels.resource_type }} have no alert rules, some of that type for at least ${parameters.TelemetryStationAlertableWithoutRules.for}. Station: {{ $labels.station }} (${JOB_TEXT}).`,
      first: 'Add alert rules in the service, or exempt the resources: alertable: false in resource_labels.',
      dashboard: 'station',
    },
    {
      alert: 'TelemetryStationNewResourcesWithoutRules',
      comment:
        'More resources without rules than an hour ago, in comparable listings, and resources were added since. The number by type must have grown too: a changed configuration of owners adds none.',
      expr: `sum by ${labelList(...TYPE_LABELS, ownerLabel)} (
  ${newWithoutRules(RECORDED.comparableWithoutRulesByOwner)}
) > ${parameters.TelemetryStationNewResourcesWithoutRules.resources}
and on ${BY_TYPE}
(
  ${newWithoutRules(RECORDED.comparableWithoutRules)}
) > 0
and on ${BY_TYPE}
max by ${BY_TYPE} (increase(${metric('telemetry_station_resources_added_total')}[1h])) > 0
and on ${BY_STATION}
${RECORDED.comparable}`,
      summary: 'New resources have no alert rules.',
      description: `Station {{ $labels.station }} (${JOB_TEXT}) has {{ $value }} more resources of type {{ $labels.resource_type }} without alert rules than an hour ago.`,
      first: 'Add alert rules for the new resources in the service.',
      dashboard: 'station',
    },
    {
      alert: 'TelemetryStationResourcesLost',
      comment:
        'Compares listings that add up, and counts each rejected record as a resource that is left: none is lost that may be among them.',
      expr: `${RECORDED.resources}
and on ${BY_STATION}
(
  ${mostResources}
  < on ${BY_STATION}
  (1 - ${parameters.TelemetryStationResourcesLost.share}) * max_over_time(${RECORDED.comparableResources}[1h])
)
and on ${BY_STATION}
${LISTING_ADDS_UP}`,
      summary: 'Telemetry station lost many of its resources.',
      description: `Station {{ $labels.station }} (${JOB_TEXT}) has {{ $value }} resources; the listings before, which also add up, had {{ with ${stationQuery(`max_over_time(${RECORDED.comparableResources}{}[1h])`)} }}{{ . | first | value }}{{ end }}. More than the threshold is missing${rejectedText}.`,
      first: 'Compare with the console of the service: were resources deleted, or did the account lose access to them?',
      dashboard: 'station',
    },
    {
      alert: 'TelemetryStationCapacityDropped',
      comment: 'One alert per station, with all units and GPU models in its text. Compares comparable listings only.',
      expr: `max by ${BY_STATION} (
  ${capacityLoss('')}
) > ${parameters.TelemetryStationCapacityDropped.share}`,
      summary: 'Telemetry station capacity dropped.',
      description: `Station {{ $labels.station }} (${JOB_TEXT}) has less capacity than within the last 6 hours:{{ range $index, $loss := ${stationQuery(`round(100 * (${capacityLoss('{}').replace(/\s+/g, ' ')})) > 100 * ${parameters.TelemetryStationCapacityDropped.share}`)} | sortByLabel "unit" }}{{ if $index }},{{ end }} -{{ $loss.Value }}% {{ $loss.Labels.unit }}{{ with $loss.Labels.gpu_model }} ({{ . }}){{ end }}{{ end }}. Only listings that add up and rejected the same number of records are compared.`,
      first: 'Check whether workloads ended as planned; otherwise find the removed resources.',
      dashboard: 'station',
    },
    {
      alert: 'TelemetryStationCapacityBelowExpected',
      comment:
        'Needs `expectedQuantities`. A GPU model or unit that is missing from a complete listing has no series and counts as 0.',
      expr: `(
  ${RECORDED.capacity}
  < on ${BY_SKU} group_left ()
  ${RECORDED.expected}
  and on ${BY_STATION}
  ${LISTING_COMPLETE}
)
or
(
  0 * ${RECORDED.expected}
  unless on ${BY_SKU}
  ${RECORDED.capacity}
  and on ${labelList('station')}
  ${LISTING_COMPLETE}
)`,
      summary: 'Telemetry station has less capacity than expected.',
      description: `Station {{ $labels.station }}{{ with $labels.${CLUSTER} }} (cluster {{ . }}){{ end }} has had less than the expected capacity for at least ${parameters.TelemetryStationCapacityBelowExpected.for}: {{ $value }} of {{ with ${expectedQuery} }}{{ . | first | value }}{{ end }} {{ $labels.unit }}{{ with $labels.gpu_model }} ({{ . }}){{ end }}.`,
      first: 'Find out whether capacity was released or was never delivered; otherwise correct the expected quantity.',
      dashboard: 'station',
    },
    {
      alert: 'TelemetryStationResourcesNotMonitored',
      comment: 'Needs `monitoredBy`. Resources of complete listings that no target of Prometheus knows.',
      expr: `${RECORDED.notMonitored} > ${parameters.TelemetryStationResourcesNotMonitored.resources}`,
      summary: 'Resources are listed but not monitored.',
      description: `{{ $value }} resources of type {{ $labels.resource_type }} of ${STATION_TEXT} are in its listing, but no target of Prometheus has been known for them for at least ${parameters.TelemetryStationResourcesNotMonitored.for}.`,
      first: 'Find the resources with the query of the runbook and add them to the scrape configuration.',
      dashboard: 'station',
    },
  ],
});
