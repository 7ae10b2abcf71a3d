import { UNIT, withoutPrefix } from './appearance.ts';
import { buildDashboard, line } from './build-dashboard.ts';
import { type Column, colorStates, stat, stateTimeline, TIME_WIDTH, table } from './panel.ts';
import { instantQuery, rangeQuery, Scope, tableQuery } from './query.ts';
import { firingResources, HIDDEN_ID, RESOURCE_COLUMNS, STATION_COLUMN } from './station-panels.ts';
import { jobVariables, labelVariable, multiple, stationVariable, textVariable } from './variables.ts';

const stations = new Scope('station=~"$station"');
const searched = new Scope(
  'station=~"$station"',
  'resource_type=~"$resource_type"',
  'product=~"$product"',
  `display_name=~\`(?i).*\${search:regex}.*\``,
  `name=~\`(?i).*\${name:regex}.*\``,
);
const selected = new Scope('station=~"$station"', 'resource_id="$resource_id"');

const ROWS = 1000;

const READS_EACH_RESOURCE = 'Reads a series of each resource of the selected stations.';
const NO_RESOURCE_SERIES = 'None, no data, or per-resource series are not published';

const matching = stat(
  {
    title: 'Matching',
    description: `Resources that match the variables. ${READS_EACH_RESOURCE}`,
    noValue: NO_RESOURCE_SERIES,
  },
  // With 100,000 resources, an aggregation that keeps all labels costs several times as much.
  instantQuery(`count(count by (station, resource_id) (${searched.series('telemetry_station_resource_info')}))`),
);

const PRODUCT_COLUMN: Column = {
  field: 'product',
  title: 'Product',
  mappings: withoutPrefix('product.'),
  width: 110,
};
const SKU_COLUMNS: readonly Column[] = [
  { field: 'sku', title: 'SKU', width: 135 },
  { field: 'gpu_model', title: 'GPU model', width: 195 },
];

const inventory = table(
  {
    title: 'Inventory',
    description: `Resources that match the variables, up to ${ROWS}. The name links to the history of the resource; the page of the exporter has states, rules and ages as well. ${READS_EACH_RESOURCE}`,
    noValue: NO_RESOURCE_SERIES,
  },
  {
    // The table groups by the id, so that those of replicas are one row.
    queries: [tableQuery(`topk(${ROWS}, ${searched.series('telemetry_station_resource_info')})`)],
    columns: [...RESOURCE_COLUMNS, STATION_COLUMN, PRODUCT_COLUMN, ...SKU_COLUMNS, HIDDEN_ID],
    order: [{ by: 'display_name' }],
    limit: ROWS,
  },
);

const NOT_SELECTED = 'No data: follow the link of a resource, or enter its ID';

const details = table(
  { title: 'Details', description: 'The selected resource.', noValue: NOT_SELECTED },
  {
    queries: [
      tableQuery(selected.once('telemetry_station_resource_info')),
      tableQuery(`1000 * ${selected.once('telemetry_station_resource_created_timestamp_seconds')}`),
      tableQuery(selected.once('telemetry_station_resource_alert_rules')),
    ],
    columns: [
      ...RESOURCE_COLUMNS,
      STATION_COLUMN,
      ...SKU_COLUMNS,
      { field: 'Value #C', title: 'Alert rules', unit: UNIT.count, width: 90 },
      { field: 'Value #B', title: 'Created', unit: UNIT.time, width: TIME_WIDTH },
      HIDDEN_ID,
    ],
    order: [{ by: 'display_name' }],
  },
);

const stateHistory = colorStates(
  stateTimeline(
    { title: 'Alert state', description: 'A line for each alert state of the resource.', noValue: NOT_SELECTED },
    rangeQuery(selected.once('telemetry_station_resource_state'), '{{alert_state}}: {{state}}'),
  ),
);

/** The values of a label of the resources of the selected stations, without what all of them begin with; "All" includes an empty value. */
function resourceVariable(label: string, title: string, prefix: string) {
  const query = `label_values(${stations.series('telemetry_station_resources')}, ${label})`;
  const regex = `/^(?<value>(?:${prefix.replaceAll('.', '[.]')})?(?<text>.*))$/`;
  return multiple(labelVariable(label, title, query), '.*').regex(regex);
}

export const resources = buildDashboard({
  name: 'resources',
  description: 'Search for single resources, and follow the history of one.',
  variables: [
    ...jobVariables('telemetry_station_up'),
    multiple(stationVariable()),
    resourceVariable('resource_type', 'Type', 'resource_type.'),
    resourceVariable('product', 'Product', 'product.'),
    textVariable('search', 'Display name', 'Part of the display name, case-insensitive.'),
    textVariable('name', 'Name', 'Part of the name, case-insensitive.'),
    textVariable('resource_id', 'ID', 'Full ID of the selected resource.'),
  ],
  rows: [
    { lines: [line(9, [24, firingResources(searched)])] },
    { title: 'Selected resource', lines: [line(4, [24, details]), line(4, [24, stateHistory])] },
    {
      title: 'Inventory: open to search',
      collapsed: true,
      lines: [line(3, [24, matching]), line(16, [24, inventory])],
    },
  ],
});
