import { RecordLimitFailure, type RecordLimits } from '../model/failure.ts';
import type { RecordCounter } from '../model/listing.ts';

/** Counts the records that the stations keep, and refuses more than the limits allow. */
export class RecordBudget implements RecordCounter {
  /** By station. */
  readonly #kept = new Map<string, number>();
  #limits: RecordLimits;

  constructor(limits: RecordLimits) {
    this.#limits = limits;
  }

  /** How many records all stations keep. */
  get total(): number {
    let total = 0;
    for (const kept of this.#kept.values()) total += kept;
    return total;
  }

  get limits(): RecordLimits {
    return this.#limits;
  }

  setLimits(limits: RecordLimits): void {
    this.#limits = limits;
  }

  /** Forgets stations that are no longer configured. */
  retainStations(names: ReadonlySet<string>): void {
    for (const station of [...this.#kept.keys()]) if (!names.has(station)) this.#kept.delete(station);
  }

  keep(station: string, records: number): void {
    this.check(station, records);
    this.#kept.set(station, records);
  }

  /**
   * Throws if a station with so many records exceeds a limit. When all stations together have too many, the largest ones are refused
   * until the others fit: one that grows a little must not fail because of another one. What a refused station has listed before stays
   * in memory, so that no station may grow once this is as much again.
   */
  check(station: string, size: number): void {
    const { records, records_per_station } = this.#limits;
    if (size > records_per_station) throw new RecordLimitFailure('records_per_station', records_per_station);
    const keptBefore = this.#kept.get(station) ?? 0;
    const total = this.total - keptBefore + size;
    let withoutLarger = size;
    for (const [name, kept] of this.#kept) if (name !== station && kept <= size) withoutLarger += kept;
    const isGrowing = size > keptBefore;
    if (withoutLarger > records || (isGrowing && total > 2 * records)) throw new RecordLimitFailure('records', records);
  }
}
