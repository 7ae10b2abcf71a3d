import { labelList } from '../../prometheus/promql/cluster.ts';
import { deduplicate, FIRING, type MetricName, PENDING, UNKNOWN } from '../../prometheus/promql/metric.ts';
import { SAME_RESOURCE } from '../../prometheus/source/rule.ts';
import { orangeFromOne, redFromOne, stateMappings, UNIT } from './appearance.ts';
import { buildDashboard, foundResourceLink, inventoryLink, line } from './build-dashboard.ts';
import { firingByType, firingStat, resourcesByType, resourcesStat, unknownStateStat } from './inventory-panels.ts';
import { colorStates, linked, stat, stateTimeline, table, timeseries, withoutLegend } from './panel.ts';
import {
  BY_STATION,
  containsText,
  instantQuery,
  rangeQuery,
  Scope,
  sumBy,
  tableQuery,
  withStateName,
} from './query.ts';
import {
  AGE_COLUMN,
  ID_COLUMN,
  NO_RESOURCE_SERIES,
  PRODUCT_COLUMN,
  READS_EACH_RESOURCE,
  resourceColumns,
  STATION_COLUMNS,
} from './resource-table.ts';
import { choiceVariable, labelVariable, stationVariables, textVariable } from './variables.ts';

const stations = new Scope('station', 'resource_type', 'product');
const withGpuModel = new Scope('station', 'resource_type', 'product', 'gpu_model');

/** Resources that match all variables. A resource without a series of its state matches every alert state. */
function matching(alertable: { readonly alertable?: string } = {}): string {
  const infos = withGpuModel.series('telemetry_station_resource_info', {
    display_name: containsText('display_name'),
    name: containsText('name'),
    resource_id: containsText('id'),
    ...alertable,
  });
  return `${infos} unless ${SAME_RESOURCE} ${stations.series('telemetry_station_resource_state', { alert_state: '!~"$alert_state"' })}`;
}

const matchingStat = countStat('Matching', 'Resources that match the variables.', 'count', matching());

const matchingFiringStat = countStat(
  'Matching, firing',
  'Matching resources in a firing alert state.',
  'count',
  `(${matching()}) and ${SAME_RESOURCE} ${stations.series('telemetry_station_resource_state', { alert_state: FIRING })}`,
).thresholds(redFromOne());

const matchingWithoutRulesStat = countStat(
  'Matching, no rules',
  'Matching resources without alert rules, except those known not to be alertable. Where a listing is incomplete, they may be more than `Without alert rules` of the fleet, which counts only resources that are known to be alertable.',
  'count',
  `(${matching({ alertable: '!="false"' })}) and ${SAME_RESOURCE} (${stations.series('telemetry_station_resource_alert_rules')} == 0)`,
).thresholds(orangeFromOne());

const matchingRulesStat = countStat(
  'Matching, rules',
  'Alert rules of the matching resources.',
  'sum',
  `${stations.series('telemetry_station_resource_alert_rules')} and ${SAME_RESOURCE} (${matching()})`,
);

function countStat(title: string, description: string, operation: 'count' | 'sum', expression: string) {
  return stat(
    { title, description: `${description} ${READS_EACH_RESOURCE}`, unit: UNIT.count, noValue: NO_RESOURCE_SERIES },
    instantQuery(once(operation, expression)),
  );
}

/** Aggregates per target first, so that replicas count once. */
function once(operation: 'count' | 'sum', expression: string): string {
  const perTarget = `${operation} by ${labelList('job', 'instance', 'station')} (${expression})`;
  return sumBy([], `max by ${BY_STATION} (${perTarget})`);
}

/** Firing resources first, then pending ones, then those whose state has an unknown meaning, when there are more than rows. */
const inState = (alert_state: string) => stations.series('telemetry_station_resource_state', { alert_state });
const priority = `(4 * ${inState(FIRING)} or 3 * ${inState(PENDING)} or 2 * ${inState(UNKNOWN)} or ${stations.series('telemetry_station_resource_state')})`;
const listed = `topk by ${labelList()} ($limit, (${matching()}) * ${SAME_RESOURCE} group_left (state, alert_state) ${priority} or ${SAME_RESOURCE} (${matching()}))`;
const ofListed = (metric: MetricName) =>
  deduplicate(metric, `${stations.series(metric)} and ${SAME_RESOURCE} ${listed}`);
const listedInfos = `max by ${labelList('job', 'station', 'resource_id', 'name', 'display_name', 'resource_type', 'product', 'sku', 'state_label')} (${withStateName(listed)})`;

/** The first row of a cluster, if it has more resources than rows. */
const limited = `5 * label_replace(count_values by ${labelList()} ("display_name", ${once('count', matching())} > $limit), "display_name", "$limit of $1 shown: raise Rows, or search on the page of the exporter", "display_name", "(.*)")`;

const inventory = table(
  {
    title: 'Inventory',
    description: `Resources that match the variables, firing ones first, then pending ones, then those in a state of unknown meaning, which is shown as sent, limited by \`Rows\`, in each cluster. The name links to the resource history below. ${READS_EACH_RESOURCE}`,
    noValue: NO_RESOURCE_SERIES,
  },
  [
    tableQuery(`${stations.withTypeName(listedInfos)} or ${limited}`),
    tableQuery(ofListed('telemetry_station_resource_alert_rules')),
    tableQuery(`clamp_min(time() - ${ofListed('telemetry_station_resource_created_timestamp_seconds')}, 0)`),
  ],
  [
    ...resourceColumns(foundResourceLink),
    PRODUCT_COLUMN,
    { field: 'state_label', title: 'State', mappings: stateMappings },
    { field: 'Value #B', title: 'Rules', unit: UNIT.count, width: 80 },
    { ...AGE_COLUMN, field: 'Value #C' },
    ...STATION_COLUMNS,
    ID_COLUMN,
  ],
  { by: 'Value #A', descending: true },
);

const oneStation = new Scope('station');
const SELECTED = { resource_id: '="$resource_id"' } as const;
const NOT_SELECTED = 'No resource selected, or it has no data';

const details = table(
  { title: 'Details', description: 'The resource selected by the variable `Resource`.', noValue: NOT_SELECTED },
  [
    tableQuery(oneStation.withTypeName(oneStation.deduplicated('telemetry_station_resource_info', SELECTED))),
    tableQuery(`1000 * ${oneStation.deduplicated('telemetry_station_resource_created_timestamp_seconds', SELECTED)}`),
  ],
  [
    ...resourceColumns(foundResourceLink),
    PRODUCT_COLUMN,
    { field: 'gpu_model', title: 'GPU model' },
    { field: 'alertable', title: 'Alertable', width: 100 },
    ...STATION_COLUMNS,
    { field: 'Value #B', title: 'Created', unit: UNIT.date, width: 160 },
    { ...ID_COLUMN, wrap: true },
  ],
  { by: 'display_name', descending: false },
);

const stateHistory = withoutLegend(
  colorStates(
    stateTimeline(
      {
        title: 'Alert state over time',
        description: 'One line per alert state of the resource; a state of unknown meaning is shown as sent.',
        unit: UNIT.short,
        noValue: NOT_SELECTED,
      },
      rangeQuery(
        withStateName(oneStation.deduplicated('telemetry_station_resource_state', SELECTED)),
        '{{state_label}}',
      ),
    ),
  ),
);

const rulesHistory = timeseries(
  {
    title: 'Rules over time',
    description: 'Alert rules of the resource.',
    unit: UNIT.short,
    noValue: NOT_SELECTED,
  },
  rangeQuery(oneStation.deduplicated('telemetry_station_resource_alert_rules', SELECTED), 'Alert rules'),
);

export const resources = buildDashboard({
  name: 'resources',
  description: 'Search for single resources and follow their history.',
  refresh: '5m',
  variables: [
    ...stationVariables(),
    labelVariable('alert_state', 'Alert state', 'telemetry_station_resources', stations, '.*'),
    labelVariable('gpu_model', 'GPU model', 'telemetry_station_sku_quantity', stations, '.*'),
    textVariable('display_name', 'Display name', 'Part of the display name, case-insensitive.'),
    textVariable('name', 'Name', 'Part of the name, case-insensitive.'),
    textVariable('id', 'ID', 'Part of the id, case-insensitive.'),
    choiceVariable('limit', 'Rows', ['200', '1000', '5000']),
    textVariable('resource_id', 'Resource', 'Full id of the resource to show in detail.'),
  ],
  sections: [
    {
      title: 'Overview by station, type and product',
      lines: [
        line(
          3,
          [8, linked(resourcesStat(stations), inventoryLink('Resources'))],
          [8, linked(firingStat(stations), inventoryLink('Firing resources'))],
          [8, linked(unknownStateStat(stations), inventoryLink('Resources in unknown states'))],
        ),
        line(8, [12, firingByType(stations)], [12, resourcesByType(stations)]),
      ],
    },
    {
      title: 'Inventory: open to search',
      collapsed: true,
      lines: [
        line(3, [6, matchingStat], [6, matchingFiringStat], [6, matchingWithoutRulesStat], [6, matchingRulesStat]),
        line(16, [24, inventory]),
      ],
    },
    {
      title: 'Selected resource',
      lines: [line(4, [24, details]), line(7, [12, stateHistory], [12, rulesHistory])],
    },
  ],
});
