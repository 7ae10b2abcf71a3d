import { describe, expect, it } from 'vitest';
import { RecordLimitFailure } from '../../src/model/failure.ts';
import { RecordBudget } from '../../src/refresh/record-budget.ts';

const budgetOf = (records: number, recordsPerStation = records) =>
  new RecordBudget({ records, records_per_station: recordsPerStation });

/** The account of a source of the station. */
function accountOf(budget: RecordBudget, station: string) {
  const account = budget.open();
  return { start: (listing: string) => account.start(listing, { station }) };
}

type Account = ReturnType<typeof accountOf>;

/** A refresh that reads so many records and keeps them unless it fails. */
function refresh(account: Account, ...listings: number[]): string {
  try {
    for (const [at, records] of listings.entries()) {
      const count = account.start(`listing ${at}`);
      count.add(records);
      count.keep();
    }
    return 'read';
  } catch (error) {
    return error instanceof RecordLimitFailure ? `${error.reason}: ${error.message}` : 'unexpected';
  }
}

const TOO_MANY = expect.stringMatching(/^body: all stations together have more than/);

describe('RecordBudget', () => {
  it('fails a refresh above the limit of one station as soon as it has read so many', () => {
    const budget = budgetOf(100, 30);
    const account = accountOf(budget, 'a');
    const tooMany =
      'body: the station has more than 30 records, which is limits.records_per_station: raise it together with the heap, or request less';
    expect(refresh(account, 31)).toBe(tooMany);
    expect(budget.total).toBe(0);
    expect(refresh(account, 20, 11)).toBe(tooMany);
    expect(refresh(account, 20, 10)).toBe('read');
    expect(budget.total).toBe(30);
  });

  it('counts all listings of a station that are read side by side', () => {
    const budget = budgetOf(100, 30);
    const account = accountOf(budget, 'a');
    const counts = ['main', 'product'].map((listing) => account.start(listing));
    for (const count of counts) count.add(20);
    counts[0]?.keep();
    expect(() => counts[1]?.keep()).toThrow(RecordLimitFailure);
    expect(budget.total).toBe(20);
  });

  it('keeps the listings of a station that a refresh does not read', () => {
    const budget = budgetOf(50);
    const account = accountOf(budget, 'a');
    refresh(account, 20, 10);
    refresh(account, 15);
    expect(budget.total).toBe(25);
  });

  it('refuses the largest station when all have too many, and not the one that grows by ten records', () => {
    const budget = budgetOf(100);
    const [large, small, other] = ['large', 'small', 'other'].map((name) => accountOf(budget, name)) as [
      Account,
      Account,
      Account,
    ];
    refresh(large, 60);
    refresh(small, 20);
    refresh(other, 20);
    expect(refresh(small, 30)).toBe('read');
    expect(refresh(other, 20)).toBe('read');
    expect(refresh(large, 60)).toEqual(TOO_MANY);
    // What it has listed before is still served.
    expect(budget.total).toBe(110);
    expect(refresh(large, 50)).toBe('read');
  });

  it('refuses further stations when the others already take everything', () => {
    const budget = budgetOf(100);
    const accounts = Array.from({ length: 11 }, (_, at) => accountOf(budget, `${at}`));
    const outcomes = accounts.map((account) => refresh(account, 10));
    expect(outcomes).toEqual([...Array(10).fill('read'), TOO_MANY]);
    expect(refresh(accounts[0] as Account, 10)).toBe('read');
  });

  it('keeps at most twice the limit when the largest stations are read first', () => {
    const budget = budgetOf(100);
    const sizes = [70, 60, 50, 40, 30];
    const accounts = sizes.map((_, at) => accountOf(budget, `${at}`));
    const outcomes = accounts.map((account, at) => refresh(account, sizes[at] as number));
    expect(outcomes).toEqual(['read', 'read', 'read', TOO_MANY, TOO_MANY]);
    expect(budget.total).toBe(180);
    expect(refresh(accounts[2] as Account, 50)).toBe('read');
    expect(refresh(accounts[0] as Account, 70)).toEqual(TOO_MANY);
  });

  it('counts nothing of stations that are removed or replaced', () => {
    const budget = budgetOf(50);
    refresh(accountOf(budget, 'a'), 20);
    refresh(accountOf(budget, 'b'), 10);
    budget.retainStations(new Set(['b']));
    expect(budget.total).toBe(10);
    refresh(accountOf(budget, 'b'), 5);
    expect(budget.total).toBe(5);
  });

  it('follows changed limits', () => {
    const budget = budgetOf(50);
    const account = accountOf(budget, 'a');
    refresh(account, 40);
    budget.setLimits({ records: 30, records_per_station: 30 });
    expect(refresh(account, 35)).toMatch(/^body: the station has more than 30/);
    expect(refresh(account, 30)).toBe('read');
  });
});
