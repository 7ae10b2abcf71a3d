import { setTimeout as sleep } from 'node:timers/promises';

/** Settles like the promise, or rejects with the signal's reason when that aborts first; the work behind the promise continues. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

export type Schedule = (run: () => void, delayMs: number) => () => void;

/** Resolves after the delay, or rejects with the signal's reason when that aborts first. */
export async function delayed(delayMs: number, signal: AbortSignal, schedule: Schedule): Promise<void> {
  let cancel: () => void = () => undefined;
  const elapsed = new Promise<void>((resolve) => {
    cancel = schedule(resolve, delayMs);
  });
  try {
    await untilAborted(elapsed, signal);
  } finally {
    cancel();
  }
}

/** Resolves with true after the time, which does not keep the process alive, or with false once the signal aborts. */
export async function hasElapsed(ms: number, signal: AbortSignal): Promise<boolean> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
  return !signal.aborted;
}
