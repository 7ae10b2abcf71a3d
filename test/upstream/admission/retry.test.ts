import { describe, expect, it } from 'vitest';
import { decideRetry, type RetrySituation } from '../../../src/upstream/admission/retry.ts';
import { RequestFailure } from '../../../src/upstream/http/request-failure.ts';

const UNAVAILABLE = new RequestFailure('status', '503', { retryable: true });
const TIMEOUT = new RequestFailure('timeout', 'no reply', { retryable: true });
const THROTTLED = new RequestFailure('rate_limited', '429', { retryable: true, status: 429 });
const TOO_LARGE = new RequestFailure('status', '413', { status: 413 });
const GIVE_UP = { action: 'give-up' };

const SITUATION: RetrySituation = {
  retries: 0,
  throttlings: 0,
  maxRetries: 2,
  nowMs: 1000,
  deadlineMs: Number.MAX_VALUE,
  random: 0.5,
  isAccepting: true,
  isProbe: false,
  isAtLowestRate: false,
};

function decide(failure: RequestFailure, situation: Partial<RetrySituation> = {}) {
  return decideRetry(failure, { ...SITUATION, ...situation });
}

function throttledWith(retryAfterMs: number): RequestFailure {
  return new RequestFailure('rate_limited', '429', { retryable: true, status: 429, retryAfterMs });
}

describe('decideRetry after a failure', () => {
  it('draws a delay from a range that doubles with each retry, up to ten seconds', () => {
    const decisions = [0, 1, 2, 5, 9].map((retries) =>
      decide(UNAVAILABLE, { retries, maxRetries: 10, random: 0.999_999 }),
    );
    const delaysMs = decisions.map((decision) =>
      decision.action === 'retry' ? Math.ceil(decision.delayMs) : undefined,
    );
    expect(delaysMs).toEqual([250, 500, 1000, 8000, 10_000]);
    expect(decide(UNAVAILABLE, { random: 0 })).toEqual({ action: 'retry', delayMs: 0, counts: true, keepsSlot: false });
  });

  it('gives up after max_retries, and on failures that a retry cannot change', () => {
    expect(decide(UNAVAILABLE, { retries: 2 })).toEqual(GIVE_UP);
    expect(decide(UNAVAILABLE, { maxRetries: 0 })).toEqual(GIVE_UP);
    expect(decide(new RequestFailure('forbidden', '403'))).toEqual(GIVE_UP);
  });

  it('gives up rather than wait into the deadline', () => {
    expect(decide(UNAVAILABLE, { deadlineMs: 1125 })).toEqual(GIVE_UP);
    expect(decide(UNAVAILABLE, { deadlineMs: 1126 })).toMatchObject({ action: 'retry' });
  });

  it('queries a smaller page at once when a page is too large', () => {
    expect(decide(TOO_LARGE, { retries: 2 })).toEqual({ action: 'smaller-page' });
  });

  it('retries after a timeout, but not after that of a probe', () => {
    expect(decide(TIMEOUT)).toMatchObject({ action: 'retry', counts: true });
    expect(decide(TIMEOUT, { isProbe: true })).toEqual(GIVE_UP);
    expect(decide(UNAVAILABLE, { isProbe: true })).toMatchObject({ action: 'retry' });
  });
});

describe('decideRetry after throttling', () => {
  it('does not count while other requests are accepted', () => {
    expect(decide(THROTTLED, { retries: 2, throttlings: 20 })).toEqual({
      action: 'retry',
      delayMs: 500,
      counts: false,
      keepsSlot: true,
    });
  });

  it('counts when no request was accepted in between, and waits longer', () => {
    const situation = { isAccepting: false, throttlings: 1 };
    expect(decide(THROTTLED, situation)).toEqual({ action: 'retry', delayMs: 750, counts: true, keepsSlot: true });
    expect(decide(THROTTLED, { ...situation, retries: 1 })).toEqual({
      action: 'retry',
      delayMs: 1500,
      counts: true,
      keepsSlot: true,
    });
    expect(decide(THROTTLED, { ...situation, retries: 2 })).toEqual(GIVE_UP);
  });

  it('never retries without retries', () => {
    expect(decide(THROTTLED, { throttlings: 1, maxRetries: 0 })).toEqual(GIVE_UP);
  });

  it('queries a smaller page when the request is throttled at the lowest rate, or alone among many that are accepted', () => {
    const usedUp = { retries: 2, throttlings: 3, isAccepting: false };
    expect(decide(THROTTLED, { ...usedUp, isAtLowestRate: true })).toEqual({ action: 'smaller-page' });
    expect(decide(throttledWith(100), { ...usedUp, isAtLowestRate: true })).toEqual(GIVE_UP);
    expect(decide(THROTTLED, { retries: 2, throttlings: 21 })).toEqual({ action: 'smaller-page' });
  });

  it('waits until Retry-After', () => {
    expect(decide(throttledWith(3000), { throttlings: 1 })).toMatchObject({
      action: 'retry',
      delayMs: 3000,
      counts: false,
    });
  });

  it('postpones the refresh when Retry-After is beyond its deadline', () => {
    expect(decide(throttledWith(3000), { throttlings: 1, deadlineMs: 4000 })).toEqual({ action: 'postpone' });
  });
});
