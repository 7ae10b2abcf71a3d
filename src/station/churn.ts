import type { Part } from './listing.ts';
import type { Resource } from './resource.ts';
import type { Snapshot } from './snapshot.ts';

/** What came, went and changed since the start, by resource type; the states by the one changed to. */
export interface Churn {
  readonly added: ReadonlyMap<string, number>;
  readonly removed: ReadonlyMap<string, number>;
  readonly stateChanges: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

export const NO_CHURN: Churn = { added: new Map(), removed: new Map(), stateChanges: new Map() };

/**
 * The counts after `next`, given those after `before`, both proven whole.
 * Every type and state in sight gets a count of at least 0, so that the first change is an increase and not a new series.
 */
export function churnAfter(churn: Churn, before: Snapshot | undefined, next: Snapshot): Churn {
  if (before === next) return churn;
  const added = new Map(churn.added);
  const removed = new Map(churn.removed);
  const stateChanges = new Map([...churn.stateChanges].map(([type, states]) => [type, new Map(states)]));
  const changed = ({ type, state }: Resource, by: number) => {
    const states = stateChanges.get(type) ?? new Map<string, number>();
    stateChanges.set(type, states);
    if (state !== '') add(states, state, by);
  };
  const went = new Map<string, Resource>();
  for (const part of before ? partsOutside(before, next) : []) for (const resource of part) went.set(resource.id, resource);
  for (const part of partsOutside(next, before)) {
    for (const resource of part) {
      const old = went.get(resource.id);
      const stayed = old?.type === resource.type;
      if (stayed) went.delete(resource.id);
      add(added, resource.type, before !== undefined && !stayed ? 1 : 0);
      add(removed, resource.type, 0);
      changed(resource, stayed && old.state !== '' && old.state !== resource.state ? 1 : 0);
    }
  }
  for (const { type } of went.values()) add(removed, type, 1);
  return { added, removed, stateChanges };
}

/** The parts that the other snapshot does not have: nothing can have happened in the others. */
function partsOutside(snapshot: Snapshot, other: Snapshot | undefined): readonly Part<Resource>[] {
  const shared = new Set<Part<Resource>>(other?.parts);
  return snapshot.parts.filter((part) => !shared.has(part));
}

function add(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
