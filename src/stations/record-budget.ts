import { RecordLimitFailure, type RecordLimits } from '../model/failure.ts';
import type { RecordCounter } from '../model/listing.ts';

/** Counts the records that the stations keep, and refuses more than the limits allow. */
export class RecordBudget implements RecordCounter {
  readonly #kept = new Map<string, number>();
  /** With how many records a station was refused because of all stations, until it keeps as many. */
  readonly #refused = new Map<string, number>();
  limits: RecordLimits;

  constructor(limits: RecordLimits) {
    this.limits = limits;
  }

  get total(): number {
    let total = 0;
    for (const kept of this.#kept.values()) total += kept;
    return total;
  }

  retainStations(names: ReadonlySet<string>): void {
    for (const station of [...this.#kept.keys(), ...this.#refused.keys()]) {
      if (names.has(station)) continue;
      this.#kept.delete(station);
      this.#refused.delete(station);
    }
  }

  keep(station: string, records: number): void {
    this.check(station, records);
    this.#kept.set(station, records);
    if (records >= (this.#refused.get(station) ?? 0)) this.#refused.delete(station);
  }

  /**
   * Throws if a station with so many records exceeds a limit. When all stations together have too many, the largest ones are refused
   * until the others fit: one that grows a little must not fail because of another one, and none because of one that is refused. What a
   * refused station has listed before stays in memory, so that no station may grow once this is as much again.
   */
  check(station: string, size: number): void {
    const { records, records_per_station } = this.limits;
    if (size > records_per_station) throw new RecordLimitFailure('records_per_station', records_per_station);
    const keptBefore = this.#kept.get(station) ?? 0;
    const total = this.total - keptBefore + size;
    const isGrowing = size > keptBefore;
    const isRefused = this.#withoutLarger(station, size) > records || (isGrowing && total > 2 * records);
    if (!isRefused) return;
    this.#refused.set(station, size);
    throw new RecordLimitFailure('records', records);
  }

  /** The records of the station and of all that are not larger and not refused. */
  #withoutLarger(station: string, size: number): number {
    let records = size;
    for (const [name, kept] of this.#kept) {
      if (name === station || this.#refused.has(name)) continue;
      if (kept <= size) records += kept;
    }
    return records;
  }
}
