import type { RequestFailure } from '../http/request-failure.ts';
import type { Admission, RequestLimiter } from './request-limiter.ts';

export interface RetrySituation {
  /** Retries so far that counted against `max_retries`. */
  readonly retries: number;
  /** How often in a row this request was throttled, including this time; 0: it failed for another reason. */
  readonly throttlings: number;
  readonly maxRetries: number;
  readonly nowMs: number;
  /** Deadline of the refresh. */
  readonly deadlineMs: number;
  /** In [0, 1). */
  readonly random: number;
  /** The upstream has accepted a request recently: it is not an outage. */
  readonly isAccepting: boolean;
  /** The request was the one probe of a station that hangs. */
  readonly isProbe: boolean;
  /** Requests are throttled even at the lowest rate. */
  readonly isAtLowestRate: boolean;
}

export type RetryDecision =
  /** `counts`: against `max_retries`. `keepsSlot`: no other refresh starts instead meanwhile. */
  | { readonly action: 'retry'; readonly delayMs: number; readonly counts: boolean; readonly keepsSlot: boolean }
  /** Request a smaller page at once, if possible; otherwise give up. */
  | { readonly action: 'smaller-page' }
  | { readonly action: 'give-up' }
  /** `Retry-After` is beyond the deadline of the refresh, which is no failure of a station with data. */
  | { readonly action: 'postpone' };

const BASE_MS = 250;
const CAP_MS = 10_000;

/** The limiter already spaces throttled requests; this delay only distributes them. */
const THROTTLED_CAP_MS = 1000;

/** While no request is accepted, retries that count must not all fall between two tokens of a slow token bucket. */
const REFUSED_BASE_MS = 1000;

/** Throttled this often in a row while others were accepted, the request itself is the cause: at random, even with a share of one half, that happens once in a million. */
const MAX_THROTTLINGS = 20;

type Failure = Pick<RequestFailure, 'reason' | 'retryable' | 'retryAfterMs' | 'status'>;

/** Counts the attempts of one request, and decides after each failure what to do next. */
export class RequestRetries {
  readonly #maxRetries: number;
  readonly #limiter: Pick<RequestLimiter, 'throttling'>;
  #retries = 0;
  #throttlings = 0;

  constructor(maxRetries: number, limiter: Pick<RequestLimiter, 'throttling'>) {
    this.#maxRetries = maxRetries;
    this.#limiter = limiter;
  }

  decide(
    failure: RequestFailure,
    admission: Pick<Admission, 'admittedMs' | 'isProbe'>,
    times: Pick<RetrySituation, 'nowMs' | 'deadlineMs' | 'random'>,
  ): RetryDecision {
    const { isThrottled, ...state } = this.#limiter.throttling(failure, admission);
    this.#throttlings = isThrottled ? this.#throttlings + 1 : 0;
    const counts = { retries: this.#retries, throttlings: this.#throttlings, maxRetries: this.#maxRetries };
    const decision = decideRetry(failure, { ...times, ...state, ...counts, isProbe: admission.isProbe });
    if (decision.action === 'retry' && decision.counts) this.#retries += 1;
    return decision;
  }
}

/** What to do after a request has failed. */
export function decideRetry(failure: Failure, situation: RetrySituation): RetryDecision {
  const { maxRetries, retries, isProbe, random, throttlings } = situation;
  if (throttlings > 0) return afterThrottling(failure, situation);
  if (failure.status === 413) return { action: 'smaller-page' };
  // A second probe of the same station would delay the first one of another station.
  if (!failure.retryable || retries >= maxRetries || (isProbe && failure.reason === 'timeout'))
    return { action: 'give-up' };
  return retry(Math.max(random * backoffMs(BASE_MS, retries, CAP_MS), failure.retryAfterMs ?? 0), true, situation);
}

/** While other requests are accepted, a retry will succeed in the end and does not count. */
function afterThrottling({ retryAfterMs }: Failure, situation: RetrySituation): RetryDecision {
  const { maxRetries, retries, throttlings, isAccepting, isAtLowestRate, random } = situation;
  const counts = !isAccepting || throttlings > MAX_THROTTLINGS;
  if (maxRetries === 0) return { action: 'give-up' };
  if (counts && retries >= maxRetries) {
    const mayBeSize = retryAfterMs === undefined && (isAtLowestRate || isAccepting);
    return { action: mayBeSize ? 'smaller-page' : 'give-up' };
  }
  if (retryAfterMs) {
    const decision = retry(retryAfterMs, counts, situation);
    return decision.action === 'retry' ? decision : { action: 'postpone' };
  }
  const delayMs = counts
    ? ((1 + random) / 2) * backoffMs(REFUSED_BASE_MS, retries, CAP_MS)
    : random * backoffMs(BASE_MS, throttlings - 1, THROTTLED_CAP_MS);
  return retry(delayMs, counts, situation);
}

function backoffMs(baseMs: number, retries: number, capMs: number): number {
  return Math.min(capMs, baseMs * 2 ** retries);
}

function retry(delayMs: number, counts: boolean, { nowMs, deadlineMs, throttlings }: RetrySituation): RetryDecision {
  const isInTime = nowMs + delayMs < deadlineMs;
  return isInTime ? { action: 'retry', delayMs, counts, keepsSlot: throttlings > 0 } : { action: 'give-up' };
}
