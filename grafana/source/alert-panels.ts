import { deduplicate, FIRING } from '../../prometheus/promql/metric.ts';
import { RUNBOOK_URL } from '../../prometheus/source/parameters.ts';
import { alertStateMappings, severityMappings, UNIT } from './appearance.ts';
import { stationLink } from './build-dashboard.ts';
import { table } from './panel.ts';
import { SAME_RESOURCE, type Scope, tableQuery } from './query.ts';
import { READS_EACH_RESOURCE, RESOURCE_COLUMNS } from './resource-table.ts';

const ALERT_LABELS = 'alertname, severity, job, instance, station, upstream, resource_id, display_name';

/** Pending and firing alerts of the shipped rules. */
export function alertsTable(scope: Scope) {
  const since = `max by (${ALERT_LABELS}) (${scope.alerts('ALERTS_FOR_STATE')})`;
  const active = `max by (${ALERT_LABELS}, alertstate) (${scope.alerts('ALERTS')})`;
  return table(
    {
      title: 'Alerts',
      description:
        'Pending and firing alerts of `prometheus/rules.yml`, the 100 latest. The name links to the runbook.',
      noValue: 'No alerts, or prometheus/rules.yml is not loaded',
    },
    [tableQuery(`topk(100, 1000 * ${since} * on (${ALERT_LABELS}) group_right () ${active})`)],
    [
      {
        field: 'alertname',
        title: 'Alert',
        width: 290,
        link: { title: 'Runbook', url: `${RUNBOOK_URL}/\${__value.raw}.md` },
      },
      { field: 'alertstate', title: 'State', mappings: alertStateMappings, width: 95 },
      { field: 'severity', title: 'Severity', mappings: severityMappings, width: 110 },
      { field: 'station', title: 'Station', link: stationLink, width: 125 },
      { field: 'display_name', title: 'Resource', width: 160 },
      { field: 'instance', title: 'Instance', width: 150 },
      { field: 'upstream', title: 'Upstream', width: 115 },
      { field: 'Value', title: 'Since', unit: UNIT.date, width: 165 },
    ],
    { by: 'Since', descending: true },
  );
}

/** Reads the series of all resources of the stations that have a firing one. */
export function firingResources(scope: Scope) {
  const firing = scope.series('telemetry_station_resource_state', { state: FIRING });
  const byResource = '(job, station, resource_id)';
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
      noValue: 'No firing resources reported',
    },
    [tableQuery(scope.withTypeName(latest))],
    [
      ...RESOURCE_COLUMNS,
      { field: 'Value', title: 'Since', unit: UNIT.date, width: 165 },
      { field: 'station', title: 'Station', link: stationLink, width: 130 },
    ],
    { by: 'Since', descending: true },
  );
}
