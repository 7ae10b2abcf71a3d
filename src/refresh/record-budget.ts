import { type RecordLimit, RecordLimitFailure, type RecordLimits } from '../model/failure.ts';
import type { ListingContext, RecordAccount, RecordCount, RecordCounter } from '../model/listing.ts';

type CountedRefresh = Pick<ListingContext, 'station' | 'signal'>;

/** Counts the records of all stations while they are read. */
export class RecordBudget implements RecordCounter {
  readonly #accounts = new Map<string, StationRecords>();
  /** The sum of all accounts: it is compared with the limit for every page, so it is not summed up then. */
  #total = 0;
  #limits: RecordLimits;

  constructor(limits: RecordLimits) {
    this.#limits = limits;
  }

  /** How many records all stations hold. */
  get total(): number {
    return this.#total;
  }

  get limits(): RecordLimits {
    return this.#limits;
  }

  setLimits(limits: RecordLimits): void {
    this.#limits = limits;
  }

  open(): RecordAccount {
    const account = new StationRecords();
    return { start: (listing, refresh) => this.#start(account, listing, refresh) };
  }

  /** Closes the accounts of stations that are no longer configured. */
  retainStations(names: ReadonlySet<string>): void {
    for (const station of [...this.#accounts.keys()]) if (!names.has(station)) this.#close(station);
  }

  #start(account: StationRecords, listing: string, { station, signal }: CountedRefresh): RecordCount {
    if (!signal.aborted) this.#use(station, account);
    let records: ListingRecords = { kept: account.of(listing).kept, read: 0 };
    this.#set(station, account, listing, records);
    const update = (changed: ListingRecords) => {
      // A later pass may have started the listing anew.
      if (account.of(listing) === records) this.#set(station, account, listing, changed);
      records = changed;
    };
    signal.addEventListener('abort', () => update({ ...records, read: 0 }), { once: true });
    return {
      add: (count) => {
        if (signal.aborted) return;
        update({ ...records, read: records.read + count });
        if (account.read > this.#limits.records_per_station) this.#fail('records_per_station');
        // What was counted before is not refused because another station has grown meanwhile.
        if (count > 0 && records.read > records.kept && this.#total > this.#limits.records) this.#fail('records');
      },
      keep: () => update({ ...records, kept: records.read }),
    };
  }

  #use(station: string, account: StationRecords): void {
    if (this.#accounts.get(station) === account) return;
    this.#close(station);
    this.#accounts.set(station, account);
    this.#total += account.total;
  }

  #close(station: string): void {
    this.#total -= this.#accounts.get(station)?.total ?? 0;
    this.#accounts.delete(station);
  }

  #set(station: string, account: StationRecords, listing: string, records: ListingRecords): void {
    const before = account.total;
    account.set(listing, records);
    // An account that was closed or replaced may still be written to.
    if (this.#accounts.get(station) === account) this.#total += account.total - before;
  }

  #fail(limit: RecordLimit): never {
    throw new RecordLimitFailure(limit, this.#limits[limit]);
  }
}

interface ListingRecords {
  /** The records of the last refresh. */
  readonly kept: number;
  /** Read so far by the refresh in progress. */
  readonly read: number;
}

const NO_RECORDS: ListingRecords = { kept: 0, read: 0 };

/** The records of all listings of a station, with their sums. */
class StationRecords {
  readonly #listings = new Map<string, ListingRecords>();
  #total = 0;
  #read = 0;

  /** What the station adds to the records of all stations. */
  get total(): number {
    return this.#total;
  }

  /** What the refresh in progress has read so far. */
  get read(): number {
    return this.#read;
  }

  of(listing: string): ListingRecords {
    return this.#listings.get(listing) ?? NO_RECORDS;
  }

  set(listing: string, records: ListingRecords): void {
    const before = this.of(listing);
    this.#listings.set(listing, records);
    this.#total += inMemory(records) - inMemory(before);
    this.#read += records.read - before.read;
  }
}

function inMemory({ kept, read }: ListingRecords): number {
  return Math.max(kept, read);
}
