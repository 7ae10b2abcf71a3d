import { type ClimbingLimit, climbingLimit, FLOOR_PER_SECOND, limitPerSecond } from './climbing-limit.ts';
import { RecentCounts } from './recent-counts.ts';

/** A 429. */
export interface Throttling {
  /** When the request started. */
  readonly startedMs: number;
  readonly nowMs: number;
  readonly retryAfterMs?: number | undefined;
}

export interface ThrottleStatistics {
  readonly requests: number;
  readonly throttled: number;
  readonly windowMs: number;
}

/** Replies since a throttled one. */
interface Sample {
  readonly sinceMs: number;
  /** Replies to requests that started after the rate last changed. */
  replies: number;
  throttled: number;
  /** Whenever they started: what the service accepts does not depend on when a limit was set here. */
  accepted: number;
}

/** Verifies that the throttled share falls with the rate. */
interface Trial {
  readonly before: ClimbingLimit | undefined;
  /** The share of requests throttled at the higher rate. */
  readonly share: number;
  /** The number of requests that decide. */
  readonly size: number;
  started: number;
  /** When the last of them started. */
  lastMs: number;
  ended: number;
  throttled: number;
}

/** An accepted rate is measured over at least a second: many services count by the second. */
const MIN_SAMPLE_MS = 1000;

/** A larger sample is dominated by past replies. */
const MAX_SAMPLE = 200;

/** One throttled request in 500 does not lower the rate. */
const NEGLIGIBLE_SHARE = 0.002;

/** Below the accepted rate, a token bucket refills. */
const MARGIN = 0.1;

/** A share of fewer requests is not significant. */
const MIN_TRIAL = 10;

/** A larger share is never random. */
const MAX_BASE_SHARE = 0.3;

/** A base share is verified again after this time, because a rate limit may have replaced it. */
const BASE_VALID_MS = 60_000;

/** A sample ends with such a pause: idle time would look like a low accepted rate. */
const PAUSE_MS = 5000;

/** A limit is removed when no request has waited for it in this time. */
const UNUSED_MS = 600_000;

/** Timers fire late: requests may start this much earlier, so that the rate is still reached. Not at the ceiling, which is never exceeded. */
const CATCH_UP_MS = 20;

/**
 * Determines when the next request to an upstream may start. There is no limit until requests are throttled. Then the rate at which requests
 * are accepted is measured, and the limit is set to 90 % of it. If the same share is throttled at that lower rate, the rate is not the
 * cause: the share is stored as the base share, is tolerated from then on, and the former limit is restored. Otherwise the limit climbs
 * back to the accepted rate, stays near it, and exceeds it increasingly until requests are throttled again.
 */
export class AdaptiveRate {
  readonly #ceiling: number;
  readonly #counts = new RecentCounts<'requests' | 'throttled'>(300_000);
  #limit: ClimbingLimit | undefined;
  #sample: Sample | undefined;
  #trial: Trial | undefined;
  #baseShare = 0;
  #baseVerifiedMs = 0;
  #changedMs = Number.NEGATIVE_INFINITY;
  #holdUntilMs = Number.NEGATIVE_INFINITY;
  /** When the latest request was due to start; not much earlier than it did. */
  #slotMs = Number.NEGATIVE_INFINITY;
  #lastStartMs = Number.NEGATIVE_INFINITY;
  #lastBoundMs = Number.NEGATIVE_INFINITY;
  #lastAcceptedMs = Number.NEGATIVE_INFINITY;
  #isBound = false;
  #inFlight = 0;

  /** The ceiling in requests per second is never exceeded; 0: none. */
  constructor({ ceiling }: { readonly ceiling: number }) {
    this.#ceiling = ceiling > 0 ? ceiling : Number.POSITIVE_INFINITY;
  }

  /** Infinity: no limit. */
  get perSecond(): number {
    return Math.min(this.#ceiling, this.#limit ? limitPerSecond(this.#limit) : Number.POSITIVE_INFINITY);
  }

  /** Requests are throttled even at the lowest rate. */
  get isAtFloor(): boolean {
    return this.#limit !== undefined && limitPerSecond(this.#limit) <= FLOOR_PER_SECOND;
  }

  /** No request may start before this time; in the past without a hold. */
  get holdUntilMs(): number {
    return this.#holdUntilMs;
  }

  /** When a request was last answered other than by throttling. */
  get lastAcceptedMs(): number {
    return this.#lastAcceptedMs;
  }

  statistics(nowMs: number): ThrottleStatistics {
    const { windowMs } = this.#counts;
    return {
      requests: this.#counts.total('requests', nowMs),
      throttled: this.#counts.total('throttled', nowMs),
      windowMs,
    };
  }

  /** How long until the next request may start; 0 or less: now. */
  waitMs(nowMs: number): number {
    const waitMs = this.#slotMs + 1000 / this.perSecond - nowMs;
    if (waitMs > 0) this.#isBound = true;
    return Math.max(waitMs, this.#holdUntilMs - nowMs);
  }

  started(nowMs: number): void {
    if (this.#inFlight === 0 && !this.#isBound && nowMs - this.#lastStartMs > PAUSE_MS) this.#sample = undefined;
    if (this.#limit) this.#age(this.#limit, nowMs);
    const catchUpMs = this.perSecond < this.#ceiling ? CATCH_UP_MS : 0;
    this.#slotMs = Math.max(this.#slotMs + 1000 / this.perSecond, nowMs - catchUpMs);
    this.#lastStartMs = nowMs;
    this.#isBound = false;
    this.#inFlight += 1;
    const trial = this.#trial;
    if (!trial || trial.started === trial.size || nowMs <= this.#changedMs) return;
    trial.started += 1;
    trial.lastMs = nowMs;
  }

  /** The request was answered, other than by throttling. */
  accepted(startedMs: number, nowMs: number): void {
    this.#lastAcceptedMs = nowMs;
    if (this.#sample) this.#sample.accepted += 1;
    this.#ended(startedMs, nowMs, 'accepted');
  }

  throttled({ startedMs, nowMs, retryAfterMs = 0 }: Throttling): void {
    this.#counts.add('throttled', nowMs);
    if (retryAfterMs > 0) this.#holdUntilMs = Math.max(this.#holdUntilMs, nowMs + retryAfterMs);
    this.#ended(startedMs, nowMs, 'throttled');
  }

  /** The request failed without a reply. */
  failed(startedMs: number, nowMs: number): void {
    this.#ended(startedMs, nowMs, 'failed');
  }

  /** Only requests that started at the current rate count towards it. */
  #ended(startedMs: number, nowMs: number, result: 'accepted' | 'throttled' | 'failed'): void {
    this.#counts.add('requests', nowMs);
    this.#inFlight -= 1;
    if (startedMs <= this.#changedMs) return;
    const isThrottled = result === 'throttled';
    if (isThrottled) this.#sample ??= { sinceMs: nowMs, replies: 0, throttled: 0, accepted: 0 };
    if (this.#sample) this.#sample.replies += 1;
    if (this.#sample && isThrottled) this.#sample.throttled += 1;
    const trial = this.#trial;
    if (trial && startedMs <= trial.lastMs) {
      trial.ended += 1;
      if (isThrottled) trial.throttled += 1;
      if (trial.ended >= trial.size) this.#conclude(trial, nowMs);
    }
    // Between two throttled requests a token bucket accepts exactly as many as it was refilled with.
    if (isThrottled && this.#sample && nowMs - this.#sample.sinceMs >= MIN_SAMPLE_MS)
      this.#judge(this.#sample, startedMs, nowMs);
  }

  #age(limit: ClimbingLimit, nowMs: number): void {
    if (this.#isBound) {
      this.#lastBoundMs = nowMs;
      // A hold between two requests does not count as time at this rate.
      if (!this.#trial && this.#lastAcceptedMs > this.#changedMs)
        limit.boundMs += Math.min(nowMs - this.#lastStartMs, 2000 / this.perSecond);
    } else if (nowMs - this.#lastBoundMs > UNUSED_MS) {
      this.#limit = undefined;
      this.#trial = undefined;
    }
  }

  #judge(sample: Sample, startedMs: number, nowMs: number): void {
    const base = Math.max(this.#baseShare, NEGLIGIBLE_SHARE, 2 * (this.#trial?.share ?? 0));
    if (isMoreThan(base, sample)) this.#lower(sample, startedMs, nowMs);
    else if (sample.replies >= MAX_SAMPLE) {
      if (this.#baseShare > 0 && !this.#trial && nowMs - this.#baseVerifiedMs > BASE_VALID_MS)
        this.#lower(sample, startedMs, nowMs);
      else this.#sample = undefined;
    }
  }

  #lower(sample: Sample, startedMs: number, nowMs: number): void {
    const seconds = (nowMs - sample.sinceMs) / 1000;
    const isHeld = this.#holdUntilMs > sample.sinceMs;
    this.#sample = undefined;
    // No request was accepted because none was to be sent: the hold is sufficient as a limit.
    if (sample.accepted === 0 && isHeld) return;
    const before = this.#limit;
    const share = sample.throttled / sample.replies;
    if (sample.accepted === 0) {
      const rate = Math.min(this.perSecond, sample.replies / seconds);
      this.#limit = climbingLimit(Math.max(before?.target ?? 0, rate), rate / 2, nowMs - startedMs);
    } else {
      const target = Math.min(this.perSecond, sample.accepted / seconds);
      this.#limit = climbingLimit(target, target * (1 - MARGIN), nowMs - startedMs);
    }
    const size = Math.max(MIN_TRIAL, Math.ceil(4 / share));
    const trial = {
      before: this.#trial ? this.#trial.before : before,
      share,
      size,
      started: 0,
      lastMs: nowMs,
      ended: 0,
      throttled: 0,
    };
    this.#trial = share < MAX_BASE_SHARE ? trial : undefined;
    if (!this.#trial) this.#baseShare = 0;
    this.#changedMs = nowMs;
    this.#lastBoundMs = nowMs;
  }

  #conclude({ before, throttled, size, share: higherShare }: Trial, nowMs: number): void {
    const share = throttled / size;
    this.#trial = undefined;
    this.#baseVerifiedMs = nowMs;
    if (share < higherShare / 2 || share > 2 * higherShare) {
      this.#baseShare = Math.min(this.#baseShare, share);
      return;
    }
    this.#baseShare = (higherShare + share) / 2;
    this.#limit = before;
    this.#sample = undefined;
    this.#changedMs = nowMs;
  }
}

/** Whether more are throttled than this share explains: by more than three standard deviations, and at least three. */
function isMoreThan(share: number, { replies, throttled }: Sample): boolean {
  const expected = share * replies;
  return throttled > 2 + expected + 3 * Math.sqrt(expected);
}
