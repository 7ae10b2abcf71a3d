import type { RequestObserver } from '../upstream/request-observer.ts';
import type { Logger } from './logger.ts';

/** Without a throttled request for this long, throttling has ended. */
const QUIET_MS = 300_000;

/** Logs when an upstream begins to throttle, each change of the rate limit by a factor of two, and the end of throttling. */
export function throttleLog(
  log: Logger,
  upstream: string,
  now: () => number = () => performance.now(),
): Pick<RequestObserver, 'throttled' | 'limited'> {
  let throttledMs = 0;
  let throttled = 0;
  let logged = Number.POSITIVE_INFINITY;
  return {
    throttled: (status) => {
      if (throttled === 0) log.warn('upstream throttles requests', { upstream, status });
      throttledMs = now();
      throttled += 1;
    },
    limited: (requestsPerSecond) => {
      const isLimited = Number.isFinite(requestsPerSecond);
      const hasEnded = throttled > 0 && now() - throttledMs >= QUIET_MS;
      const isLowered = isLimited && requestsPerSecond <= logged / 2;
      const isRaised = logged < requestsPerSecond / 2;
      if (!hasEnded && !isLowered && !isRaised) return;
      logged = requestsPerSecond;
      const shownRate = isLimited ? Math.round(requestsPerSecond * 100) / 100 : 'unlimited';
      const fields = { upstream, requests_per_second: shownRate, throttled };
      if (hasEnded) {
        log.info('upstream no longer throttles requests', fields);
        throttled = 0;
        return;
      }
      if (isRaised) log.info('request rate raised', fields);
      else if (throttled > 0) log.warn('request rate lowered', fields);
    },
  };
}

/** A limit that is reached once is often reached thousands of times. */
const LIMIT_INTERVAL_MS = 60_000;

/** Logs that a limit was reached: at once, then at most once per minute with the number of times since and the latest client. */
export function limitLog(log: Pick<Logger, 'warn'>, now?: () => number): (limit: string, client?: string) => void {
  const timesDue = oncePer(LIMIT_INTERVAL_MS, now);
  return (limit, client) => {
    const times = timesDue(limit);
    if (times > 0) log.warn('limit of the web server reached', { limit, times, client });
  };
}

/** How many times this kind of event occurred since it was last due; 0: it is not due. */
export type TimesDue = (kind: string) => number;

/** An event is due at once, and again when it occurs after the interval. */
export function oncePer(intervalMs: number, now = () => performance.now()): TimesDue {
  const states = new Map<string, { readonly dueMs: number; times: number }>();
  return (kind) => {
    const state = states.get(kind) ?? { dueMs: now(), times: 0 };
    state.times += 1;
    const isDue = now() >= state.dueMs;
    states.set(kind, isDue ? { dueMs: now() + intervalMs, times: 0 } : state);
    return isDue ? state.times : 0;
  };
}
