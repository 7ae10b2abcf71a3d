import { STALE_SECONDS } from '../../src/status/thresholds.ts';
import { blueFromOne, fixedColor, HUE, listingMappings, refreshMappings, UNIT } from './appearance.ts';
import { buildDashboard, line, resourceLink } from './build-dashboard.ts';
import { type Column, labelStat, lastKnownStat, table, timeseries, withLimit } from './panel.ts';
import { rangeQuery, Scope, tableQuery } from './query.ts';
import {
  addedAndRemoved,
  alertCoverage,
  alerts,
  allStates,
  capacity,
  firingAndPending,
  firingResources,
  ID_COLUMN,
  inState,
  oldestData,
  refreshResult,
  resourceCounts,
  stateChanges,
  types,
} from './station-panels.ts';
import { jobVariables, stationVariable, upstreamVariable } from './variables.ts';

const scope = new Scope('station="$station"');

/** For links alone: all rows have the same station. */
const HIDDEN_STATION: Column = { field: 'station', hidden: true };

const latestRefresh = labelStat(
  { title: 'Latest refresh', description: 'Whether the latest refresh succeeded, or why it failed.', unit: UNIT.short },
  'reason',
  tableQuery(refreshResult(scope)),
).mappings([...refreshMappings]);

const listing = lastKnownStat(
  {
    title: 'Listing',
    description:
      'Whether the latest listing was verified complete. An incomplete one may be missing resources, or has rejected records.',
  },
  rangeQuery(scope.once('telemetry_station_listing_complete'), ''),
).mappings([...listingMappings]);

const unknownState = lastKnownStat(
  {
    title: 'Unknown state',
    description:
      'Resources in a state of unknown meaning: if it means firing, they raise no alert. TelemetryStationUnknownState names it; add it to `states` in the configuration.',
  },
  rangeQuery(inState(scope, 'unknown'), ''),
).thresholds(blueFromOne());

const lastSuccess = scope.once('telemetry_station_last_success_timestamp_seconds');

const dataAge = withLimit(
  timeseries(
    {
      title: 'Data age',
      description: 'Time since the last successful refresh. TelemetryStationDataStale fires at the line.',
      unit: UNIT.minutes,
    },
    rangeQuery(`(time() - (${lastSuccess} > 0)) / 60`, 'Data age'),
  ).overrideByName('Data age', [fixedColor('blue')]),
  STALE_SECONDS / 60,
);

const refreshDuration = timeseries(
  {
    title: 'Refresh duration',
    description: 'Duration of the latest refresh, including all listings.',
    unit: UNIT.seconds,
  },
  rangeQuery(scope.once('telemetry_station_refresh_duration_seconds'), 'Refresh duration'),
).overrideByName('Refresh duration', [fixedColor('blue')]);

const reportedAndReceived = timeseries(
  {
    title: 'Reported and received resources',
    description:
      'The total that the service reports, the resources received, and those of the latest listing that adds up, which TelemetryStationResourcesLost compares.',
  },
  rangeQuery(scope.once('telemetry_station_listing_reported_resources'), 'Reported'),
  rangeQuery(allStates(scope), 'Received'),
  rangeQuery(scope.once('telemetry_station_verified_resources'), 'Verified'),
)
  .overrideByName('Reported', [fixedColor('purple')])
  .overrideByName('Received', [fixedColor('blue')])
  .overrideByName('Verified', [fixedColor(HUE.cyan)]);

const listingProblems = timeseries(
  {
    title: 'Listing problems',
    description: 'Duplicate records, records without a usable id, and field values that could not be read.',
  },
  rangeQuery(scope.once('telemetry_station_listing_duplicate_resources'), 'Duplicates'),
  rangeQuery(scope.once('telemetry_station_listing_rejected_resources'), 'Rejected'),
  rangeQuery(scope.total('telemetry_station_listing_invalid_fields', 'field'), 'Invalid fields'),
)
  .overrideByName('Duplicates', [fixedColor('blue')])
  .overrideByName('Rejected', [fixedColor('purple')])
  .overrideByName('Invalid fields', [fixedColor(HUE.cyan)]);

/** Of each exporter: a sum over replicas would need the labels of both. */
const uncovered = `${scope.series('telemetry_station_resource_alert_rules')} == 0`;
const age = `time() - ${scope.series('telemetry_station_resource_created_timestamp_seconds')}`;

const resourcesWithoutRules = table(
  {
    title: 'Resources without alert rules',
    description:
      'The 100 oldest resources without alert rules, exempt ones included. The name links to the history of the resource. Reads two series of each resource.',
    noValue: 'None, no data, or per-resource series are not published',
  },
  {
    queries: [tableQuery(`topk(100, (${age}) and on (instance, resource_id) (${uncovered}))`)],
    columns: [
      { field: 'name', title: 'Name', links: [resourceLink] },
      { field: 'Value', title: 'Age', unit: UNIT.seconds, decimals: 0, width: 110 },
      ID_COLUMN,
      HIDDEN_STATION,
    ],
    order: [{ by: 'Value (max)', descending: true }],
  },
);

export const station = buildDashboard({
  name: 'station',
  description: 'One telemetry station: is it up and complete, what fires, what changed, how many of what.',
  variables: [...jobVariables('telemetry_station_up'), stationVariable(), upstreamVariable()],
  rows: [
    {
      lines: [
        line(
          3,
          [4, latestRefresh],
          [4, oldestData(scope)],
          [4, listing],
          [4, resourceCounts(scope)],
          [4, unknownState],
          [4, alertCoverage(scope)],
        ),
        line(6, [12, alerts({ matchers: ['upstream=~"$upstream|"'] })], [6, firingAndPending(scope)], [6, dataAge]),
        line(7, [24, firingResources(scope, HIDDEN_STATION)]),
        line(8, [14, types(scope)], [10, capacity(scope)]),
      ],
    },
    {
      collapsed: true,
      title: 'Changes and listing',
      lines: [
        line(8, [12, addedAndRemoved(scope)], [12, stateChanges(scope)]),
        line(8, [8, refreshDuration], [8, reportedAndReceived], [8, listingProblems]),
      ],
    },
    { collapsed: true, title: 'Resources without alert rules', lines: [line(11, [24, resourcesWithoutRules])] },
  ],
});
