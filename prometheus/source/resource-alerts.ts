import { CLUSTER, labelList } from '../promql/cluster.ts';
import { FIRING_RESOURCES, lastKnownRules, manyFiring, manyFiringText, RESOURCE_MARK } from './last-known.ts';
import type { Parameters } from './parameters.ts';
import { indented, RECORDED, resourcesByOwner, TYPE_LABELS, withoutRulesBy } from './recording.ts';
import {
  BY_STATION,
  BY_TYPE,
  deduplicated,
  JOB_TEXT,
  LISTING_ADDS_UP,
  LISTING_COMPLETE,
  metric,
  ownerQuery,
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
const capacityLoss = (recorded: string, selector: string) => {
  const capacity = `${recorded}${selector}`;
  const largest = `max_over_time(${capacity}[6h])`;
  return `1 - (${capacity} or 0 * ${largest}) / (${largest} > 0)
  and on ${BY_COMPARABLE}
  ${RECORDED.comparable}${selector.replace('owner', '')}`;
};

/** Templates of the lost capacities, of the alert's station or of an owner there: ` -50% GPU (H800), -30% GiB`. */
function lossTexts(share: string | number, ownerLabel: string) {
  const percents = (recorded: string, selector: string) =>
    `round(100 * (${capacityLoss(recorded, selector).replace(/\s+/g, ' ')}))`;
  const listed = (query: string) =>
    `{{ range $index, $loss := ${query} | sortByLabel "unit" }}{{ if $index }},{{ end }} -{{ $loss.Value }}% {{ $loss.Labels.unit }}{{ with $loss.Labels.gpu_model }} ({{ . }}){{ end }}{{ end }}`;
  return {
    ofStation: listed(stationQuery(`${percents(RECORDED.comparableCapacity, '{}')} > 100 * ${share}`)),
    ofOwner: listed(
      ownerQuery(`${percents(RECORDED.comparableCapacityByOwner, '{owner}')} > 50 * ${share}`, ownerLabel),
    ),
  };
}

/**
 * Resources of owners who lost more than half of this share of their own. Where the station lost the whole share, the others lost less than half
 * of that, so that these owners explain most of it. An owner who lost all has no series and counts as 0; all rejected records may be of each.
 */
function lossByOwner(share: string | number, ownerLabel: string): string {
  const before = `max_over_time(${RECORDED.comparableResourcesByOwner}[1h])`;
  return `(
    ${resourcesByOwner(ownerLabel)}
    or
    0 * ${before}
  )
  <
  (
    (1 - ${share} / 2) * ${before}
    - on ${BY_STATION} group_left ()
    (${rejected} or 0 * ${RECORDED.resources})
  )`;
}

const BY_SKU = labelList('station', 'gpu_model', 'unit');

/** Template of the expected quantity. */
const expectedQuery = `query (printf \`${RECORDED.expected}{${CLUSTER}=%[1]q,station=%[2]q,gpu_model=%[3]q,unit=%[4]q}\` $labels.${CLUSTER} $labels.station $labels.gpu_model $labels.unit)`;

/** Resources of the stations. Only the first alert reads per-resource series. */
export function resourceAlerts(parameters: Parameters, ownerLabel: string): RuleGroup {
  const { TelemetryStationResourcesLost: lost, TelemetryStationCapacityDropped: dropped } = parameters;
  const losses = lossTexts(dropped.share, ownerLabel);
  const ownedBefore = ownerQuery(`max_over_time(${RECORDED.comparableResourcesByOwner}{owner}[1h])`, ownerLabel);
  const ownerText = `{{ with $labels.${ownerLabel} }}Resources of {{ . }}: {{ $value }}, before {{ with ${ownedBefore} }}{{ . | first | value }}{{ end }}. {{ end }}`;
  return {
    name: 'telemetry-station-resources',
    rules: [
      ...lastKnownRules(parameters, ownerLabel),
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
          'One alert for a mass failure: the example Alertmanager configuration inhibits the alerts of its single resources. Stays as last known as well. Has an owner if all resources of the station had the same when it began.',
        expr: manyFiring(ownerLabel),
        summary: 'Many resources of a telemetry station are firing.',
        description: manyFiringText(parameters, ownerLabel),
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
          'Compares listings that add up, and counts each rejected record as a resource that is left: none is lost that may be among them. Where resources have owners, one alert for each who lost more than half of the share.',
        expr: `(
  ${lossByOwner(lost.share, ownerLabel)}
  or on ${BY_STATION}
  ${RECORDED.resources}
)
and on ${BY_STATION}
(
  ${mostResources}
  < on ${BY_STATION}
  (1 - ${lost.share}) * max_over_time(${RECORDED.comparableResources}[1h])
)
and on ${BY_STATION}
${LISTING_ADDS_UP}`,
        summary: 'Telemetry station lost many of its resources.',
        description: `Station {{ $labels.station }} (${JOB_TEXT}) has {{ with ${stationQuery(`${RECORDED.resources}{}`)} }}{{ . | first | value }}{{ end }} resources; the listings before, which also add up, had {{ with ${stationQuery(`max_over_time(${RECORDED.comparableResources}{}[1h])`)} }}{{ . | first | value }}{{ end }}. ${ownerText}More than the threshold is missing${rejectedText}.`,
        first:
          'Compare with the console of the service: were resources deleted, or did the account lose access to them?',
        dashboard: 'station',
      },
      {
        alert: 'TelemetryStationCapacityDropped',
        comment:
          'One alert per station, with all units and GPU models in its text; where resources have owners, one for each who lost more than half of the share. Compares comparable listings only.',
        expr: `max by ${labelList('job', 'station', ownerLabel)} (
  (
    ${indented(capacityLoss(RECORDED.comparableCapacityByOwner, ''))}
  ) > ${dropped.share} / 2
  and on ${labelList('job', 'station', 'gpu_model', 'unit')}
  (
    ${indented(capacityLoss(RECORDED.comparableCapacity, ''))}
  ) > ${dropped.share}
)
or on ${BY_STATION}
max by ${BY_STATION} (
  ${capacityLoss(RECORDED.comparableCapacity, '')}
) > ${dropped.share}`,
        summary: 'Telemetry station capacity dropped.',
        description: `Station {{ $labels.station }} (${JOB_TEXT}) has less capacity{{ with $labels.${ownerLabel} }} of {{ . }}{{ end }} than within the last 6 hours:{{ if $labels.${ownerLabel} }}${losses.ofOwner}{{ else }}${losses.ofStation}{{ end }}. Only listings that add up and rejected the same number of records are compared.`,
        first: 'Check whether workloads ended as planned; otherwise find the removed resources.',
        dashboard: 'station',
      },
      {
        alert: 'TelemetryStationCapacityBelowExpected',
        comment:
          'Needs `expectedQuantities`. Compares the last complete listing; a GPU model or unit that is missing from it has no series and counts as 0. If several jobs have a station of the same name, the largest capacity counts.',
        expr: `(
  max by ${BY_SKU} (${RECORDED.comparableCapacity}{rejected_records="0"})
  or
  (
    0 * ${RECORDED.expected}
    and on ${labelList('station')}
    ${LISTING_COMPLETE}
  )
)
< on ${BY_SKU}
${RECORDED.expected}`,
        summary: 'Telemetry station has less capacity than expected.',
        description: `Station {{ $labels.station }}{{ with $labels.${CLUSTER} }} (cluster {{ . }}){{ end }} has had less than the expected capacity for at least ${parameters.TelemetryStationCapacityBelowExpected.for}: {{ $value | printf "%.12g" }} of {{ with ${expectedQuery} }}{{ . | first | value | printf "%.12g" }}{{ end }} {{ $labels.unit }}{{ with $labels.gpu_model }} ({{ . }}){{ end }}.`,
        first:
          'Find out whether capacity was released or was never delivered; otherwise correct the expected quantity.',
        dashboard: 'station',
      },
      {
        alert: 'TelemetryStationResourcesNotMonitored',
        comment: 'Needs `monitoredBy`. Resources of complete listings that no target of Prometheus knows.',
        expr: `${RECORDED.notMonitored} > ${parameters.TelemetryStationResourcesNotMonitored.resources}`,
        summary: 'Resources are listed but not monitored.',
        description: `{{ $value }} resources of type {{ $labels.resource_type }} of ${STATION_TEXT} are in its last complete listing, but no target of Prometheus is known for them, some of that type for at least ${parameters.TelemetryStationResourcesNotMonitored.for}.`,
        first: 'Find the resources with the query of the runbook and add them to the scrape configuration.',
        dashboard: 'station',
      },
    ],
  };
}
