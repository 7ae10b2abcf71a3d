import type { RequestFailure } from '../request-failure.ts';
import type { FailedRequest, ThrottlingState } from './request-limiter.ts';

type RetryDecision =
  /** Retry after so many milliseconds. */
  | number
  /** Request a smaller page at once, if possible; otherwise give up. */
  | 'smaller-page'
  | 'give-up'
  /** The `Retry-After` of a 429 is beyond the deadline of the refresh, which is no failure of a station with data. */
  | 'postpone';

interface Times {
  readonly nowMs: number;
  /** When the refresh times out. */
  readonly deadlineMs: number;
  /** A number from 0 up to 1, without 1. */
  readonly random: number;
}

const BASE_MS = 250;
const CAP_MS = 10_000;

/** The limiter already spaces throttled requests; this delay only distributes them. */
const THROTTLED_CAP_MS = 1000;

/** While no request is accepted, retries that count must not all fall between two tokens of a slow token bucket. */
const REFUSED_BASE_MS = 1000;

/** A restart or deployment of the service, or of a proxy before it, takes some seconds: the last retry comes after it. */
const INTERRUPTION_MS = 3000;

/** A request that is throttled this often in a row while others are accepted is the cause itself. */
const MAX_THROTTLINGS = 20;

/** Counts the attempts of one request, and decides after each failure what to do next. */
export class RequestRetries {
  readonly #maxRetries: number;
  /** Retries that counted against `max_retries`. */
  #retries = 0;
  /** When the first of them was decided. */
  #firstFailedMs: number | undefined;
  /** How often the request was throttled in a row. */
  #throttlings = 0;
  #hasTriedSmallerPage = false;

  constructor(maxRetries: number) {
    this.#maxRetries = maxRetries;
  }

  /** The latest failure was throttling: no other refresh starts instead while the request waits. */
  get keepsSlot(): boolean {
    return this.#throttlings > 0;
  }

  decide({ failure, throttling, isHanging }: FailedRequest, times: Times): RetryDecision {
    this.#throttlings = throttling ? this.#throttlings + 1 : 0;
    if (throttling) return this.#afterThrottling(failure, throttling, times);
    if (failure.status === 413) return 'smaller-page';
    // The service or the station is unavailable: the next refresh is the retry.
    if (failure.status === 503) return 'give-up';
    // A second request of the same station would delay the first one of another station that hangs.
    const stillHangs = isHanging && failure.reason === 'timeout';
    if (!failure.retryable || this.#retries >= this.#maxRetries || stillHangs) return 'give-up';
    const delayMs = times.random * backoffMs(BASE_MS, this.#retries, CAP_MS);
    return this.#retryCounted(Math.max(delayMs, failure.retryAfterMs ?? 0), failure, times);
  }

  /** While other requests are accepted, a retry will succeed in the end and does not count. */
  #afterThrottling(failure: RequestFailure, throttling: ThrottlingState, times: Times): RetryDecision {
    const { status, retryAfterMs } = failure;
    const counts = !throttling.isAccepting || this.#throttlings > MAX_THROTTLINGS;
    if (this.#maxRetries === 0) return 'give-up';
    if (counts && this.#retries >= this.#maxRetries)
      return retryAfterMs === undefined ? this.#smallerPageOrGiveUp(throttling) : 'give-up';
    if (retryAfterMs) {
      const decision = counts ? this.#retryCounted(retryAfterMs, failure, times) : retry(retryAfterMs, times);
      return decision === 'give-up' && status === 429 ? 'postpone' : decision;
    }
    if (!counts) return retry(times.random * backoffMs(BASE_MS, this.#throttlings - 1, THROTTLED_CAP_MS), times);
    const delayMs = ((1 + times.random) / 2) * backoffMs(REFUSED_BASE_MS, this.#retries, CAP_MS);
    return this.#retryCounted(delayMs, failure, times);
  }

  /** Throttling without a delay may mean that the page is too large. If nothing else shows it, that is tried once. */
  #smallerPageOrGiveUp({ isAccepting, isAtLowestRate, isLone }: ThrottlingState): RetryDecision {
    const mayBeSize = isAccepting || isAtLowestRate || (isLone && !this.#hasTriedSmallerPage);
    this.#hasTriedSmallerPage = true;
    return mayBeSize ? 'smaller-page' : 'give-up';
  }

  /** The last retry comes after a short interruption, unless that is beyond the deadline. */
  #retryCounted(delayMs: number, { status }: RequestFailure, times: Times): RetryDecision {
    const { nowMs, random } = times;
    this.#firstFailedMs ??= nowMs;
    const isLast = this.#retries === this.#maxRetries - 1;
    const mayBeInterruption = isLast && status !== 429;
    const overMs = mayBeInterruption ? this.#firstFailedMs + INTERRUPTION_MS + random * BASE_MS - nowMs : 0;
    const later = retry(Math.max(delayMs, overMs), times);
    const decision = later === 'give-up' ? retry(delayMs, times) : later;
    if (decision !== 'give-up') this.#retries += 1;
    return decision;
  }
}

function retry(delayMs: number, { nowMs, deadlineMs }: Times): RetryDecision {
  return nowMs + delayMs < deadlineMs ? delayMs : 'give-up';
}

function backoffMs(baseMs: number, retries: number, capMs: number): number {
  return Math.min(capMs, baseMs * 2 ** retries);
}
