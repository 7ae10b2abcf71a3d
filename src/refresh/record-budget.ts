import { type RecordLimit, RecordLimitFailure, type RecordLimits } from '../model/failure.ts';
import type { ListingContext, RecordAccount, RecordCount, RecordCounter } from '../model/listing.ts';

type Refresh = Pick<ListingContext, 'station' | 'signal'>;

/** Counts the records of all stations while they are read. */
export class RecordBudget implements RecordCounter {
  readonly #exceeded: (limit: RecordLimit) => void;
  readonly #accounts = new Map<string, RecordAccount>();
  limits: RecordLimits;

  constructor(limits: RecordLimits, exceeded: (limit: RecordLimit) => void = () => undefined) {
    this.limits = limits;
    this.#exceeded = exceeded;
  }

  /** Records of all stations. */
  get total(): number {
    let total = 0;
    for (const account of this.#accounts.values())
      for (const { kept, read } of account.values()) total += Math.max(kept, read);
    return total;
  }

  /** Closes the accounts of stations that are no longer configured. */
  retainStations(names: ReadonlySet<string>): void {
    for (const station of this.#accounts.keys()) if (!names.has(station)) this.#accounts.delete(station);
  }

  start(account: RecordAccount, listing: string, { station, signal }: Refresh): RecordCount {
    if (!signal.aborted) this.#accounts.set(station, account);
    const records = { kept: account.get(listing)?.kept ?? 0, read: 0 };
    account.set(listing, records);
    signal.addEventListener(
      'abort',
      () => {
        records.read = 0;
      },
      { once: true },
    );
    return {
      add: (count) => {
        if (signal.aborted) return;
        records.read += count;
        const read = Array.from(account.values()).reduce((sum, each) => sum + each.read, 0);
        if (read > this.limits.records_per_station) this.#fail('records_per_station');
        // What was counted before is not refused because another station has grown meanwhile.
        if (count > 0 && records.read > records.kept && this.total > this.limits.records) this.#fail('records');
      },
      keep: () => {
        records.kept = records.read;
      },
    };
  }

  #fail(limit: RecordLimit): never {
    this.#exceeded(limit);
    throw new RecordLimitFailure(limit, this.limits[limit]);
  }
}
