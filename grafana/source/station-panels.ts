import { CLUSTER, RUNBOOK_URL } from '../../prometheus/source/parameters.ts';
import {
  ageThresholds,
  alertStateMappings,
  coverageThresholds,
  fixedColor,
  neverMappings,
  redFromOne,
  regexMapping,
  severityMappings,
  UNIT,
  UP,
  withoutPrefix,
} from './appearance.ts';
import { exporterLink, resourceLink, resourcesLink, stationLink } from './build-dashboard.ts';
import { type Column, colorStates, stackedBars, stat, table, timeseries } from './panel.ts';
import { instantQuery, rangeQuery, type Scope, tableQuery } from './query.ts';

/** 1 for a station whose latest refresh succeeded, -1 for one whose refresh failed; the label `reason` says why. */
export function refreshResult(scope: Scope): string {
  const succeeded = `${scope.once('telemetry_station_up')} == 1`;
  const failed = `${scope.once('telemetry_station_failure')} == 1`;
  return `label_replace(${succeeded}, "reason", "${UP}", "", "") or -(${failed})`;
}

export const oldestData = (scope: Scope) =>
  stat(
    {
      title: 'Oldest data',
      description:
        'Longest time since the last successful refresh of a station: its numbers are as last known. Orange from 5 minutes; red from 15, the threshold of TelemetryStationDataStale. `Never`: a station was never refreshed.',
      unit: UNIT.seconds,
    },
    instantQuery(`round(time() - min(${scope.once('telemetry_station_last_success_timestamp_seconds')}))`),
  )
    .thresholds(ageThresholds())
    .mappings([...neverMappings])
    .decimals(0);

/** The firing resources beside all of them, as last known. */
export const resourceCounts = (scope: Scope) =>
  stat(
    {
      title: 'Resources',
      description: 'Firing resources, and all resources, as last known.',
      link: resourcesLink,
    },
    instantQuery(`sum(${scope.once('telemetry_station_listing_resources', 'alert_state="firing"')})`, 'Firing'),
    instantQuery(`sum(${scope.once('telemetry_station_listing_resources')})`, ALL),
  ).overrideByName('Firing', [{ id: 'thresholds', value: redFromOne().build() }]);

/** The name of a total beside the part that matters. */
export const ALL = 'All';

export const alertCoverage = (scope: Scope) =>
  stat(
    {
      title: 'Coverage',
      description:
        'Alert coverage: resources with alert rules as a share of those that could have them. Exempt resources and those whose coverage is unknown do not count.',
      unit: UNIT.ratio,
    },
    instantQuery(scope.coverage()),
  ).thresholds(coverageThresholds());

/** Those of single resources are in the table of firing resources. */
export function alerts(station: string) {
  const matchers = `alertname=~"TelemetryStation.+", alertname!="TelemetryStationResourceFiring", severity!="info", ${CLUSTER}=~"$cluster|", job="$job", station=~"${station}|"`;
  return table(
    {
      title: 'Alerts',
      description:
        'Firing and pending alerts of prometheus/rules.yml that need action: critical before warning, without those of single resources. The name links to the runbook.',
      noValue: 'No alerts, or prometheus/rules.yml is not loaded',
    },
    {
      queries: [
        tableQuery(`label_join(ALERTS{${matchers}}, "where", " ", "station", "upstream", "instance")`),
        tableQuery(`1000 * ALERTS_FOR_STATE{${matchers}}`),
      ],
      columns: [
        {
          field: 'alertname',
          title: 'Alert',
          mappings: withoutPrefix('TelemetryStation'),
          links: [{ title: 'Runbook', url: `${RUNBOOK_URL}/\${__value.raw}.md` }],
        },
        { field: 'alertstate', title: 'State', mappings: alertStateMappings, width: 80 },
        { field: 'severity', title: 'Severity', mappings: severityMappings, width: 85 },
        {
          field: 'where',
          title: 'Where',
          mappings: [regexMapping('^ +$', undefined, '–')],
          links: [stationLink, exporterLink],
        },
        { field: 'Value #B', title: 'Since', unit: UNIT.time, width: 165 },
        { field: 'station', hidden: true },
      ],
      order: [{ by: 'alertstate' }, { by: 'severity' }, { by: 'Value #B (max)', descending: true }],
    },
  );
}

export const firingAndPending = (scope: Scope) =>
  colorStates(
    timeseries(
      { title: 'Firing and pending', description: 'Resources with a firing or pending alert, as last known.' },
      rangeQuery(
        `sum by (alert_state) (${scope.once('telemetry_station_listing_resources', 'alert_state=~"firing|pending"')})`,
        '{{alert_state}}',
      ),
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
  thresholds: coverageThresholds(),
  width: 90,
};

/** Of the resources of each value of a label: all, firing ones, those without alert rules, and the coverage. */
function countsBy(scope: Scope, label: string) {
  const by = `by (${label})`;
  const firing = scope.once('telemetry_station_resources', 'alert_state="firing"');
  return {
    queries: [
      tableQuery(`sum ${by} (${scope.once('telemetry_station_resources')})`),
      tableQuery(`sum ${by} (${firing})`),
      tableQuery(`sum ${by} (${scope.once('telemetry_station_resources_without_alert_rules')})`),
      tableQuery(scope.coverage(` ${by}`)),
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

export function types(scope: Scope) {
  const counts = countsBy(scope, 'resource_type');
  return table(
    {
      title: 'Resources by type',
      description: 'Resources, firing ones, those without alert rules, and the share of those with rules, by type.',
    },
    { ...counts, columns: [TYPE_COLUMN, ...counts.columns] },
  );
}

export function owners(scope: Scope) {
  const counts = countsBy(scope, '$owner');
  return table(
    {
      title: 'Resources by owner',
      description:
        'By the label that the variable `owner` names: `team`, unless the address has `var-owner`. It must be one of `resource_labels` or of the labels of a station.',
      noValue: 'No data, or no resource has the label',
    },
    { ...counts, columns: [{ field: '$owner' }, ...counts.columns] },
  );
}

export const capacity = (scope: Scope) =>
  table(
    {
      title: 'Capacity',
      description:
        'Sum of the SKU quantities by GPU model and unit. Sizes are in bytes, other units as the service sends them.',
    },
    {
      queries: [
        tableQuery(`sum by (gpu_model, unit) (${scope.once('telemetry_station_sku_quantity', 'unit!="bytes"')})`),
        tableQuery(`sum by (gpu_model, unit) (${scope.once('telemetry_station_sku_quantity', 'unit="bytes"')})`),
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

export const addedAndRemoved = (scope: Scope) =>
  stackedBars(
    {
      title: 'Added and removed per hour',
      description: 'Resources added, and removed below the axis, within the hour before, between complete listings.',
    },
    rangeQuery(`sum(${hourly(scope, 'telemetry_station_resources_added_total')})`, 'Added'),
    rangeQuery(`-sum(${hourly(scope, 'telemetry_station_resources_removed_total')})`, 'Removed'),
  )
    .overrideByName('Added', [fixedColor('blue')])
    .overrideByName('Removed', [fixedColor('purple')]);

export const stateChanges = (scope: Scope) =>
  colorStates(
    stackedBars(
      {
        title: 'State changes per hour',
        description: 'Changes of alert states within the hour before, by the new state.',
      },
      rangeQuery(
        `sum by (alert_state) (${hourly(scope, 'telemetry_station_resource_state_changes_total')})`,
        '{{alert_state}}',
      ),
    ),
  );

function hourly(
  scope: Scope,
  counter:
    | 'telemetry_station_resources_added_total'
    | 'telemetry_station_resources_removed_total'
    | 'telemetry_station_resource_state_changes_total',
): string {
  return `max without (instance, pod) (increase(${scope.series(counter)}[1h]))`;
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

export function firingResources(scope: Scope, station: Column = STATION_COLUMN) {
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
        { field: 'Value #B', title: 'Since', unit: UNIT.time, width: 165 },
        ID_COLUMN,
      ],
      order: [{ by: 'Value #B (max)', descending: true }],
    },
  );
}
