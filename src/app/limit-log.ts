import type { Logger } from './logger.ts';

/** A limit that is reached once is often reached thousands of times. */
const INTERVAL_MS = 60_000;

/** Logs that a limit was reached: at once, then at most once per minute with the number of times since and the latest client. */
export function limitLog(
  log: Pick<Logger, 'warn'>,
  now: () => number = () => performance.now(),
): (limit: string, client?: string) => void {
  const states = new Map<string, { loggedMs: number; times: number }>();
  return (limit, client) => {
    const state = states.get(limit) ?? { loggedMs: Number.NEGATIVE_INFINITY, times: 0 };
    states.set(limit, state);
    state.times += 1;
    if (now() - state.loggedMs < INTERVAL_MS) return;
    log.warn('limit of the web server reached', { limit, times: state.times, client });
    state.loggedMs = now();
    state.times = 0;
  };
}
