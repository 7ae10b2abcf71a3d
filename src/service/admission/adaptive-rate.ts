import { MINUTE_MS } from '../../model/clock.ts';

/** A request that the service refused because there are too many. */
interface Throttling {
  /** When the request started. */
  readonly startedMs: number;
  readonly nowMs: number;
  readonly retryAfterMs?: number | undefined;
  /** A 503, which has another cause if no request is accepted. */
  readonly overloaded?: boolean;
}

/** Starts below its target and climbs. */
interface Limit {
  /** Requests per second. */
  readonly target: number;
  /** The share of the target by which it started below. */
  readonly depth: number;
  /** How long the climb to the target takes. */
  readonly climbMs: number;
  /** For how long requests have waited for this limit: without waiting requests, a higher rate is not tested. */
  climbedMs: number;
  accepted: number;
  throttled: number;
}

interface Counts {
  replies: number;
  throttled: number;
}

/** Replies since a throttled one, on the clock that stands still during a pause. */
interface ReplySample extends Counts {
  readonly sinceMs: number;
  accepted: number;
}

/** Replies at the lower rate, to be compared with the share throttled at the higher one. */
interface Trial extends Counts {
  readonly before: Limit | undefined;
  readonly higherShare: number;
}

/** However often requests are throttled, one is sent within ten seconds: otherwise a recovery would not be detected. */
const FLOOR_PER_SECOND = 0.1;

/**
 * An accepted rate is measured over at least a second, because many services count by the second, and this many replies: of fewer, so many
 * are throttled by chance at times that it looks like a limit.
 */
const MIN_SAMPLE_MS = 1000;
const MIN_REPLIES = 16;

/** So many throttled replies without an accepted one are not chance. */
const MIN_REFUSED = 4;

/** A larger sample is dominated by past replies. */
const MAX_REPLIES = 200;

/** One throttled request in a hundred does not lower the rate. */
const NEGLIGIBLE_SHARE = 0.01;

/** Where the climb starts: lower after a pause, because the next one is expensive. */
const START = 0.85;
const PAUSED_START = 0.7;

/** The climb to the target takes this many requests, within these bounds, and at least twice the pause before it and 15 times the delay of a reply. */
const CLIMB_REQUESTS = 100;
const MIN_CLIMB_MS = 10_000;
const MAX_CLIMB_MS = 30_000;
const CLIMB_PAUSES = 2;
const CLIMB_DELAYS = 15;

/** What a limit has climbed to when it has climbed beyond its target for as long as it took to reach it. */
const MAX_SHARE_OF_TARGET = 16;

/** A trial lasts until this many throttled requests are expected. */
const TRIAL_THROTTLED = 8;

/** A share throttled since the limit was set may be random from here on; more are throttled anyway while it climbs beyond its target. */
const MIN_RANDOM_SHARE = 0.03;
const MIN_RANDOM_SHARE_BEYOND = 0.1;

/** A larger share is never random. */
const MAX_BASE_SHARE = 0.4;

/** Afterwards the base share is verified again: a rate limit may have replaced it. */
const BASE_VALID_MS = 90_000;

/** A sample ends when nothing was sent for so long: idle time would look like a low accepted rate. */
const IDLE_MS = 5000;

/** A limit is removed when no request has waited for it in this time. */
const UNUSED_MS = 600_000;

/** Timers fire late: requests may start this much earlier, so that the rate is still reached. Not at the ceiling, which is never exceeded. */
const CATCH_UP_MS = 20;

const COUNTED_MINUTES = 5;

/**
 * Determines when the next request to an upstream may start: a congestion control like TCP CUBIC, for a rate.
 *
 * 1. There is no limit until more requests are throttled than chance explains. Then the rate that is accepted becomes the target.
 * 2. The limit starts at 85 % of the target. While requests wait for it, it climbs: in the time of 100 requests to the target, flat near it,
 *    then ever faster, to 16 times the target after the same time again.
 * 3. Beyond its target the limit is an experiment, so that a single throttled request ends it: the next target is mostly the rate accepted
 *    since the limit was set (a token bucket accepts what it is refilled with), and to a quarter the rate reached; to a half if that is
 *    more than twice the target, because the service allows much more than before.
 * 4. Below its target the limit is lowered only if a sample of replies shows that too many are throttled: to the rate accepted in it.
 * 5. If a sample of four replies has no accepted one, the limit is halved, down to the floor. It will climb back to a target that is at most
 *    the mean rate accepted since that last happened: so the quota of a window of a minute is found.
 * 6. `Retry-After` pauses all requests. The pause is not time at a rate: samples and climbs continue after it as if it had not been. It lowers
 *    an existing limit at once, to 70 % of itself, and the climb takes at least twice as long as the pause.
 * 7. Services also throttle at random. Lowering the limit is therefore a trial: if the share throttled at the lower rate is about the same, the
 *    rate is not its cause. The limit before is restored, and that base share is what chance explains for the next 90 seconds.
 */
export class AdaptiveRate {
  /** The configured rate in requests per second, which is never exceeded. */
  #ceiling = Number.POSITIVE_INFINITY;
  #limit: Limit | undefined;
  #sample: ReplySample | undefined;
  #trial: Trial | undefined;
  #base = { share: 0, untilMs: 0 };
  /** When the limit was last set or removed: requests from before say nothing about it. */
  #changedMs = Number.NEGATIVE_INFINITY;
  /** When the latest request was due to start; not much earlier than it did. */
  #slotMs = Number.NEGATIVE_INFINITY;
  #lastStartMs = Number.NEGATIVE_INFINITY;
  #lastAcceptedMs = Number.NEGATIVE_INFINITY;
  /** A request has waited for the rate since the latest start; and when one last had. */
  #isBound = false;
  #lastBoundMs = Number.NEGATIVE_INFINITY;
  /** When the rate was last halved because nothing was accepted, and how many requests were accepted since: a quota of a minute is their mean rate. */
  #sinceHalved = { activeMs: 0, accepted: 0 };
  #minutes: (Counts & { readonly minute: number })[] = [];
  #throttledSinceMs = Number.NEGATIVE_INFINITY;
  readonly pauses = new PauseClock();

  /** The configured rate in requests per second; 0 is no limit. */
  set ceiling(perSecond: number) {
    this.#ceiling = perSecond > 0 ? perSecond : Number.POSITIVE_INFINITY;
  }

  /** Infinity: no limit. */
  get perSecond(): number {
    return Math.min(this.#ceiling, this.#limit ? limitPerSecond(this.#limit) : Number.POSITIVE_INFINITY);
  }

  /** Requests are throttled even at the lowest rate. */
  get isAtFloor(): boolean {
    return this.#limit !== undefined && limitPerSecond(this.#limit) <= FLOOR_PER_SECOND;
  }

  /** The first throttled request after five minutes without any; only while `statistics` has some. */
  get throttledSinceMs(): number {
    return this.#throttledSinceMs;
  }

  /** Counts of the last five minutes. */
  statistics(nowMs: number): Readonly<Counts> {
    const recent = this.#minutes.filter(({ minute }) => minute > nowMs / MINUTE_MS - COUNTED_MINUTES);
    const total = (name: keyof Counts) => recent.reduce((sum, counts) => sum + counts[name], 0);
    return { replies: total('replies'), throttled: total('throttled') };
  }

  /** How long until the next request may start; 0 or less: now. */
  waitMs(nowMs: number): number {
    const waitMs = this.#slotMs + 1000 / this.perSecond - nowMs;
    if (waitMs > 0) this.#isBound = true;
    return Math.max(waitMs, this.pauses.untilMs - nowMs);
  }

  /** While the service accepts nothing the limit neither climbs nor ends. `isIdle`: no other request is in flight. */
  started(nowMs: number, { isAccepting = true, isIdle = false } = {}): void {
    const activeMs = this.pauses.activeMs(nowMs);
    const sinceStartMs = activeMs - this.#lastStartMs;
    if (isIdle && !this.#isBound && sinceStartMs > IDLE_MS) this.#sample = undefined;
    if (this.#limit && isAccepting) this.#age(this.#limit, sinceStartMs, nowMs);
    const catchUpMs = this.perSecond < this.#ceiling ? CATCH_UP_MS : 0;
    this.#slotMs = Math.max(this.#slotMs + 1000 / this.perSecond, nowMs - catchUpMs);
    this.#lastStartMs = activeMs;
    this.#isBound = false;
  }

  /** The request was answered, other than by throttling. */
  accepted(startedMs: number, nowMs: number): void {
    this.#lastAcceptedMs = nowMs;
    this.#sinceHalved.accepted += 1;
    if (this.#limit) this.#limit.accepted += 1;
    if (this.#sample) this.#sample.accepted += 1;
    this.#count(startedMs, nowMs, false);
  }

  throttled(throttling: Throttling): void {
    const { startedMs, nowMs, retryAfterMs = 0 } = throttling;
    if (this.statistics(nowMs).throttled === 0) this.#throttledSinceMs = nowMs;
    // The pause of a 503 began with the reply, before it was known to be throttling.
    if (!throttling.overloaded) this.pauses.pauseUntil(nowMs + retryAfterMs, nowMs);
    this.#count(startedMs, nowMs, true);
    if (startedMs <= this.#changedMs) return;
    const limit = this.#limit;
    if (limit) limit.throttled += 1;
    if (limit && retryAfterMs > 0 && !this.#trial && this.#baseShare(nowMs) === 0)
      this.#lower(throttling, this.perSecond, PAUSED_START, randomShare(limit, MIN_RANDOM_SHARE));
    else if (this.#sample) this.#judge(throttling, this.#sample);
  }

  /** The request failed without a reply. */
  failed(startedMs: number, nowMs: number): void {
    this.#count(startedMs, nowMs, false);
  }

  /** After the service was unavailable or interrupted the limit is the one before: the time without accepted replies is not a low rate, nor a limit that was not needed. */
  resume(nowMs: number): void {
    this.#sample = undefined;
    this.#sinceHalved = { activeMs: this.pauses.activeMs(nowMs), accepted: 0 };
    this.#lastBoundMs = nowMs;
  }

  /** Only requests that started at the current rate count towards it. */
  #count(startedMs: number, nowMs: number, isThrottled: boolean): void {
    countReply(this.#minuteAt(nowMs), isThrottled);
    if (startedMs <= this.#changedMs) return;
    if (isThrottled) this.#sample ??= { sinceMs: this.pauses.activeMs(nowMs), replies: 0, throttled: 0, accepted: 0 };
    if (this.#sample) countReply(this.#sample, isThrottled);
    if (!this.#trial) return;
    countReply(this.#trial, isThrottled);
    this.#conclude(this.#trial, nowMs);
  }

  #minuteAt(nowMs: number) {
    const minute = Math.floor(nowMs / MINUTE_MS);
    const latest = this.#minutes.at(-1);
    if (latest?.minute === minute) return latest;
    const counts = { minute, replies: 0, throttled: 0 };
    this.#minutes = [...this.#minutes.slice(1 - COUNTED_MINUTES), counts];
    return counts;
  }

  #age(limit: Limit, sinceStartMs: number, nowMs: number): void {
    if (this.#isBound) {
      this.#lastBoundMs = nowMs;
      if (this.#lastAcceptedMs > this.#changedMs) limit.climbedMs += Math.min(sinceStartMs, 2000 / this.perSecond);
    } else if (nowMs - this.#lastBoundMs > UNUSED_MS) {
      this.#limit = undefined;
      this.#trial = undefined;
    }
  }

  #baseShare(nowMs: number): number {
    return nowMs < this.#base.untilMs ? this.#base.share : 0;
  }

  #judge(throttling: Throttling, sample: ReplySample): void {
    const { nowMs, retryAfterMs = 0, overloaded = false } = throttling;
    const limit = this.#limit;
    const baseShare = this.#baseShare(nowMs);
    if (limit && !this.#trial && baseShare === 0 && limit.climbedMs > limit.climbMs) {
      this.#lower(throttling, nextTarget(limit), START, randomShare(limit, MIN_RANDOM_SHARE_BEYOND));
      return;
    }
    const trialShare = 2 * (this.#trial?.higherShare ?? 0);
    const explainedShare = Math.max(baseShare, NEGLIGIBLE_SHARE, trialShare);
    if (!isMoreThan(explainedShare, sample)) {
      if (sample.replies >= MAX_REPLIES) this.#sample = undefined;
      return;
    }
    const sampleMs = this.pauses.activeMs(nowMs) - sample.sinceMs;
    const seconds = Math.max(sampleMs, MIN_SAMPLE_MS) / 1000;
    const isPaused = retryAfterMs > 0;
    const isLongEnough = sampleMs >= MIN_SAMPLE_MS || isPaused;
    const isRefused = sample.accepted === 0 && sample.replies >= MIN_REFUSED;
    if (sample.accepted > 0 && isLongEnough && sample.replies >= MIN_REPLIES) {
      const target = Math.min(this.perSecond, sample.accepted / seconds);
      this.#lower(throttling, target, isPaused ? PAUSED_START : START, sample.throttled / sample.replies);
    } else if (isRefused && !isPaused && !overloaded && (limit || isLongEnough)) {
      this.#halve(throttling, Math.min(this.perSecond, sample.replies / seconds));
    }
  }

  /** No request is accepted at this rate. */
  #halve(throttling: Throttling, rate: number): void {
    const activeMs = this.pauses.activeMs(throttling.nowMs);
    const { accepted, activeMs: sinceMs } = this.#sinceHalved;
    const known = this.#limit?.target ?? rate;
    const mean = (1000 * accepted) / Math.max(activeMs - sinceMs, MIN_SAMPLE_MS);
    const target = accepted > 0 ? Math.min(known, Math.max(mean, rate / 2)) : known;
    this.#sinceHalved = { activeMs, accepted: 0 };
    this.#lower(throttling, target, Math.min(rate / 2 / target, 1));
  }

  #lower({ nowMs, startedMs, retryAfterMs = 0 }: Throttling, target: number, start: number, share = 1): void {
    const before = this.#trial ? this.#trial.before : this.#limit;
    const rate = Math.max(target, FLOOR_PER_SECOND);
    const usualMs = Math.min(Math.max(MIN_CLIMB_MS, (1000 * CLIMB_REQUESTS) / rate), MAX_CLIMB_MS);
    const climbMs = Math.max(usualMs, CLIMB_PAUSES * retryAfterMs, CLIMB_DELAYS * (nowMs - startedMs));
    this.#limit = { target: rate, depth: 1 - start, climbMs, climbedMs: 0, accepted: 0, throttled: 0 };
    this.#trial = share < MAX_BASE_SHARE ? { before, higherShare: share, replies: 0, throttled: 0 } : undefined;
    this.#sample = undefined;
    this.#changedMs = nowMs;
    this.#lastBoundMs = nowMs;
  }

  #conclude({ before, higherShare, replies, throttled }: Trial, nowMs: number): void {
    if (replies * higherShare < TRIAL_THROTTLED && replies < MAX_REPLIES) return;
    const share = throttled / replies;
    this.#trial = undefined;
    if (share < higherShare / 2 || share > 2 * higherShare) return;
    this.#base = { share: (higherShare + share) / 2, untilMs: nowMs + BASE_VALID_MS };
    this.#limit = before;
    this.#sample = undefined;
    this.#changedMs = nowMs;
  }
}

function countReply(counts: Counts, isThrottled: boolean): void {
  counts.replies += 1;
  if (isThrottled) counts.throttled += 1;
}

/** The climb is a cubic curve, flat near the target: before it, from the depth up; beyond it, exponentially. */
function limitPerSecond({ target, depth, climbMs, climbedMs }: Limit): number {
  const beyondTarget = (climbedMs / climbMs - 1) ** 3;
  const isBelowTarget = beyondTarget < 0;
  const shareOfTarget = isBelowTarget ? 1 + depth * beyondTarget : MAX_SHARE_OF_TARGET ** beyondTarget;
  return Math.max(FLOOR_PER_SECOND, target * shareOfTarget);
}

/** The share throttled since the limit was set, if it may be random; otherwise 1. */
function randomShare({ accepted, throttled }: Limit, least: number): number {
  const share = throttled / (accepted + throttled);
  return share > least ? share : 1;
}

/** The target after a request was throttled beyond it. */
function nextTarget(limit: Limit): number {
  const reached = limitPerSecond(limit);
  const accepted = Math.min(reached, (1000 * limit.accepted) / limit.climbedMs);
  const weight = reached > 2 * limit.target ? 1 / 2 : 1 / 4;
  return (1 - weight) * accepted + weight * reached;
}

/** Whether more are throttled than this share explains: by more than three standard deviations, and at least three. */
function isMoreThan(share: number, { replies, throttled }: Counts): boolean {
  const expected = share * replies;
  return throttled > 2 + expected + 3 * Math.sqrt(expected);
}

/**
 * The pauses that a service requests by `Retry-After`, and a clock that stands still during them. The clients of a service before and after a reload
 * share it: a pause applies to both, and its time counts once.
 */
class PauseClock {
  #untilMs = 0;
  /** The duration of all pauses, to their end. */
  #pausedMs = 0;

  /** No request may start before this time; in the past without a pause. */
  get untilMs(): number {
    return this.#untilMs;
  }

  /** A pause never ends earlier than one before it. */
  pauseUntil(untilMs: number, nowMs: number): void {
    const furtherMs = untilMs - Math.max(nowMs, this.#untilMs);
    if (furtherMs <= 0) return;
    this.#pausedMs += furtherMs;
    this.#untilMs = untilMs;
  }

  activeMs(nowMs: number): number {
    const remainingMs = Math.max(0, this.#untilMs - nowMs);
    return nowMs - (this.#pausedMs - remainingMs);
  }
}
