/** Wall time for published timestamps; monotonic time for ages, because the wall clock can be set. */
export interface Clock {
  readonly wallMs: () => number;
  readonly elapsedMs: () => number;
}

/** The end of a wait. */
export interface Deadline {
  /** Monotonic milliseconds. */
  readonly atMs: number;
  /** Aborts then, or earlier when the wait is cancelled. */
  readonly signal: AbortSignal;
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Node fires a timer with a longer delay at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = { wallMs: () => Date.now(), elapsedMs: () => performance.now() };
