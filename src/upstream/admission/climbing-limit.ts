/** A rate that was accepted once, and how far the limit has climbed back to it and beyond. */
export interface ClimbingLimit {
  /** Requests per second that were accepted. */
  readonly target: number;
  /** The share of the target by which the limit started below it. */
  readonly depth: number;
  /** How long the climb back to the target takes. */
  readonly climbMs: number;
  /** For how long requests have waited for this limit: without waiting requests, a higher rate is not tested. */
  boundMs: number;
}

/** However often requests are throttled, one is sent within ten seconds: otherwise a recovery would not be detected. */
export const FLOOR_PER_SECOND = 0.1;

/** Each climb ends with throttled requests. To keep them few, it takes at least this time, this many requests, and this many times the delay of the service. */
const MIN_CLIMB_MS = 10_000;
const CLIMB_REQUESTS = 100;
const CLIMB_DELAYS = 10;

/** The recovery of a service must be detected within minutes. */
const MAX_CLIMB_MS = 60_000;

/** The limit that starts at this rate; `delayMs` after a request has started, a 429 shows that the rate is too high. */
export function climbingLimit(accepted: number, startPerSecond: number, delayMs: number): ClimbingLimit {
  const target = Math.max(accepted, FLOOR_PER_SECOND);
  const depth = 1 - Math.max(startPerSecond, FLOOR_PER_SECOND) / target;
  const leastMs = Math.max(MIN_CLIMB_MS, (1000 * CLIMB_REQUESTS) / target, CLIMB_DELAYS * delayMs);
  return { target, depth, climbMs: Math.min(leastMs, MAX_CLIMB_MS), boundMs: 0 };
}

/** Climbs as TCP CUBIC does: fast at first, slowly near the target, and increasingly fast beyond it. */
export function limitPerSecond({ target, depth, climbMs, boundMs }: ClimbingLimit): number {
  return Math.max(FLOOR_PER_SECOND, target * (1 - depth * (1 - boundMs / climbMs) ** 3));
}
