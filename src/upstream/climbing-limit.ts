/** A rate that was accepted once, and how far the limit has climbed back to it and beyond. */
export interface ClimbingLimit {
  /** Requests per second that were accepted. */
  readonly target: number;
  /** The share of the target by which the limit began below it. */
  readonly depth: number;
  /** How long the climb back to the target takes. */
  readonly climbMs: number;
  /** For how long requests have waited for this limit: one that nothing waits for says nothing about a higher rate. */
  boundMs: number;
}

/** However often requests are throttled, one is sent within ten seconds: otherwise a recovery would go unnoticed. */
export const FLOOR_PER_SECOND = 0.1;

/** Each climb ends with throttled requests: for them to stay few, it takes this long, so many requests, and so many times the service's delay. */
const MIN_CLIMB_MS = 10_000;
const CLIMB_REQUESTS = 100;
const CLIMB_DELAYS = 10;

/** A service that has recovered must be noticed within minutes. */
const MAX_CLIMB_MS = 60_000;

/** The limit that starts at this rate; the service says with so much delay that it is too high. */
export function climbingLimit(accepted: number, startPerSecond: number, delayMs: number): ClimbingLimit {
  const target = Math.max(accepted, FLOOR_PER_SECOND);
  const depth = 1 - Math.max(startPerSecond, FLOOR_PER_SECOND) / target;
  const leastMs = Math.max(MIN_CLIMB_MS, (1000 * CLIMB_REQUESTS) / target, CLIMB_DELAYS * delayMs);
  return { target, depth, climbMs: Math.min(leastMs, MAX_CLIMB_MS), boundMs: 0 };
}

/** As TCP CUBIC does: fast at first, hardly at all near the target, and faster and faster beyond it. */
export function limitPerSecond({ target, depth, climbMs, boundMs }: ClimbingLimit): number {
  return Math.max(FLOOR_PER_SECOND, target * (1 - depth * (1 - boundMs / climbMs) ** 3));
}
