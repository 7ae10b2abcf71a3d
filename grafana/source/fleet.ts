import { ageThresholds, coverageThresholds, noneIsGood, noneMustBe, upMappings, wholeMappings } from './appearance.ts';
import { capacityTable, gpusByModel, gpusNow } from './capacity.ts';
import { addedAndRemoved, stateChanges } from './change.ts';
import { coverage, coverageByStation, coverageByType, coverageNow, uncoveredNow } from './coverage.ts';
import { finished } from './finish.ts';
import { ageByStation, dataAge, failuresByReason, oldestData, refreshDuration, upTimeline } from './health.ts';
import { line } from './layout.ts';
import { stationLink } from './links.ts';
import { stat } from './panel.ts';
import { Scope } from './query.ts';
import { byProduct, byState, byStation, byType, firingCount, resourceCount, resourcesNow } from './stock.ts';
import { table } from './table.ts';
import { now, rows } from './target.ts';
import { UNIT } from './units.ts';
import { stationVariables } from './variables.ts';

const scope = new Scope('station', 'resource_type', 'product');

const stationsNow = stat(
  { title: 'Stations', description: 'Configured stations that are scraped.', unit: UNIT.count, nothing: 'None' },
  now(`count(${scope.each('telemetry_station_up')})`),
);

const failingNow = stat(
  { title: 'Failing', description: 'Stations whose latest refresh failed, or was never tried.', unit: UNIT.count, nothing: 'No stations' },
  now(`sum(${scope.each('telemetry_station_up')} == bool 0)`),
).thresholds(noneMustBe());

const firingNow = stat(
  { title: 'Firing', description: 'Resources whose alert state says that they fire.', unit: UNIT.count, nothing: 'No resources listed' },
  now(firingCount(scope)),
).thresholds(noneIsGood());

const BY_STATION = ['job', 'station'] as const;

/** Those that fail come first when there are more stations than rows. */
const shown = `bottomk(500, ${scope.each('telemetry_station_up')})`;
const column = (expression: string) => rows(`(${expression}) and on (job, station) ${shown}`);

const stationTable = table(
  {
    title: 'Stations',
    description: 'Every station with how it does, at most 500, those that fail first. The name leads to the station’s own dashboard.',
    nothing: 'No stations',
  },
  [
    column(`max by (job, station, upstream, zone) (${scope.series('telemetry_station_info')})`),
    rows(shown),
    column(`topk by (job, station) (1, ${scope.each('telemetry_station_failure')} == 1)`),
    column(resourceCount(scope, BY_STATION)),
    column(firingCount(scope, BY_STATION)),
    column(scope.sum('telemetry_station_resources_without_alert_rules', BY_STATION)),
    column(coverage(scope, BY_STATION)),
    column(scope.each('telemetry_station_listing_complete')),
    column(dataAge(scope)),
    column(scope.each('telemetry_station_refresh_duration_seconds')),
  ],
  [
    { field: 'station', title: 'Station', link: stationLink },
    { field: 'Value #B', title: 'Refresh', mappings: upMappings, width: 85 },
    { field: 'reason', title: 'Reason', width: 105 },
    { field: 'Value #D', title: 'Resources', unit: UNIT.count, width: 100 },
    { field: 'Value #E', title: 'Firing', unit: UNIT.count, thresholds: noneIsGood(), width: 75 },
    { field: 'Value #F', title: 'Without rules', unit: UNIT.count, width: 110 },
    { field: 'Value #G', title: 'Coverage', unit: UNIT.ratio, decimals: 0, thresholds: coverageThresholds(), width: 90 },
    { field: 'Value #H', title: 'Listing', mappings: wholeMappings, width: 115 },
    { field: 'Value #I', title: 'Data age', unit: UNIT.seconds, decimals: 0, thresholds: ageThresholds(), width: 95 },
    { field: 'Value #J', title: 'Took', unit: UNIT.seconds, decimals: 1, width: 75 },
    { field: 'upstream', title: 'Upstream' },
    { field: 'zone', title: 'Zone' },
  ],
  { by: 'Refresh', descending: false },
);

export const fleet = finished({
  name: 'fleet',
  description: 'All telemetry stations: which are up, what they hold, how much of it is watched, and what changes.',
  refresh: '1m',
  variables: stationVariables(),
  sections: [
    {
      title: 'Now',
      lines: [
        line(
          4,
          [3, stationsNow],
          [3, failingNow],
          [3, resourcesNow(scope)],
          [3, firingNow],
          [3, coverageNow(scope)],
          [3, uncoveredNow(scope)],
          [3, gpusNow(scope)],
          [3, oldestData(scope)],
        ),
      ],
    },
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
      lines: [line(9, [12, byType(scope)], [12, byState(scope)]), line(8, [12, byStation(scope)], [12, byProduct(scope)])],
    },
    { title: 'Alert coverage', lines: [line(9, [12, coverageByStation(scope)], [12, coverageByType(scope)])] },
    { title: 'Capacity', lines: [line(9, [12, gpusByModel(scope)], [12, capacityTable(scope)])] },
    { title: 'What changed', lines: [line(8, [12, addedAndRemoved(scope)], [12, stateChanges(scope)])] },
  ],
});
