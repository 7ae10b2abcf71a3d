import { noneIsGood, upMappings, wholeMappings } from './appearance.ts';
import { capacityTable, gpusByModel } from './capacity.ts';
import { addedAndRemoved, stateChanges } from './change.ts';
import { coverageByType, coverageNow, uncoveredByType, uncoveredNow } from './coverage.ts';
import { finished } from './finish.ts';
import { ageByStation, failuresByReason, oldestData, refreshDuration } from './health.ts';
import { line } from './layout.ts';
import { resourceLink } from './links.ts';
import { oddRecords, reported, unreadableFields } from './listing.ts';
import { stat } from './panel.ts';
import { ageOf, byAge, describing, uncovered } from './per-resource.ts';
import { Scope } from './query.ts';
import { byState, byType, firingCount, resourcesNow } from './stock.ts';
import { now } from './target.ts';
import { UNIT } from './units.ts';
import { stationVariables } from './variables.ts';

const scope = new Scope('station', 'resource_type', 'product');

const upNow = stat(
  {
    title: 'Latest refresh',
    description: 'Whether the latest refresh succeeded; of several stations, whether each one did.',
    unit: UNIT.short,
    nothing: 'No such station',
  },
  now(`min(${scope.each('telemetry_station_up')})`),
).mappings(upMappings);

const rulesNow = stat(
  { title: 'Alert rules', description: 'The alert rules on all resources, added up.', unit: UNIT.count, nothing: 'No rule counts known' },
  now(scope.sum('telemetry_station_alert_rules')),
);

const firingNow = stat(
  { title: 'Firing', description: 'Resources whose alert state says that they fire.', unit: UNIT.count, nothing: 'No resources listed' },
  now(firingCount(scope)),
).thresholds(noneIsGood());

const wholeNow = stat(
  {
    title: 'Listing',
    description: 'Whether the snapshot that is served is proven whole. If not, it may miss resources.',
    unit: UNIT.short,
    nothing: 'No snapshot',
  },
  now(`min(${scope.each('telemetry_station_listing_complete')})`),
).mappings(wholeMappings);

const infos = scope.series('telemetry_station_resource_info');

const withoutRules = byAge({
  title: 'Resources without alert rules',
  description: 'The 100 oldest resources that have no alert rule, those left out that cannot have alerts. The name leads to the resource.',
  nothing: 'None, or resources are not published one by one',
  expression: `topk(100, ${ageOf(scope, uncovered(scope))})`,
  columns: [...describing(resourceLink), { field: 'product', title: 'Product' }, { field: 'station', title: 'Station', width: 110 }],
  oldestFirst: true,
});

const oldest = byAge({
  title: 'Oldest resources',
  description: 'The ten that were created first.',
  nothing: 'No creation times known',
  expression: `topk(10, ${ageOf(scope, infos)})`,
  columns: describing(resourceLink),
  oldestFirst: true,
});

const newest = byAge({
  title: 'Newest resources',
  description: 'The ten that were created last.',
  nothing: 'No creation times known',
  expression: `bottomk(10, ${ageOf(scope, infos)})`,
  columns: describing(resourceLink),
  oldestFirst: false,
});

export const station = finished({
  name: 'station',
  description: 'One station in depth: what it holds over time, what is not watched, and how well it can be listed.',
  refresh: '5m',
  variables: stationVariables(),
  sections: [
    {
      title: 'Now: $station',
      lines: [
        line(
          4,
          [3, upNow],
          [3, resourcesNow(scope)],
          [3, firingNow],
          [3, rulesNow],
          [3, uncoveredNow(scope)],
          [3, coverageNow(scope)],
          [3, oldestData(scope)],
          [3, wholeNow],
        ),
      ],
    },
    {
      title: 'Resources over time',
      lines: [line(9, [12, byState(scope)], [12, byType(scope)]), line(8, [12, addedAndRemoved(scope)], [12, stateChanges(scope)])],
    },
    {
      title: 'Alert coverage',
      lines: [line(9, [12, coverageByType(scope)], [12, uncoveredByType(scope)]), line(11, [24, withoutRules])],
    },
    { title: 'Oldest and newest', lines: [line(11, [12, oldest], [12, newest])] },
    { title: 'Capacity', lines: [line(9, [12, gpusByModel(scope)], [12, capacityTable(scope)])] },
    {
      title: 'Health of the listing',
      lines: [
        line(8, [8, reported()], [8, oddRecords()], [8, unreadableFields()]),
        line(8, [8, failuresByReason(scope)], [8, ageByStation(scope)], [8, refreshDuration(scope)]),
      ],
    },
  ],
});
