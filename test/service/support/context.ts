import { setMaxListeners } from 'node:events';
import type { RefreshContext } from '../../../src/model/listing.ts';

/** A refresh that may take for ever. */
export function listingContext(overrides: Partial<RefreshContext> = {}): RefreshContext {
  const { signal = new AbortController().signal } = overrides;
  // As that of a refresh: all of its requests listen to it.
  setMaxListeners(0, signal);
  return {
    station: 'prod',
    outdatedAtMs: 0,
    refreshTimeoutMs: Number.POSITIVE_INFINITY,
    started: () => undefined,
    repliedFromCache: () => undefined,
    waiting: () => undefined,
    deadlineMs: () => Number.POSITIVE_INFINITY,
    ...overrides,
    signal,
  };
}
