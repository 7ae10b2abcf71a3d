import { labelList } from '../../prometheus/promql/cluster.ts';
import { FIRING, FIRING_OR_PENDING, UNKNOWN } from '../../prometheus/promql/metric.ts';
import {
  blueFromOne,
  fixedColor,
  NONE_OR_NO_DATA,
  noneKnownMappings,
  productMappings,
  redFromOne,
  UNIT,
} from './appearance.ts';
import { coverageColumn, coverageRatio, unknownCoverageColumn } from './coverage-panels.ts';
import {
  CLUSTER_COLUMN,
  categories,
  coarse,
  colorStates,
  inAnyCluster,
  stackedBars,
  stackedTimeseries,
  stat,
  table,
} from './panel.ts';
import {
  emptyAsNone,
  instantQuery,
  noneOrUnknown,
  orNone,
  rangeQuery,
  type Scope,
  sumBy,
  sumByStateName,
  tableQuery,
} from './query.ts';
import { STATION_COLUMNS } from './resource-table.ts';

/** Number of resources: 0 instead of no series for a station whose listing is empty. */
export function resourceCount(scope: Scope, by: readonly ('job' | 'station')[] = []): string {
  return `${scope.sum('telemetry_station_resources', by)} or 0 * ${scope.sum('telemetry_station_listing_complete', by)}`;
}

/** Number of firing resources; none is known as long as the listing of a station is missing or incomplete, or the meaning of a state is unknown. */
export function firingCount(scope: Scope, by: readonly ('job' | 'station')[] = []): string {
  const firing = scope.sum('telemetry_station_resources', by, { alert_state: FIRING });
  return noneOrUnknown(firing, scope.sum('telemetry_station_resources', by), mayFire(scope, by));
}

/** 1 where resources may fire that are not counted, else 0. */
function mayFire(scope: Scope, by: readonly ('job' | 'station')[] = []): string {
  const complete = `(${scope.deduplicated('telemetry_station_listing_complete')} or 0 * ${scope.stationState()})`;
  const states = scope.sum('telemetry_station_resources', ['job', 'station'], { alert_state: UNKNOWN });
  return `clamp_max(${sumBy(by, `(${complete} < bool 1) + (${states} or 0 * ${scope.stationState()})`)}, 1)`;
}

export const resourcesStat = (scope: Scope) =>
  stat(
    {
      title: 'Resources',
      description:
        'Unique resources of the selected stations. `Stations missing`: stations without data, whose resources are not counted.',
      unit: UNIT.count,
    },
    instantQuery(resourceCount(scope), 'Known'),
  );

export const firingStat = (scope: Scope) =>
  stat(
    {
      title: 'Firing',
      description:
        'Resources in a firing alert state. `None known`: none, but the listing of a station is missing or incomplete, or a state has an unknown meaning.',
      unit: UNIT.count,
    },
    instantQuery(firingCount(scope)),
  )
    .thresholds(redFromOne())
    .mappings(noneKnownMappings);

export const resourcesByState = (scope: Scope) =>
  coarse(
    colorStates(
      stackedTimeseries(
        {
          title: 'Resources by state',
          description: 'Resources by what their states mean; states of unknown meaning as the service sends them.',
          unit: UNIT.short,
        },
        rangeQuery(
          sumByStateName(scope.sum('telemetry_station_resources', ['state', 'alert_state'])),
          '{{state_label}}',
        ),
      ),
    ),
  );

/** Without the inactive ones, which hide the others by their number. */
export const firingAndPending = (scope: Scope) =>
  colorStates(
    stackedTimeseries(
      {
        title: 'Firing and pending',
        description: 'Resources in a firing or pending alert state. `none`: no resource is in one of them.',
        unit: UNIT.short,
      },
      rangeQuery(
        orNone(
          scope.sum('telemetry_station_resources', ['alert_state'], { alert_state: FIRING_OR_PENDING }),
          'alert_state',
          scope.series('telemetry_station_listing_complete'),
        ),
        '{{alert_state}}',
      ),
    ),
  );

export const unknownStateStat = (scope: Scope) =>
  stat(
    {
      title: 'Unknown state',
      description: 'Resources in a state of unknown meaning: add it to `states` in the configuration.',
      unit: UNIT.count,
    },
    instantQuery(
      `${scope.sum('telemetry_station_resources', [], { alert_state: UNKNOWN })} or 0 * ${scope.sum('telemetry_station_listing_complete')}`,
    ),
  ).thresholds(blueFromOne());

export const unknownStates = (scope: Scope) =>
  table(
    {
      title: 'States of unknown meaning',
      description:
        'Resources in states that may mean firing or not, as the service sends them: the 50 largest numbers. Add the states to `states` in the configuration.',
      noValue: NONE_OR_NO_DATA,
    },
    [
      tableQuery(
        `topk(50, ${scope.sum('telemetry_station_resources', ['job', 'station', 'state'], { alert_state: UNKNOWN })} > 0)`,
      ),
    ],
    [
      ...STATION_COLUMNS,
      { field: 'state', title: 'State', wrap: true },
      { field: 'Value', title: 'Resources', unit: UNIT.count, thresholds: blueFromOne(), width: 110 },
    ],
    { by: 'Value', descending: true },
  );

export const firingByType = (scope: Scope) =>
  table(
    {
      title: 'Firing by station and type',
      description: 'Resources in a firing alert state: the 50 largest numbers.',
      noValue: NONE_OR_NO_DATA,
    },
    [
      tableQuery(
        scope.withTypeName(
          `topk(50, ${scope.sum('telemetry_station_resources', ['job', 'station', 'resource_type'], { alert_state: FIRING })} > 0)`,
        ),
      ),
    ],
    [
      ...STATION_COLUMNS,
      { field: 'resource_type_label', title: 'Type' },
      { field: 'Value', title: 'Firing', unit: UNIT.count, thresholds: redFromOne(), width: 90 },
    ],
    { by: 'Value', descending: true },
  );

export const resourcesByType = (scope: Scope) =>
  coarse(
    categories(
      stackedTimeseries(
        {
          title: 'Resources by type',
          description: 'The 10 most common resource types.',
          unit: UNIT.short,
        },
        rangeQuery(
          scope.withTypeName(`topk(10, ${scope.sum('telemetry_station_resources', ['resource_type'])})`),
          '{{resource_type_label}}',
        ),
      ),
    ),
  );

export const resourcesByProduct = (scope: Scope) =>
  table(
    {
      title: 'Resources by product',
      description: 'The 50 products with the most resources. `none`: resources of no configured product.',
    },
    [tableQuery(emptyAsNone('product', `topk(50, ${scope.sum('telemetry_station_resources', ['product'])})`))],
    [
      { field: 'product', title: 'Product', mappings: productMappings },
      CLUSTER_COLUMN,
      { field: 'Value', title: 'Resources', unit: UNIT.count, width: 110 },
    ],
    { by: 'Value', descending: true },
  );

export function byOwner(scope: Scope) {
  const resources = 'telemetry_station_resources';
  const firing = noneOrUnknown(
    scope.sumByOwner(resources, { alert_state: FIRING }),
    scope.sumByOwner(resources),
    `on ${labelList()} group_left () ${mayFire(scope)}`,
  );
  return table(
    {
      title: 'Resources by owner',
      description:
        'Resources by the label of `resource_labels` that the variable `Owner label` names, the 100 owners with the most resources. Coverage: share of resources with at least one alert rule, of those where this is known. `None known`: none fires, but a listing is missing or incomplete, or a state has an unknown meaning.',
      noValue: 'No resource has the label $owner, see resource_labels',
    },
    [
      tableQuery(scope.sumByOwner(resources)),
      tableQuery(firing),
      tableQuery(scope.sumByOwner('telemetry_station_resources_without_alert_rules')),
      tableQuery(
        coverageRatio(
          scope.sumByOwner('telemetry_station_resources_with_alert_rules'),
          scope.sumByOwner('telemetry_station_resources_without_alert_rules'),
        ),
      ),
      tableQuery(`${scope.sumByOwner('telemetry_station_resources_with_unknown_alert_coverage')} > 0`),
    ],
    [
      { field: 'owner', title: 'Owner' },
      CLUSTER_COLUMN,
      { field: 'Value #A', title: 'Resources', unit: UNIT.count },
      { field: 'Value #B', title: 'Firing', unit: UNIT.count, thresholds: redFromOne(), mappings: noneKnownMappings },
      { field: 'Value #C', title: 'No rules', unit: UNIT.count },
      coverageColumn('Value #D'),
      unknownCoverageColumn('Value #E'),
    ],
    { by: 'Value #A', descending: true, limit: 100 },
  );
}

const HAS_GPU = { gpu_model: '!=""' };

export const gpusByModel = (scope: Scope) =>
  coarse(
    categories(
      stackedTimeseries(
        {
          title: 'GPU capacity by model',
          description: 'Sum of the SKU quantities of resources with a GPU model, by model and unit.',
          unit: UNIT.short,
          noValue: NONE_OR_NO_DATA,
        },
        rangeQuery(
          scope.sum('telemetry_station_sku_quantity', ['gpu_model', 'unit'], HAS_GPU),
          '{{gpu_model}} ({{unit}})',
        ),
      ),
    ),
  );

export const capacityTable = (scope: Scope) =>
  table(
    {
      title: 'Capacity by unit and model',
      description:
        'Sum of the SKU quantities by unit and GPU model, the 50 largest. Counts SKUs of the form `<quantity> <unit>` only.',
      noValue: NONE_OR_NO_DATA,
    },
    [tableQuery(`topk(50, ${scope.sum('telemetry_station_sku_quantity', ['unit', 'gpu_model'])})`)],
    [
      { field: 'unit', title: 'Unit' },
      { field: 'gpu_model', title: 'GPU model' },
      CLUSTER_COLUMN,
      { field: 'Value', title: 'Quantity', unit: UNIT.count },
    ],
    { by: 'Value', descending: true },
  );

export const addedAndRemoved = (scope: Scope) =>
  coarse(
    stackedBars(
      {
        title: 'Resources added and removed per hour',
        description:
          'Added resources are positive, removed resources negative. Only listings that add up and rejected the same records are compared: a failed or incomplete listing removes no resources.',
        unit: UNIT.short,
      },
      rangeQuery(scope.hourlyRate('telemetry_station_resources_added_total', []), 'Added'),
      rangeQuery(`-${scope.hourlyRate('telemetry_station_resources_removed_total', [])}`, 'Removed'),
    )
      .overrideByRegexp(inAnyCluster('Added'), [fixedColor('blue')])
      .overrideByRegexp(inAnyCluster('Removed'), [fixedColor('purple')]),
  );

export const stateChanges = (scope: Scope) =>
  coarse(
    colorStates(
      stackedBars(
        {
          title: 'State changes per hour',
          description:
            'Changes of the alert state of resources per hour, by what the new state means; states of unknown meaning as sent.',
          unit: UNIT.short,
        },
        rangeQuery(
          sumByStateName(scope.hourlyRate('telemetry_station_resource_state_changes_total', ['state', 'alert_state'])),
          '{{state_label}}',
        ),
      ),
    ),
  );
