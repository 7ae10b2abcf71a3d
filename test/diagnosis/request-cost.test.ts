import { describe, expect, it } from 'vitest';
import { addedCost, costText, NO_COST, requestCost } from '../../src/diagnosis/report.ts';

describe('requestCost', () => {
  it('is what refreshes at the pace of ttl come to in an hour', () => {
    expect(costText(requestCost(3, 60_000))).toBe('180/h');
    expect(costText(requestCost(1, 7_000_000))).toBe('1/h');
  });

  it('depends on those who scrape when nothing is kept', () => {
    expect(costText(requestCost(3, 0))).toBe('3/scrape');
  });

  it('adds up, each kind for itself', () => {
    const all = [requestCost(3, 60_000), requestCost(2, 0), requestCost(1, 60_000)].reduce(addedCost, NO_COST);
    expect(costText(all)).toBe('240/h + 2/scrape');
    expect(costText(NO_COST)).toBe('0');
  });
});
