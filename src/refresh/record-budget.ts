import { ListingFailure } from '../model/failure.ts';

/** By their keys in the configuration. */
export interface RecordLimits {
  /** Of one station, all its listings together. */
  readonly records_per_station: number;
  /** Of all stations. */
  readonly records: number;
}

export type RecordLimit = keyof RecordLimits;

export const RECORD_LIMITS: readonly RecordLimit[] = ['records_per_station', 'records'];

/** More records than may be held. */
export class RecordLimitFailure extends ListingFailure {
  constructor(limit: RecordLimit, records: number) {
    const whose = limit === 'records' ? 'all stations together have' : 'the station has';
    super(
      'body',
      `${whose} more than ${records} records, which is limits.${limit}: raise it together with the heap, or request less`,
    );
  }
}

/** Counts records while they are read: a service may list without end, and many stations may grow at once. */
export class RecordBudget {
  readonly #exceeded: (limit: RecordLimit) => void;
  readonly #accounts = new Map<string, RecordAccount>();
  #total = 0;
  limits: RecordLimits;

  constructor(limits: RecordLimits, exceeded: (limit: RecordLimit) => void = () => undefined) {
    this.limits = limits;
    this.#exceeded = exceeded;
  }

  /** Records of all stations. */
  get total(): number {
    return this.#total;
  }

  /** An empty account of the station, in place of an earlier one. */
  open(station: string): RecordAccount {
    this.#close(station);
    const account: RecordAccount = new RecordAccount(
      (growth, records) => {
        if (this.#accounts.get(station) === account) this.#total += growth;
        if (records > this.limits.records_per_station) this.#fail('records_per_station');
        if (growth > 0 && this.#total > this.limits.records) this.#fail('records');
      },
      (growth) => this.#total + growth <= this.limits.records,
    );
    this.#accounts.set(station, account);
    return account;
  }

  /** Closes the accounts of stations that are no longer configured. */
  retainStations(names: ReadonlySet<string>): void {
    for (const station of [...this.#accounts.keys()]) if (!names.has(station)) this.#close(station);
  }

  #close(station: string): void {
    this.#total -= this.#accounts.get(station)?.held ?? 0;
    this.#accounts.delete(station);
  }

  #fail(limit: RecordLimit): never {
    this.#exceeded(limit);
    throw new RecordLimitFailure(limit, this.limits[limit]);
  }
}

/** Called with the growth of an account and the records of the refresh in progress; throws above a limit. */
type Changed = (growth: number, records: number) => void;

export interface RecordCount {
  /** Throws a RecordLimitFailure above a limit. */
  add(records: number): void;
  /** The records are kept after the refresh, until the listing is kept again. */
  keep(): void;
  /** Counts so many records that a failed refresh leaves to the next one, until the listing is kept or left again; false: there is no room for them. */
  leave(records: number): boolean;
}

/**
 * The records of one station. A listing counts with its kept records or, if more, with those read so far by the refresh in progress or left
 * by a failed one, so that a station which does not grow can be refreshed whatever the others do.
 */
export class RecordAccount {
  readonly #changed: Changed;
  readonly #hasRoom: (growth: number) => boolean;
  /** By listing. */
  readonly #kept = new Map<string, number>();
  readonly #left = new Map<string, number>();
  readonly #read = new Map<string, number>();
  #refresh: AbortSignal | undefined;
  #held = 0;

  constructor(changed: Changed, hasRoom: (growth: number) => boolean) {
    this.#changed = changed;
    this.#hasRoom = hasRoom;
  }

  get held(): number {
    return this.#held;
  }

  /** Starts to read a listing, anew if the refresh has read it before. The refresh ends when its signal aborts. */
  start(listing: string, refresh: AbortSignal): RecordCount {
    if (this.#refresh !== refresh) {
      this.#refresh = refresh;
      this.#end(refresh);
      refresh.addEventListener('abort', () => this.#end(refresh));
    }
    this.#read.set(listing, 0);
    return {
      add: (records) => {
        if (refresh !== this.#refresh || refresh.aborted) return;
        this.#read.set(listing, (this.#read.get(listing) ?? 0) + records);
        this.#update();
      },
      keep: () => {
        this.#kept.set(listing, this.#read.get(listing) ?? 0);
        this.#left.delete(listing);
      },
      leave: (records) => this.#leave(listing, records),
    };
  }

  #leave(listing: string, records: number): boolean {
    const held = Math.max(this.#kept.get(listing) ?? 0, this.#read.get(listing) ?? 0);
    this.#left.set(listing, 0);
    this.#update();
    if (!this.#hasRoom(records - held)) return false;
    this.#left.set(listing, records);
    this.#update();
    return true;
  }

  /** Kept records were read before, so that this cannot grow. */
  #end(refresh: AbortSignal): void {
    if (refresh !== this.#refresh) return;
    this.#read.clear();
    this.#update();
  }

  #update(): void {
    let held = 0;
    let records = 0;
    for (const read of this.#read.values()) records += read;
    for (const listing of new Set([...this.#kept.keys(), ...this.#read.keys(), ...this.#left.keys()])) {
      held += Math.max(this.#kept.get(listing) ?? 0, this.#read.get(listing) ?? 0, this.#left.get(listing) ?? 0);
    }
    const growth = held - this.#held;
    this.#held = held;
    this.#changed(growth, records);
  }
}
