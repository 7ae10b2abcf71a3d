interface PaceOptions {
  /** Requests per second that are never exceeded; 0: no ceiling. */
  readonly ceiling: number;
  readonly concurrency: number;
}

/** How far back the rate is measured. */
const WINDOW_MS = 10_000;

/** When the next request to an upstream may begin: evenly spaced, at the rate that its answers so far allow. */
export class AdaptiveRate {
  readonly #ceiling: number;
  readonly #concurrency: number;
  readonly #starts: number[] = [];
  #limit: RateLimit;
  #lastStartMs = Number.NEGATIVE_INFINITY;

  constructor({ ceiling, concurrency }: PaceOptions) {
    this.#ceiling = ceiling > 0 ? ceiling : Number.POSITIVE_INFINITY;
    this.#concurrency = concurrency;
    this.#limit = openLimit(this.#ceiling);
  }

  /** Infinity: no limit. */
  get perSecond(): number {
    return this.#limit.perSecond;
  }

  /** How long until the next request may begin; 0 or less: now. */
  waitMs(nowMs: number): number {
    // A clock set back must not stretch the wait beyond one interval.
    this.#lastStartMs = Math.min(this.#lastStartMs, nowMs);
    return this.#lastStartMs + 1000 / this.perSecond - nowMs;
  }

  began(nowMs: number): void {
    this.#lastStartMs = nowMs;
    this.#starts.push(nowMs);
    while (!isRecent(this.#starts[0], nowMs)) this.#starts.shift();
  }

  succeeded(): void {
    this.#limit = raised(this.#limit, this.#ceiling);
  }

  throttled(begunMs: number, nowMs: number): void {
    this.#limit = lowered(this.#limit, { nowMs, begunMs, sentPerSecond: this.#sentPerSecond(nowMs) });
  }

  /** Fewer requests than may be under way at once are no measure: then it is as if each had taken a second. */
  #sentPerSecond(nowMs: number): number {
    const starts = this.#starts.filter((startMs) => isRecent(startMs, nowMs));
    if (starts.length < this.#concurrency) return this.#concurrency;
    const [oldestMs = nowMs] = starts;
    return (1000 * starts.length) / Math.max(1000, nowMs - oldestMs);
  }
}

/** What lies in the future was there before the clock was set back. */
function isRecent(startMs: number | undefined, nowMs: number): boolean {
  return startMs !== undefined && startMs <= nowMs && startMs > nowMs - WINDOW_MS;
}

/** How many requests an upstream takes, as far as its answers have told. */
export interface RateLimit {
  /** Infinity: as many as can be sent. */
  readonly perSecond: number;
  /** The highest rate that was too much since the limit last stood open; 0: none was. */
  readonly tooMuch: number;
  readonly loweredAtMs: number;
}

interface Throttling {
  readonly nowMs: number;
  /** When the throttled request began. */
  readonly begunMs: number;
  /** Requests per second that were really sent. */
  readonly sentPerSecond: number;
}

/** However often the service says no, it is asked again within ten seconds: else nobody would notice that it says yes. */
export const FLOOR_PER_SECOND = 0.1;

/** A no to a request that began before this had passed tells nothing about the rate that was lowered. */
export const BURST_MS = 1000;

/** So many seconds of full use bring back, from nothing, the rate that was too much. */
const RECOVERY_SECONDS = 60;

export function openLimit(ceiling: number): RateLimit {
  return { perSecond: ceiling, tooMuch: 0, loweredAtMs: Number.NEGATIVE_INFINITY };
}

/** Half of what was sent, once per burst. */
export function lowered(limit: RateLimit, { nowMs, begunMs, sentPerSecond }: Throttling): RateLimit {
  // A clock set back must not make a burst of the whole time until then.
  const loweredAtMs = Math.min(limit.loweredAtMs, nowMs);
  if (begunMs < loweredAtMs + BURST_MS) return { ...limit, loweredAtMs };
  const tooMuch = Math.min(limit.perSecond, sentPerSecond);
  const perSecond = Math.max(tooMuch / 2, Math.min(limit.perSecond, FLOOR_PER_SECOND));
  return { perSecond, tooMuch: Math.max(limit.tooMuch, tooMuch), loweredAtMs: nowMs };
}

/** A little more with each success; what is twice the rate that was too much no longer binds, and opens. */
export function raised(limit: RateLimit, ceiling: number): RateLimit {
  if (limit.perSecond >= ceiling) return limit;
  const stepPerSecond = limit.tooMuch / RECOVERY_SECONDS;
  const perSecond = limit.perSecond + stepPerSecond / Math.max(1, limit.perSecond);
  return perSecond < Math.min(ceiling, 2 * limit.tooMuch) ? { ...limit, perSecond } : openLimit(ceiling);
}
