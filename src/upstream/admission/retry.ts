import type { RequestFailure } from '../http/request-failure.ts';
import type { Admission, RequestLimiter } from './request-limiter.ts';

export interface RetrySituation {
  /** Retries so far that counted against `max_retries`. */
  readonly retries: number;
  /** How often in a row this request was throttled, including this time. */
  readonly throttlings: number;
  readonly maxRetries: number;
  readonly nowMs: number;
  /** Of the refresh. */
  readonly deadlineMs: number;
  /** In [0, 1). */
  readonly random: number;
  /** The upstream accepted another request after the previous attempt of this one (the first attempt: after its own) started. */
  readonly acceptedSince: boolean;
  /** The request was the one probe of a station that hangs. */
  readonly isProbe: boolean;
  /** Requests are throttled even at the lowest rate. */
  readonly isAtLowestRate: boolean;
}

export type RetryDecision =
  /** `counts`: against `max_retries`. */
  | { readonly action: 'retry'; readonly delayMs: number; readonly counts: boolean }
  /** Request a smaller page at once, if possible; otherwise give up. */
  | { readonly action: 'smaller-page' }
  /** `isPostponed`: `Retry-After` is beyond the deadline of the refresh, which is no failure of a station with data. */
  | { readonly action: 'give-up'; readonly isPostponed: boolean };

const BASE_MS = 250;
const CAP_MS = 10_000;

/** The limiter already spaces throttled requests; this delay only distributes them. */
const THROTTLED_CAP_MS = 1000;

/** While no request is accepted, retries that count must not all fall between two tokens of a slow token bucket. */
const REFUSED_BASE_MS = 1000;

/** Throttled this often in a row while others were accepted, the request itself is the cause: at random, even with a share of one half, that happens once in a million. */
const MAX_THROTTLINGS = 20;

const GIVE_UP: RetryDecision = { action: 'give-up', isPostponed: false };

type Failure = Pick<RequestFailure, 'reason' | 'retryable' | 'retryAfterMs' | 'throttled' | 'tooLarge'>;

type LimiterState = Pick<RequestLimiter, 'lastAcceptedMs' | 'isAtLowestRate'>;

/** Counts the attempts of one request, and decides after each failure what to do next. */
export class RequestRetries {
  readonly #maxRetries: number;
  readonly #limiter: LimiterState;
  #retries = 0;
  #throttlings = 0;
  #previousMs: number | undefined;

  constructor(maxRetries: number, limiter: LimiterState) {
    this.#maxRetries = maxRetries;
    this.#limiter = limiter;
  }

  decide(
    failure: Failure,
    { admittedMs, isProbe }: Pick<Admission, 'admittedMs' | 'isProbe'>,
    times: Pick<RetrySituation, 'nowMs' | 'deadlineMs' | 'random'>,
  ): RetryDecision {
    this.#throttlings = failure.throttled ? this.#throttlings + 1 : 0;
    const { lastAcceptedMs, isAtLowestRate } = this.#limiter;
    const decision = decideRetry(failure, {
      ...times,
      retries: this.#retries,
      throttlings: this.#throttlings,
      maxRetries: this.#maxRetries,
      acceptedSince: lastAcceptedMs > (this.#previousMs ?? admittedMs),
      isProbe,
      isAtLowestRate,
    });
    this.#previousMs = admittedMs;
    if (decision.action === 'retry' && decision.counts) this.#retries += 1;
    return decision;
  }
}

/** What to do after a request has failed. */
export function decideRetry(failure: Failure, situation: RetrySituation): RetryDecision {
  const { maxRetries, retries, isProbe, random } = situation;
  if (failure.tooLarge && !failure.throttled) return { action: 'smaller-page' };
  if (failure.throttled) return afterThrottling(failure, situation);
  // A second probe of the same station would delay the first one of another station.
  if (!failure.retryable || retries >= maxRetries || (isProbe && failure.reason === 'timeout')) return GIVE_UP;
  return retry(Math.max(random * backoffMs(BASE_MS, retries, CAP_MS), failure.retryAfterMs ?? 0), true, situation);
}

/** While other requests are accepted, a retry will succeed in the end and does not count. */
function afterThrottling({ retryAfterMs }: Failure, situation: RetrySituation): RetryDecision {
  const { maxRetries, retries, throttlings, acceptedSince, isAtLowestRate, random } = situation;
  const counts = !acceptedSince || throttlings > MAX_THROTTLINGS;
  if (maxRetries === 0) return GIVE_UP;
  if (counts && retries >= maxRetries) {
    const mayBeSize = retryAfterMs === undefined && (isAtLowestRate || acceptedSince);
    return mayBeSize ? { action: 'smaller-page' } : GIVE_UP;
  }
  if (retryAfterMs) {
    const decision = retry(retryAfterMs, counts, situation);
    return decision.action === 'retry' ? decision : { action: 'give-up', isPostponed: true };
  }
  const delayMs = counts
    ? ((1 + random) / 2) * backoffMs(REFUSED_BASE_MS, retries, CAP_MS)
    : random * backoffMs(BASE_MS, throttlings - 1, THROTTLED_CAP_MS);
  return retry(delayMs, counts, situation);
}

function backoffMs(baseMs: number, retries: number, capMs: number): number {
  return Math.min(capMs, baseMs * 2 ** retries);
}

function retry(delayMs: number, counts: boolean, { nowMs, deadlineMs }: RetrySituation): RetryDecision {
  return nowMs + delayMs < deadlineMs ? { action: 'retry', delayMs, counts } : GIVE_UP;
}
