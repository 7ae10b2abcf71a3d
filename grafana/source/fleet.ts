import { alertsTable, firingResources } from './alert-panels.ts';
import {
  ageThresholds,
  completeMappings,
  coverageThresholds,
  orangeFromOne,
  redFromOne,
  UNIT,
  upMappings,
} from './appearance.ts';
import { buildDashboard, line, panelLink, resourcesLink, stationLink } from './build-dashboard.ts';
import { coverage, coverageByStation, coverageByType, coverageStat, withoutRulesStat } from './coverage-panels.ts';
import { ageByStation, dataAge, failuresByReason, oldestData, refreshDuration, upTimeline } from './health-panels.ts';
import {
  addedAndRemoved,
  capacityTable,
  FIRING_RESOURCES,
  firingAndPending,
  firingByType,
  firingCount,
  firingStat,
  gpusByModel,
  gpusStat,
  resourceCount,
  resourcesByProduct,
  resourcesByState,
  resourcesByStation,
  resourcesByType,
  resourcesStat,
  stateChanges,
} from './inventory-panels.ts';
import { linked, stat, table } from './panel.ts';
import { instantQuery, Scope, tableQuery } from './query.ts';
import { stationVariables } from './variables.ts';

const scope = new Scope('station', 'resource_type', 'product');

const stationsStat = stat(
  { title: 'Stations', description: 'Configured stations.', unit: UNIT.count, noValue: 'None' },
  instantQuery(`count(${scope.deduplicated('telemetry_station_up')})`),
);

const failingStat = stat(
  {
    title: 'Failing',
    description: 'Stations whose latest refresh failed or that were never refreshed.',
    unit: UNIT.count,
    noValue: 'No stations',
  },
  instantQuery(`sum(${scope.deduplicated('telemetry_station_up')} == bool 0)`),
).thresholds(redFromOne());

const BY_STATION = ['job', 'station'] as const;

/** Prefers failing stations when there are more stations than rows. */
const listedStations = `bottomk(500, ${scope.deduplicated('telemetry_station_up')})`;
const columnQuery = (expression: string) => tableQuery(`(${expression}) and on (job, station) ${listedStations}`);

const stationTable = table(
  {
    title: 'All stations',
    description: 'Up to 500 stations, failing stations first. The name links to the station dashboard.',
    noValue: 'No stations',
  },
  [
    columnQuery(`max by (job, station, upstream, zone) (${scope.series('telemetry_station_info')})`),
    tableQuery(listedStations),
    columnQuery(`topk by (job, station) (1, ${scope.deduplicated('telemetry_station_failure')} == 1)`),
    columnQuery(resourceCount(scope, BY_STATION)),
    columnQuery(firingCount(scope, BY_STATION)),
    columnQuery(scope.sum('telemetry_station_resources_without_alert_rules', BY_STATION)),
    columnQuery(coverage(scope, BY_STATION)),
    columnQuery(scope.deduplicated('telemetry_station_listing_complete')),
    columnQuery(dataAge(scope)),
    columnQuery(scope.deduplicated('telemetry_station_refresh_duration_seconds')),
  ],
  [
    { field: 'station', title: 'Station', link: stationLink, width: 120 },
    { field: 'Value #B', title: 'Refresh', mappings: upMappings, width: 95 },
    { field: 'reason', title: 'Reason', width: 110 },
    { field: 'Value #D', title: 'Resources', unit: UNIT.count, width: 110 },
    { field: 'Value #E', title: 'Firing', unit: UNIT.count, thresholds: orangeFromOne(), width: 80 },
    { field: 'Value #F', title: 'No rules', unit: UNIT.count, width: 95 },
    {
      field: 'Value #G',
      title: 'Coverage',
      unit: UNIT.ratio,
      decimals: 0,
      thresholds: coverageThresholds(),
      width: 100,
    },
    { field: 'Value #H', title: 'Listing', mappings: completeMappings, width: 105 },
    { field: 'Value #I', title: 'Data age', unit: UNIT.seconds, decimals: 0, thresholds: ageThresholds(), width: 100 },
    { field: 'Value #J', title: 'Duration', unit: UNIT.seconds, decimals: 1, width: 95 },
    { field: 'upstream', title: 'Upstream', width: 120 },
    { field: 'zone', title: 'Zone', width: 100 },
  ],
  { by: 'Refresh', descending: false },
);

const allStations = panelLink('fleet', 'All stations');

export const fleet = buildDashboard({
  name: 'fleet',
  description: 'All telemetry stations: refresh status, resources, alert coverage, capacity and changes.',
  refresh: '1m',
  variables: stationVariables(),
  sections: [
    {
      title: 'Overview',
      lines: [
        line(
          3,
          [6, linked(stationsStat, allStations)],
          [6, linked(failingStat, allStations)],
          [6, linked(firingStat(scope), FIRING_RESOURCES)],
          [6, linked(oldestData(scope), panelLink('fleet', 'Data age'))],
        ),
        line(
          3,
          [6, linked(resourcesStat(scope), resourcesLink('Resources'))],
          [6, linked(withoutRulesStat(scope), allStations)],
          [6, linked(coverageStat(scope), panelLink('fleet', 'Coverage by type'))],
          [6, linked(gpusStat(scope), panelLink('fleet', 'Capacity by unit and model'))],
        ),
        line(7, [24, alertsTable(scope)]),
        line(8, [12, firingAndPending(scope)], [12, firingByType(scope)]),
      ],
    },
    { title: 'Firing resources', collapsed: true, lines: [line(10, [24, firingResources(scope)])] },
    {
      title: 'Stations',
      lines: [
        line(8, [12, upTimeline(scope)], [12, failuresByReason(scope)]),
        line(10, [24, stationTable]),
        line(8, [12, ageByStation(scope)], [12, refreshDuration(scope)]),
      ],
    },
    {
      title: 'Resources',
      lines: [
        line(9, [12, resourcesByType(scope)], [12, resourcesByState(scope)]),
        line(8, [12, resourcesByStation(scope)], [12, resourcesByProduct(scope)]),
      ],
    },
    { title: 'Alert coverage', lines: [line(9, [12, coverageByStation(scope)], [12, coverageByType(scope)])] },
    { title: 'Capacity', lines: [line(9, [12, gpusByModel(scope)], [12, capacityTable(scope)])] },
    { title: 'Changes', lines: [line(8, [12, addedAndRemoved(scope)], [12, stateChanges(scope)])] },
  ],
});
