import { isDeepStrictEqual } from 'node:util';
import { type AlertState, EXPECTED_STATES, type StateMeanings } from '../model/alert-state.ts';
import { hasSameElements, type Part } from '../model/listing.ts';
import type { Resource } from '../model/resource.ts';
import type { TaskQueue } from '../tasks/task-queue.ts';
import { add, getOrCreate, newCounts } from './aggregates.ts';
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

/** Changes between two listings that are compared, of all types. */
export interface Changes {
  readonly added: number;
  readonly removed: number;
  readonly stateChanges: number;
  readonly rulesChanges: number;
  /** The length of the list without its bound. A changed type is one change, but one removed and one added resource. */
  readonly total: number;
  readonly list: readonly Change[];
}

export const CHANGES = ['added', 'removed', 'state', 'rules', 'type'] as const;

/** What happened to one resource. */
export interface Change {
  readonly change: (typeof CHANGES)[number];
  /** As it is now; a removed one as it was. */
  readonly resource: Resource;
  /** The state, also of an added or removed resource, the number of rules, or the type. undefined: none. */
  readonly from: string | number | undefined;
  readonly to: string | number | undefined;
}

/** A listing that adds up, as far as it is compared. */
export type ComparedListing = Pick<Snapshot, 'parts' | 'rejectedDigest'>;

/** What the snapshots of a station so far have changed. */
export interface ChurnState {
  /**
   * The resources as they were counted last: those of the latest complete listing, with the changes that listings which rejected records
   * have shown since; before the first complete one, the latest listing that was compared.
   */
  readonly reference: ComparedListing | undefined;
  /** The latest listing that adds up, if it rejected other records than the reference. */
  readonly candidate: ComparedListing | undefined;
  /** The latest listing adds up, but rejected other records than the ones before, so that changes are not counted until one of them matches. */
  readonly isWaiting: boolean;
  readonly totals: Churn;
  /** The totals as published: a series starts at 0, and has its count from the next refresh on, because `increase` ignores a first value. */
  readonly published: Churn;
}

export const NO_CHURN: ChurnState = {
  reference: undefined,
  candidate: undefined,
  isWaiting: false,
  totals: new Map(),
  published: new Map(),
};

/** Counters never forget a series, and every resource may change at once. */
interface ChurnBounds {
  readonly values: LabelValues;
  readonly maxChanges: number;
  /** Decides which states a new type starts with. */
  readonly states: StateMeanings;
}

/**
 * The counters with other meanings of states. A state keeps its count under its new meaning, so that sums over the meanings do not
 * decrease, and `increase` ignores the first value of the new series. What `(other)` stands for is not known, so that it stays.
 */
export function withMeanings(state: ChurnState, states: StateMeanings): ChurnState {
  const totals = regrouped(state.totals, states);
  const isPublished = state.published === state.totals;
  return { ...state, totals, published: isPublished ? totals : regrouped(state.published, states) };
}

function regrouped(churn: Churn, states: StateMeanings): Churn {
  const types = Array.from(churn, ([type, counts]) => {
    const stateChanges = new Map<AlertState, Map<string, number>>();
    for (const [before, changes] of counts.stateChanges) {
      for (const [state, count] of changes) {
        const alertState = state === OTHER_VALUE ? before : states.alertStateOf(state);
        add(getOrCreate(stateChanges, alertState, newCounts), state, count);
      }
    }
    return [type, { ...counts, stateChanges }] as const;
  });
  return new Map(types);
}

/**
 * The state after the next snapshot, and its changes; undefined: it was not compared. Two listings are compared if both add up and rejected
 * the same records, because a resource that only one of them has may be among other rejected ones.
 */
export async function churnAfter(
  state: ChurnState,
  next: Snapshot,
  bounds: ChurnBounds,
  tasks: TaskQueue,
): Promise<ChurnState & { readonly changes: Changes | undefined }> {
  const { reference, candidate, totals } = state;
  if (!next.addsUp)
    return { ...state, isWaiting: false, published: published(totals, state.published), changes: undefined };
  const counts = new ChurnCounts(totals, bounds);
  const listings = await compared(state, next, counts, tasks);
  const after = next === reference || next === candidate ? totals : counts.totals;
  return {
    reference: listings.reference,
    candidate: listings.candidate,
    isWaiting: !listings.isCompared && reference !== undefined && next.rejected > 0,
    totals: after,
    published: published(after, state.published),
    changes: listings.isCompared ? counts.changes : undefined,
  };
}

interface ListingComparison extends Pick<ChurnState, 'reference' | 'candidate'> {
  readonly isCompared: boolean;
}

/** Compares the next listing with the reference, or with the candidate, if one of them rejected the same records. */
async function compared(
  { reference, candidate }: ChurnState,
  next: Snapshot,
  counts: ChurnCounts,
  tasks: TaskQueue,
): Promise<ListingComparison> {
  const same = [reference, candidate].find((listing) => listing?.rejectedDigest === next.rejectedDigest);
  if (same && next.rejected === 0) {
    await compare(same, next, counts, tasks);
    return { reference: next, candidate: undefined, isCompared: true };
  }
  if (reference && same) {
    const differences = new Differences();
    await compare(same, next, differences, tasks);
    if (differences.areCertain(next)) {
      const isComplete = reference.rejectedDigest === '';
      const parts = await patched(isComplete ? reference : same, differences, counts, tasks);
      return isComplete
        ? { reference: { parts, rejectedDigest: '' }, candidate: next, isCompared: true }
        : { reference: next, candidate: undefined, isCompared: true };
    }
  }
  await tasks.forEach(next.parts, (part) => {
    for (const resource of part) counts.start(resource);
  });
  // A listing that rejected other records may be an exception: the next one decides. A complete one is always the better reference.
  const isException = reference !== undefined && same !== reference && next.rejected > 0;
  return isException
    ? { reference, candidate: next, isCompared: false }
    : { reference: next, candidate: undefined, isCompared: false };
}

/** Takes the differences between two listings. */
interface DifferenceVisitor {
  replace(old: Resource | undefined, resource: Resource): void;
  remove(resource: Resource): void;
}

async function compare(
  before: ComparedListing,
  next: ComparedListing,
  visitor: DifferenceVisitor,
  tasks: TaskQueue,
): Promise<void> {
  const unmatched = new Map<string, Resource>();
  const oldParts = partsOnlyIn(before, next);
  const newParts = partsOnlyIn(next, before);
  // Most resources keep their place: comparing them there is faster than finding them by id. `entries` would allocate for each of them.
  await tasks.forEach(oldParts, (part, index) => {
    const newPart = newParts[index];
    part.forEach((resource, at) => {
      if (newPart?.[at]?.id !== resource.id) unmatched.set(resource.id, resource);
    });
  });
  await tasks.forEach(newParts, (part, index) => {
    const oldPart = oldParts[index];
    part.forEach((resource, at) => {
      const inPlace = oldPart?.[at];
      if (inPlace?.id === resource.id) {
        visitor.replace(inPlace, resource);
        return;
      }
      visitor.replace(unmatched.get(resource.id), resource);
      unmatched.delete(resource.id);
    });
  });
  await tasks.forEach(unmatched.size === 0 ? [] : oldParts, (part) => {
    for (const resource of part) if (unmatched.has(resource.id)) visitor.remove(resource);
  });
}

/** Collects what differs between two listings that rejected records. */
class Differences implements DifferenceVisitor {
  /** All three are by the ids of the resources. */
  readonly changed = new Map<string, Resource>();
  readonly added = new Map<string, Resource>();
  readonly removed = new Set<string>();

  replace(old: Resource | undefined, resource: Resource): void {
    if (!old) this.added.set(resource.id, resource);
    else if (isChanged(old, resource)) this.changed.set(resource.id, resource);
  }

  remove({ id }: Resource): void {
    this.removed.add(id);
  }

  /** Rejected records without a name look alike: a removed resource may have become one of them, and an added one may have been. */
  areCertain({ areRejectedNamed }: Snapshot): boolean {
    return areRejectedNamed || (this.added.size === 0 && this.removed.size === 0);
  }

  get size(): number {
    return this.changed.size + this.added.size + this.removed.size;
  }
}

function isChanged(old: Resource, { type, state, alertRules }: Resource): boolean {
  return old.type !== type || old.state !== state || old.alertRules !== alertRules;
}

/** Counts the differences as changes of the known resources, and returns these as they are now. */
async function patched(
  known: ComparedListing,
  { changed, added, removed, size }: Differences,
  counts: ChurnCounts,
  tasks: TaskQueue,
): Promise<readonly Part<Resource>[]> {
  if (size === 0) return known.parts;
  const parts: Part<Resource>[] = [];
  const returned = new Set<string>();
  await tasks.forEach(known.parts, (part) => {
    const kept = part.flatMap((resource) => {
      if (removed.has(resource.id)) {
        counts.remove(resource);
        return [];
      }
      const now = changed.get(resource.id) ?? added.get(resource.id);
      if (now === undefined) return [resource];
      returned.add(resource.id);
      counts.replace(resource, now);
      return [now];
    });
    if (kept.length > 0) parts.push(hasSameElements(kept, part) ? part : kept);
  });
  const unknown = [...added.values()].filter(({ id }) => !returned.has(id));
  for (const resource of unknown) counts.replace(undefined, resource);
  return unknown.length === 0 ? parts : [...parts, unknown];
}

/** Parts that both listings share cannot hold a change. */
function partsOnlyIn(listing: ComparedListing, other: ComparedListing): readonly Part<Resource>[] {
  const shared = new Set<Part<Resource>>(other.parts);
  return listing.parts.filter((part) => !shared.has(part));
}

/** The totals themselves once all of their series are published. */
function published(totals: Churn, before: Churn): Churn {
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

/** Totals that are counted on. */
class ChurnCounts implements DifferenceVisitor {
  readonly totals: Map<string, MutableChurn>;
  readonly changes = { added: 0, removed: 0, stateChanges: 0, rulesChanges: 0, total: 0, list: [] as Change[] };
  readonly #values: LabelValues;
  readonly #maxChanges: number;
  readonly #states: StateMeanings;

  constructor(totals: Churn, { values, maxChanges, states }: ChurnBounds) {
    this.totals = new Map(Array.from(totals, ([type, total]) => [type, mutableChurn(total)]));
    this.#values = values;
    this.#maxChanges = maxChanges;
    this.#states = states;
  }

  /** Every type and state of a snapshot has series, and every type those of the expected states. */
  start({ type, state, alertState }: Resource): void {
    const changes = this.#of(type);
    if (state === '' || changes.stateChanges.get(alertState)?.has(state)) return;
    addStateChanges(changes, alertState, this.#state(type, state), 0);
  }

  /** A resource of another type is not the same one. The series of the old one have started. */
  replace(old: Resource | undefined, resource: Resource): void {
    if (old?.type !== resource.type || old.state !== resource.state) this.start(resource);
    if (old?.type === resource.type) {
      this.#compare(old, resource);
      return;
    }
    this.#of(resource.type).added += 1;
    this.changes.added += 1;
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
    this.changes.removed += 1;
  }

  /** A change from or to an unknown state or number is none. */
  #compare(old: Resource, resource: Resource): void {
    const { type, state, alertState, alertRules } = resource;
    if (old.state !== state && old.state !== '' && state !== '') {
      addStateChanges(this.#of(type), alertState, this.#state(type, state), 1);
      this.changes.stateChanges += 1;
      this.#list('state', resource, old.state, state);
    }
    if (old.alertRules !== alertRules && old.alertRules !== undefined && alertRules !== undefined) {
      this.changes.rulesChanges += 1;
      this.#list('rules', resource, old.alertRules, alertRules);
    }
  }

  #list(change: Change['change'], resource: Resource, from: Change['from'], to: Change['to']): void {
    this.changes.total += 1;
    if (this.changes.list.length < this.#maxChanges) this.changes.list.push({ change, resource, from, to });
  }

  #state(type: string, state: string): string {
    return this.#values.state(this.#values.type(type), state);
  }

  #of(type: string): MutableChurn {
    return getOrCreate(this.totals, this.#values.type(type), () => {
      const started: MutableChurn = { added: 0, removed: 0, stateChanges: new Map() };
      for (const state of EXPECTED_STATES) addStateChanges(started, this.#states.alertStateOf(state), state, 0);
      return started;
    });
  }
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
