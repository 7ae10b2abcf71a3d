/** Wall time for published timestamps; monotonic time for ages, because the wall clock can be set. */
export interface Clock {
  readonly wallMs: () => number;
  readonly elapsedMs: () => number;
}

export interface Deadline {
  readonly atMs: number;
  /** Aborts then, or earlier when the wait is cancelled. */
  readonly signal: AbortSignal;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Node fires a timer with a longer delay at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = { wallMs: () => Date.now(), elapsedMs: () => performance.now() };

/** The earliest of the times that are known. */
export function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Gateways that verify signatures usually tolerate a few minutes; a larger difference than this is worth reporting. */
const NOTABLE_CLOCK_DIFFERENCE_MS = 60_000;

/** Whether the service may reject signatures because of it. */
export function isNotableClockDifference(differenceMs: number | undefined): boolean {
  return differenceMs !== undefined && Math.abs(differenceMs) > NOTABLE_CLOCK_DIFFERENCE_MS;
}

/** `70 s behind`; positive: the local clock is ahead of the service's. */
export function clockDifferenceText(differenceMs: number): string {
  return `${Math.round(Math.abs(differenceMs) / 1000)} s ${differenceMs > 0 ? 'ahead of' : 'behind'}`;
}
