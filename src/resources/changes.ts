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
  /** Those of them that were removed resources. */
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
  readonly #removals: BoundedChanges;
  readonly #others: BoundedChanges;
  readonly #removedOwners = new Map<string, readonly ObservedRemovals[]>();

  constructor(limits: ChangeLimits) {
    this.#removals = new BoundedChanges(limits);
    this.#others = new BoundedChanges(limits);
  }

  add(
    station: string,
    atMs: number,
    { list, total, removedOwners }: Pick<Changes, 'list' | 'total' | 'removedOwners'>,
  ): void {
    const changes = list.map(({ change, resource, from, to }) => ({ atMs, change, resource, from, to }));
    const removed = removedOwners.reduce((sum, owner) => sum + owner.total, 0);
    this.#removals.add(station, changes.filter(isRemoval), removed);
    this.#others.add(
      station,
      changes.filter((change) => !isRemoval(change)),
      total - removed,
    );
    if (removed === 0) return;
    const observed = [...(this.#removedOwners.get(station) ?? []), { atMs, owners: removedOwners }];
    this.#removedOwners.set(station, observed.slice(-MAX_REMOVALS));
  }

  of(station: string): StationChanges {
    const removals = this.#removals.of(station);
    const others = this.#others.of(station);
    return {
      newestFirst: [...removals.kept, ...others.kept].reverse().sort(newerFirst),
      removals: this.#removedOwners.get(station) ?? [],
      dropped: removals.dropped + others.dropped,
      droppedRemovals: removals.dropped,
    };
  }

  /** After a reload: forgets the stations that are no longer configured. */
  retainStations(names: ReadonlySet<string>, limits: ChangeLimits): void {
    this.#removals.retainStations(names, limits);
    this.#others.retainStations(names, limits);
    for (const name of [...this.#removedOwners.keys()]) if (!names.has(name)) this.#removedOwners.delete(name);
  }
}

/** Refreshes of a station that found removed resources, of which the owners are kept. */
const MAX_REMOVALS = 50;

function isRemoval({ change }: ObservedChange): boolean {
  return change === 'removed';
}

export function newerFirst(a: { readonly atMs: number }, b: { readonly atMs: number }): number {
  return b.atMs - a.atMs;
}

interface KeptChanges {
  /** The oldest first. */
  kept: readonly ObservedChange[];
  dropped: number;
}

class BoundedChanges {
  readonly #stations = new Map<string, KeptChanges>();
  #limits: ChangeLimits;
  #size = 0;

  constructor(limits: ChangeLimits) {
    this.#limits = limits;
  }

  /** `total`: how many there were, which may be more than are given. */
  add(station: string, changes: readonly ObservedChange[], total: number): void {
    if (total === 0) return;
    const { kept, dropped } = this.of(station);
    const changed = { kept: [...kept, ...changes], dropped: dropped + total - changes.length };
    // Of stations with equally many, the one that changed last is evicted from last.
    this.#stations.delete(station);
    this.#stations.set(station, changed);
    this.#size += changes.length;
    this.#drop(changed, changed.kept.length - this.#limits.changes_per_station);
    this.#evict();
  }

  of(station: string): KeptChanges {
    return this.#stations.get(station) ?? { kept: [], dropped: 0 };
  }

  retainStations(names: ReadonlySet<string>, limits: ChangeLimits): void {
    this.#limits = limits;
    for (const [name, station] of [...this.#stations]) {
      const excess = names.has(name) ? station.kept.length - limits.changes_per_station : station.kept.length;
      this.#drop(station, excess);
      if (!names.has(name)) this.#stations.delete(name);
    }
    this.#evict();
  }

  /** From the stations with most, down to an equal share, so that a few noisy ones do not displace the changes of the others. */
  #evict(): void {
    const excess = () => this.#size - this.#limits.changes;
    if (excess() <= 0) return;
    const share = Math.floor(this.#limits.changes / this.#stations.size);
    const largestFirst = [...this.#stations.values()].sort((a, b) => b.kept.length - a.kept.length);
    for (const station of largestFirst) this.#drop(station, Math.min(excess(), station.kept.length - share));
  }

  #drop(station: KeptChanges, excess: number): void {
    if (excess <= 0) return;
    station.kept = station.kept.slice(excess);
    station.dropped += excess;
    this.#size -= excess;
  }
}
