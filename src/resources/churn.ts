import { isDeepStrictEqual } from 'node:util';
import type { Part } from '../model/listing.ts';
import { add, getOrCreate, newCounts } from '../model/sums.ts';
import { forEachPart } from '../tasks/yield-to-event-loop.ts';
import { type AlertState, EXPECTED_STATES, type StateMeanings } from './alert-state.ts';
import type { Comparison } from './comparison.ts';
import type { Resource } from './fields.ts';
import { type LabelValues, OTHER_VALUE } from './label-values.ts';
import type { Snapshot } from './snapshot.ts';

/** The counters of a station since start, by resource type. */
export type Churn = ReadonlyMap<string, TypeChurn>;

interface TypeChurn {
  readonly added: number;
  readonly removed: number;
  readonly stateChanges: StateChanges;
}

/** By the meaning of the new state, then by the new state: `(other)` may stand for states of every meaning. */
type StateChanges = ReadonlyMap<AlertState, ReadonlyMap<string, number>>;

/** Changes between two listings, of all types. */
export interface Changes {
  readonly added: number;
  readonly removed: number;
  readonly stateChanges: number;
  readonly rulesChanges: number;
  /** A changed type is one change, but one removed and one added resource. */
  readonly total: number;
  /** How many resources of each owner were removed; a resource whose type changed is not among them. */
  readonly removedOwners: readonly OwnedChanges[];
  /** The first ones, within a bound for the removed resources and another for all other changes. */
  readonly list: readonly Change[];
}

/** How many changes concern resources with these labels of `resource_labels`. */
export interface OwnedChanges {
  readonly labels: Resource['labels'];
  readonly total: number;
}

export const CHANGES = ['added', 'removed', 'state', 'rules', 'type'] as const;

export interface Change {
  readonly change: (typeof CHANGES)[number];
  /** As it is now; a removed one as it was. */
  readonly resource: Resource;
  /** The state, also of an added or removed resource, the number of rules, or the type. undefined: none. */
  readonly from: string | number | undefined;
  readonly to: string | number | undefined;
}

/** What the snapshots of a station so far have changed. */
export interface ChurnState {
  /** The one that the next one is compared with; undefined: none. */
  readonly reference: Snapshot | undefined;
  readonly totals: Churn;
  /** The totals as published: a series starts at 0, and has its count from the next refresh on, because `increase` ignores a first value. */
  readonly published: Churn;
}

export const NO_CHURN: ChurnState = { reference: undefined, totals: new Map(), published: new Map() };

/** Counters never forget a series, and every resource may change at once. */
interface ChurnBounds {
  readonly values: LabelValues;
  readonly maxChanges: number;
  /** Decides which states a new type starts with. */
  readonly states: StateMeanings;
}

/** The state after the next snapshot, and its changes; undefined: it was not compared. */
export async function churnAfter(
  state: ChurnState,
  next: Snapshot,
  { result, base }: Comparison,
  bounds: ChurnBounds,
): Promise<ChurnState & { readonly changes: Changes | undefined }> {
  const { totals } = state;
  if (result === 'incomparable') {
    const reference = base && state.reference;
    return { reference, totals, published: publishedAfter(totals, state.published), changes: undefined };
  }
  const reference = result === 'compared' ? state.reference : undefined;
  const counts = new ChurnCounts(totals, bounds);
  if (reference) await compare(reference, next, counts);
  else await start(next, counts);
  const after = next === reference ? totals : counts.totals;
  return {
    reference: next,
    totals: after,
    published: publishedAfter(after, state.published),
    changes: reference && counts.changes(),
  };
}

async function start(first: Snapshot, counts: ChurnCounts): Promise<void> {
  await forEachPart(first.parts, (part) => {
    for (const resource of part) counts.start(resource);
  });
}

async function compare(before: Snapshot, next: Snapshot, counts: ChurnCounts): Promise<void> {
  const unmatched = new Map<string, Resource>();
  const oldParts = partsOnlyIn(before, next);
  const newParts = partsOnlyIn(next, before);
  // Most resources keep their place: comparing them there is faster than finding them by id. `entries` would allocate for each of them.
  await forEachPart(oldParts, (part, index) => {
    const newPart = newParts[index];
    part.forEach((resource, at) => {
      if (newPart?.[at]?.id !== resource.id) unmatched.set(resource.id, resource);
    });
  });
  await forEachPart(newParts, (part, index) => {
    const oldPart = oldParts[index];
    part.forEach((resource, at) => {
      const inPlace = oldPart?.[at];
      if (inPlace?.id === resource.id) {
        counts.replace(inPlace, resource);
        return;
      }
      counts.replace(unmatched.get(resource.id), resource);
      unmatched.delete(resource.id);
    });
  });
  await forEachPart(unmatched.size === 0 ? [] : oldParts, (part) => {
    for (const resource of part) if (unmatched.has(resource.id)) counts.remove(resource);
  });
}

/** Parts that both listings share cannot hold a change. */
function partsOnlyIn(listing: Snapshot, other: Snapshot): readonly Part<Resource>[] {
  const shared = new Set<Part<Resource>>(other.parts);
  return listing.parts.filter((part) => !shared.has(part));
}

/** The totals themselves once all of their series are published. */
function publishedAfter(totals: Churn, before: Churn): Churn {
  if (totals === before) return totals;
  const next = new Map<string, TypeChurn>();
  for (const [type, { added, removed, stateChanges }] of totals) {
    const known = before.get(type);
    const states = Array.from(stateChanges, ([alertState, counts]) => {
      const started = known?.stateChanges.get(alertState);
      const shown = Array.from(counts, ([state, count]) => [state, started?.has(state) ? count : 0] as const);
      return [alertState, new Map(shown)] as const;
    });
    next.set(type, { added: known ? added : 0, removed: known ? removed : 0, stateChanges: new Map(states) });
  }
  return isDeepStrictEqual(next, totals) ? totals : next;
}

class ChurnCounts {
  readonly totals: Map<string, MutableChurn>;
  readonly #sums = { added: 0, removed: 0, stateChanges: 0, rulesChanges: 0 };
  readonly #removedOwners = new Map<Resource['labels'], number>();
  #total = 0;
  readonly #removed: Change[] = [];
  readonly #others: Change[] = [];
  readonly #values: LabelValues;
  readonly #maxChanges: number;
  readonly #states: StateMeanings;

  constructor(totals: Churn, { values, maxChanges, states }: ChurnBounds) {
    this.totals = new Map(Array.from(totals, ([type, total]) => [type, mutableChurn(total)]));
    this.#values = values;
    this.#maxChanges = maxChanges;
    this.#states = states;
  }

  changes(): Changes {
    const removedOwners = Array.from(this.#removedOwners, ([labels, total]) => ({ labels, total }));
    return { ...this.#sums, total: this.#total, removedOwners, list: [...this.#others, ...this.#removed] };
  }

  /** Every type and state of a snapshot has series, and every type those of the expected states. */
  start({ type, state, alertState }: Resource): void {
    const changes = this.#of(type);
    if (state === '' || changes.stateChanges.get(alertState)?.has(state)) return;
    addStateChanges(changes, alertState, this.#values.limited('state', state), 0);
  }

  /** A resource of another type is not the same one. The series of the old one have started. */
  replace(old: Resource | undefined, resource: Resource): void {
    if (old?.type !== resource.type || old.state !== resource.state) this.start(resource);
    if (old?.type === resource.type) {
      this.#compare(old, resource);
      return;
    }
    this.#of(resource.type).added += 1;
    this.#sums.added += 1;
    if (old) {
      this.#countRemoved(old);
      this.#list('type', resource, old.type, resource.type);
    } else this.#list('added', resource, undefined, resource.state || undefined);
  }

  remove(resource: Resource): void {
    this.#countRemoved(resource);
    this.#list('removed', resource, resource.state || undefined, undefined);
  }

  #countRemoved({ type }: Resource): void {
    this.#of(type).removed += 1;
    this.#sums.removed += 1;
  }

  /** A change from or to an unknown state or number is none. */
  #compare(old: Resource, resource: Resource): void {
    const { type, state, alertState, alertRules } = resource;
    if (old.state !== state && old.state !== '' && state !== '') {
      addStateChanges(this.#of(type), alertState, this.#values.limited('state', state), 1);
      this.#sums.stateChanges += 1;
      this.#list('state', resource, old.state, state);
    }
    if (old.alertRules !== alertRules && old.alertRules !== undefined && alertRules !== undefined) {
      this.#sums.rulesChanges += 1;
      this.#list('rules', resource, old.alertRules, alertRules);
    }
  }

  #list(change: Change['change'], resource: Resource, from: Change['from'], to: Change['to']): void {
    this.#total += 1;
    if (change === 'removed') add(this.#removedOwners, resource.labels, 1);
    const list = change === 'removed' ? this.#removed : this.#others;
    if (list.length < this.#maxChanges) list.push({ change, resource, from, to });
  }

  #of(type: string): MutableChurn {
    return getOrCreate(this.totals, this.#values.limited('resource_type', type), () => {
      const started: MutableChurn = { added: 0, removed: 0, stateChanges: new Map() };
      for (const state of EXPECTED_STATES) addStateChanges(started, this.#states.alertStateOf(state), state, 0);
      return started;
    });
  }
}

/** The counters as if states had always had these meanings; `(other)`, which stands for states of several ones, keeps its own. */
export function churnWithMeanings(churn: Churn, states: StateMeanings): Churn {
  const counters = Array.from(churn, ([type, total]) => {
    const derived: MutableChurn = { ...total, stateChanges: new Map() };
    for (const [alertState, counts] of total.stateChanges)
      for (const [state, count] of counts)
        addStateChanges(derived, state === OTHER_VALUE ? alertState : states.alertStateOf(state), state, count);
    return [type, derived] as const;
  });
  return new Map(counters);
}

interface MutableChurn {
  added: number;
  removed: number;
  readonly stateChanges: Map<AlertState, Map<string, number>>;
}

function mutableChurn({ added, removed, stateChanges }: TypeChurn): MutableChurn {
  const copies = Array.from(stateChanges, ([alertState, counts]) => [alertState, new Map(counts)] as const);
  return { added, removed, stateChanges: new Map(copies) };
}

function addStateChanges({ stateChanges }: MutableChurn, alertState: AlertState, state: string, count: number): void {
  add(getOrCreate(stateChanges, alertState, newCounts), state, count);
}
