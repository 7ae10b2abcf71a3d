import { FieldColorBuilder, FieldColorModeId } from '@grafana/grafana-foundation-sdk/dashboard';
import { coverageThresholds, orangeFromOne, UNIT } from './appearance.ts';
import { barGauge, coarse, stat, timeseries } from './panel.ts';
import { instantQuery, rangeQuery, type Scope, sumBy } from './query.ts';

/** Share of resources with at least one alert rule; of the alertable resources where the station knows them. */
export function coverage(scope: Scope, by: readonly ('job' | 'station' | 'resource_type')[] = []): string {
  const typeLabels = ['job', 'station', 'resource_type'] as const;
  const alertable = scope.sum('telemetry_station_alertable_resources', typeLabels);
  const all = scope.sum('telemetry_station_resources', typeLabels);
  const withoutRules = scope.sum('telemetry_station_resources_without_alert_rules', typeLabels);
  return `1 - ${sumBy(by, withoutRules)} / (${sumBy(by, `(${alertable} or ${all}) and ${withoutRules}`)} > 0)`;
}

const NO_RULE_COUNTS = 'No alert rule counts';

export const coverageStat = (scope: Scope) =>
  stat(
    {
      title: 'Alert coverage',
      description:
        'Share of resources with at least one alert rule. For stations with `alertability`, only alertable resources count. Green from 95%, orange from 50%.',
      unit: UNIT.ratio,
      noValue: NO_RULE_COUNTS,
    },
    instantQuery(coverage(scope)),
  )
    .thresholds(coverageThresholds())
    .min(0)
    .max(1)
    .decimals(1);

export const withoutRulesStat = (scope: Scope) =>
  stat(
    {
      title: 'Without alert rules',
      description: 'Resources without alert rules. For stations with `alertability`, only alertable resources count.',
      unit: UNIT.count,
      noValue: NO_RULE_COUNTS,
    },
    instantQuery(scope.sum('telemetry_station_resources_without_alert_rules')),
  ).thresholds(orangeFromOne());

export const coverageByStation = (scope: Scope) =>
  coarse(
    timeseries(
      {
        title: 'Coverage by station',
        description: 'Share of resources with at least one alert rule: the 20 stations with the lowest.',
        unit: UNIT.ratio,
        noValue: NO_RULE_COUNTS,
      },
      rangeQuery(`bottomk(20, ${coverage(scope, ['station'])})`, '{{station}}'),
    )
      .min(0)
      .max(1)
      .thresholds(coverageThresholds()),
  );

export const coverageByType = (scope: Scope) =>
  barGauge(
    {
      title: 'Coverage by type',
      description:
        'Share of resources with at least one alert rule: the 15 types with the lowest coverage. Excludes types without alertable resources.',
      unit: UNIT.ratio,
      noValue: NO_RULE_COUNTS,
    },
    instantQuery(scope.withTypeName(`bottomk(15, ${coverage(scope, ['resource_type'])})`), '{{resource_type_label}}'),
  )
    .max(1)
    .decimals(0)
    .thresholds(coverageThresholds())
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds));

export const withoutRulesByType = (scope: Scope) =>
  coarse(
    timeseries(
      {
        title: 'Without alert rules by type',
        description: 'Resources without alert rules: the 10 types with the most.',
        unit: UNIT.short,
        noValue: NO_RULE_COUNTS,
      },
      rangeQuery(
        scope.withTypeName(
          `topk(10, ${scope.sum('telemetry_station_resources_without_alert_rules', ['resource_type'])})`,
        ),
        '{{resource_type_label}}',
      ),
    ),
  );
