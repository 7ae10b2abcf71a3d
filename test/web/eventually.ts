import { vi } from 'vitest';

/** Retries the assertion until it passes; the timeout allows for a busy machine. */
export function eventually<T>(assertion: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(assertion, { timeout: 60_000, interval: 5 });
}
