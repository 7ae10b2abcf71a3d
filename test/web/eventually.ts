import { vi } from 'vitest';

/** Waits until the assertion holds, on a busy machine too. */
export function eventually<T>(assertion: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(assertion, { timeout: 15_000, interval: 5 });
}
