import type { Change, Changes, OwnedChanges } from './churn.ts';

/** A change, and when the refresh that found it ended, which has the same time in the list of refreshes. */
export interface ObservedChange extends Change {
  readonly atMs: number;
}

/** A change of a resource of this station. */
export interface StationChange extends ObservedChange {
  readonly station: string;
}

/** How many resources of each owner the refresh that ended then found removed. */
export interface ObservedRemovals {
  readonly atMs: number;
  readonly owners: readonly OwnedChanges[];
}

export interface StationChanges {
  readonly newestFirst: readonly ObservedChange[];
  /** They are exact whatever is kept of the changes themselves. */
  readonly removals: readonly ObservedRemovals[];
  /** How many are no longer kept, or never were because their refresh found too many. */
  readonly dropped: number;
  /** How many of these were removed resources. */
  readonly droppedRemovals: number;
}

interface ChangeLimits {
  readonly changes: number;
  readonly changes_per_station: number;
}

/**
 * The latest changes of all stations. The limits apply to removed resources and to all other changes separately: resources that come
 * back must not displace what is known of their loss.
 */
export class ChangeLog {
  readonly #stations = new Map<string, StationLog>();
  readonly #sizes = { removals: 0, others: 0 };
  #limits: ChangeLimits;

  constructor(limits: ChangeLimits) {
    this.#limits = limits;
  }

  add(
    name: string,
    atMs: number,
    { list, total, removedOwners }: Pick<Changes, 'list' | 'total' | 'removedOwners'>,
  ): void {
    if (total === 0) return;
    const changes = list.map(({ change, resource, from, to }) => ({ atMs, change, resource, from, to }));
    const removed = removedOwners.reduce((sum, owner) => sum + owner.total, 0);
    const station = this.#stations.get(name) ?? nothingKept();
    // Of stations with equally many, the one that changed last is evicted from last.
    this.#stations.delete(name);
    this.#stations.set(name, station);
    if (removed > 0) station.owners = [...station.owners, { atMs, owners: removedOwners }].slice(-MAX_REMOVALS);
    this.#append(station, 'removals', changes.filter(isRemoval), removed);
    this.#append(
      station,
      'others',
      changes.filter((change) => !isRemoval(change)),
      total - removed,
    );
  }

  of(name: string): StationChanges {
    const { removals, others, owners } = this.#stations.get(name) ?? nothingKept();
    return {
      newestFirst: [...removals.kept, ...others.kept].reverse().sort(newerFirst),
      removals: owners,
      dropped: removals.dropped + others.dropped,
      droppedRemovals: removals.dropped,
    };
  }

  /** After a reload: forgets the stations that are no longer configured. */
  retainStations(names: ReadonlySet<string>, limits: ChangeLimits): void {
    this.#limits = limits;
    for (const [name, station] of [...this.#stations]) {
      const limit = names.has(name) ? limits.changes_per_station : 0;
      for (const category of CATEGORIES) this.#drop(station, category, station[category].kept.length - limit);
      if (!names.has(name)) this.#stations.delete(name);
    }
    for (const category of CATEGORIES) this.#evict(category);
  }

  /** `total`: how many there were, which may be more than are given. */
  #append(station: StationLog, category: Category, changes: readonly ObservedChange[], total: number): void {
    if (total === 0) return;
    station[category].kept = [...station[category].kept, ...changes];
    station[category].dropped += total - changes.length;
    this.#sizes[category] += changes.length;
    this.#drop(station, category, station[category].kept.length - this.#limits.changes_per_station);
    this.#evict(category);
  }

  /** From the stations with most, down to an equal share, so that a few noisy ones do not displace the changes of the others. */
  #evict(category: Category): void {
    const excess = () => this.#sizes[category] - this.#limits.changes;
    if (excess() <= 0) return;
    const stations = [...this.#stations.values()].filter((station) => station[category].kept.length > 0);
    const share = Math.floor(this.#limits.changes / stations.length);
    const largestFirst = stations.sort((a, b) => b[category].kept.length - a[category].kept.length);
    for (const station of largestFirst)
      this.#drop(station, category, Math.min(excess(), station[category].kept.length - share));
  }

  #drop(station: StationLog, category: Category, excess: number): void {
    if (excess <= 0) return;
    station[category].kept = station[category].kept.slice(excess);
    station[category].dropped += excess;
    this.#sizes[category] -= excess;
  }
}

const CATEGORIES = ['removals', 'others'] as const;

type Category = (typeof CATEGORIES)[number];

interface KeptChanges {
  /** The oldest first. */
  kept: readonly ObservedChange[];
  dropped: number;
}

interface StationLog extends Readonly<Record<Category, KeptChanges>> {
  /** Of removed resources, whatever is kept of the changes themselves. */
  owners: readonly ObservedRemovals[];
}

function nothingKept(): StationLog {
  return { removals: { kept: [], dropped: 0 }, others: { kept: [], dropped: 0 }, owners: [] };
}

/** Refreshes of a station that found removed resources, of which the owners are kept. */
const MAX_REMOVALS = 50;

function isRemoval({ change }: ObservedChange): boolean {
  return change === 'removed';
}

export function newerFirst(a: { readonly atMs: number }, b: { readonly atMs: number }): number {
  return b.atMs - a.atMs;
}
