import { lowered, openLimit, type RateLimit, raised } from './rate-limit.ts';

interface PaceOptions {
  /** Requests per second that are never exceeded; 0: no ceiling. */
  readonly ceiling: number;
  readonly concurrency: number;
}

/** How far back the rate is measured. */
const WINDOW_MS = 10_000;

/** When the next request to an upstream may begin: evenly spaced, at the rate that its answers so far allow. */
export class Pace {
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
