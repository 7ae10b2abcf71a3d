import { completeMappings, UNIT, upMappings } from './appearance.ts';
import { buildDashboard, line } from './build-dashboard.ts';
import { coverageByType, coverageStat, withoutRulesByType, withoutRulesStat } from './coverage-panels.ts';
import { ageByStation, failuresByReason, oldestData, refreshDuration } from './health-panels.ts';
import {
  addedAndRemoved,
  capacityTable,
  firingStat,
  gpusByModel,
  resourcesByState,
  resourcesByType,
  resourcesStat,
  stateChanges,
} from './inventory-panels.ts';
import { stat, timeseries } from './panel.ts';
import { instantQuery, rangeQuery, Scope } from './query.ts';
import { ageOf, ageTable, NO_RESOURCE_SERIES, RESOURCE_COLUMNS, withoutRules } from './resource-table.ts';
import { stationVariables } from './variables.ts';

const scope = new Scope('station', 'resource_type', 'product');

const upStat = stat(
  {
    title: 'Latest refresh',
    description: 'Whether the latest refresh of every selected station succeeded.',
    unit: UNIT.short,
    noValue: 'No such station',
  },
  instantQuery(`min(${scope.deduplicated('telemetry_station_up')})`),
).mappings(upMappings);

const rulesStat = stat(
  { title: 'Alert rules', description: 'Alert rules of all resources.', unit: UNIT.count, noValue: 'No alert rule counts' },
  instantQuery(scope.sum('telemetry_station_alert_rules')),
);

const completeStat = stat(
  {
    title: 'Listing',
    description: 'Whether the served snapshot is verified complete. An incomplete snapshot may miss resources.',
    unit: UNIT.short,
    noValue: 'No snapshot',
  },
  instantQuery(`min(${scope.deduplicated('telemetry_station_listing_complete')})`),
).mappings(completeMappings);

const withoutRulesTable = ageTable({
  title: 'Resources without alert rules',
  description: 'The 100 oldest resources without alert rules, except non-alertable ones. The name links to the resource history.',
  noValue: NO_RESOURCE_SERIES,
  expression: `topk(100, ${ageOf(scope, withoutRules(scope))})`,
  columns: [...RESOURCE_COLUMNS, { field: 'product', title: 'Product' }, { field: 'station', title: 'Station', width: 110 }],
  oldestFirst: true,
});

const infos = scope.series('telemetry_station_resource_info');

const oldest = ageTable({
  title: 'Oldest resources',
  description: 'The ten oldest resources.',
  noValue: 'No creation times',
  expression: `topk(10, ${ageOf(scope, infos)})`,
  columns: RESOURCE_COLUMNS,
  oldestFirst: true,
});

const newest = ageTable({
  title: 'Newest resources',
  description: 'The ten newest resources.',
  noValue: 'No creation times',
  expression: `bottomk(10, ${ageOf(scope, infos)})`,
  columns: RESOURCE_COLUMNS,
  oldestFirst: false,
});

/** Ignores the type and product variables: the service's total covers all resources of a station. */
const allResources = new Scope('station');

const reportedAndReceived = timeseries(
  {
    title: 'Reported and received resources',
    description:
      'The total that the service reports, if any, and the resources received. A lasting difference means an incomplete listing.',
    unit: UNIT.short,
    noValue: 'No snapshot',
  },
  rangeQuery(allResources.sum('telemetry_station_listing_reported_resources', ['station']), '{{station}}: reported'),
  rangeQuery(allResources.sum('telemetry_station_resources', ['station']), '{{station}}: received'),
);

const pagesAndRecords = timeseries(
  {
    title: 'Pages, duplicate and rejected records',
    description: 'Pages fetched for the snapshot, duplicate records, and records without a usable id.',
    unit: UNIT.short,
    noValue: 'No snapshot',
  },
  rangeQuery(allResources.sum('telemetry_station_listing_pages', ['station']), '{{station}}: pages'),
  rangeQuery(allResources.sum('telemetry_station_listing_duplicate_resources', ['station']), '{{station}}: duplicates'),
  rangeQuery(allResources.sum('telemetry_station_listing_rejected_resources', ['station']), '{{station}}: rejected'),
);

const invalidFields = timeseries(
  {
    title: 'Invalid fields',
    description: 'Field values that could not be read, by field.',
    unit: UNIT.short,
    noValue: 'No invalid fields',
  },
  rangeQuery(`${allResources.sum('telemetry_station_listing_invalid_fields', ['field'])} > 0`, '{{field}}'),
);

export const station = buildDashboard({
  name: 'station',
  description: 'One telemetry station in detail: resources over time, alert coverage, capacity and listing health.',
  refresh: '5m',
  variables: stationVariables(),
  sections: [
    {
      title: 'Overview: $station',
      lines: [
        line(
          4,
          [3, upStat],
          [3, resourcesStat(scope)],
          [3, firingStat(scope)],
          [3, rulesStat],
          [3, withoutRulesStat(scope)],
          [3, coverageStat(scope)],
          [3, oldestData(scope)],
          [3, completeStat],
        ),
      ],
    },
    {
      title: 'Resources over time',
      lines: [
        line(9, [12, resourcesByState(scope)], [12, resourcesByType(scope)]),
        line(8, [12, addedAndRemoved(scope)], [12, stateChanges(scope)]),
      ],
    },
    {
      title: 'Alert coverage',
      lines: [line(9, [12, coverageByType(scope)], [12, withoutRulesByType(scope)]), line(11, [24, withoutRulesTable])],
    },
    { title: 'Oldest and newest resources', lines: [line(11, [12, oldest], [12, newest])] },
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
