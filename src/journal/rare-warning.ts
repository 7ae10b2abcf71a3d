import type { LogFields, Logger } from './logger.ts';

/** Logs a warning for each event: at once, then at most once per interval with the number of times since. */
export function rareWarning(
  log: Pick<Logger, 'warn'>,
  message: string,
  intervalMs: number,
  now?: () => number,
): (event: string, fields: LogFields) => void {
  const timesDue = oncePer(intervalMs, now);
  return (event, fields) => {
    const times = timesDue(event);
    if (times > 0) log.warn(message, { ...fields, times });
  };
}

/** How many times this event has occurred since it was last due; 0: it is not due. */
export type TimesDue = (event: string) => number;

export function oncePer(intervalMs: number, now = () => performance.now()): TimesDue {
  const states = new Map<string, { readonly dueMs: number; times: number }>();
  return (event) => {
    const state = states.get(event) ?? { dueMs: now(), times: 0 };
    state.times += 1;
    const isDue = now() >= state.dueMs;
    states.set(event, isDue ? { dueMs: now() + intervalMs, times: 0 } : state);
    return isDue ? state.times : 0;
  };
}
