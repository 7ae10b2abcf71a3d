import { labelList } from '../../prometheus/promql/cluster.ts';
import { deduplicate, FIRING } from '../../prometheus/promql/metric.ts';
import { RUNBOOK_URL } from '../../prometheus/source/parameters.ts';
import { SAME_RESOURCE } from '../../prometheus/source/rule.ts';
import { ruleGroups } from '../../prometheus/source/rules-file.ts';
import { alertNameMappings, alertStateMappings, NONE_OR_NO_DATA, severityMappings, UNIT } from './appearance.ts';
import { firingResourcesLink, resourceLink, stationLink } from './build-dashboard.ts';
import { CLUSTER_COLUMN, type Column, JOB_COLUMN, table } from './panel.ts';
import { BY_UPSTREAM, type Scope, tableQuery } from './query.ts';
import { READS_EACH_RESOURCE, resourceColumns, STATION_COLUMNS } from './resource-table.ts';

/** The alerts of the resources of a station are one row. */
const ROW_LABELS = ['alertname', 'severity', 'job', 'instance', 'station', 'upstream'] as const;
const BY_ALERT = labelList(...ROW_LABELS, 'resource_id');
const BY_ROW_AND_STATE = labelList(...ROW_LABELS, 'alertstate');

/** Firing before pending, then by severity. */
const PRIORITIES = ['firing', 'pending'].flatMap((state) =>
  ['critical', 'warning', 'info'].map((severity) => ({ alertstate: `="${state}"`, severity: `="${severity}"` })),
);

/** Those of single resources or types, after the alerts of stations and exporters of the same severity. */
const RESOURCE_ALERTS = ruleGroups()
  .filter(({ name }) => name === 'telemetry-station-resources')
  .flatMap(({ rules }) => rules.flatMap((rule) => ('alert' in rule ? rule.alert : [])))
  .join('|');

/** A start in seconds has ten digits. */
const PRIORITY = 1e10;
const RESOURCE_PRIORITY = PRIORITY / 2;

interface AlertsTable {
  readonly title?: string;
  /** A regular expression; by default all of the shipped rules. */
  readonly names?: string;
  /** Without the alerts of upstreams that the selected stations do not use. */
  readonly usedUpstreamsOnly?: boolean;
}

/** Pending and firing alerts. */
export function alertsTable(
  scope: Scope,
  { title = 'Alerts', names = 'TelemetryStation.+', usedUpstreamsOnly = false }: AlertsTable = {},
) {
  const alertname = `=~"${names}"`;
  const alerts = (matchers = {}) =>
    `max by ${labelList(...ROW_LABELS, 'resource_id', 'alertstate')} (${scope.alerts('ALERTS', { alertname, ...matchers })})`;
  const starts = `max by ${BY_ALERT} (${scope.alerts('ALERTS_FOR_STATE', { alertname })})`;
  const active = `min by ${BY_ROW_AND_STATE} (${starts} * on ${BY_ALERT} group_right () ${alerts()})`;
  const since = usedUpstreamsOnly ? `(${active} unless on ${BY_UPSTREAM} (${unusedUpstreams(scope)}))` : active;
  const priority = PRIORITIES.map((matchers, index) => `${PRIORITIES.length - index} * ${alerts(matchers)}`).join(
    ' or ',
  );
  const ofResources = `max by ${BY_ROW_AND_STATE} (${alerts({ alertname: `=~"${RESOURCE_ALERTS}"` })})`;
  const order = `${PRIORITY} * max by ${BY_ROW_AND_STATE} (${priority}) + ${since}`;
  return table(
    {
      title,
      description:
        'Pending and firing alerts of `prometheus/rules.yml`, without the beginning of their names: firing ones first, then by severity, those of resources after those of stations and exporters, then the latest, up to 100. The alerts of the resources of a station are one row with their number, which links to them. The name links to the runbook.',
      noValue: 'No alerts, or prometheus/rules.yml is not loaded',
    },
    [
      tableQuery(scope.withJobName(`(${order} - ${RESOURCE_PRIORITY} * ${ofResources} or ${order})`, alerts())),
      tableQuery(`count by ${BY_ROW_AND_STATE} (${alerts({ resource_id: '!=""' })})`),
      tableQuery(`1000 * ${since}`),
    ],
    [
      {
        field: 'alertname',
        title: 'Alert',
        mappings: alertNameMappings,
        link: { title: 'Runbook', url: `${RUNBOOK_URL}/\${__value.raw}.md` },
        width: 225,
      },
      { field: 'alertstate', title: 'State', mappings: alertStateMappings, width: 80 },
      { field: 'severity', title: 'Severity', mappings: severityMappings, width: 95 },
      { field: 'Value #B', title: 'Resources', unit: UNIT.count, link: firingResourcesLink, width: 110 },
      { field: 'station', title: 'Station', link: stationLink },
      { ...JOB_COLUMN, field: 'job_name' },
      CLUSTER_COLUMN,
      { field: 'instance', title: 'Instance' },
      { field: 'upstream', title: 'Upstream' },
      SINCE_COLUMN('Value #C'),
      // The links read it.
      { field: 'job', title: 'job', hidden: true },
    ],
    { by: 'Value #A', descending: true, limit: 100 },
  );
}

/** Upstreams with alerts that none of the selected stations uses; the station of an exporter that is down still does. */
function unusedUpstreams(scope: Scope): string {
  const withAlerts = `group by ${BY_UPSTREAM} (${scope.alerts('ALERTS', { upstream: '!=""' })})`;
  const used = `group by ${BY_UPSTREAM} (last_over_time(${scope.series('telemetry_station_info')}[$__range]))`;
  return `${withAlerts} unless on ${BY_UPSTREAM} ${used}`;
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
