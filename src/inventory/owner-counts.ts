import type { AggregateGroup } from '../refresh/aggregates.ts';
import { type Coverage, coverageIn, FIRING } from './station-status.ts';

/** The resources with a value of a label of `resource_labels`, of all stations with data; '' is the value of those without one. */
export interface OwnerCount {
  readonly label: string;
  readonly value: string;
  readonly resources: number;
  /** Resources in a state whose name contains this word. */
  readonly firing: number;
  /** undefined: there is no resource that it could be the share of. */
  readonly coverage: Coverage | undefined;
}

interface CountedStation {
  readonly groups: Iterable<AggregateGroup>;
  readonly alertability: boolean;
}

/** By label, the most frequent value first. */
export function countOwners(stations: readonly CountedStation[], labels: readonly string[]): readonly OwnerCount[] {
  return labels.flatMap((label) => {
    const counts = new Map<string, OwnerCount>();
    for (const { groups, alertability } of stations) {
      for (const [value, owned] of byValue(groups, label)) {
        const { resources = 0, firing = 0, coverage } = counts.get(value) ?? {};
        const states = owned.flatMap((group) => [...group.states]);
        counts.set(value, {
          label,
          value,
          resources: resources + sum(states),
          firing: firing + sum(states.filter(([state]) => FIRING.test(state))),
          coverage: added(coverage, coverageIn(owned, alertability)),
        });
      }
    }
    return [...counts.values()].toSorted((a, b) => b.resources - a.resources);
  });
}

function byValue(groups: Iterable<AggregateGroup>, label: string): ReadonlyMap<string, AggregateGroup[]> {
  const values = new Map<string, AggregateGroup[]>();
  for (const group of groups) {
    const value = group.labels[label] ?? '';
    values.set(value, [...(values.get(value) ?? []), group]);
  }
  return values;
}

function sum(states: readonly (readonly [state: string, count: number])[]): number {
  return states.reduce((total, [, count]) => total + count, 0);
}

function added(a: Coverage | undefined, b: Coverage | undefined): Coverage | undefined {
  if (!a || !b) return a ?? b;
  return { alertable: a.alertable + b.alertable, withRules: a.withRules + b.withRules };
}
