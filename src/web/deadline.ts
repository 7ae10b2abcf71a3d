import type { EventEmitter } from 'node:events';

/** The longest wait a timer can hold. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface DeadlineOptions {
  readonly scrapeTimeoutMs: number;
  readonly timeoutOffsetMs: number;
}

/** How long a scrape may take: what Prometheus grants less the offset, else the default. 0: answer at once from what is there. */
export function scrapeDeadlineMs(header: string | undefined, options: DeadlineOptions): number {
  const grantedMs = grantedTimeoutMs(header);
  const deadlineMs = grantedMs === undefined ? options.scrapeTimeoutMs : grantedMs - options.timeoutOffsetMs;
  return Math.min(Math.max(deadlineMs, 0), MAX_TIMER_MS);
}

/** Runs the work with a signal that aborts at the deadline, or sooner when the client goes away. */
export async function withinDeadline<T>(request: EventEmitter, deadlineMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (deadlineMs === 0) abort();
  const timer = setTimeout(abort, deadlineMs);
  request.once('close', abort);
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    request.off('close', abort);
  }
}

/** undefined when the header is missing, no plain positive number, or more than any timer holds. */
function grantedTimeoutMs(header: string | undefined): number | undefined {
  if (header === undefined || !/^\d+(?:\.\d+)?$/.test(header)) return undefined;
  const ms = Number(header) * 1000;
  return ms > 0 && ms <= MAX_TIMER_MS ? ms : undefined;
}
