import { labelList } from '../../prometheus/promql/cluster.ts';
import { alertsTable, firingResources } from './alert-panels.ts';
import {
  ageThresholds,
  listingMappings,
  noneKnownMappings,
  orangeFromOne,
  redFromOne,
  UNIT,
  upMappings,
} from './appearance.ts';
import { buildDashboard, exporterLink, inventoryLink, line, panelLink } from './build-dashboard.ts';
import {
  coverage,
  coverageByStation,
  coverageByType,
  coverageColumn,
  coverageStat,
  timeToCoverage,
  withoutRulesStat,
} from './coverage-panels.ts';
import {
  ageByStation,
  dataAge,
  exportersUp,
  failuresByReason,
  listingState,
  oldestData,
  refreshDuration,
  upTimeline,
} from './health-panels.ts';
import {
  addedAndRemoved,
  byOwner,
  capacityTable,
  firingAndPending,
  firingByType,
  firingCount,
  firingStat,
  gpusByModel,
  resourceCount,
  resourcesByProduct,
  resourcesByState,
  resourcesByType,
  resourcesStat,
  stateChanges,
  unknownStateStat,
  unknownStates,
} from './inventory-panels.ts';
import { costByOwner, expectedCapacity, notMonitored } from './optional-panels.ts';
import { inAnyCluster, linked, stat, table } from './panel.ts';
import { BY_STATION, instantQuery, noneOrUnknown, Scope, sumBy, tableQuery } from './query.ts';
import { STATION_COLUMNS } from './resource-table.ts';
import { ownerVariable, stationVariables } from './variables.ts';

const scope = new Scope('station', 'resource_type', 'product');
const state = scope.stationState();

const stationsStat = stat(
  {
    title: 'Stations',
    description: 'Stations seen within the time range, without those removed from the configuration.',
    unit: UNIT.count,
  },
  instantQuery(`count by ${labelList()} (${state})`),
);

const failingStat = stat(
  {
    title: 'Failing',
    description:
      'Stations whose latest refresh failed or that were never refreshed. `None known`: none, but stations are missing.',
    unit: UNIT.count,
  },
  instantQuery(
    noneOrUnknown(
      sumBy([], `${state} == bool 0`),
      `count by ${labelList()} (${state})`,
      `max by ${labelList()} (${state} < bool 0)`,
    ),
  ),
)
  .thresholds(redFromOne())
  .mappings(noneKnownMappings);

const missingStat = stat(
  {
    title: 'Missing',
    description: 'Stations seen within the time range without data now, because their exporter is down or gone.',
    unit: UNIT.count,
  },
  instantQuery(sumBy([], `${state} < bool 0`)),
).thresholds(redFromOne());

const incompleteStat = stat(
  {
    title: 'Incomplete',
    description:
      'Stations whose listing is not verified complete: it may be missing resources, or has rejected records. `None known`: none, but a station has no listing.',
    unit: UNIT.count,
  },
  instantQuery(
    noneOrUnknown(
      sumBy([], `${listingState(scope)} < bool 1`),
      `count by ${labelList()} (${state})`,
      `max by ${labelList()} ((${listingState(scope)} >= bool -1 or 0 * ${state}) == bool 0)`,
    ),
  ),
)
  .thresholds(orangeFromOne())
  .mappings(noneKnownMappings);

/** Adds the number of stations that a sum does not include because they have no data; nothing beside no sum. */
function withMissingStations(panel: ReturnType<typeof stat>) {
  const withData = scope.deduplicated('telemetry_station_listing_complete');
  const missing = `count by ${labelList()} (${state} unless on ${BY_STATION} ${withData})`;
  return panel
    .withTarget(instantQuery(`${missing} and on ${labelList()} ${withData}`, MISSING_STATIONS))
    .overrideByRegexp(inAnyCluster(MISSING_STATIONS), [{ id: 'thresholds', value: orangeFromOne().build() }]);
}

const MISSING_STATIONS = 'Stations missing';

const STATION_LABELS = ['job', 'station'] as const;

const stationTable = table(
  {
    title: 'All stations',
    description:
      'Up to 500 stations: those without data first, then failing ones. The name links to the station dashboard, which shows how many resources the coverage does not count.',
  },
  [
    tableQuery(`max by ${labelList('job', 'station', 'upstream')} (${scope.series('telemetry_station_info')})`),
    tableQuery(state),
    tableQuery(`topk by ${BY_STATION} (1, ${scope.deduplicated('telemetry_station_failure')} == 1)`),
    tableQuery(`1000 * ${scope.gone('telemetry_station_last_attempt_timestamp_seconds')}`),
    tableQuery(resourceCount(scope, STATION_LABELS)),
    tableQuery(firingCount(scope, STATION_LABELS)),
    tableQuery(coverage(scope, STATION_LABELS)),
    tableQuery(listingState(scope)),
    tableQuery(dataAge(scope.deduplicated('telemetry_station_last_success_timestamp_seconds'))),
  ],
  [
    ...STATION_COLUMNS,
    { field: 'Value #B', title: 'Refresh', mappings: upMappings, width: 95 },
    { field: 'reason', title: 'Reason', width: 105 },
    { field: 'Value #D', title: 'No data since', unit: UNIT.date, width: 160 },
    { field: 'Value #E', title: 'Resources', unit: UNIT.count, width: 110 },
    {
      field: 'Value #F',
      title: 'Firing',
      unit: UNIT.count,
      thresholds: redFromOne(),
      mappings: noneKnownMappings,
      width: 95,
    },
    coverageColumn('Value #G'),
    { field: 'Value #H', title: 'Listing', mappings: listingMappings, width: 105 },
    { field: 'Value #I', title: 'Data age', unit: UNIT.seconds, decimals: 0, thresholds: ageThresholds(), width: 100 },
    { field: 'upstream', title: 'Upstream' },
  ],
  { by: 'Value #B', descending: false, limit: 500 },
);

const allStations = panelLink('fleet', 'All stations');

export const fleet = buildDashboard({
  name: 'fleet',
  description: 'All telemetry stations: refresh status, resources, alert coverage, capacity and changes.',
  refresh: '1m',
  variables: [...stationVariables(), ownerVariable()],
  sections: [
    {
      title: 'Overview',
      lines: [
        line(
          3,
          [5, linked(exportersUp(scope), exporterLink)],
          [5, linked(stationsStat, allStations)],
          [5, linked(missingStat, allStations)],
          [4, linked(failingStat, allStations)],
          [5, linked(oldestData(scope), panelLink('fleet', 'Data age'))],
        ),
        line(
          3,
          [6, linked(firingStat(scope), inventoryLink('Firing resources'))],
          [6, linked(unknownStateStat(scope), panelLink('fleet', 'States of unknown meaning'))],
          [6, linked(withMissingStations(resourcesStat(scope)), inventoryLink('Resources'))],
          [6, linked(incompleteStat, allStations)],
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
        line(9, [12, resourcesByState(scope)], [12, unknownStates(scope)]),
        line(9, [12, resourcesByType(scope)], [12, resourcesByProduct(scope)]),
      ],
    },
    {
      title: 'Alert coverage',
      lines: [
        line(
          3,
          [12, linked(withMissingStations(withoutRulesStat(scope)), panelLink('fleet', 'Coverage by type'))],
          [12, linked(coverageStat(scope), panelLink('fleet', 'Coverage by station'))],
        ),
        line(9, [12, coverageByStation(scope)], [12, coverageByType(scope)]),
      ],
    },
    { title: 'Owners', collapsed: true, lines: [line(9, [14, byOwner(scope)], [10, timeToCoverage(scope)])] },
    {
      title: 'Expected capacity, cost and monitoring: needs values in the rules',
      collapsed: true,
      lines: [line(9, [14, expectedCapacity(scope)], [10, costByOwner(scope)]), line(9, [24, notMonitored(scope)])],
    },
    { title: 'Capacity', lines: [line(9, [12, gpusByModel(scope)], [12, capacityTable(scope)])] },
    { title: 'Changes', lines: [line(8, [12, addedAndRemoved(scope)], [12, stateChanges(scope)])] },
  ],
});
