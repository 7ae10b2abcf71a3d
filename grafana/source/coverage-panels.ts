import { labelList } from '../../prometheus/promql/cluster.ts';
import { RECORDED } from '../../prometheus/source/recording.ts';
import { coverageThresholds, orangeFromOne, UNIT } from './appearance.ts';
import { CLUSTER_COLUMN, type Column, categories, coarse, inAnyCluster, stat, table, timeseries } from './panel.ts';
import { emptyAsNone, instantQuery, rangeQuery, type Scope, tableQuery, withOwner } from './query.ts';

type CoverageLabels = readonly ('job' | 'station' | 'resource_type')[];

/** Share of resources with at least one alert rule; of the alertable resources where the station knows them. */
export function coverage(scope: Scope, by: CoverageLabels = []): string {
  return coverageRatio(
    scope.sum('telemetry_station_resources_with_alert_rules', by),
    scope.sum('telemetry_station_resources_without_alert_rules', by),
  );
}

export function coverageRatio(withRules: string, withoutRules: string): string {
  return `${withRules} / (${withRules} + ${withoutRules} > 0)`;
}

/** Resources that the coverage does not count because too little is known of them; nothing where there are none. */
function unknownCoverage(scope: Scope, by: CoverageLabels = []): string {
  return `${scope.sum('telemetry_station_resources_with_unknown_alert_coverage', by)} > 0`;
}

/** The resources that the column of the coverage does not count. */
export const unknownCoverageColumn = (field: string): Column => ({
  field,
  title: 'Unknown',
  unit: UNIT.count,
  thresholds: orangeFromOne(),
  width: 100,
});

export const coverageColumn = (field: string): Column => ({
  field,
  title: 'Coverage',
  unit: UNIT.ratio,
  decimals: 0,
  thresholds: coverageThresholds(),
  width: 100,
});

export const coverageStat = (scope: Scope) =>
  stat(
    {
      title: 'Alert coverage',
      description:
        'Share of resources with at least one alert rule. For stations with `alertability`, only alertable resources count. Green from 95%, orange from 50%. `Unknown`: resources that the share does not count, because their number of alert rules or whether they are alertable is unknown.',
      unit: UNIT.ratio,
    },
    instantQuery(coverage(scope), 'Known'),
  )
    .withTarget(instantQuery(unknownCoverage(scope), 'Unknown'))
    .thresholds(coverageThresholds())
    .overrideByRegexp(inAnyCluster('Unknown'), [
      { id: 'unit', value: UNIT.count },
      { id: 'decimals', value: 0 },
      { id: 'thresholds', value: orangeFromOne().build() },
    ])
    .min(0)
    .max(1)
    .decimals(1);

export const withoutRulesStat = (scope: Scope) =>
  stat(
    {
      title: 'Without alert rules',
      description:
        'Resources without alert rules. For stations with `alertability`, only resources count that are known to be alertable: tables of single resources also list those of which this is unknown. `Stations missing`: stations without data, whose resources are not counted.',
      unit: UNIT.count,
    },
    instantQuery(scope.sum('telemetry_station_resources_without_alert_rules'), 'Known'),
  ).thresholds(orangeFromOne());

export const coverageByStation = (scope: Scope) =>
  coarse(
    categories(
      timeseries(
        {
          title: 'Coverage by station',
          description:
            'Share of resources with at least one alert rule, of those where this is known: the 20 stations with the lowest.',
          unit: UNIT.ratio,
        },
        rangeQuery(scope.withStationName(`bottomk(20, ${coverage(scope, ['job', 'station'])})`), '{{station_label}}'),
      ),
    )
      .min(0)
      .max(1),
  );

/** How long the owners take to add alert rules. */
export const timeToCoverage = (scope: Scope) =>
  coarse(
    timeseries(
      {
        title: 'Oldest without alert rules',
        description:
          'Age of the oldest alertable resource without alert rules of each owner, the 20 oldest: how long it takes to add them. Needs the recording rules and `alertability`.',
        unit: UNIT.seconds,
        noValue: 'None, not scraped or refreshed, or no rules loaded',
      },
      rangeQuery(
        `topk(20, time() - min by ${labelList('owner')} (${emptyAsNone('owner', withOwner(scope.recorded(RECORDED.oldestWithoutRules)))}))`,
        '{{owner}}',
      ),
    ),
  );

/** Of a type without any rule of which no resource is known to be alertable, it is unknown whether rules are missing. */
export function coverageByType(scope: Scope) {
  const by = ['resource_type'] as const;
  const withoutRules = scope.sum('telemetry_station_resources_without_alert_rules', by);
  const withoutAny = `${scope.sum('telemetry_station_resources_with_alert_rules', by)} == 0`;
  const unknown = `${withoutAny} unless ${scope.sum('telemetry_station_alertable_resources', by)} > 0`;
  return table(
    {
      title: 'Coverage by type',
      description:
        'Resources without alert rules, and the share of resources with at least one: the 50 types with the most resources without rules. The share is unknown for a type without rules if no resource of it is known to be alertable.',
    },
    [
      tableQuery(scope.withTypeName(`topk(50, ${withoutRules})`)),
      tableQuery(`${coverage(scope, by)} unless (${unknown})`),
      tableQuery(scope.withTypeName(`(${unknownCoverage(scope, by)})`)),
    ],
    [
      { field: 'resource_type_label', title: 'Type' },
      CLUSTER_COLUMN,
      { field: 'Value #A', title: 'Without rules', unit: UNIT.count, width: 130 },
      coverageColumn('Value #B'),
      unknownCoverageColumn('Value #C'),
    ],
    { by: 'Value #A', descending: true, limit: 50 },
  );
}
