import { describe, expect, it } from 'vitest';
import { RequestRetries, type RetryDecision } from '../../../src/upstream/admission/retry.ts';
import { RequestFailure } from '../../../src/upstream/http/request-failure.ts';

const FAILED = new RequestFailure('status', '500', { retryable: true, status: 500 });
const TIMEOUT = new RequestFailure('timeout', 'no reply', { retryable: true });
const TOO_LARGE = new RequestFailure('status', '413', { status: 413 });
const throttled = (retryAfterMs?: number) =>
  new RequestFailure('rate_limited', '429', { retryable: true, status: 429, retryAfterMs });

interface Situation {
  readonly maxRetries?: number;
  readonly isAccepting?: boolean;
  readonly isAtLowestRate?: boolean;
  readonly isProbe?: boolean;
  readonly deadlineMs?: number;
  readonly random?: number;
}

/** What is decided after each of these failures of one request, at 1,000 ms. */
function decisions(failures: readonly RequestFailure[], situation: Situation = {}): RetryDecision[] {
  const { maxRetries = 2, isAccepting = true, isAtLowestRate = false, isProbe = false } = situation;
  const { deadlineMs = Number.MAX_VALUE, random = 0.5 } = situation;
  const throttling = ({ status }: Pick<RequestFailure, 'status'>) => ({
    isThrottled: status === 429,
    isAccepting,
    isAtLowestRate,
  });
  const retries = new RequestRetries(maxRetries, { throttling });
  const times = { nowMs: 1000, deadlineMs, random };
  return failures.map((failure) => retries.decide(failure, { admittedMs: 0, isProbe }, times));
}

const times = (count: number, failure: RequestFailure) => Array<RequestFailure>(count).fill(failure);
const retryAfter = (delayMs: number, keepsSlot = false) => ({ action: 'retry', delayMs, keepsSlot });
const GIVE_UP = { action: 'give-up' };
const SMALLER = { action: 'smaller-page' };

describe('RequestRetries', () => {
  it('draws a delay from a range that doubles with each retry, up to ten seconds', () => {
    const delaysMs = [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000].map((most) => retryAfter(most / 2));
    expect(decisions(times(8, FAILED), { maxRetries: 10 })).toEqual(delaysMs);
    expect(decisions([FAILED], { random: 0 })).toEqual([retryAfter(0)]);
  });

  it.each<[string, RequestFailure[], Situation, unknown[]]>([
    ['after max_retries', times(3, FAILED), {}, [retryAfter(125), retryAfter(250), GIVE_UP]],
    ['without retries', [FAILED], { maxRetries: 0 }, [GIVE_UP]],
    ['without retries, when throttled', [throttled()], { maxRetries: 0 }, [GIVE_UP]],
    ['on failures that a retry cannot change', [new RequestFailure('forbidden', '403')], {}, [GIVE_UP]],
    ['rather than wait into the deadline', [FAILED], { deadlineMs: 1125 }, [GIVE_UP]],
    ['after the timeout of a probe', [TIMEOUT], { isProbe: true }, [GIVE_UP]],
  ])('gives up %s', (_when, failures, situation, expected) => {
    expect(decisions(failures, situation)).toEqual(expected);
  });

  it.each<[string, RequestFailure, Situation, number]>([
    ['just before the deadline', FAILED, { deadlineMs: 1126 }, 125],
    ['after a timeout', TIMEOUT, {}, 125],
    ['after another failure of a probe', FAILED, { isProbe: true }, 125],
  ])('retries %s', (_when, failure, situation, delayMs) => {
    expect(decisions([failure], situation)).toEqual([retryAfter(delayMs)]);
  });

  it('requests a smaller page at once when a page is too large, whatever the retries', () => {
    expect(decisions([TOO_LARGE, FAILED, FAILED, TOO_LARGE])).toEqual([
      SMALLER,
      retryAfter(125),
      retryAfter(250),
      SMALLER,
    ]);
  });

  it('does not count throttling while other requests are accepted, until it cannot be chance', () => {
    const all = decisions(times(23, throttled()));
    expect(all.slice(0, 20)).toEqual([125, 250, ...Array(18).fill(500)].map((delayMs) => retryAfter(delayMs, true)));
    expect(all.slice(20)).toEqual([retryAfter(750, true), retryAfter(1500, true), SMALLER]);
  });

  it('counts throttling when no request was accepted in between, and waits longer', () => {
    const refused = [retryAfter(750, true), retryAfter(1500, true)];
    expect(decisions(times(3, throttled()), { isAccepting: false })).toEqual([...refused, GIVE_UP]);
    const lowest = { isAccepting: false, isAtLowestRate: true };
    expect(decisions(times(3, throttled()), lowest)).toEqual([...refused, SMALLER]);
    expect(decisions(times(3, throttled(100)), lowest)[2]).toEqual(GIVE_UP);
  });

  it('waits until Retry-After, and postpones the refresh when that is beyond its deadline', () => {
    expect(decisions(times(3, throttled(3000)))).toEqual(Array(3).fill(retryAfter(3000, true)));
    expect(decisions([throttled(3000)], { deadlineMs: 4000 })).toEqual([{ action: 'postpone' }]);
  });
});
