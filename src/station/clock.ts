/** Wall time for what is published, elapsed time for how old something is: the one may jump, the other never does. */
export interface Clock {
  readonly wallMs: () => number;
  readonly elapsedMs: () => number;
}

export const systemClock: Clock = { wallMs: () => Date.now(), elapsedMs: () => performance.now() };
