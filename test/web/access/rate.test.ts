import { describe, expect, it } from 'vitest';
import { rateLimiter } from '../../../src/web/request-checks.ts';

describe('rateLimiter', () => {
  it('lets a burst through, then one per interval', () => {
    let nowMs = 1000;
    const inTime = rateLimiter(() => nowMs);
    const many = (count: number) => Array.from({ length: count }, () => inTime({ intervalMs: 100, burst: 3 }));
    expect(many(4)).toEqual([true, true, true, false]);
    nowMs += 99;
    expect(many(1)).toEqual([false]);
    nowMs += 1;
    expect(many(2)).toEqual([true, false]);
    nowMs += 10_000;
    expect(many(4)).toEqual([true, true, true, false]);
  });

  it('lets nothing through without a burst, and everything without rules', () => {
    const inTime = rateLimiter();
    expect(inTime({ intervalMs: 100, burst: 0 })).toBe(false);
    expect(inTime(undefined)).toBe(true);
    expect(inTime({ intervalMs: 3_600_000, burst: 1 })).toBe(true);
    expect(inTime({ intervalMs: 3_600_000, burst: 1 })).toBe(false);
  });
});
