import { type RecordLimit, RecordLimitFailure, type RecordLimits } from '../model/failure.ts';
import type { RecordAccount, RecordAccounts } from '../model/listing.ts';

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
    const account: StationRecords = stationRecords((growth, read) => {
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
    this.#total -= this.#accounts.get(station)?.held() ?? 0;
    this.#accounts.delete(station);
  }

  #fail(limit: RecordLimit): never {
    this.#exceeded(limit);
    throw new RecordLimitFailure(limit, this.limits[limit]);
  }
}

interface StationRecords extends RecordAccount {
  readonly held: () => number;
}

/**
 * A listing counts with its kept records or, if more, with those read so far by the refresh in progress, so that a station which does not
 * grow can be refreshed whatever the others do. `grown` is called with the growth of `held` and the records that the refresh in progress has
 * read; it throws above a limit.
 */
function stationRecords(grown: (growth: number, read: number) => void): StationRecords {
  const listings = new Map<string, { kept: number; read: number }>();
  let held = 0;
  const update = (records: { read: number }, read: number) => {
    records.read = read;
    const before = held;
    const all = [...listings.values()];
    held = all.reduce((sum, each) => sum + Math.max(each.kept, each.read), 0);
    grown(
      held - before,
      all.reduce((sum, each) => sum + each.read, 0),
    );
  };
  return {
    held: () => held,
    start: (listing, refresh) => {
      const records = { kept: listings.get(listing)?.kept ?? 0, read: 0 };
      listings.set(listing, records);
      // Kept records were read before, so that this cannot grow.
      refresh.addEventListener('abort', () => update(records, 0), { once: true });
      return {
        add: (count) => {
          if (!refresh.aborted) update(records, records.read + count);
        },
        keep: () => {
          records.kept = records.read;
        },
      };
    },
  };
}
