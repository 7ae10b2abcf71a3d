import type { Change, Changes } from '../refresh/churn.ts';

/** A change, and when the refresh that found it ended: in the history, its entry has the same time. */
interface ObservedChange extends Change {
  readonly atMs: number;
}

/** The latest changes of a station. */
export interface StationChanges {
  readonly newestFirst: readonly ObservedChange[];
  /** How many are no longer kept, or never were because their refresh found too many. */
  readonly dropped: number;
}

interface ChangeLimits {
  readonly changes: number;
  readonly changes_per_station: number;
}

/** The oldest first. */
interface KeptChanges {
  kept: readonly ObservedChange[];
  dropped: number;
}

/** The latest changes of all stations. */
export class ChangeLog {
  readonly #stations = new Map<string, KeptChanges>();
  #limits: ChangeLimits;

  constructor(limits: ChangeLimits) {
    this.#limits = limits;
  }

  add(station: string, atMs: number, { list, total }: Pick<Changes, 'list' | 'total'>): void {
    if (total === 0) return;
    const { kept, dropped } = this.#of(station);
    const added = list.map((change) => ({ ...change, atMs }));
    // Of stations with equally many, the one that changed last gives way last.
    this.#stations.delete(station);
    this.#stations.set(station, { kept: [...kept, ...added], dropped: dropped + total - list.length });
    this.#dropOldest();
  }

  of(station: string): StationChanges {
    const { kept, dropped } = this.#of(station);
    return { newestFirst: kept.toReversed(), dropped };
  }

  /** After a reload: forgets the stations that are no longer configured. */
  retainStations(names: ReadonlySet<string>, limits: ChangeLimits): void {
    for (const station of [...this.#stations.keys()]) if (!names.has(station)) this.#stations.delete(station);
    this.#limits = limits;
    this.#dropOldest();
  }

  #of(station: string): KeptChanges {
    return this.#stations.get(station) ?? { kept: [], dropped: 0 };
  }

  #dropOldest(): void {
    const { changes, changes_per_station } = this.#limits;
    const stations = [...this.#stations.values()];
    for (const station of stations) drop(station, station.kept.length - changes_per_station);
    let excess = stations.reduce((sum, { kept }) => sum + kept.length, -changes);
    if (excess <= 0) return;
    // Those with most give way first, so that a few noisy stations do not displace the changes of the others.
    const share = Math.floor(changes / stations.length);
    for (const station of stations.sort((a, b) => b.kept.length - a.kept.length)) {
      const count = Math.min(excess, station.kept.length - share);
      drop(station, count);
      excess -= count;
    }
  }
}

function drop(station: KeptChanges, count: number): void {
  if (count <= 0) return;
  station.kept = station.kept.slice(count);
  station.dropped += count;
}
