import type { TaskQueue } from '../model/task-queue.ts';
import { type AggregateGroup, type Aggregates, getOrCreate, sum } from '../refresh/aggregates.ts';

/** Resources that can have alerts, all of them without `alertability`, and those of them with at least one alert rule. */
export interface Coverage {
  readonly alertable: number;
  readonly withRules: number;
}

/** Counted as the dashboards and alerts do, by the published state. */
export interface Totals {
  readonly resources: number;
  /** Resources in a state whose name contains this word. */
  readonly firing: number;
  readonly pending: number;
  /** Resources that can have alerts; undefined: `alertability` is not enabled. */
  readonly alertable: number | undefined;
  /** Resources without alert rules, with `alertability` only alertable ones; undefined: the service reported no counts. */
  readonly withoutRules: number | undefined;
  /** undefined: there is no resource that it could be the share of. */
  readonly coverage: Coverage | undefined;
}

export function totalsOf(groups: Iterable<AggregateGroup>, alertability: boolean): Totals {
  const totals = newTotals(alertability ? 0 : undefined);
  addGroups(groups, alertability, () => [totals]);
  return totals;
}

/** The resources with a value of a label of `resource_labels`, of all stations with data; '' is the value of those without one. */
export interface OwnerCount extends Totals {
  readonly label: string;
  readonly value: string;
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
  const owners = labels.map((label) => ({ label, values: new Map<string, MutableTotals>() }));
  const totalsOfGroup = (group: AggregateGroup) =>
    owners.map(({ label, values }) => getOrCreate(values, group.labels[label] ?? '', newTotals));
  for (const { aggregates, alertability } of stations)
    await tasks.run(() => addGroups(aggregates.groups, alertability, totalsOfGroup));
  return owners.flatMap(({ label, values }) =>
    Array.from(values, ([value, totals]) => ({ label, value, ...totals })).sort((a, b) => b.resources - a.resources),
  );
}

type MutableTotals = { -readonly [Key in keyof Totals]: Totals[Key] };

function newTotals(alertable?: number): MutableTotals {
  return { resources: 0, firing: 0, pending: 0, alertable, withoutRules: undefined, coverage: undefined };
}

/** Adds each group of a station to its totals. */
function addGroups(
  groups: Iterable<AggregateGroup>,
  alertability: boolean,
  totalsOfGroup: (group: AggregateGroup) => readonly MutableTotals[],
): void {
  const all = [...groups];
  const reported = new Set(all.filter(({ withoutRules }) => withoutRules !== undefined).map(({ type }) => type));
  for (const group of all) {
    for (const totals of totalsOfGroup(group)) addGroup(totals, group, alertability, reported.has(group.type));
  }
}

/** As the recording rule, the coverage is without the types for which the station reports no number of alert rules. */
function addGroup(
  totals: MutableTotals,
  { states, alertable, withoutRules }: AggregateGroup,
  alertability: boolean,
  isReported: boolean,
): void {
  let resources = 0;
  for (const [state, count] of states) {
    resources += count;
    if (/firing/i.test(state)) totals.firing += count;
    if (/pending/i.test(state)) totals.pending += count;
  }
  totals.resources += resources;
  totals.alertable = sum(totals.alertable, alertability ? alertable : undefined);
  totals.withoutRules = sum(totals.withoutRules, withoutRules);
  const covered = alertability ? alertable : resources;
  if (!isReported || covered === 0) return;
  const before = totals.coverage ?? { alertable: 0, withRules: 0 };
  totals.coverage = {
    alertable: before.alertable + covered,
    withRules: before.withRules + covered - (withoutRules ?? 0),
  };
}
