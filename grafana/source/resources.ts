import { noneIsGood, presentMappings, stateMappings } from './appearance.ts';
import { finished } from './finish.ts';
import { line } from './layout.ts';
import { resourceLink } from './links.ts';
import type { MetricName } from './metric.ts';
import { stat, timeline, timeseries } from './panel.ts';
import { describing, ID, READS_EACH_RESOURCE } from './per-resource.ts';
import { FIRING, once, SAME_RESOURCE, Scope } from './query.ts';
import { table } from './table.ts';
import { now, over, rows } from './target.ts';
import { UNIT } from './units.ts';
import { choiceVariable, labelVariable, stationVariables, textVariable } from './variables.ts';

const stations = new Scope('station', 'resource_type', 'product');
const selected = new Scope('station', 'resource_type', 'product', 'gpu_model');

const contains = (variable: string) => `=~"(?i).*$${variable}.*"`;

/** Those that the variables describe; one whose state is not known is in every state. */
const matching = [
  selected.series('telemetry_station_resource_info', {
    display_name: contains('display_name'),
    name: contains('name'),
    resource_id: contains('id'),
  }),
  `unless ${SAME_RESOURCE} ${stations.series('telemetry_station_resource_state', { state: '!~"$state"' })}`,
].join(' ');

const NOT_PUBLISHED = 'None, or resources are not published one by one';

const counted = (title: string, description: string, operation: 'count' | 'sum', expression: string) =>
  stat(
    { title, description: `${description} ${READS_EACH_RESOURCE}`, unit: UNIT.count, nothing: 'None' },
    // By target first: of two that tell of the same station, one is taken.
    now(`sum(max by (job, station) (${operation} by (job, instance, station) (${expression})))`),
  );

const matchingNow = counted('Matching', 'Resources that the variables above describe.', 'count', matching);

const firingNow = counted(
  'Firing',
  'Those of them whose alert state says that they fire.',
  'count',
  `(${matching}) and ${SAME_RESOURCE} ${stations.series('telemetry_station_resource_state', { state: FIRING })}`,
).thresholds(noneIsGood());

const uncoveredNow = counted(
  'Without alert rules',
  'Those of them that have no alert rule, whether or not they can have alerts.',
  'count',
  `(${matching}) and ${SAME_RESOURCE} (${stations.series('telemetry_station_resource_alert_rules')} == 0)`,
).thresholds(noneIsGood());

const rulesNow = counted(
  'Alert rules',
  'The alert rules on them, added up.',
  'sum',
  `${stations.series('telemetry_station_resource_alert_rules')} and ${SAME_RESOURCE} (${matching})`,
);

const listed = `topk($limit, ${matching})`;
const ofListed = (metric: MetricName) => once(metric, `${stations.series(metric)} and ${SAME_RESOURCE} ${listed}`);

const inventory = table(
  {
    title: 'Inventory',
    description: `The resources that the variables describe, as many as \`Rows\` says. The name leads to the resource’s history below. ${READS_EACH_RESOURCE}`,
    nothing: NOT_PUBLISHED,
  },
  [
    rows(once('telemetry_station_resource_info', listed)),
    rows(ofListed('telemetry_station_resource_state')),
    rows(ofListed('telemetry_station_resource_alert_rules')),
    rows(`time() - ${ofListed('telemetry_station_resource_created_timestamp_seconds')}`),
  ],
  [
    ...describing(resourceLink),
    { field: 'product', title: 'Product' },
    { field: 'state', title: 'State', mappings: stateMappings, width: 90 },
    { field: 'Value #C', title: 'Rules', unit: UNIT.count, width: 70 },
    { field: 'Value #D', title: 'Age', unit: UNIT.seconds, decimals: 1, width: 95 },
    { field: 'gpu_model', title: 'GPU model' },
    { field: 'alertable', title: 'Alertable', width: 85 },
    { field: 'station', title: 'Station', width: 95 },
    ID,
  ],
  { by: 'Display name', descending: false },
);

const one = new Scope('station');
const THE_ONE = { resource_id: '="$resource_id"' } as const;
const PICK = 'Pick a resource in the table above';

const described = table(
  { title: 'What it is', description: 'The resource whose id is in the variable `Resource`.', nothing: PICK },
  [
    rows(one.each('telemetry_station_resource_info', THE_ONE)),
    rows(`1000 * ${one.each('telemetry_station_resource_created_timestamp_seconds', THE_ONE)}`),
  ],
  [
    ...describing(resourceLink),
    { field: 'product', title: 'Product' },
    { field: 'gpu_model', title: 'GPU model' },
    { field: 'alertable', title: 'Alertable', width: 85 },
    { field: 'station', title: 'Station', width: 110 },
    { field: 'Value #B', title: 'Created', unit: UNIT.date, width: 160 },
    ID,
  ],
  { by: 'Display name', descending: false },
);

const states = timeline(
  {
    title: 'Its alert state',
    description: 'The state at each moment; a state that the resource never had has no line.',
    unit: UNIT.short,
    nothing: PICK,
  },
  over(one.each('telemetry_station_resource_state', THE_ONE), '{{state}}'),
).mappings(presentMappings);

const rules = timeseries(
  { title: 'Its alert rules', description: 'How many alert rules are on the resource.', unit: UNIT.short, nothing: PICK },
  over(one.each('telemetry_station_resource_alert_rules', THE_ONE), 'alert rules'),
);

const quantity = timeseries(
  { title: 'Its size', description: 'The quantity that the sku states.', unit: UNIT.short, nothing: 'No quantity stated' },
  over(one.each('telemetry_station_resource_sku_quantity', THE_ONE), '{{unit}}'),
);

export const resources = finished({
  name: 'resources',
  description: 'Every resource by itself: search for it, see what it is, and follow its history.',
  refresh: '5m',
  variables: [
    ...stationVariables(),
    labelVariable('state', 'State', 'telemetry_station_resources', stations, '.*'),
    labelVariable('gpu_model', 'GPU model', 'telemetry_station_sku_quantity', stations, '.*'),
    textVariable(
      'display_name',
      'Display name',
      'A part of the display name, or a regular expression for it; upper and lower case are the same.',
    ),
    textVariable('name', 'Name', 'A part of the name, or a regular expression for it.'),
    textVariable('id', 'Id', 'A part of the id, or a regular expression for it.'),
    choiceVariable('limit', 'Rows', ['200', '1000', '5000']),
    textVariable('resource_id', 'Resource', 'The whole id of the resource whose history is shown.'),
  ],
  sections: [
    {
      title: 'Inventory',
      lines: [line(4, [6, matchingNow], [6, firingNow], [6, uncoveredNow], [6, rulesNow]), line(16, [24, inventory])],
    },
    {
      title: 'One resource: $resource_id',
      lines: [line(4, [24, described]), line(7, [12, states], [6, rules], [6, quantity])],
    },
  ],
});
