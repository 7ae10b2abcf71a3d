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
