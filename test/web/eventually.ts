import { vi } from 'vitest';

/** Retries the assertion until it passes; the timeout allows for a busy machine. */
export function eventually<T>(assertion: () => T | Promise<T>, timeout = 60_000): Promise<T> {
  return vi.waitFor(assertion, { timeout, interval: 5 });
}

/** For what takes many seconds on an idle machine; only in system tests, which may take as long. */
export const MINUTES = 300_000;
