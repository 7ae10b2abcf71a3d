/** Wall time for what is published, elapsed time for how old something is: the one may jump, the other never does. */
export interface Clock {
  readonly wallMs: () => number;
  readonly elapsedMs: () => number;
}

/** Node fires a timer with a longer delay at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = { wallMs: () => Date.now(), elapsedMs: () => performance.now() };
