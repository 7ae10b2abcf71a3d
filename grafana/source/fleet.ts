import {
  ageThresholds,
  blueFromOne,
  greenIfAll,
  listingMappings,
  neverMappings,
  orangeFromOne,
  redFromOne,
  refreshMappings,
  UNIT,
} from './appearance.ts';
import { buildDashboard, exporterLink, line, stationLink } from './build-dashboard.ts';
import { stat, stateTimeline, table } from './panel.ts';
import { instantQuery, rangeQuery, Scope, tableQuery } from './query.ts';
import {
  ALL,
  addedAndRemoved,
  alertCoverage,
  alerts,
  COVERAGE_COLUMN,
  capacity,
  firingAndPending,
  firingResources,
  oldestData,
  owners,
  refreshResult,
  resourceCounts,
  STATION_COLUMN,
  stateChanges,
  TYPE_COLUMN,
  types,
} from './station-panels.ts';
import { hidden, jobVariables, multiple, stationVariable, textVariable } from './variables.ts';

const scope = new Scope('station=~"$station"');

const exportersUp = stat(
  {
    title: 'Exporters up',
    description: 'Share of the exporters that Prometheus can scrape.',
    unit: UNIT.ratio,
    noValue: 'Not scraped',
    link: exporterLink,
  },
  instantQuery(`avg(${new Scope().series('up')})`),
)
  .thresholds(greenIfAll())
  .decimals(0);

const stations = stat(
  {
    title: 'Stations',
    description: 'Stations whose latest refresh failed, or that were not refreshed yet, and all stations.',
  },
  instantQuery(`sum(1 - ${scope.once('telemetry_station_up')})`, 'Failing'),
  instantQuery(`count(${scope.once('telemetry_station_up')})`, ALL),
).overrideByName('Failing', [{ id: 'thresholds', value: redFromOne().build() }]);

const incomplete = stat(
  {
    title: 'Incomplete',
    description:
      'Stations whose listing is not verified complete: it may be missing resources, or has rejected records.',
  },
  instantQuery(`sum(1 - ${scope.once('telemetry_station_listing_complete')})`),
).thresholds(orangeFromOne());

const byState = (state: string) => scope.once('telemetry_station_listing_resources', `alert_state="${state}"`);

const allStations = table(
  {
    title: 'All stations',
    description:
      'Failing stations first, then those with firing resources. Refresh: the reason of the failure. The name links to the station dashboard.',
  },
  {
    queries: [
      tableQuery(refreshResult(scope)),
      tableQuery(`round(time() - ${scope.once('telemetry_station_last_success_timestamp_seconds')})`),
      tableQuery(scope.once('telemetry_station_listing_complete')),
      tableQuery(scope.coverage(' by (station)')),
      tableQuery(`sum by (station) (${scope.once('telemetry_station_listing_resources')})`),
      tableQuery(`sum by (station) (${byState('firing')})`),
      tableQuery(`sum by (station) (${byState('unknown')})`),
    ],
    columns: [
      { field: 'station', title: 'Station', links: [stationLink] },
      { field: 'reason', title: 'Refresh', mappings: refreshMappings, width: 110 },
      {
        field: 'Value #B',
        title: 'Data age',
        unit: UNIT.seconds,
        decimals: 0,
        thresholds: ageThresholds(),
        mappings: neverMappings,
        width: 120,
      },
      { field: 'Value #C', title: 'Listing', mappings: listingMappings, width: 110 },
      { field: 'Value #E', title: 'Resources', unit: UNIT.count, width: 110 },
      { field: 'Value #F', title: 'Firing', unit: UNIT.count, thresholds: redFromOne(), width: 80 },
      { field: 'Value #G', title: 'Unknown state', unit: UNIT.count, thresholds: blueFromOne(), width: 120 },
      COVERAGE_COLUMN,
      { field: 'upstream', title: 'Upstream' },
      { field: 'Value #A', hidden: true },
    ],
    order: [{ by: 'Value #A (max)' }, { by: 'Value #F (max)', descending: true }, { by: 'station' }],
  },
);

const firingByType = table(
  {
    title: 'Firing by station and type',
    description: 'Firing resources of each station by type, most first.',
    noValue: 'None firing, or no data',
  },
  {
    queries: [
      tableQuery(
        `topk(50, sum by (station, resource_type) (${scope.once('telemetry_station_resources', 'alert_state="firing"')}) > 0)`,
      ),
    ],
    columns: [
      { ...STATION_COLUMN, width: 95 },
      TYPE_COLUMN,
      { field: 'Value', title: 'Firing', unit: UNIT.count, thresholds: redFromOne(), width: 65 },
    ],
    order: [{ by: 'Value (max)', descending: true }],
  },
);

const failingStations = stateTimeline(
  {
    title: 'Failing stations',
    description: 'When the latest refresh of a station had failed; only stations that failed within the time range.',
    noValue: 'None failed, or no data',
  },
  rangeQuery(`${scope.once('telemetry_station_up')} == 0`, '{{station}}'),
);

export const fleet = buildDashboard({
  name: 'fleet',
  description: 'All telemetry stations: what is up and complete, what fires, what changed, how many of what.',
  variables: [
    ...jobVariables('telemetry_station_up'),
    multiple(stationVariable()),
    hidden(textVariable('owner', 'Owner label', 'Label that names the owner of a resource.', 'team')),
  ],
  rows: [
    {
      lines: [
        line(
          3,
          [4, exportersUp],
          [4, stations],
          [4, incomplete],
          [4, oldestData(scope)],
          [4, resourceCounts(scope)],
          [4, alertCoverage(scope)],
        ),
        line(7, [14, alerts('$station')], [10, firingAndPending(scope)]),
        line(9, [24, allStations]),
        line(8, [8, firingByType], [8, failingStations], [8, addedAndRemoved(scope)]),
        line(8, [14, types(scope)], [10, capacity(scope)]),
      ],
    },
    { collapsed: true, title: 'Firing resources', lines: [line(10, [24, firingResources(scope)])] },
    {
      collapsed: true,
      title: 'Owners and state changes',
      lines: [line(9, [14, owners(scope)], [10, stateChanges(scope)])],
    },
  ],
});
