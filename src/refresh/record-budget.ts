import { type RecordLimit, RecordLimitFailure, type RecordLimits } from '../model/failure.ts';
import type { RecordAccount, RecordAccounts, RecordCount } from '../model/listing.ts';

/** Counts the records of all stations while they are read. */
export class RecordBudget implements RecordAccounts {
  readonly #exceeded: (limit: RecordLimit) => void;
  readonly #accounts = new Map<string, StationRecords>();
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

  open(station: string): RecordAccount {
    this.#close(station);
    const account: StationRecords = new StationRecords((growth, read) => {
      if (this.#accounts.get(station) === account) this.#total += growth;
      if (read > this.limits.records_per_station) this.#fail('records_per_station');
      if (growth > 0 && this.#total > this.limits.records) this.#fail('records');
    });
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

/**
 * A listing counts with its kept records or, if more, with those read so far by the refresh in progress, so that a station which does not
 * grow can be refreshed whatever the others do.
 */
class StationRecords implements RecordAccount {
  readonly #grown: (growth: number, read: number) => void;
  readonly #listings = new Map<string, { kept: number; read: number }>();
  #held = 0;

  /** `grown` is called with the growth of `held` and the records that the refresh in progress has read; it throws above a limit. */
  constructor(grown: (growth: number, read: number) => void) {
    this.#grown = grown;
  }

  get held(): number {
    return this.#held;
  }

  start(listing: string, refresh: AbortSignal): RecordCount {
    const records = { kept: this.#listings.get(listing)?.kept ?? 0, read: 0 };
    this.#listings.set(listing, records);
    // Kept records were read before, so that this cannot grow.
    refresh.addEventListener('abort', () => this.#update(records, 0), { once: true });
    return {
      add: (count) => {
        if (!refresh.aborted) this.#update(records, records.read + count);
      },
      keep: () => {
        records.kept = records.read;
      },
    };
  }

  #update(records: { read: number }, read: number): void {
    records.read = read;
    const before = this.#held;
    const listings = [...this.#listings.values()];
    this.#held = listings.reduce((sum, each) => sum + Math.max(each.kept, each.read), 0);
    this.#grown(
      this.#held - before,
      listings.reduce((sum, each) => sum + each.read, 0),
    );
  }
}
