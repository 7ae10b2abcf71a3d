import { labelList } from '../../prometheus/promql/cluster.ts';
import { alertsTable, firingResources } from './alert-panels.ts';
import { DASHED, fixedColor, HUE, UNIT, upMappings } from './appearance.ts';
import { buildDashboard, inventoryLink, line, panelLink } from './build-dashboard.ts';
import { coverageByType, coverageStat, timeToCoverage, withoutRulesStat } from './coverage-panels.ts';
import { ageByStation, failuresByReason, listingStat, oldestData, refreshDuration } from './health-panels.ts';
import {
  addedAndRemoved,
  byOwner,
  capacityTable,
  firingAndPending,
  firingByType,
  firingStat,
  gpusByModel,
  resourcesByProduct,
  resourcesByState,
  resourcesByType,
  resourcesStat,
  stateChanges,
  unknownStateStat,
  unknownStates,
} from './inventory-panels.ts';
import { costByOwner, expectedCapacity, notMonitored } from './optional-panels.ts';
import { coarse, inAnyCluster, linked, stat, timeseries } from './panel.ts';
import { instantQuery, orNone, rangeQuery, Scope, sumBy } from './query.ts';
import { ageOf, ageTable, withoutRules } from './resource-table.ts';
import { oneStationVariables, ownerVariable } from './variables.ts';

const scope = new Scope('station', 'resource_type', 'product');

const upStat = stat(
  {
    title: 'Latest refresh',
    description: 'Whether the latest refresh of every selected station succeeded. `No data`: its exporter is down.',
    unit: UNIT.short,
  },
  instantQuery(`min by ${labelList()} (${scope.stationState()})`),
).mappings(upMappings);

const rulesStat = stat(
  { title: 'Alert rules', description: 'Alert rules of all resources.', unit: UNIT.count },
  instantQuery(scope.sum('telemetry_station_alert_rules')),
);

const withoutRulesTable = ageTable(scope, {
  title: 'Resources without alert rules',
  description:
    'The 100 oldest resources without alert rules, except those known not to be alertable: where a listing is incomplete, they may be more than `Without alert rules` counts. The name links to the resource history.',
  expression: `topk(100, ${ageOf(scope, withoutRules(scope))})`,
  oldestFirst: true,
});

const infos = scope.series('telemetry_station_resource_info');

const oldest = ageTable(scope, {
  title: 'Oldest resources',
  description: 'The ten oldest resources.',
  expression: `topk(10, ${ageOf(scope, infos)})`,
  oldestFirst: true,
});

const newest = ageTable(scope, {
  title: 'Newest resources',
  description: 'The ten newest resources.',
  expression: `bottomk(10, ${ageOf(scope, infos)})`,
  oldestFirst: false,
});

/** Ignores the type and product variables: the service's total covers all resources of a station. */
const allResources = new Scope('station');

const STATION_LABELS = ['job', 'station'] as const;
const reported = allResources.sum('telemetry_station_listing_reported_resources', STATION_LABELS);

const reportedAndReceived = coarse(
  timeseries(
    {
      title: 'Reported and received resources',
      description:
        'The total that the service reports and the resources received, of stations with a total. A lasting difference means an incomplete listing.',
      unit: UNIT.short,
      noValue: 'Not scraped or refreshed, or no total reported',
    },
    rangeQuery(sumBy([], reported), 'Reported'),
    rangeQuery(
      sumBy([], `${allResources.sum('telemetry_station_resources', STATION_LABELS)} and ${reported}`),
      'Received',
    ),
  )
    .overrideByRegexp(inAnyCluster('Reported'), [DASHED, fixedColor(HUE.blue)])
    .overrideByRegexp(inAnyCluster('Received'), [fixedColor(HUE.purple)]),
);

const pagesAndRecords = timeseries(
  {
    title: 'Pages, duplicates and rejected',
    description: 'Pages fetched for the snapshot, duplicate records, and records without a usable id.',
    unit: UNIT.short,
  },
  rangeQuery(allResources.sum('telemetry_station_listing_pages'), 'Pages'),
  rangeQuery(allResources.sum('telemetry_station_listing_duplicate_resources'), 'Duplicates'),
  rangeQuery(allResources.sum('telemetry_station_listing_rejected_resources'), 'Rejected'),
)
  .overrideByRegexp(inAnyCluster('Pages'), [fixedColor(HUE.blue)])
  .overrideByRegexp(inAnyCluster('Duplicates'), [fixedColor(HUE.purple)])
  .overrideByRegexp(inAnyCluster('Rejected'), [fixedColor(HUE.pink)]);

const invalidFields = timeseries(
  {
    title: 'Invalid fields',
    description: 'Field values that could not be read, by field. `none`: all were read.',
    unit: UNIT.short,
  },
  rangeQuery(
    orNone(
      `${allResources.sum('telemetry_station_listing_invalid_fields', ['field'])} > 0`,
      'field',
      allResources.series('telemetry_station_listing_complete'),
    ),
    '{{field}}',
  ),
);

export const station = buildDashboard({
  name: 'station',
  description: 'One telemetry station in detail: resources over time, alert coverage, capacity and listing health.',
  refresh: '5m',
  variables: [...oneStationVariables(), ownerVariable()],
  sections: [
    {
      title: 'Overview: $station',
      lines: [
        line(
          3,
          [5, linked(upStat, panelLink('station', 'Failing stations by reason'))],
          [4, linked(listingStat(scope), panelLink('station', 'Reported and received resources'))],
          [4, linked(firingStat(scope), inventoryLink('Firing resources'))],
          [6, linked(unknownStateStat(scope), panelLink('station', 'States of unknown meaning'))],
          [5, linked(oldestData(scope), panelLink('station', 'Data age'))],
        ),
        line(
          3,
          [6, linked(resourcesStat(scope), inventoryLink('Resources'))],
          [6, linked(withoutRulesStat(scope), panelLink('station', 'Resources without alert rules'))],
          [6, linked(coverageStat(scope), panelLink('station', 'Coverage by type'))],
          [6, rulesStat],
        ),
        line(7, [24, alertsTable(scope, { usedUpstreamsOnly: true })]),
        line(8, [12, firingAndPending(scope)], [12, firingByType(scope)]),
      ],
    },
    { title: 'Firing resources', collapsed: true, lines: [line(10, [24, firingResources(scope)])] },
    {
      title: 'Resources over time',
      lines: [
        line(9, [12, resourcesByState(scope)], [12, unknownStates(scope)]),
        line(9, [12, resourcesByType(scope)], [12, addedAndRemoved(scope)]),
        line(8, [24, stateChanges(scope)]),
      ],
    },
    { title: 'Types and products', lines: [line(9, [12, coverageByType(scope)], [12, resourcesByProduct(scope)])] },
    { title: 'Resources without alert rules', collapsed: true, lines: [line(11, [24, withoutRulesTable])] },
    { title: 'Oldest and newest resources', collapsed: true, lines: [line(9, [24, oldest]), line(9, [24, newest])] },
    { title: 'Owners', collapsed: true, lines: [line(9, [14, byOwner(scope)], [10, timeToCoverage(scope)])] },
    {
      title: 'Expected capacity, cost and monitoring: needs values in the rules',
      collapsed: true,
      lines: [line(9, [14, expectedCapacity(scope)], [10, costByOwner(scope)]), line(9, [24, notMonitored(scope)])],
    },
    { title: 'Capacity', lines: [line(9, [12, gpusByModel(scope)], [12, capacityTable(scope)])] },
    {
      title: 'Listing health',
      lines: [
        line(8, [8, reportedAndReceived], [8, pagesAndRecords], [8, invalidFields]),
        line(8, [8, failuresByReason(scope)], [8, ageByStation(scope)], [8, refreshDuration(scope)]),
      ],
    },
  ],
});
