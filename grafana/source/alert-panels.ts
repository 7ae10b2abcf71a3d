import { labelList } from '../../prometheus/promql/cluster.ts';
import { deduplicate, FIRING } from '../../prometheus/promql/metric.ts';
import { RUNBOOK_URL } from '../../prometheus/source/parameters.ts';
import { SAME_RESOURCE } from '../../prometheus/source/rule.ts';
import { alertStateMappings, NONE_OR_NO_DATA, severityMappings, UNIT } from './appearance.ts';
import { firingResourcesLink, resourceLink } from './build-dashboard.ts';
import { type Column, table } from './panel.ts';
import { type Scope, tableQuery } from './query.ts';
import { READS_EACH_RESOURCE, resourceColumns, STATION_COLUMNS } from './resource-table.ts';

/** The alerts of the resources of a station are one row. */
const ROW_LABELS = ['alertname', 'severity', 'job', 'instance', 'station', 'upstream'] as const;
const BY_ALERT = labelList(...ROW_LABELS, 'resource_id');
const BY_ROW_AND_STATE = labelList(...ROW_LABELS, 'alertstate');

/** Firing before pending, then by severity. */
const PRIORITIES = ['firing', 'pending'].flatMap((state) =>
  ['critical', 'warning', 'info'].map((severity) => ({ alertstate: `="${state}"`, severity: `="${severity}"` })),
);

/** Pending and firing alerts of the shipped rules, or of those with the given names. */
export function alertsTable(scope: Scope, title = 'Alerts', names = 'TelemetryStation.+') {
  const alertname = `=~"${names}"`;
  const alerts = (matchers = {}) =>
    `max by ${labelList(...ROW_LABELS, 'resource_id', 'alertstate')} (${scope.alerts('ALERTS', { alertname, ...matchers })})`;
  const starts = `max by ${BY_ALERT} (${scope.alerts('ALERTS_FOR_STATE', { alertname })})`;
  const since = `min by ${BY_ROW_AND_STATE} (${starts} * on ${BY_ALERT} group_right () ${alerts()})`;
  const priority = PRIORITIES.map((matchers, index) => `${PRIORITIES.length - index} * ${alerts(matchers)}`).join(
    ' or ',
  );
  return table(
    {
      title,
      description:
        'Pending and firing alerts of `prometheus/rules.yml`: firing ones first, then by severity, then the latest, up to 100. The alerts of the resources of a station are one row, whose number links to them. The name links to the runbook.',
      noValue: 'No alerts, or prometheus/rules.yml is not loaded',
    },
    [
      // A start in seconds has ten digits.
      tableQuery(`1e10 * max by ${BY_ROW_AND_STATE} (${priority}) + ${since}`),
      tableQuery(`count by ${BY_ROW_AND_STATE} (${alerts()})`),
      tableQuery(`1000 * ${since}`),
    ],
    [
      { field: 'alertname', title: 'Alert', link: { title: 'Runbook', url: `${RUNBOOK_URL}/\${__value.raw}.md` } },
      { field: 'alertstate', title: 'State', mappings: alertStateMappings, width: 95 },
      { field: 'severity', title: 'Severity', mappings: severityMappings, width: 110 },
      { field: 'Value #B', title: 'Number', unit: UNIT.count, link: firingResourcesLink, width: 90 },
      ...STATION_COLUMNS,
      { field: 'instance', title: 'Instance' },
      { field: 'upstream', title: 'Upstream' },
      SINCE_COLUMN('Value #C'),
    ],
    { by: 'Value #A', descending: true, limit: 100 },
  );
}

const SINCE_COLUMN = (field: string): Column => ({ field, title: 'Since', unit: UNIT.date, width: 165 });

/** Reads the series of all resources of the stations that have a firing one. */
export function firingResources(scope: Scope) {
  const firing = scope.series('telemetry_station_resource_state', { alert_state: FIRING });
  const byResource = labelList('job', 'station', 'resource_id');
  const alertSince = `max by ${byResource} (${scope.alerts('ALERTS_FOR_STATE', { alertname: '="TelemetryStationResourceFiring"' })})`;
  const seenSince = `min by ${byResource} (min_over_time(timestamp(${firing})[$__range:5m]))`;
  const infos = deduplicate(
    'telemetry_station_resource_info',
    `${scope.series('telemetry_station_resource_info')} and ${SAME_RESOURCE} ${firing}`,
  );
  const latest = `topk(100, 1000 * (${alertSince} or ${seenSince}) * on ${byResource} group_right () ${infos})`;
  return table(
    {
      title: 'Firing resources',
      description: `The 100 resources that began to fire last. Since: when its alert became active; without the shipped rules, when it was first seen firing within the time range. ${READS_EACH_RESOURCE}`,
      noValue: NONE_OR_NO_DATA,
    },
    [tableQuery(scope.withTypeName(latest))],
    [...resourceColumns(resourceLink), SINCE_COLUMN('Value'), ...STATION_COLUMNS],
    { by: 'Value', descending: true },
  );
}
