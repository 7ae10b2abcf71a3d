import type { LabelValues } from './label-values.ts';
import type { Part } from './listing.ts';
import type { Resource } from './resource.ts';
import type { Snapshot } from './snapshot.ts';

/** Resources added and removed since start, by resource type, and state changes by the new state. */
export interface Churn {
  readonly added: ReadonlyMap<string, number>;
  readonly removed: ReadonlyMap<string, number>;
  readonly stateChanges: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

export const NO_CHURN: Churn = { added: new Map(), removed: new Map(), stateChanges: new Map() };

/**
 * The counters after `next`, given those after `before`; both snapshots are complete.
 * Every type and state of `next` starts at 0, so that its first change is an increase and not a new series.
 * `values` bounds the series: counters never forget one.
 */
export function churnAfter(churn: Churn, before: Snapshot | undefined, next: Snapshot, values: LabelValues): Churn {
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
  for (const part of before ? partsOnlyIn(before, next) : []) for (const resource of part) unmatched.set(resource.id, resource);
  for (const part of partsOnlyIn(next, before)) {
    for (const resource of part) {
      const old = unmatched.get(resource.id);
      const isSame = old?.type === resource.type;
      if (isSame) unmatched.delete(resource.id);
      const type = values.type(resource.type);
      add(added, type, before !== undefined && !isSame ? 1 : 0);
      add(removed, type, 0);
      addStateChange(type, resource.state, isSame && old.state !== '' && old.state !== resource.state ? 1 : 0);
    }
  }
  for (const { type } of unmatched.values()) add(removed, values.type(type), 1);
  return { added, removed, stateChanges };
}

/** Parts that both snapshots share cannot hold a change. */
function partsOnlyIn(snapshot: Snapshot, other: Snapshot | undefined): readonly Part<Resource>[] {
  const shared = new Set<Part<Resource>>(other?.parts);
  return snapshot.parts.filter((part) => !shared.has(part));
}

function add(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
