import { deduplicate, FIRING, type MetricName } from '../../promql/metric.ts';
import { orangeFromOne, presentMappings, stateMappings, UNIT } from './appearance.ts';
import { buildDashboard, line } from './build-dashboard.ts';
import { stat, stateTimeline, table, timeseries } from './panel.ts';
import { instantQuery, rangeQuery, SAME_RESOURCE, Scope, tableQuery } from './query.ts';
import { ID_COLUMN, NO_RESOURCE_SERIES, READS_EACH_RESOURCE, RESOURCE_COLUMNS } from './resource-table.ts';
import { choiceVariable, labelVariable, stationVariables, textVariable } from './variables.ts';

const stations = new Scope('station', 'resource_type', 'product');
const withGpuModel = new Scope('station', 'resource_type', 'product', 'gpu_model');

const contains = (variable: string) => `=~"(?i).*$${variable}.*"`;

/** Resources that match all variables. A resource without a known state matches every state. */
const matching = [
  withGpuModel.series('telemetry_station_resource_info', {
    display_name: contains('display_name'),
    name: contains('name'),
    resource_id: contains('id'),
  }),
  `unless ${SAME_RESOURCE} ${stations.series('telemetry_station_resource_state', { state: '!~"$state"' })}`,
].join(' ');

const matchingStat = countStat('Matching resources', 'Resources that match the variables.', 'count', matching);

const firingStat = countStat(
  'Firing',
  'Matching resources in a firing alert state.',
  'count',
  `(${matching}) and ${SAME_RESOURCE} ${stations.series('telemetry_station_resource_state', { state: FIRING })}`,
).thresholds(orangeFromOne());

const withoutRulesStat = countStat(
  'Without alert rules',
  'Matching resources without alert rules, alertable or not.',
  'count',
  `(${matching}) and ${SAME_RESOURCE} (${stations.series('telemetry_station_resource_alert_rules')} == 0)`,
).thresholds(orangeFromOne());

const rulesStat = countStat(
  'Alert rules',
  'Alert rules of the matching resources.',
  'sum',
  `${stations.series('telemetry_station_resource_alert_rules')} and ${SAME_RESOURCE} (${matching})`,
);

function countStat(title: string, description: string, operation: 'count' | 'sum', expression: string) {
  return stat(
    { title, description: `${description} ${READS_EACH_RESOURCE}`, unit: UNIT.count, noValue: 'None' },
    // Aggregates per target first, so that replicas count once.
    instantQuery(`sum(max by (job, station) (${operation} by (job, instance, station) (${expression})))`),
  );
}

const listed = `topk($limit, ${matching})`;
const ofListed = (metric: MetricName) => deduplicate(metric, `${stations.series(metric)} and ${SAME_RESOURCE} ${listed}`);

const inventory = table(
  {
    title: 'Inventory',
    description: `Resources that match the variables, limited by \`Rows\`. The name links to the resource history below. ${READS_EACH_RESOURCE}`,
    noValue: NO_RESOURCE_SERIES,
  },
  [
    tableQuery(deduplicate('telemetry_station_resource_info', listed)),
    tableQuery(ofListed('telemetry_station_resource_state')),
    tableQuery(ofListed('telemetry_station_resource_alert_rules')),
    tableQuery(`time() - ${ofListed('telemetry_station_resource_created_timestamp_seconds')}`),
  ],
  [
    ...RESOURCE_COLUMNS,
    { field: 'product', title: 'Product' },
    { field: 'state', title: 'State', mappings: stateMappings, width: 90 },
    { field: 'Value #C', title: 'Rules', unit: UNIT.count, width: 70 },
    { field: 'Value #D', title: 'Age', unit: UNIT.seconds, decimals: 1, width: 95 },
    { field: 'gpu_model', title: 'GPU model' },
    { field: 'alertable', title: 'Alertable', width: 85 },
    { field: 'station', title: 'Station', width: 95 },
    ID_COLUMN,
  ],
  { by: 'Display name', descending: false },
);

const oneStation = new Scope('station');
const SELECTED = { resource_id: '="$resource_id"' } as const;
const NOT_SELECTED = 'Select a resource in the table above';

const details = table(
  { title: 'Details', description: 'The resource selected by the variable `Resource`.', noValue: NOT_SELECTED },
  [
    tableQuery(oneStation.deduplicated('telemetry_station_resource_info', SELECTED)),
    tableQuery(`1000 * ${oneStation.deduplicated('telemetry_station_resource_created_timestamp_seconds', SELECTED)}`),
  ],
  [
    ...RESOURCE_COLUMNS,
    { field: 'product', title: 'Product' },
    { field: 'gpu_model', title: 'GPU model' },
    { field: 'alertable', title: 'Alertable', width: 85 },
    { field: 'station', title: 'Station', width: 110 },
    { field: 'Value #B', title: 'Created', unit: UNIT.date, width: 160 },
    ID_COLUMN,
  ],
  { by: 'Display name', descending: false },
);

const stateHistory = stateTimeline(
  { title: 'Alert state over time', description: 'One line per alert state of the resource.', unit: UNIT.short, noValue: NOT_SELECTED },
  rangeQuery(oneStation.deduplicated('telemetry_station_resource_state', SELECTED), '{{state}}'),
).mappings(presentMappings);

const rulesHistory = timeseries(
  { title: 'Alert rules over time', description: 'Alert rules of the resource.', unit: UNIT.short, noValue: NOT_SELECTED },
  rangeQuery(oneStation.deduplicated('telemetry_station_resource_alert_rules', SELECTED), 'Alert rules'),
);

const quantityHistory = timeseries(
  { title: 'SKU quantity over time', description: 'Quantity from the SKU of the resource.', unit: UNIT.short, noValue: 'No SKU quantity' },
  rangeQuery(oneStation.deduplicated('telemetry_station_resource_sku_quantity', SELECTED), '{{unit}}'),
);

export const resources = buildDashboard({
  name: 'resources',
  description: 'Search for single resources and follow their history.',
  refresh: '5m',
  variables: [
    ...stationVariables(),
    labelVariable('state', 'State', 'telemetry_station_resources', stations, '.*'),
    labelVariable('gpu_model', 'GPU model', 'telemetry_station_sku_quantity', stations, '.*'),
    textVariable('display_name', 'Display name', 'Part of the display name or a regular expression, case-insensitive.'),
    textVariable('name', 'Name', 'Part of the name or a regular expression, case-insensitive.'),
    textVariable('id', 'ID', 'Part of the id or a regular expression, case-insensitive.'),
    choiceVariable('limit', 'Rows', ['200', '1000', '5000']),
    textVariable('resource_id', 'Resource', 'Full id of the resource to show in detail.'),
  ],
  sections: [
    {
      title: 'Inventory',
      lines: [line(4, [6, matchingStat], [6, firingStat], [6, withoutRulesStat], [6, rulesStat]), line(16, [24, inventory])],
    },
    {
      title: 'Resource: $resource_id',
      lines: [line(4, [24, details]), line(7, [12, stateHistory], [6, rulesHistory], [6, quantityHistory])],
    },
  ],
});
