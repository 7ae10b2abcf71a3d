import { earliest } from '../model/clock.ts';
import { type AggregateGroup, sumIfKnown } from '../resources/aggregates.ts';
import { countText } from '../text/words.ts';

/** Resources by what is known of their alert rules, without exempt ones and, with `alertability`, without those that are not alertable. */
export interface Coverage {
  /** Sum of their alert rules; undefined: the service reports no numbers of rules. */
  readonly alertRules: number | undefined;
  readonly withRules: number;
  readonly withoutRules: number;
  /** The number of rules is unknown, or with `alertability` whether the resource is alertable. */
  readonly unknownCoverage: number;
}

/** The least and the largest number of resources that may have alert rules, and that of all; undefined: it is known of no resource. */
export function coveredRange({
  withRules,
  withoutRules,
  unknownCoverage,
}: Coverage): { readonly covered: readonly [least: number, most: number]; readonly all: number } | undefined {
  const known = withRules + withoutRules;
  if (known === 0) return undefined;
  return { covered: [withRules, withRules + unknownCoverage], all: known + unknownCoverage };
}

/** The least share of resources with alert rules that is possible; undefined: it is known of no resource. */
export function leastCoverage(coverage: Coverage): number | undefined {
  const range = coveredRange(coverage);
  return range && range.covered[0] / range.all;
}

/** The share of resources with alert rules; undefined while it is unknown of any, and without resources. */
export function coverageShare(coverage: Coverage): number | undefined {
  return coverage.unknownCoverage === 0 ? leastCoverage(coverage) : undefined;
}

/** Coverage, and of how many resources and rejected records; undefined is unknown. */
export interface CountedCoverage extends Coverage {
  readonly resources?: number;
  readonly rejected?: number;
}

/** Why there is no share. */
export function noShareReason({ alertRules, unknownCoverage, resources, rejected = 0 }: CountedCoverage): string {
  if (unknownCoverage === 0 && resources === 0 && rejected === 0) return 'no resources';
  if (unknownCoverage === 0) return resources === 0 ? 'no data' : 'all listed resources are exempt';
  return alertRules === undefined
    ? 'alert rules are not reported'
    : `unknown for ${countText(unknownCoverage, 'resource')}`;
}

/** Counted as the dashboards and alerts do, by what the states mean. */
export interface Totals extends Coverage {
  readonly resources: number;
  readonly firing: number;
  readonly pending: number;
  /** Resources in a state of unknown meaning, or without a state. */
  readonly unknown: number;
  /** Resources that can have alerts and are not exempt; undefined: unknown for all of them, as without `alertability` and exemptions. */
  readonly alertable: number | undefined;
  /** Of those without alert rules: the ones of unknown age, the overdue ones, and when the oldest was created, in Unix seconds. */
  readonly unknownAge: number;
  readonly overdue: number | undefined;
  readonly oldestUncovered: number | undefined;
}

export function totalsOf(groups: Iterable<AggregateGroup>, isAlertableKnown: boolean): Totals {
  const totals = sumOfTotals(Array.from(groups, (group) => totalsOfGroup(group, isAlertableKnown)));
  return totals.resources === 0 && isAlertableKnown ? { ...totals, alertable: 0 } : totals;
}

export function totalsOfGroup({ states, alertable, ...rules }: AggregateGroup, isAlertableKnown: boolean): Totals {
  const counts = { firing: 0, pending: 0, unknown: 0, inactive: 0 };
  for (const [alertState, ofState] of states) for (const count of ofState.values()) counts[alertState] += count;
  const { inactive, ...others } = counts;
  const { alertRules, withRules, withoutRules, unknownCoverage, unknownAge, overdue, oldestUncovered } = rules;
  return {
    resources: inactive + others.firing + others.pending + others.unknown,
    ...others,
    alertable: isAlertableKnown ? alertable : undefined,
    alertRules,
    withRules,
    withoutRules,
    unknownCoverage,
    unknownAge,
    overdue,
    oldestUncovered,
  };
}

/** Of none, all counts are 0 and the rest is unknown. */
export function sumOfTotals(all: readonly Totals[]): Totals {
  const sumOf = (count: Exclude<keyof Totals, 'alertable' | 'alertRules' | 'overdue' | 'oldestUncovered'>) =>
    all.reduce((sum, totals) => sum + totals[count], 0);
  const sumOfKnown = (count: 'alertable' | 'alertRules' | 'overdue') =>
    all.reduce<number | undefined>((sum, totals) => sumIfKnown(sum, totals[count]), undefined);
  return {
    resources: sumOf('resources'),
    firing: sumOf('firing'),
    pending: sumOf('pending'),
    unknown: sumOf('unknown'),
    alertable: sumOfKnown('alertable'),
    alertRules: sumOfKnown('alertRules'),
    withRules: sumOf('withRules'),
    withoutRules: sumOf('withoutRules'),
    unknownCoverage: sumOf('unknownCoverage'),
    unknownAge: sumOf('unknownAge'),
    overdue: sumOfKnown('overdue'),
    oldestUncovered: earliest(all.map(({ oldestUncovered }) => oldestUncovered)),
  };
}
