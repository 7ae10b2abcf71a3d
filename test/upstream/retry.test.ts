import { describe, expect, it } from 'vitest';
import { retryDelay } from '../../src/upstream/retry.ts';

const RETRYABLE = { retryable: true, retryAfterMs: undefined };
const SITUATION = { retries: 0, maxRetries: 10, nowMs: 1000, deadlineMs: Number.MAX_VALUE, random: 1, asksForLess: false };

describe('retryDelay', () => {
  it('doubles its upper bound with each retry, up to ten seconds', () => {
    const bounds = [0, 1, 2, 3, 4, 5, 6, 9].map((retries) => retryDelay(RETRYABLE, { ...SITUATION, retries }));
    expect(bounds).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
  });

  it('draws the whole range below the bound', () => {
    const draws = [0, 0.25, 0.5].map((random) => retryDelay(RETRYABLE, { ...SITUATION, retries: 2, random }));
    expect(draws).toEqual([0, 250, 500]);
  });

  it('waits at least as long as the service asked for', () => {
    expect(retryDelay({ retryable: true, retryAfterMs: 3000 }, SITUATION)).toBe(3000);
    expect(retryDelay({ retryable: true, retryAfterMs: 3000 }, { ...SITUATION, retries: 6 })).toBe(10_000);
  });

  it('gives up after the retries allowed', () => {
    expect(retryDelay(RETRYABLE, { ...SITUATION, retries: 2, maxRetries: 2 })).toBeUndefined();
  });

  it('gives up on what another try cannot change', () => {
    expect(retryDelay({ retryable: false, retryAfterMs: 1 }, SITUATION)).toBeUndefined();
  });

  it('gives up rather than wait into the deadline', () => {
    expect(retryDelay({ retryable: true, retryAfterMs: 3000 }, { ...SITUATION, deadlineMs: 4000 })).toBeUndefined();
    expect(retryDelay({ retryable: true, retryAfterMs: 3000 }, { ...SITUATION, deadlineMs: 4001 })).toBe(3000);
  });

  it('always allows to ask for less, but not beyond the deadline', () => {
    const less = { ...SITUATION, retries: 10, asksForLess: true, random: 0.5 };
    expect(retryDelay({ retryable: false, retryAfterMs: undefined }, { ...less, retries: 0, maxRetries: 0 })).toBe(125);
    expect(retryDelay(RETRYABLE, less)).toBe(5000);
    expect(retryDelay(RETRYABLE, { ...less, deadlineMs: 6000 })).toBeUndefined();
  });
});
