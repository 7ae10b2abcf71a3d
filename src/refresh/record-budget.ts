import { RecordLimitFailure, type RecordLimits } from '../model/failure.ts';
import type { RecordAccount, RecordCount, RecordCounter } from '../model/listing.ts';

/** Counts the records that the stations keep, and refuses more than the limits allow. */
export class RecordBudget implements RecordCounter {
  readonly #stations = new Map<string, StationRecords>();
  #limits: RecordLimits;

  constructor(limits: RecordLimits) {
    this.#limits = limits;
  }

  /** How many records all stations keep. */
  get total(): number {
    let total = 0;
    for (const { kept } of this.#stations.values()) total += kept;
    return total;
  }

  get limits(): RecordLimits {
    return this.#limits;
  }

  setLimits(limits: RecordLimits): void {
    this.#limits = limits;
  }

  open(): RecordAccount {
    const records = new StationRecords();
    return { start: (listing, { station }) => this.#start(records, listing, station) };
  }

  /** Forgets stations that are no longer configured. */
  retainStations(names: ReadonlySet<string>): void {
    for (const station of [...this.#stations.keys()]) if (!names.has(station)) this.#stations.delete(station);
  }

  #start(records: StationRecords, listing: string, station: string): RecordCount {
    let read = 0;
    return {
      add: (count) => {
        read += count;
        this.#check(station, records.keptBeside(listing) + read);
      },
      keep: () => {
        this.#check(station, records.keptBeside(listing) + read);
        records.keep(listing, read);
        this.#stations.set(station, records);
      },
    };
  }

  /**
   * Throws if a station with so many records exceeds a limit. When all stations together have too many, the largest ones are refused
   * until the others fit: one that grows a little must not fail because of another one. What a refused station has listed before stays
   * in memory, so that no station may grow once this is as much again.
   */
  #check(station: string, size: number): void {
    const { records, records_per_station } = this.#limits;
    if (size > records_per_station) throw new RecordLimitFailure('records_per_station', records_per_station);
    const keptBefore = this.#stations.get(station)?.kept ?? 0;
    const total = this.total - keptBefore + size;
    let withoutLarger = size;
    for (const [name, { kept }] of this.#stations) if (name !== station && kept <= size) withoutLarger += kept;
    const isGrowing = size > keptBefore;
    if (withoutLarger > records || (isGrowing && total > 2 * records)) throw new RecordLimitFailure('records', records);
  }
}

/** The records of a station that stay in memory, by listing. */
class StationRecords {
  readonly #listings = new Map<string, number>();
  #kept = 0;

  get kept(): number {
    return this.#kept;
  }

  /** In its other listings. */
  keptBeside(listing: string): number {
    return this.#kept - (this.#listings.get(listing) ?? 0);
  }

  keep(listing: string, records: number): void {
    this.#kept = this.keptBeside(listing) + records;
    this.#listings.set(listing, records);
  }
}
