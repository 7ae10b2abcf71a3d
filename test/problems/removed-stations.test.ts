import { describe, expect, it } from 'vitest';
import { HOUR_MS } from '../../src/model/clock.ts';
import { isReported, removedAfter } from '../../src/problems/removed-stations.ts';

describe('removedAfter', () => {
  it('is reported for six hours, as a loss of resources is', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const removed = removedAfter(undefined, names, new Set(), 0);
    expect(removed).toEqual({ atMs: 0, before: 5, names });
    expect([6 * HOUR_MS - 1, 6 * HOUR_MS].map((nowMs) => removed && isReported(removed, nowMs))).toEqual([true, false]);
    expect(removedAfter(undefined, names, new Set(['a']), 0)).toBeUndefined();
  });
});
