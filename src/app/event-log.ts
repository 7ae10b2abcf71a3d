import type { LogFields, Logger } from './logger.ts';

/** Logs a warning for each kind of event: at once, then at most once per interval with the number of times since. */
export function rareWarning(
  log: Pick<Logger, 'warn'>,
  message: string,
  intervalMs: number,
  now?: () => number,
): (kind: string, fields: LogFields) => void {
  const timesDue = oncePer(intervalMs, now);
  return (kind, fields) => {
    const times = timesDue(kind);
    if (times > 0) log.warn(message, { ...fields, times });
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
