import { FIRING } from '../../promql/metric.ts';
import { RECORDED } from './recording.ts';
import { BY_STATION, BY_TYPE, deduplicated, LISTING_COMPLETE, metric, type RuleGroup } from './rule.ts';

const withoutRulesMetric = metric('telemetry_station_resources_without_alert_rules');
const BY_TYPE_AND_PRODUCT = '(job, station, resource_type, product)';
const withoutRules = `sum by ${BY_TYPE} (max by ${BY_TYPE_AND_PRODUCT} (${withoutRulesMetric}))`;
const withoutRulesBefore = `sum by ${BY_TYPE} (max by ${BY_TYPE_AND_PRODUCT} (${withoutRulesMetric} offset 1h))`;

/** Resources of the stations. Only the first alert reads per-resource series. */
export const resourceAlerts: RuleGroup = {
  name: 'telemetry-station-resources',
  rules: [
    {
      alert: 'TelemetryStationResourceFiring',
      comment: 'Matches states by name, because the service documents no firing state. Reads only the series of firing resources.',
      expr: `max by (job, station, resource_id, name) (${metric('telemetry_station_resource_state')}{state${FIRING}}) == 1`,
      for: '5m',
      severity: 'warning',
      summary: 'Resource alert is firing.',
      description:
        'Resource {{ $labels.name }} ({{ $labels.resource_id }}) of station {{ $labels.station }} has been firing for 5 minutes.',
    },
    {
      alert: 'TelemetryStationAlertableWithoutRules',
      comment: 'One alert per type, because a station may have thousands of such resources. Needs `alertability`.',
      expr: `${withoutRules} > 0
and on ${BY_STATION}
${deduplicated('telemetry_station_alertable_resources')}`,
      for: '1d',
      severity: 'info',
      summary: 'Alertable resources have no alert rules.',
      description:
        'Station {{ $labels.station }} has had alertable resources of type {{ $labels.resource_type }} without alert rules for a day (now {{ $value }}).',
    },
    {
      alert: 'TelemetryStationNewResourcesWithoutRules',
      comment:
        'More resources without rules than an hour ago, and resources were added since. A new type counts from 0 if its station is not new.',
      expr: `(
  ${withoutRules}
  - on ${BY_TYPE}
  (
    ${withoutRulesBefore}
    or
    (
      0 * ${withoutRules}
      and on ${BY_STATION}
      max by ${BY_STATION} (${metric('telemetry_station_listing_complete')} offset 1h)
    )
  )
) > 0
and on ${BY_TYPE}
max by ${BY_TYPE} (increase(${metric('telemetry_station_resources_added_total')}[1h])) > 0`,
      for: '30m',
      severity: 'info',
      summary: 'New resources have no alert rules.',
      description:
        'Station {{ $labels.station }} has {{ $value }} more resources of type {{ $labels.resource_type }} without alert rules than an hour ago.',
    },
    {
      alert: 'TelemetryStationResourcesLost',
      comment: 'Only listings that are verified complete show removed resources.',
      expr: `${RECORDED.resources} < 0.8 * max_over_time(${RECORDED.resources}[1h])
and on ${BY_STATION}
${LISTING_COMPLETE}`,
      for: '5m',
      severity: 'critical',
      summary: 'Telemetry station lost more than 20% of its resources.',
      description: 'Station {{ $labels.station }} has {{ $value }} resources, more than 20% below its maximum of the last hour.',
    },
    {
      alert: 'TelemetryStationCapacityDropped',
      comment: 'A GPU model or unit that disappeared has no series and counts as 0.',
      expr: `(
  ${RECORDED.capacity}
  or
  0 * max_over_time(${RECORDED.capacity}[6h])
)
< 0.8 * max_over_time(${RECORDED.capacity}[6h])
and on ${BY_STATION}
${LISTING_COMPLETE}`,
      for: '30m',
      severity: 'warning',
      summary: 'Telemetry station capacity dropped by more than 20%.',
      description:
        'Station {{ $labels.station }} has {{ $value }} {{ $labels.unit }}{{ with $labels.gpu_model }} ({{ . }}){{ end }}, more than 20% below its maximum of the last 6 hours.',
    },
  ],
};
