import { FIRING } from '../../grafana/source/query.ts';
import { RECORDED } from './recording.ts';
import { BY_STATION, BY_TYPE, each, LISTED_WHOLE, metric, type RuleGroup } from './rule.ts';

const withoutRules = metric('telemetry_station_resources_without_alert_rules');
const BY_TYPE_AND_PRODUCT = '(job, station, resource_type, product)';
const uncovered = `sum by ${BY_TYPE} (max by ${BY_TYPE_AND_PRODUCT} (${withoutRules}))`;
const uncoveredBefore = `sum by ${BY_TYPE} (max by ${BY_TYPE_AND_PRODUCT} (${withoutRules} offset 1h))`;
const added = metric('telemetry_station_resources_added_total');

/** About what the stations hold. All but the first read aggregates alone, whatever the number of resources. */
export const resourceAlerts: RuleGroup = {
  name: 'telemetry-station-resources',
  rules: [
    {
      alert: 'TelemetryStationResourceFiring',
      about: 'The service documents no state that fires; it is recognised by the word. Reads the series of resources that fire, no others.',
      expr: `max by (job, station, resource_id, name) (${metric('telemetry_station_resource_state')}{state${FIRING}}) == 1`,
      for: '5m',
      severity: 'warning',
      summary: 'A resource is in a firing alert state.',
      description:
        'Resource {{ $labels.name }} ({{ $labels.resource_id }}) of station {{ $labels.station }} has been firing for 5 minutes (state is {{ $value }}).',
    },
    {
      alert: 'TelemetryStationAlertableWithoutRules',
      about:
        'One alert per type, not per resource: a fleet may have thousands. Stations without alertability cannot tell, and are left out.',
      expr: `${uncovered} > 0
and on ${BY_STATION}
${each('telemetry_station_alertable_resources')}`,
      for: '1d',
      severity: 'info',
      summary: 'Resources that can have alerts have had no alert rule for a day.',
      description:
        '{{ $value }} resources of type {{ $labels.resource_type }} in station {{ $labels.station }} can have alerts and have no alert rule; for a day there has always been one.',
    },
    {
      alert: 'TelemetryStationNewResourcesWithoutRules',
      about:
        'More are without rules than an hour ago, and resources were added since. A type that was not there counts from 0 if its station was.',
      expr: `(
  ${uncovered}
  - on ${BY_TYPE}
  (
    ${uncoveredBefore}
    or
    (
      0 * ${uncovered}
      and on ${BY_STATION}
      max by ${BY_STATION} (${metric('telemetry_station_listing_complete')} offset 1h)
    )
  )
) > 0
and on ${BY_TYPE}
max by ${BY_TYPE} (increase(${added}[1h])) > 0`,
      for: '30m',
      severity: 'info',
      summary: 'New resources have no alert rules.',
      description:
        '{{ $value }} more resources of type {{ $labels.resource_type }} in station {{ $labels.station }} have no alert rule than an hour ago, and resources of this type were added since.',
    },
    {
      alert: 'TelemetryStationResourcesLost',
      about: 'Only a listing that is proven whole tells what is gone.',
      expr: `${RECORDED.resources} < 0.8 * max_over_time(${RECORDED.resources}[1h])
and on ${BY_STATION}
${LISTED_WHOLE}`,
      for: '5m',
      severity: 'critical',
      summary: 'A telemetry station lost more than a fifth of its resources within an hour.',
      description:
        'Station {{ $labels.station }} has {{ $value }} resources left, more than a fifth fewer than at some time in the last hour.',
    },
    {
      alert: 'TelemetryStationCapacityDropped',
      about: 'What is gone altogether has no series any more and counts as 0.',
      expr: `(
  ${RECORDED.capacity}
  or
  0 * max_over_time(${RECORDED.capacity}[6h])
)
< 0.8 * max_over_time(${RECORDED.capacity}[6h])
and on ${BY_STATION}
${LISTED_WHOLE}`,
      for: '30m',
      severity: 'warning',
      summary: 'The capacity of a telemetry station dropped by more than a fifth.',
      description:
        'Station {{ $labels.station }} has {{ $value }} {{ $labels.unit }} {{ $labels.gpu_model }} left, more than a fifth less than at some time in the last 6 hours.',
    },
  ],
};
