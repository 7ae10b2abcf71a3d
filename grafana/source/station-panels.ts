import { BigValueTextMode } from '@grafana/grafana-foundation-sdk/common';
import { CLUSTER, RUNBOOK_URL } from '../../prometheus/source/parameters.ts';
import {
  ageThresholds,
  alertStateMappings,
  blueFromOne,
  EMPTY_LINK,
  fixedColor,
  neverMappings,
  orangeFromOne,
  redFromOne,
  severityMappings,
  UNIT,
  UP,
  withoutOwner,
  withoutPrefix,
} from './appearance.ts';
import { exporterLink, resourceLink, resourcesLink, stationLink } from './build-dashboard.ts';
import {
  type Column,
  colorStates,
  lastKnownStat,
  stackedBars,
  stat,
  TIME_WIDTH,
  table,
  textSizes,
  timeseries,
} from './panel.ts';
import { instantQuery, lastKnown, rangeQuery, type Scope, tableQuery } from './query.ts';

/** A series for each station, whose label `reason` says why the latest refresh failed. */
export function refreshResult(scope: Scope): string {
  const succeeded = `${scope.once('telemetry_station_up')} == 1`;
  const failed = `${scope.once('telemetry_station_failure')} == 1`;
  return `label_replace(${succeeded}, "reason", "${UP}", "", "") or ${failed}`;
}

const latestSuccess = (scope: Scope) => scope.once('telemetry_station_last_success_timestamp_seconds');

/** Of the stations that the exporter has; of those it had only while it is down. */
export const oldestData = (scope: Scope) =>
  stat(
    {
      title: 'Oldest data',
      description:
        'Longest time since the last successful refresh of a station: its numbers are as last known. Orange from 5 minutes; red from 20, when TelemetryStationDataStale fires. `Never`: a station was never refreshed.',
      unit: UNIT.seconds,
    },
    instantQuery(`round(time() - (min(${latestSuccess(scope)}) or min(${lastKnown(latestSuccess(scope))})))`),
  )
    .thresholds(ageThresholds())
    .mappings([...neverMappings])
    .decimals(0);

/** The firing resources beside all of them, as last known. */
export const resourceCounts = (scope: Scope) =>
  lastKnownStat(
    {
      title: 'Resources',
      description: 'Firing resources, and all resources, as last known.',
      link: resourcesLink,
    },
    rangeQuery(`sum(${inState(scope, 'firing')})`, 'Firing'),
    rangeQuery(`sum(${allStates(scope)})`, ALL),
  ).overrideByName('Firing', [{ id: 'thresholds', value: redFromOne().build() }]);

/** The name of a total beside the part that matters. */
export const ALL = 'All';

export const inState = (scope: Scope, alertState: string, ...matchers: readonly string[]) =>
  scope.once('telemetry_station_listing_resources', `alert_state="${alertState}"`, ...matchers);

export const allStates = (scope: Scope, ...matchers: readonly string[]) =>
  scope.total('telemetry_station_listing_resources', 'alert_state', ...matchers);

export const alertCoverage = (scope: Scope) =>
  lastKnownStat(
    {
      title: 'Coverage',
      description:
        'Alert coverage: resources known to be covered by alert rules as a share of those that could be. Where it is unknown of some, also the share if all of these are covered, and how many they are. Exempt resources do not count.',
      unit: UNIT.ratio,
    },
    rangeQuery(scope.leastCoverage(), 'Covered'),
    rangeQuery(scope.mostCoverage(), 'At most'),
    rangeQuery(`sum(${scope.once('telemetry_station_resources_with_unknown_alert_coverage')})`, 'Unknown'),
  )
    // A value without its name would look like the coverage.
    .textMode(BigValueTextMode.ValueAndName)
    // Three values side by side.
    .text(textSizes(12, 20))
    .overrideByName('Unknown', [
      { id: 'unit', value: UNIT.count },
      { id: 'thresholds', value: blueFromOne().build() },
    ]);

interface AlertSelection {
  readonly matchers?: readonly string[];
  readonly columns?: readonly Column[];
}

/** The stations of an alert; the link opens the first one. */
export const AFFECTED_COLUMNS: readonly Column[] = [
  { field: 'station', title: 'Stations', links: [stationLink], reduce: 'uniqueValues' },
  { field: 'Value #A', title: 'Count', unit: UNIT.count, reduce: 'sum', width: 65 },
];

/** Those of single resources are in the table of firing resources. An alert without a station comes first: it may explain those of stations. */
export function alerts({ matchers: ofStation = [], columns = [] }: AlertSelection = {}) {
  const ofJob = [`${CLUSTER}=~"$cluster|"`, 'job="$job"', 'station=~"$station|"'];
  const matchers = ['alertname=~"TelemetryStation.+"', 'severity!="info"', 'resource_id=""', ...ofJob, ...ofStation];
  return table(
    {
      title: 'Alerts',
      description:
        'Firing and pending alerts of prometheus/rules.yml that need action, without those of single resources: critical before warning, causes before the stations that they affect. The name links to the runbook.',
      noValue: 'No alerts, or prometheus/rules.yml is not loaded',
    },
    {
      queries: [
        tableQuery(`label_join(ALERTS{${matchers.join(',')}}, "where", "", "upstream", "instance")`),
        tableQuery(`1000 * ALERTS_FOR_STATE{${matchers.join(',')}}`),
      ],
      columns: [
        {
          field: 'alertname',
          title: 'Alert',
          mappings: withoutPrefix('TelemetryStation'),
          links: [{ title: 'Runbook', url: `${RUNBOOK_URL}/\${__value.raw}.md` }],
          width: 165,
        },
        { field: 'alertstate', title: 'State', mappings: alertStateMappings, width: 75 },
        { field: 'severity', title: 'Severity', mappings: severityMappings, width: 75 },
        { field: 'where', title: 'Where', mappings: EMPTY_LINK, links: [exporterLink] },
        ...columns,
        { field: 'Value #B', title: 'Since', unit: UNIT.time, reduce: 'min', width: TIME_WIDTH },
        { field: 'station', hidden: true, reduce: 'first' },
      ],
      // Grafana sorts what is empty to the end.
      order: [
        { by: 'alertstate' },
        { by: 'severity' },
        { by: 'station (first)', descending: true },
        { by: 'alertname' },
      ],
    },
  );
}

export const firingAndPending = (scope: Scope) =>
  colorStates(
    timeseries(
      { title: 'Firing and pending', description: 'Resources with a firing or pending alert, as last known.' },
      rangeQuery(`sum(${inState(scope, 'firing')})`, 'Firing'),
      rangeQuery(`sum(${inState(scope, 'pending')})`, 'Pending'),
    ),
  );

export const TYPE_COLUMN: Column = {
  field: 'resource_type',
  title: 'Type',
  mappings: withoutPrefix('resource_type.'),
};

export const COVERAGE_COLUMN: Column = {
  field: 'Value #D',
  title: 'Coverage',
  unit: UNIT.ratio,
  decimals: 0,
  width: 90,
};

/** Of the resources of each value of a label: all, firing ones, those without alert rules, and the coverage. */
function countsBy(scope: Scope, label: string, ...matchers: readonly string[]) {
  const by = `by (${label})`;
  const uncovered = scope.total('telemetry_station_resources_without_alert_rules', 'product', ...matchers);
  return {
    queries: [
      tableQuery(`sum ${by} (${resourcesOf(scope, ...matchers)})`),
      tableQuery(`sum ${by} (${resourcesOf(scope, 'alert_state="firing"', ...matchers)})`),
      tableQuery(`sum ${by} (${uncovered})`),
      tableQuery(scope.coverage(` ${by}`, ...matchers)),
    ],
    columns: [
      { field: 'Value #A', title: 'Resources', unit: UNIT.count, bar: true, width: 160 },
      { field: 'Value #B', title: 'Firing', unit: UNIT.count, thresholds: redFromOne(), width: 80 },
      { field: 'Value #C', title: 'Without rules', unit: UNIT.count, width: 110 },
      COVERAGE_COLUMN,
    ],
    order: [{ by: 'Value #A (max)', descending: true }],
    limit: 100,
  };
}

/** By type, and by the labels of resources. */
export const resourcesOf = (scope: Scope, ...matchers: readonly string[]) =>
  scope.total('telemetry_station_resources', 'product, state, alert_state', ...matchers);

export function types(scope: Scope) {
  const counts = countsBy(scope, 'resource_type');
  return table(
    {
      title: 'Resources by type',
      description:
        'Resources, firing ones, those known to have no alert rules, and the share of covered ones, by type. Coverage is a dash where it is unknown of any.',
    },
    { ...counts, columns: [TYPE_COLUMN, ...counts.columns] },
  );
}

/** The owner of the station counts only if no resource has one. */
export function owners(scope: Scope) {
  const owned = '$owner!=""';
  const { queries, columns, ...counts } = countsBy(scope, '$owner', owned);
  const [, , ...coverage] = queries;
  const byOwner = (ofResources: string, ofStations: string) =>
    tableQuery(`sum by ($owner) (${ofResources}) or on () sum by ($owner) (${ofStations})`);
  return table(
    {
      title: 'Resources by owner',
      description:
        'By the label that the variable `owner` names: `team`, unless the address has `var-owner`. It is one of `resource_labels`, or else of the labels of stations, by which coverage is not known. Resources without an owner do not count. Coverage is a dash where it is unknown of any.',
      noValue: 'No data, or neither resources nor stations have the label',
    },
    {
      ...counts,
      queries: [
        byOwner(resourcesOf(scope, owned), allStates(scope, owned)),
        byOwner(resourcesOf(scope, 'alert_state="firing"', owned), inState(scope, 'firing', owned)),
        ...coverage,
      ],
      columns: [{ field: '$owner', title: 'Owner' }, ...columns],
    },
  );
}

/** Also of resources without an owner: they are nobody's until somebody looks. */
export const overdue = (scope: Scope) =>
  table(
    {
      title: 'Overdue by owner',
      description:
        'Resources that are not covered by alert rules although they are older than `coverage.within`, by the label that the variable `owner` names; those that are not covered and of unknown age; and the age of the oldest that is not covered. The page /coverage of the exporter has the same by type and station.',
      noValue: 'All covered, or no data',
    },
    {
      queries: [
        tableQuery(`sum by ($owner) (${scope.once('telemetry_station_overdue_resources')})`),
        tableQuery(`sum by ($owner) (${scope.once('telemetry_station_uncovered_resources_with_unknown_age')}) > 0`),
        tableQuery(`time() - min by ($owner) (${scope.series(OLDEST_UNCOVERED)}) > 0`),
      ],
      columns: [
        { field: '$owner', title: 'Owner', mappings: withoutOwner },
        { field: 'Value #A', title: 'Overdue', unit: UNIT.count, thresholds: orangeFromOne(), width: 80 },
        { field: 'Value #C', title: 'Oldest', unit: UNIT.seconds, decimals: 0, width: 100 },
        { field: 'Value #B', title: 'Unknown age', unit: UNIT.count, width: 110 },
      ],
      order: [
        { by: 'Value #A (max)', descending: true },
        { by: 'Value #C (max)', descending: true },
      ],
      limit: 100,
    },
  );

const OLDEST_UNCOVERED = 'telemetry_station_oldest_uncovered_created_timestamp_seconds';

export const capacity = (scope: Scope) =>
  table(
    {
      title: 'Capacity',
      description:
        'Sum of the SKU quantities by GPU model and unit. Sizes are in bytes, other units as the service sends them.',
    },
    {
      queries: [
        tableQuery(`sum by (gpu_model, unit) (${quantity(scope, 'unit!="bytes"')})`),
        tableQuery(`sum by (gpu_model, unit) (${quantity(scope, 'unit="bytes"')})`),
      ],
      columns: [
        { field: 'gpu_model', title: 'GPU model' },
        { field: 'unit', title: 'Unit', width: 95 },
        { field: 'Value #A', title: 'Quantity', unit: UNIT.count, width: 85 },
        { field: 'Value #B', title: 'Size', unit: UNIT.bytes, width: 80 },
      ],
      order: [{ by: 'gpu_model' }, { by: 'Value #A (max)', descending: true }],
      limit: 100,
    },
  );

const quantity = (scope: Scope, matcher: string) =>
  scope.total('telemetry_station_sku_quantity', 'resource_type, product', matcher);

export const addedAndRemoved = (scope: Scope) =>
  stackedBars(
    {
      title: 'Added and removed',
      description: 'Resources added, and removed below the axis, between comparable listings, in the time of each bar.',
    },
    rangeQuery(`sum(${changes(scope, 'telemetry_station_resources_added_total')})`, 'Added'),
    rangeQuery(`-sum(${changes(scope, 'telemetry_station_resources_removed_total')})`, 'Removed'),
  )
    .overrideByName('Added', [fixedColor('blue')])
    .overrideByName('Removed', [fixedColor('purple')]);

export const stateChanges = (scope: Scope) =>
  colorStates(
    stackedBars(
      {
        title: 'State changes',
        description: 'Changes of alert states in the time of each bar, by the new state.',
      },
      rangeQuery(
        `sum by (alert_state) (${changes(scope, 'telemetry_station_resource_state_changes_total')})`,
        '{{alert_state}}',
      ),
    ),
  );

/** In the time of a bar: `increase` would extrapolate. After a restart, the difference is below 0. */
function changes(
  scope: Scope,
  counter:
    | 'telemetry_station_resources_added_total'
    | 'telemetry_station_resources_removed_total'
    | 'telemetry_station_resource_state_changes_total',
): string {
  const count = scope.series(counter);
  return `clamp_min(max without (instance, pod) (${count} - ${count} offset $__interval), 0)`;
}

/** The links of a resource read `station` and `resource_id`. */
export const HIDDEN_ID: Column = { field: 'resource_id', hidden: true };
export const ID_COLUMN: Column = { field: 'resource_id', title: 'ID', width: 315 };
export const STATION_COLUMN: Column = { field: 'station', title: 'Station', links: [stationLink], width: 110 };
export const RESOURCE_COLUMNS: readonly Column[] = [
  { field: 'display_name', title: 'Resource', links: [resourceLink] },
  { field: 'name', title: 'Name' },
  { ...TYPE_COLUMN, width: 225 },
];

export function firingResources(scope: Scope, station: Column = STATION_COLUMN, id: Column = ID_COLUMN) {
  return table(
    {
      title: 'Firing resources',
      description:
        'Up to 500 firing resources, the latest first. Since: when the alert of the resource became active, if prometheus/rules.yml is loaded. A station with more than `metrics.max_firing_resources` of them has none here.',
      noValue: 'None firing, or no data',
    },
    {
      queries: [
        tableQuery(`topk(500, ${scope.once('telemetry_station_resource_firing')})`),
        tableQuery(
          `topk(500, 1000 * ${scope.series('ALERTS_FOR_STATE', 'alertname="TelemetryStationResourceFiring"')})`,
        ),
      ],
      columns: [
        ...RESOURCE_COLUMNS,
        station,
        { field: 'Value #B', title: 'Since', unit: UNIT.time, width: TIME_WIDTH },
        id,
      ],
      order: [{ by: 'Value #B (max)', descending: true }],
    },
  );
}
