import { FIRING, FIRING_OR_PENDING } from '../../prometheus/promql/metric.ts';
import { fixedColor, orangeFromOne, UNIT } from './appearance.ts';
import { resourcesLink, stationLink } from './build-dashboard.ts';
import { barGauge, coarse, colorStates, stackedBars, stackedTimeseries, stat, table, withoutPrefix } from './panel.ts';
import { emptyAsNone, instantQuery, orNone, rangeQuery, type Scope, tableQuery } from './query.ts';

/** Number of resources: 0 instead of no series for a station whose listing is empty. */
export function resourceCount(scope: Scope, by: readonly ('job' | 'station')[] = []): string {
  return `${scope.sum('telemetry_station_resources', by)} or 0 * ${scope.sum('telemetry_station_listing_complete', by)}`;
}

export function firingCount(scope: Scope, by: readonly ('job' | 'station')[] = []): string {
  return `${scope.sum('telemetry_station_resources', by, { state: FIRING })} or 0 * ${scope.sum('telemetry_station_resources', by)}`;
}

const NO_RESOURCES = 'No resources';

export const resourcesStat = (scope: Scope) =>
  stat(
    {
      title: 'Resources',
      description: 'Unique resources of the selected stations.',
      unit: UNIT.count,
      noValue: 'No snapshot',
    },
    instantQuery(resourceCount(scope)),
  );

/** The state as the service sends it: a link cannot match a part of a value. */
export const FIRING_RESOURCES = resourcesLink('Firing resources', '&var-state=ALERTSTATE_FIRING');

export const firingStat = (scope: Scope) =>
  stat(
    { title: 'Firing', description: 'Resources in a firing alert state.', unit: UNIT.count, noValue: NO_RESOURCES },
    instantQuery(firingCount(scope)),
  ).thresholds(orangeFromOne());

export const resourcesByState = (scope: Scope) =>
  coarse(
    colorStates(
      stackedTimeseries(
        {
          title: 'Resources by state',
          description: 'Resources by alert state, as sent by the service.',
          unit: UNIT.short,
          noValue: NO_RESOURCES,
        },
        rangeQuery(emptyAsNone('state', scope.sum('telemetry_station_resources', ['state'])), '{{state}}'),
      ),
    ),
  );

/** Without the inactive ones, which hide the others by their number. */
export const firingAndPending = (scope: Scope) =>
  colorStates(
    stackedTimeseries(
      {
        title: 'Firing and pending',
        description: 'Resources in a firing or pending alert state. `none`: all are inactive.',
        unit: UNIT.short,
        noValue: NO_RESOURCES,
      },
      rangeQuery(
        orNone(
          scope.sum('telemetry_station_resources', ['state'], { state: FIRING_OR_PENDING }),
          'state',
          scope.series('telemetry_station_listing_complete'),
        ),
        '{{state}}',
      ),
    ),
  );

export const firingByType = (scope: Scope) =>
  table(
    {
      title: 'Firing by station and type',
      description: 'Resources in a firing alert state: the 50 largest numbers.',
      noValue: 'No firing resources reported',
    },
    [
      tableQuery(
        scope.withTypeName(
          `topk(50, ${scope.sum('telemetry_station_resources', ['job', 'station', 'resource_type'], { state: FIRING })} > 0)`,
        ),
      ),
    ],
    [
      { field: 'station', title: 'Station', link: stationLink },
      { field: 'resource_type_label', title: 'Type' },
      { field: 'Value', title: 'Firing', unit: UNIT.count, thresholds: orangeFromOne(), width: 90 },
    ],
    { by: 'Firing', descending: true },
  );

export const resourcesByType = (scope: Scope) =>
  coarse(
    stackedTimeseries(
      {
        title: 'Resources by type',
        description: 'The 10 most common resource types.',
        unit: UNIT.short,
        noValue: NO_RESOURCES,
      },
      rangeQuery(
        scope.withTypeName(`topk(10, ${scope.sum('telemetry_station_resources', ['resource_type'])})`),
        '{{resource_type_label}}',
      ),
    ),
  );

export const resourcesByProduct = (scope: Scope) =>
  withoutPrefix(
    barGauge(
      {
        title: 'Resources by product',
        description: 'The 15 products with the most resources. `none`: resources of no configured product.',
        unit: UNIT.count,
        noValue: NO_RESOURCES,
      },
      instantQuery(
        emptyAsNone('product', `topk(15, ${scope.sum('telemetry_station_resources', ['product'])})`),
        '{{product}}',
      ),
    ),
    'product.',
  );

export const resourcesByStation = (scope: Scope) =>
  barGauge(
    {
      title: 'Resources by station',
      description: 'The 15 stations with the most resources.',
      unit: UNIT.count,
      noValue: NO_RESOURCES,
    },
    instantQuery(`topk(15, ${scope.sum('telemetry_station_resources', ['station'])})`, '{{station}}'),
  );

const HAS_GPU = { gpu_model: '!=""' };

export const gpusStat = (scope: Scope) =>
  stat(
    {
      title: 'GPUs',
      description: 'Sum of the SKU quantities of resources with a GPU model.',
      unit: UNIT.count,
      noValue: 'None',
    },
    instantQuery(scope.sum('telemetry_station_sku_quantity', [], HAS_GPU)),
  );

export const gpusByModel = (scope: Scope) =>
  coarse(
    stackedTimeseries(
      {
        title: 'GPU capacity by model',
        description: 'Sum of the SKU quantities of resources with a GPU model, by model and unit.',
        unit: UNIT.short,
        noValue: 'No resources with a GPU model',
      },
      rangeQuery(
        scope.sum('telemetry_station_sku_quantity', ['gpu_model', 'unit'], HAS_GPU),
        '{{gpu_model}} ({{unit}})',
      ),
    ),
  );

export const capacityTable = (scope: Scope) =>
  table(
    {
      title: 'Capacity by unit and model',
      description:
        'Sum of the SKU quantities by unit and GPU model, the 50 largest. Counts SKUs of the form `<quantity> <unit>` only.',
      noValue: 'No SKU quantities',
    },
    [tableQuery(`topk(50, ${scope.sum('telemetry_station_sku_quantity', ['unit', 'gpu_model'])})`)],
    [
      { field: 'unit', title: 'Unit' },
      { field: 'gpu_model', title: 'GPU model' },
      { field: 'Value', title: 'Quantity', unit: UNIT.count },
    ],
    { by: 'Quantity', descending: true },
  );

const NO_CHANGES = 'Needs two complete listings';

export const addedAndRemoved = (scope: Scope) =>
  stackedBars(
    {
      title: 'Resources added and removed per hour',
      description:
        'Added resources are positive, removed resources negative. Only listings that are verified complete count: a failed or incomplete listing removes no resources.',
      unit: UNIT.short,
      noValue: NO_CHANGES,
    },
    rangeQuery(scope.hourlyRate('telemetry_station_resources_added_total', []), 'Added'),
    rangeQuery(`-${scope.hourlyRate('telemetry_station_resources_removed_total', [])}`, 'Removed'),
  )
    .overrideByName('Added', [fixedColor('green')])
    .overrideByName('Removed', [fixedColor('dark-orange')]);

export const stateChanges = (scope: Scope) =>
  colorStates(
    stackedBars(
      {
        title: 'State changes per hour',
        description: 'Changes of the alert state of resources per hour, by the new state.',
        unit: UNIT.short,
        noValue: NO_CHANGES,
      },
      rangeQuery(scope.hourlyRate('telemetry_station_resource_state_changes_total', ['state']), '{{state}}'),
    ),
  );
