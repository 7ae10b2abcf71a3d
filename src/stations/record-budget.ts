import { RecordLimitFailure, type RecordLimits } from '../model/failure.ts';
import type { RecordCounter } from '../model/listing.ts';

interface StationRecords {
  /** The records of its latest listings, which are in memory. */
  readonly kept: number;
  /** The size with which it was refused because all stations together had too many. It stays refused until it keeps as many; undefined: it is not. */
  readonly refusedSize: number | undefined;
}

const NO_RECORDS: StationRecords = { kept: 0, refusedSize: undefined };

/** Counts the records that the stations keep, and refuses more than the limits allow. */
export class RecordBudget implements RecordCounter {
  readonly #stations = new Map<string, StationRecords>();
  /** What all stations keep, and what those keep that are not refused: sums, because every page of every station is checked. */
  #total = 0;
  #accepted = 0;
  limits: RecordLimits;

  constructor(limits: RecordLimits) {
    this.limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  retainStations(names: ReadonlySet<string>): void {
    for (const station of [...this.#stations.keys()]) if (!names.has(station)) this.#set(station, undefined);
  }

  keep(station: string, records: number): void {
    this.check(station, records);
    const { refusedSize } = this.#of(station);
    const isStillRefused = refusedSize !== undefined && records < refusedSize;
    this.#set(station, { kept: records, refusedSize: isStillRefused ? refusedSize : undefined });
  }

  /**
   * Throws if a station with so many records exceeds a limit. When all stations together have too many, the largest ones are refused
   * until the others fit: one that grows a little must not fail because of another one, and none because of one that is refused. What a
   * refused station has listed before stays in memory, so that no station may grow once this is as much again.
   */
  check(station: string, size: number): void {
    const { records, records_per_station } = this.limits;
    if (size > records_per_station) throw new RecordLimitFailure('records_per_station', records_per_station);
    const { kept } = this.#of(station);
    const isGrowing = size > kept;
    const isMemoryFull = isGrowing && this.#total - kept + size > 2 * records;
    const fits =
      this.#acceptedOthers(station) + size <= records || this.#smallerOthers(station, size) + size <= records;
    if (fits && !isMemoryFull) return;
    this.#set(station, { kept, refusedSize: size });
    throw new RecordLimitFailure('records', records);
  }

  #acceptedOthers(station: string): number {
    const { kept, refusedSize } = this.#of(station);
    return refusedSize === undefined ? this.#accepted - kept : this.#accepted;
  }

  /** What the others keep that are neither larger nor refused. */
  #smallerOthers(station: string, size: number): number {
    let records = 0;
    for (const [name, { kept, refusedSize }] of this.#stations)
      if (name !== station && refusedSize === undefined && kept <= size) records += kept;
    return records;
  }

  #of(station: string): StationRecords {
    return this.#stations.get(station) ?? NO_RECORDS;
  }

  /** `next`: undefined to forget the station. */
  #set(station: string, next: StationRecords | undefined): void {
    this.#count(this.#of(station), -1);
    this.#count(next ?? NO_RECORDS, 1);
    if (next) this.#stations.set(station, next);
    else this.#stations.delete(station);
  }

  #count({ kept, refusedSize }: StationRecords, sign: 1 | -1): void {
    this.#total += sign * kept;
    if (refusedSize === undefined) this.#accepted += sign * kept;
  }
}
