import type { RateRules } from './rules.ts';

/** Tells for each request whether the rules, as they are then, allow it. */
export function rateLimiter(now: () => number = () => performance.now()): (rules: RateRules | undefined) => boolean {
  // When every request let through so far would have had an interval of its own.
  let settledMs = 0;
  return (rules) => {
    if (rules === undefined) return true;
    const nowMs = now();
    const startMs = Math.max(settledMs, nowMs);
    if (startMs - nowMs > (rules.burst - 1) * rules.intervalMs) return false;
    settledMs = startMs + rules.intervalMs;
    return true;
  };
}
