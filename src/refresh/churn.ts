import type { Part } from '../model/listing.ts';
import type { Resource } from '../model/resource.ts';
import type { TaskQueue } from '../model/task-queue.ts';
import type { LabelValues } from './label-values.ts';
import type { Snapshot } from './snapshot.ts';

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
  const isStarted = seenBefore();
  /** Returns whether it is the same resource: one of another type is not. */
  const count = (resource: Resource, old: Resource | undefined): boolean => {
    const isSame = old?.type === resource.type;
    const isStateChange = isSame && old.state !== '' && old.state !== resource.state;
    if (isStarted(resource) && isSame && !isStateChange) return true;
    const type = values.type(resource.type);
    add(added, type, before !== undefined && !isSame ? 1 : 0);
    add(removed, type, 0);
    addStateChange(type, resource.state, isStateChange ? 1 : 0);
    return isSame;
  };
  const oldParts = before ? partsOnlyIn(before, next) : [];
  const newParts = partsOnlyIn(next, before);
  /** Usually the resources of a part are still the same ones. */
  const sameIds = new Map<Part<Resource>, Part<Resource>>();
  const unmatched = new Map<string, Resource>();
  let at = 0;
  await tasks.forEach(oldParts, (old) => {
    const part = newParts[at++];
    if (part && hasSameIds(part, old)) sameIds.set(part, old);
    else for (const resource of old) unmatched.set(resource.id, resource);
  });
  await tasks.forEach(newParts, (part) => {
    const olds = sameIds.get(part);
    for (let index = 0; index < part.length; index += 1) {
      const resource = part[index] as Resource;
      const old = olds ? olds[index] : unmatched.get(resource.id);
      const isSame = count(resource, old);
      if (isSame && !olds) unmatched.delete(resource.id);
      if (!isSame && olds && old) unmatched.set(old.id, old);
    }
  });
  for (const { type } of unmatched.values()) add(removed, values.type(type), 1);
  return { added, removed, stateChanges };
}

/** Returns false for the first resource of each type and state, then true. */
function seenBefore(): (resource: Resource) => boolean {
  const seen = new Map<string, Set<string>>();
  return ({ type, state }) => {
    const states = seen.get(type) ?? new Set();
    if (states.has(state)) return true;
    seen.set(type, states.add(state));
    return false;
  };
}

function hasSameIds(a: Part<Resource>, b: Part<Resource>): boolean {
  return a.length === b.length && a.every(({ id }, index) => id === b[index]?.id);
}

/** Parts that both snapshots share cannot hold a change. */
function partsOnlyIn(snapshot: Snapshot, other: Snapshot | undefined): readonly Part<Resource>[] {
  const shared = new Set<Part<Resource>>(other?.parts);
  return snapshot.parts.filter((part) => !shared.has(part));
}

function changesBetween(before: Churn, after: Churn): Changes {
  if (before === after) return NO_CHANGES;
  const [from, to] = [totals(before), totals(after)];
  return {
    added: to.added - from.added,
    removed: to.removed - from.removed,
    stateChanges: to.stateChanges - from.stateChanges,
  };
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
