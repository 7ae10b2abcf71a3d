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
  const came = resourcesOutside(next, before);
  const went = before ? resourcesOutside(before, next) : new Map<string, Resource>();
  for (const [id, resource] of came) {
    const old = went.get(id);
    const isNew = before !== undefined && old?.type !== resource.type;
    add(added, resource.type, isNew ? 1 : 0);
    add(removed, resource.type, 0);
    const hasChanged = old?.type === resource.type && old.state !== '' && old.state !== resource.state;
    changed(resource, hasChanged ? 1 : 0);
  }
  for (const [id, old] of went) {
    const isGone = came.get(id)?.type !== old.type;
    add(removed, old.type, isGone ? 1 : 0);
  }
  return { added, removed, stateChanges };
}

/** The resources in parts that the other snapshot does not have: nothing can have happened in the others. */
function resourcesOutside(snapshot: Snapshot, other: Snapshot | undefined): Map<string, Resource> {
  const shared = new Set<Part<Resource>>(other?.parts);
  const resources = new Map<string, Resource>();
  for (const part of snapshot.parts) if (!shared.has(part)) for (const resource of part) resources.set(resource.id, resource);
  return resources;
}

function add(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}
