import type { RequestObserver } from '../upstream/http/observer.ts';
import type { Logger } from './logger.ts';

export type ThrottleObserver = Pick<RequestObserver, 'throttled' | 'limited'>;

/** Without a throttled request for this long, throttling has ended. */
const QUIET_MS = 300_000;

/** Logs when an upstream begins to throttle, each change of the rate limit by a factor of two, and the end of throttling. */
export function throttleLog(
  log: Logger,
  upstream: string,
  now: () => number = () => performance.now(),
): ThrottleObserver {
  let throttledMs: number | undefined;
  let throttled = 0;
  let logged = Number.POSITIVE_INFINITY;
  return {
    throttled: () => {
      if (throttledMs === undefined) log.warn('upstream throttles requests', { upstream, status: 429 });
      throttledMs = now();
      throttled += 1;
    },
    limited: (requestsPerSecond) => {
      const isLimited = Number.isFinite(requestsPerSecond);
      const rate = {
        upstream,
        requests_per_second: isLimited ? Math.round(requestsPerSecond * 100) / 100 : 'unlimited',
        throttled,
      };
      if (throttledMs !== undefined && now() - throttledMs >= QUIET_MS) {
        log.info('upstream no longer throttles requests', rate);
        throttledMs = undefined;
        throttled = 0;
        logged = requestsPerSecond;
      } else if (isLimited && requestsPerSecond <= logged / 2) {
        if (throttledMs !== undefined) log.warn('request rate lowered', rate);
        logged = requestsPerSecond;
      } else if (logged < requestsPerSecond / 2) {
        log.info('request rate raised', rate);
        logged = requestsPerSecond;
      }
    },
  };
}
