import { labelList } from '../../prometheus/promql/cluster.ts';
import { RECORDED } from '../../prometheus/source/recording.ts';
import { orangeFromOne, UNIT } from './appearance.ts';
import { CLUSTER_COLUMN, table } from './panel.ts';
import { BY_STATION, emptyAsNone, type Scope, sumBy, tableQuery, withOwner } from './query.ts';
import { STATION_COLUMNS } from './resource-table.ts';

const NO_VALUES = 'None, not scraped or refreshed, or no values in the rules';
const BY_SKU = labelList('station', 'gpu_model', 'unit');

/**
 * What the optional rules record; all of it needs values of the Helm chart or the mixin. A complete listing without the GPU model or unit has
 * none of it; while a listing is incomplete, the quantity is unknown.
 */
export function expectedCapacity(scope: Scope) {
  const published = `on ${labelList('station')} ${scope.deduplicated('telemetry_station_up')}`;
  const expected = `(max by ${BY_SKU} (${scope.recorded(RECORDED.expected)}) and ${published})`;
  const complete = `(min by ${BY_STATION} (${scope.series('telemetry_station_listing_complete')}) == 1)`;
  const listed = `max by ${BY_SKU} (${scope.recorded(RECORDED.capacity)} and on ${BY_STATION} ${complete})`;
  const none = `0 * (${expected} and on ${labelList('station')} ${complete})`;
  const actual = `(${listed} or ${none})`;
  return table(
    {
      title: 'Expected and actual capacity',
      description:
        'Capacity of each station beside the `expectedQuantities` of the rules, the largest shortages first. Unknown while a listing is incomplete.',
      noValue: NO_VALUES,
    },
    [tableQuery(expected), tableQuery(`${actual} and on ${BY_SKU} ${expected}`), tableQuery(`${expected} - ${actual}`)],
    [
      { field: 'station', title: 'Station' },
      { field: 'gpu_model', title: 'GPU model' },
      { field: 'unit', title: 'Unit', width: 80 },
      CLUSTER_COLUMN,
      { field: 'Value #A', title: 'Expected', unit: UNIT.count, width: 100 },
      { field: 'Value #B', title: 'Actual', unit: UNIT.count, width: 100 },
      { field: 'Value #C', title: 'Missing', unit: UNIT.count, thresholds: orangeFromOne(), width: 100 },
    ],
    { by: 'Value #C', descending: true, limit: 100 },
  );
}

export const costByOwner = (scope: Scope) =>
  table(
    {
      title: 'Cost per hour by owner',
      description:
        'SKU quantities of the last listings to compare, at the `prices` of the rules, the 100 owners with the highest cost. Quantities without a price are not included.',
      noValue: NO_VALUES,
    },
    [tableQuery(emptyAsNone('owner', sumBy(['owner'], withOwner(scope.recorded(RECORDED.cost)))))],
    [
      { field: 'owner', title: 'Owner' },
      CLUSTER_COLUMN,
      { field: 'Value', title: 'Cost', unit: UNIT.count, decimals: 2, width: 100 },
    ],
    { by: 'Value', descending: true, limit: 100 },
  );

export const notMonitored = (scope: Scope) =>
  table(
    {
      title: 'Listed, but not monitored',
      description:
        'Resources of the last complete listings that no target of Prometheus knows, by the `monitoredBy` of the rules, the 100 largest numbers. Stations without per-resource series are not included.',
      noValue: NO_VALUES,
    },
    [
      tableQuery(
        scope.withTypeName(
          emptyAsNone(
            'owner',
            sumBy(['job', 'station', 'resource_type', 'owner'], withOwner(scope.recorded(RECORDED.notMonitored))),
          ),
        ),
      ),
    ],
    [
      ...STATION_COLUMNS,
      { field: 'resource_type_label', title: 'Type' },
      { field: 'owner', title: 'Owner' },
      { field: 'Value', title: 'Resources', unit: UNIT.count, thresholds: orangeFromOne(), width: 110 },
    ],
    { by: 'Value', descending: true, limit: 100 },
  );
