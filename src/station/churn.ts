import type { LabelValues } from './label-values.ts';
import type { Part } from './listing.ts';
import type { Resource } from './resource.ts';
import type { Snapshot } from './snapshot.ts';
import type { TaskQueue } from './task-queue.ts';

/** Resources added and removed since start, by resource type, and state changes by the new state. */
export interface Churn {
  readonly added: ReadonlyMap<string, number>;
  readonly removed: ReadonlyMap<string, number>;
  readonly stateChanges: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

export const NO_CHURN: Churn = { added: new Map(), removed: new Map(), stateChanges: new Map() };

/** Changes between two complete snapshots, of all types. */
export interface Changes {
  readonly added: number;
  readonly removed: number;
  readonly stateChanges: number;
}

const NO_CHANGES: Changes = { added: 0, removed: 0, stateChanges: 0 };

/** Counts the changes of a station between its complete snapshots. */
export class ChurnCounter {
  /** Bounds the series: counters never forget one. */
  readonly values: LabelValues;
  readonly #tasks: TaskQueue;
  #churn: Churn = NO_CHURN;
  #latest: Snapshot | undefined;

  constructor(values: LabelValues, tasks: TaskQueue) {
    this.values = values;
    this.#tasks = tasks;
  }

  /** The counters after the snapshot: unchanged if it is incomplete. */
  async after(snapshot: Snapshot): Promise<Churn> {
    return snapshot.complete ? churnAfter(this.#churn, this.#latest, snapshot, this.values, this.#tasks) : this.#churn;
  }

  /** Continues from this snapshot with these counters. Returns what changed; undefined: the snapshot is incomplete, or the first complete one. */
  commit(snapshot: Snapshot, churn: Churn): Changes | undefined {
    const before = this.#churn;
    const isComparable = snapshot.complete && this.#latest !== undefined;
    this.#churn = churn;
    if (snapshot.complete) this.#latest = snapshot;
    return isComparable ? changesBetween(before, churn) : undefined;
  }

  /** A counter that continues from here. */
  withLimit(labelValues: number): ChurnCounter {
    const next = new ChurnCounter(this.values.withLimit(labelValues), this.#tasks);
    next.#churn = this.#churn;
    next.#latest = this.#latest;
    return next;
  }
}

/**
 * The counters after `next`, given those after `before`; both snapshots are complete.
 * Every type and state of `next` starts at 0, so that its first change is an increase and not a new series.
 */
export async function churnAfter(
  churn: Churn,
  before: Snapshot | undefined,
  next: Snapshot,
  values: LabelValues,
  tasks: TaskQueue,
): Promise<Churn> {
  if (before === next) return churn;
  const added = new Map(churn.added);
  const removed = new Map(churn.removed);
  const stateChanges = new Map([...churn.stateChanges].map(([type, states]) => [type, new Map(states)]));
  const addStateChange = (type: string, state: string, by: number) => {
    const states = stateChanges.get(type) ?? new Map<string, number>();
    stateChanges.set(type, states);
    if (state !== '') add(states, values.state(type, state), by);
  };
  const unmatched = new Map<string, Resource>();
  await tasks.forEach(before ? partsOnlyIn(before, next) : [], (part) => {
    for (const resource of part) unmatched.set(resource.id, resource);
  });
  await tasks.forEach(partsOnlyIn(next, before), (part) => {
    for (const resource of part) {
      const old = unmatched.get(resource.id);
      const isSame = old?.type === resource.type;
      if (isSame) unmatched.delete(resource.id);
      const type = values.type(resource.type);
      add(added, type, before !== undefined && !isSame ? 1 : 0);
      add(removed, type, 0);
      addStateChange(type, resource.state, isSame && old.state !== '' && old.state !== resource.state ? 1 : 0);
    }
  });
  for (const { type } of unmatched.values()) add(removed, values.type(type), 1);
  return { added, removed, stateChanges };
}

/** Parts that both snapshots share cannot hold a change. */
function partsOnlyIn(snapshot: Snapshot, other: Snapshot | undefined): readonly Part<Resource>[] {
  const shared = new Set<Part<Resource>>(other?.parts);
  return snapshot.parts.filter((part) => !shared.has(part));
}

function changesBetween(before: Churn, after: Churn): Changes {
  if (before === after) return NO_CHANGES;
  const [from, to] = [totals(before), totals(after)];
  return { added: to.added - from.added, removed: to.removed - from.removed, stateChanges: to.stateChanges - from.stateChanges };
}

function totals({ added, removed, stateChanges }: Churn): Changes {
  const states = [...stateChanges.values()].map((counts) => sum(counts.values()));
  return { added: sum(added.values()), removed: sum(removed.values()), stateChanges: sum(states) };
}

function sum(counts: Iterable<number>): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}

function add(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
