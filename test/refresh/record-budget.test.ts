import { describe, expect, it, vi } from 'vitest';
import { RecordLimitFailure } from '../../src/model/failure.ts';
import { RecordBudget } from '../../src/refresh/record-budget.ts';
import { randomFrom } from '../../src/simulator/random.ts';
import { listingContext } from '../upstream/support/context.ts';

function budgetOf(records: number, recordsPerStation = records) {
  return { budget: new RecordBudget({ records, records_per_station: recordsPerStation }) };
}

/** The account of a source of the station. */
function accountOf(budget: RecordBudget, station: string) {
  const account = budget.open();
  return {
    start: (listing: string, signal: AbortSignal) => account.start(listing, listingContext({ station, signal })),
  };
}

/** A refresh that reads so many records and then ends; it keeps them unless it fails. */
function refresh(account: ReturnType<typeof accountOf>, ...listings: number[]): string {
  const end = new AbortController();
  try {
    for (const [at, records] of listings.entries()) {
      const count = account.start(`listing ${at}`, end.signal);
      count.add(records);
      count.keep();
    }
    return 'read';
  } catch (error) {
    return error instanceof RecordLimitFailure ? `${error.reason}: ${error.message}` : 'unexpected';
  } finally {
    end.abort();
  }
}

describe('RecordBudget', () => {
  it('fails a refresh above the limit of one station, and holds nothing of it', () => {
    const { budget } = budgetOf(100, 30);
    const account = accountOf(budget, 'a');
    expect(refresh(account, 20, 11)).toBe(
      'body: the station has more than 30 records, which is limits.records_per_station: raise it together with the heap, or request less',
    );
    expect(refresh(account, 20, 10)).toBe('read');
    expect(budget.total).toBe(30);
  });

  it('fails a refresh that would exceed the limit of all stations', () => {
    const { budget } = budgetOf(50);
    const [a, b] = [accountOf(budget, 'a'), accountOf(budget, 'b')];
    expect(refresh(a, 20, 10)).toBe('read');
    expect(refresh(b, 21)).toBe(
      'body: all stations together have more than 50 records, which is limits.records: raise it together with the heap, or request less',
    );
    expect(refresh(b, 20)).toBe('read');
    expect(budget.total).toBe(50);
  });

  it('refreshes a station that does not grow, even while another one takes all the rest', () => {
    const { budget } = budgetOf(50);
    const [a, b] = [accountOf(budget, 'a'), accountOf(budget, 'b')];
    refresh(a, 20);
    const growing = b.start('listing', new AbortController().signal);
    growing.add(30);
    expect(refresh(a, 20)).toBe('read');
    expect(refresh(a, 19)).toBe('read');
    expect(() => growing.add(2)).toThrow(RecordLimitFailure);
  });

  it('does not refuse records that were counted before another station grew too large', () => {
    const { budget } = budgetOf(50);
    const [a, b] = ['a', 'b'].map((name) => accountOf(budget, name).start('listing', new AbortController().signal));
    a?.add(40);
    expect(() => b?.add(20)).toThrow(RecordLimitFailure);
    expect(() => a?.add(0)).not.toThrow();
  });

  it('holds what was kept before when a refresh fails', () => {
    const { budget } = budgetOf(50);
    const account = accountOf(budget, 'a');
    refresh(account, 20);
    const end = new AbortController();
    const count = account.start('listing 0', end.signal);
    count.add(30);
    expect(budget.total).toBe(30);
    end.abort();
    count.add(30);
    expect(budget.total).toBe(20);
  });

  it('holds nothing for stations that are removed or opened anew, whatever their last refresh still reads', () => {
    const { budget } = budgetOf(50);
    const [a, b] = [accountOf(budget, 'a'), accountOf(budget, 'b')];
    refresh(a, 20);
    refresh(b, 10);
    const late = a.start('listing 0', new AbortController().signal);
    budget.retainStations(new Set(['b']));
    late.add(40);
    a.start('listing 1', AbortSignal.abort());
    expect(budget.total).toBe(10);
    refresh(accountOf(budget, 'b'), 5);
    expect(budget.total).toBe(5);
    late.keep();
    expect(budget.total).toBe(5);
  });

  it('has the sum of all listings of all stations as its total, after any sequence of events', () => {
    const random = randomFrom(28);
    const pick = (count: number) => Math.floor(count * random());
    const { budget } = budgetOf(Number.POSITIVE_INFINITY);
    /** What a listing holds, of the latest account of its station. */
    const expected = new Map<string, { kept: number; read: number }>();
    const sum = () => [...expected.values()].reduce((total, { kept, read }) => total + Math.max(kept, read), 0);
    const stations = ['a', 'b', 'c'];
    const accounts = new Map(stations.map((station) => [station, accountOf(budget, station)]));
    const forget = (station: string) => {
      for (const key of [...expected.keys()]) if (key.startsWith(station)) expected.delete(key);
      accounts.set(station, accountOf(budget, station));
    };
    for (let step = 0; step < 2000; step += 1) {
      const station = stations[pick(stations.length)] as string;
      const event = pick(12);
      if (event === 0) {
        budget.retainStations(new Set(stations.filter((name) => name !== station)));
        forget(station);
      } else {
        const key = `${station} ${pick(2)}`;
        const end = new AbortController();
        const count = accounts.get(station)?.start(key, end.signal) ?? expect.unreachable();
        const records = { kept: expected.get(key)?.kept ?? 0, read: 0 };
        expected.set(key, records);
        for (let pages = pick(4); pages > 0; pages -= 1) {
          const added = pick(100);
          count.add(added);
          records.read += added;
          expect(budget.total).toBe(sum());
        }
        if (event > 4) {
          count.keep();
          records.kept = records.read;
        }
        // A refresh that has not ended leaves what it has read.
        if (event !== 1) {
          end.abort();
          records.read = 0;
        }
      }
      expect(budget.total).toBe(sum());
    }
  });

  it('sums up no other station for a page of one of 10,000', () => {
    const { budget } = budgetOf(1_000_000);
    for (let station = 0; station < 10_000; station += 1) refresh(accountOf(budget, `${station}`), 10);
    const count = accountOf(budget, '7').start('listing 0', new AbortController().signal);
    const visits = [
      vi.spyOn(Map.prototype, 'values'),
      vi.spyOn(Map.prototype, 'entries'),
      vi.spyOn(Map.prototype, Symbol.iterator),
      vi.spyOn(Map.prototype, 'forEach'),
    ];
    count.add(11);
    const total = budget.total;
    const stations = visits.map(({ mock }) =>
      Math.max(0, ...mock.contexts.map((map) => (map as Map<string, unknown>).size)),
    );
    vi.restoreAllMocks();
    // The listings of the station itself are few.
    expect(Math.max(...stations)).toBeLessThan(10);
    expect(total).toBe(100_001);
  });

  it('follows changed limits', () => {
    const { budget } = budgetOf(50);
    const account = accountOf(budget, 'a');
    refresh(account, 40);
    budget.setLimits({ records: 30, records_per_station: 30 });
    expect(refresh(account, 35)).toMatch(/^body: the station has more than 30/);
    expect(refresh(account, 30)).toBe('read');
  });
});
