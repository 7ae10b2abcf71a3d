import { HOUR_MS } from '../model/clock.ts';
import type { RequestObserver } from '../service/request-observer.ts';
import type { Logger } from './logger.ts';

/** Logs that an upstream throttles requests: at once, then at most once per hour with the number of times since. */
export function throttleLog(
  log: Pick<Logger, 'warn'>,
  upstream: string,
  now?: () => number,
): Pick<RequestObserver, 'throttled'> {
  const timesDue = oncePer(HOUR_MS, now);
  return {
    throttled: (status) => {
      const times = timesDue('throttled');
      if (times > 0) log.warn('upstream throttles requests', { upstream, status, times });
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
