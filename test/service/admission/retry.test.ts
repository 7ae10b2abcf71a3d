import { describe, expect, it } from 'vitest';
import { RequestRetries } from '../../../src/service/admission/retry.ts';
import { RequestFailure } from '../../../src/service/request-failure.ts';

const FAILED = new RequestFailure('status', '500', { retryable: true, status: 500 });
const UNAVAILABLE = new RequestFailure('status', '503', { retryable: true, status: 503, retryAfterMs: 3000 });
const TIMEOUT = new RequestFailure('timeout', 'no reply', { retryable: true });
const TOO_LARGE = new RequestFailure('status', '413', { status: 413 });
const throttled = (retryAfterMs?: number) =>
  new RequestFailure('rate_limited', '429', { retryable: true, status: 429, retryAfterMs });

const DEFAULTS = {
  maxRetries: 2,
  isAccepting: true,
  isAtLowestRate: false,
  isLone: false,
  isHanging: false,
  deadlineMs: Number.MAX_VALUE,
};

type Situation = Partial<typeof DEFAULTS>;

/** What is decided after each of these failures of one request, at 1,000 ms. */
function decisions(failures: readonly RequestFailure[], situation: Situation): unknown[] {
  const { maxRetries, isAccepting, isAtLowestRate, isLone, isHanging, deadlineMs } = { ...DEFAULTS, ...situation };
  const throttling = { isAccepting, isAtLowestRate, isLone };
  const retries = new RequestRetries(maxRetries);
  const times = { nowMs: 1000, deadlineMs, random: 0.5 };
  return failures.map((failure) => {
    const failed = { failure, isHanging, throttling: failure.status === 429 ? throttling : undefined };
    const decision = retries.decide(failed, times);
    return typeof decision === 'number' ? retryAfter(decision, retries.keepsSlot) : decision;
  });
}

const times = (count: number, failure: RequestFailure) => Array<RequestFailure>(count).fill(failure);
const retryAfter = (delayMs: number, keepsSlot = false) => ({ delayMs, keepsSlot });
/** The last retry: three seconds after the first failure. */
const OUTLIVING = retryAfter(3125);
const GIVE_UP = 'give-up';
const SMALLER = 'smaller-page';

const REFUSED = [retryAfter(750, true), retryAfter(1500, true)];
const LOWEST = { isAccepting: false, isAtLowestRate: true };

describe('RequestRetries', () => {
  it.each<[string, RequestFailure[], Situation, unknown[]]>([
    [
      'draws a delay from a range that doubles with each retry, up to ten seconds',
      times(8, FAILED),
      { maxRetries: 10 },
      [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000].map((most) => retryAfter(most / 2)),
    ],
    [
      'gives up after max_retries, the last of them after a short interruption',
      times(3, FAILED),
      {},
      [retryAfter(125), OUTLIVING, GIVE_UP],
    ],
    [
      'waits no longer than usual for the last retry when the deadline leaves no room',
      times(3, FAILED),
      { deadlineMs: 4000 },
      [retryAfter(125), retryAfter(250), GIVE_UP],
    ],
    ['gives up without retries, when throttled', [throttled()], { maxRetries: 0 }, [GIVE_UP]],
    ['gives up on failures that a retry cannot change', [new RequestFailure('forbidden', '403')], {}, [GIVE_UP]],
    ['gives up rather than wait into the deadline', [FAILED], { deadlineMs: 1125 }, [GIVE_UP]],
    ['retries just before the deadline', [FAILED], { deadlineMs: 1126 }, [retryAfter(125)]],
    ['gives up after the timeout of a probe', [TIMEOUT], { isHanging: true }, [GIVE_UP]],
    ['retries after another timeout', [TIMEOUT], {}, [retryAfter(125)]],
    ['retries after another failure of a probe', [FAILED], { isHanging: true }, [retryAfter(125)]],
    [
      'requests a smaller page at once when a page is too large, whatever the retries',
      [TOO_LARGE, FAILED, FAILED, TOO_LARGE],
      {},
      [SMALLER, retryAfter(125), OUTLIVING, SMALLER],
    ],
    [
      'does not count throttling while other requests are accepted, until it cannot be chance',
      times(23, throttled()),
      {},
      [...[125, 250, ...Array(18).fill(500)].map((delayMs) => retryAfter(delayMs, true)), ...REFUSED, SMALLER],
    ],
    [
      'counts throttling when no request was accepted in between, and waits longer',
      times(3, throttled()),
      { isAccepting: false },
      [...REFUSED, GIVE_UP],
    ],
    ['requests a smaller page when throttled at the lowest rate', times(3, throttled()), LOWEST, [...REFUSED, SMALLER]],
    [
      'requests a smaller page once when the only station of an upstream is throttled',
      times(4, throttled()),
      { isAccepting: false, isLone: true },
      [...REFUSED, SMALLER, GIVE_UP],
    ],
    [
      'gives up when Retry-After does not help at the lowest rate',
      times(3, throttled(100)),
      LOWEST,
      [retryAfter(100, true), retryAfter(100, true), GIVE_UP],
    ],
    ['gives up when the service is unavailable', [UNAVAILABLE], {}, [GIVE_UP]],
    ['waits until Retry-After', times(3, throttled(3000)), {}, Array(3).fill(retryAfter(3000, true))],
    [
      'postpones the refresh when Retry-After is beyond its deadline',
      [throttled(3000)],
      { deadlineMs: 4000 },
      ['postpone'],
    ],
  ])('%s', (_what, failures, situation, expected) => {
    expect(decisions(failures, situation)).toEqual(expected);
  });
});
