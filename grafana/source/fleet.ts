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
import { lastKnownStat, stat, stateTimeline, table } from './panel.ts';
import { instantQuery, lastKnown, rangeQuery, Scope, tableQuery } from './query.ts';
import {
  AFFECTED_COLUMNS,
  ALL,
  addedAndRemoved,
  alertCoverage,
  alerts,
  allStates,
  COVERAGE_COLUMN,
  capacity,
  firingAndPending,
  firingResources,
  inState,
  oldestData,
  overdue,
  owners,
  refreshResult,
  resourceCounts,
  resourcesOf,
  STATION_COLUMN,
  stateChanges,
  TYPE_COLUMN,
  types,
} from './station-panels.ts';
import { hidden, jobVariables, multiple, stationVariable, textVariable } from './variables.ts';

const scope = new Scope('station=~"$station"');

const LAST_SCRAPE = 'Last scrape';

const up = new Scope().series('up');

const exportersUp = stat(
  {
    title: 'Exporters',
    description:
      'Share of the exporters that Prometheus can scrape, and the time since one of them was scraped. Numbers of stations are those of that scrape, for 15 minutes.',
    unit: UNIT.ratio,
    noValue: 'Not scraped',
    link: exporterLink,
  },
  instantQuery(`avg(${up})`, 'Up'),
  instantQuery(`time() - max(max_over_time(timestamp(${up} == 1)[6h:]))`, LAST_SCRAPE),
)
  .thresholds(greenIfAll())
  .decimals(0)
  .overrideByName(LAST_SCRAPE, [
    { id: 'unit', value: UNIT.seconds },
    { id: 'thresholds', value: ageThresholds().build() },
  ]);

const stations = lastKnownStat(
  {
    title: 'Stations',
    description: 'Stations whose latest refresh failed, or that were not refreshed yet, and all stations.',
  },
  rangeQuery(`sum(1 - ${scope.once('telemetry_station_up')})`, 'Failing'),
  rangeQuery(`count(${scope.once('telemetry_station_up')})`, ALL),
).overrideByName('Failing', [{ id: 'thresholds', value: redFromOne().build() }]);

const incomplete = lastKnownStat(
  {
    title: 'Incomplete',
    description:
      'Stations whose listing is not verified complete: it may be missing resources, or has rejected records.',
  },
  rangeQuery(`sum(1 - ${scope.once('telemetry_station_listing_complete')})`, ''),
).thresholds(orangeFromOne());

/** -1 for a station that fails alone, 0 for one of an upstream that fails altogether, 1 for the others. */
const rank = `2 * ${scope.once('telemetry_station_up')} - on (upstream) group_left () max by (upstream) (${scope.series('telemetry_station_up')})`;

const allStations = table(
  {
    title: 'All stations',
    description:
      'Failing stations first, those of an upstream that fails altogether after the others, then those with firing resources. Refresh: the reason of the failure. Coverage is a dash where it is unknown of any resource. The name links to the station dashboard.',
  },
  {
    queries: [
      tableQuery(lastKnown(`(${rank})`)),
      tableQuery(`round(time() - ${lastKnown(scope.once('telemetry_station_last_success_timestamp_seconds'))})`),
      tableQuery(lastKnown(scope.once('telemetry_station_listing_complete'))),
      tableQuery(lastKnown(`(${scope.coverage(' by (station)')})`)),
      tableQuery(lastKnown(allStates(scope))),
      tableQuery(`sum by (station) (${lastKnown(inState(scope, 'firing'))})`),
      tableQuery(`sum by (station) (${lastKnown(inState(scope, 'unknown'))})`),
      tableQuery(refreshResult(scope)),
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
      { field: 'upstream', title: 'Upstream', width: 110 },
      { field: '$owner', title: 'Owner', width: 110 },
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
      tableQuery(`topk(50, sum by (station, resource_type) (${resourcesOf(scope, 'alert_state="firing"')}) > 0)`),
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
        line(9, [16, alerts({ columns: AFFECTED_COLUMNS })], [8, firingAndPending(scope)]),
        line(13, [24, allStations]),
        line(8, [10, firingByType], [14, failingStations]),
        line(8, [14, types(scope)], [10, capacity(scope)]),
      ],
    },
    { collapsed: true, title: 'Firing resources', lines: [line(10, [24, firingResources(scope)])] },
    {
      collapsed: true,
      title: 'Owners and changes',
      lines: [
        line(9, [12, owners(scope)], [12, overdue(scope)]),
        line(8, [12, addedAndRemoved(scope)], [12, stateChanges(scope)]),
      ],
    },
  ],
});
