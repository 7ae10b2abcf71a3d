import { FieldColorBuilder, FieldColorModeId } from '@grafana/grafana-foundation-sdk/dashboard';
import { coverageThresholds, noneIsGood } from './appearance.ts';
import { ranking, stat, timeseries, withoutPrefix } from './panel.ts';
import { named, type Scope, summed } from './query.ts';
import { now, over } from './target.ts';
import { UNIT } from './units.ts';

type Level = 'job' | 'station' | 'resource_type';

/** The share of resources with at least one alert rule, among those that can have alerts where the station knows which these are. */
export function coverage(scope: Scope, by: readonly Level[] = []): string {
  const finest = ['job', 'station', 'resource_type'] as const;
  const alertable = scope.sum('telemetry_station_alertable_resources', finest);
  const all = scope.sum('telemetry_station_resources', finest);
  const without = scope.sum('telemetry_station_resources_without_alert_rules', finest);
  return `1 - ${summed(by, without)} / (${summed(by, `(${alertable} or ${all}) and ${without}`)} > 0)`;
}

const nothing = 'No rule counts known';

export const coverageNow = (scope: Scope) =>
  stat(
    {
      title: 'Alert coverage',
      description:
        'The share of resources with at least one alert rule; for stations with `alertability`, among those that can have alerts. Green from 95 %, yellow from 80 %, orange from 50 %.',
      unit: UNIT.ratio,
      nothing,
    },
    now(coverage(scope)),
  )
    .thresholds(coverageThresholds())
    .min(0)
    .max(1)
    .decimals(1);

export const uncoveredNow = (scope: Scope) =>
  stat(
    {
      title: 'Without alert rules',
      description: 'Resources with no alert rule; for stations with `alertability`, among those that can have alerts.',
      unit: UNIT.count,
      nothing,
    },
    now(scope.sum('telemetry_station_resources_without_alert_rules')),
  ).thresholds(noneIsGood());

export const coverageByStation = (scope: Scope) =>
  timeseries(
    {
      title: 'Coverage by station',
      description: 'The share of resources with at least one alert rule, by station.',
      unit: UNIT.ratio,
      nothing,
    },
    over(coverage(scope, ['station']), '{{station}}'),
  )
    .min(0)
    .max(1)
    .thresholds(coverageThresholds());

export const coverageByType = (scope: Scope) =>
  withoutPrefix(
    ranking(
      {
        title: 'Coverage by type',
        description:
          'The share of resources with at least one alert rule, by type: the 15 worst. Types that cannot have alerts are left out.',
        unit: UNIT.ratio,
        nothing,
      },
      now(named('resource_type', `bottomk(15, ${coverage(scope, ['resource_type'])})`), '{{resource_type}}'),
    ),
    'resource_type.',
  )
    .max(1)
    .decimals(0)
    .thresholds(coverageThresholds())
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds));

export const uncoveredByType = (scope: Scope) =>
  withoutPrefix(
    timeseries(
      {
        title: 'Without alert rules by type',
        description: 'Resources that have no alert rule, by type: the 20 types with the most at each moment.',
        unit: UNIT.short,
        nothing,
      },
      over(
        named('resource_type', `topk(20, ${scope.sum('telemetry_station_resources_without_alert_rules', ['resource_type'])} > 0)`),
        '{{resource_type}}',
      ),
    ),
    'resource_type.',
  );
