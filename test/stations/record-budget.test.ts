import { describe, expect, it } from 'vitest';
import { RecordLimitFailure } from '../../src/model/failure.ts';
import { RecordBudget } from '../../src/stations/record-budget.ts';
import { largestIterated } from './fixtures.ts';

const budgetOf = (records: number, recordsPerStation = records) =>
  new RecordBudget({ records, records_per_station: recordsPerStation });

/** A refresh that reads so many records and keeps them unless it fails. */
function refresh(budget: RecordBudget, station: string, records: number): string {
  try {
    budget.keep(station, records);
    return 'read';
  } catch (error) {
    return error instanceof RecordLimitFailure ? `${error.reason}: ${error.message}` : 'unexpected';
  }
}

const TOO_MANY = expect.stringMatching(/^body: all stations together have more than/);

describe('RecordBudget', () => {
  it('fails a refresh above the limit of one station as soon as it has read so many', () => {
    const budget = budgetOf(100, 30);
    const tooMany =
      'body: the station has more than 30 records, which is limits.records_per_station: raise it together with the heap, or request less';
    expect(() => budget.check('a', 31)).toThrow(RecordLimitFailure);
    expect(refresh(budget, 'a', 31)).toBe(tooMany);
    expect(budget.total).toBe(0);
    expect(refresh(budget, 'a', 30)).toBe('read');
    expect(budget.total).toBe(30);
  });

  it('refuses the largest station when all have too many, and not the one that grows by ten records', () => {
    const budget = budgetOf(100);
    refresh(budget, 'large', 60);
    refresh(budget, 'small', 20);
    refresh(budget, 'other', 20);
    expect(refresh(budget, 'small', 30)).toBe('read');
    expect(refresh(budget, 'other', 20)).toBe('read');
    expect(refresh(budget, 'large', 60)).toEqual(TOO_MANY);
    // What it has listed before is still served.
    expect(budget.total).toBe(110);
    expect(refresh(budget, 'large', 50)).toBe('read');
  });

  it('refuses as few of several equal stations as possible, and always the same, whatever the refused ones have read', () => {
    const budget = budgetOf(1200);
    const stations = ['a', 'b', 'c', 'd', 'e'];
    const cycle = () => {
      // All of them read the first of two listings before one reads the second.
      for (const station of stations) refresh(budget, station, 300);
      return stations.map((station) => refresh(budget, station, 461));
    };
    cycle();
    const outcomes = cycle();
    expect(outcomes.filter((outcome) => outcome === 'read')).toHaveLength(2);
    expect([cycle(), cycle()]).toEqual([outcomes, outcomes]);
  });

  it('keeps at most twice the limit when the largest stations are read first', () => {
    const budget = budgetOf(100);
    const outcomes = [70, 60, 50, 40, 30].map((records, at) => refresh(budget, `${at}`, records));
    expect(outcomes).toEqual(['read', 'read', 'read', TOO_MANY, TOO_MANY]);
    expect(budget.total).toBe(180);
    expect(refresh(budget, '2', 50)).toBe('read');
    expect(refresh(budget, '0', 70)).toEqual(TOO_MANY);
  });

  it('does not look at the other stations when a page is checked', () => {
    const budget = budgetOf(2000);
    for (let station = 0; station < 1000; station += 1) budget.keep(`s${station}`, 1);
    const checks = () => {
      for (let page = 1; page <= 10; page += 1) budget.check('s0', page * 100);
    };
    expect(largestIterated(checks)).toBe(0);
    // Only a refresh that is above the limit does, and its first page that is ends it.
    const refused = () => refresh(budget, 's0', 1500);
    expect(largestIterated(refused)).toBe(1000);
  });

  it('counts nothing of stations that are removed', () => {
    const budget = budgetOf(50);
    refresh(budget, 'a', 20);
    refresh(budget, 'b', 10);
    budget.retainStations(new Set(['b']));
    expect(budget.total).toBe(10);
  });
});
