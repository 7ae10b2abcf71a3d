import type { TaskQueue } from '../model/task-queue.ts';
import { type AggregateGroup, type Aggregates, getOrCreate } from '../refresh/aggregates.ts';
import { type Coverage, coverageIn, FIRING, reportedTypes } from './station-status.ts';

/** The resources with a value of a label of `resource_labels`, of all stations with data; '' is the value of those without one. */
export interface OwnerCount {
  readonly label: string;
  readonly value: string;
  readonly resources: number;
  /** Resources in a state whose name contains this word. */
  readonly firing: number;
  /** As for a station; undefined: the service reported no counts. */
  readonly withoutRules: number | undefined;
  /** undefined: there is no resource that it could be the share of. */
  readonly coverage: Coverage | undefined;
}

interface CountedStation {
  readonly aggregates: Pick<Aggregates, 'groups'>;
  readonly alertability: boolean;
}

/** By label, the most frequent value first. Counts one station per task. */
export async function countOwners(
  stations: readonly CountedStation[],
  labels: readonly string[],
  tasks: TaskQueue,
): Promise<readonly OwnerCount[]> {
  const counts = labels.map(() => new Map<string, OwnerCount>());
  for (const station of stations) await tasks.run(() => addOwners(counts, labels, station));
  return counts.flatMap((owners) => [...owners.values()].toSorted((a, b) => b.resources - a.resources));
}

function addOwners(
  counts: readonly Map<string, OwnerCount>[],
  labels: readonly string[],
  { aggregates, alertability }: CountedStation,
): void {
  const groups = [...aggregates.groups];
  const reported = reportedTypes(groups);
  for (const [at, label] of labels.entries()) {
    for (const [value, owned] of byValue(groups, label)) {
      const { resources = 0, firing = 0, withoutRules, coverage } = counts[at]?.get(value) ?? {};
      const states = owned.flatMap((group) => [...group.states]);
      const known = [withoutRules, ...owned.map((group) => group.withoutRules)].filter((count) => count !== undefined);
      counts[at]?.set(value, {
        label,
        value,
        resources: resources + sum(states),
        firing: firing + sum(states.filter(([state]) => FIRING.test(state))),
        withoutRules: known.length === 0 ? undefined : known.reduce((total, count) => total + count, 0),
        coverage: added(coverage, coverageIn(owned, alertability, reported)),
      });
    }
  }
}

function byValue(groups: Iterable<AggregateGroup>, label: string): ReadonlyMap<string, AggregateGroup[]> {
  const values = new Map<string, AggregateGroup[]>();
  for (const group of groups) getOrCreate(values, group.labels[label] ?? '', () => []).push(group);
  return values;
}

function sum(states: readonly (readonly [state: string, count: number])[]): number {
  return states.reduce((total, [, count]) => total + count, 0);
}

function added(a: Coverage | undefined, b: Coverage | undefined): Coverage | undefined {
  if (!a || !b) return a ?? b;
  return { alertable: a.alertable + b.alertable, withRules: a.withRules + b.withRules };
}
