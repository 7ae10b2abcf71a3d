import type { ListingContext } from '../../../src/model/listing.ts';

/** A refresh that may take for ever. */
export function listingContext(overrides: Partial<ListingContext> = {}): ListingContext {
  return {
    signal: new AbortController().signal,
    station: 'prod',
    outdatedAtMs: 0,
    refreshTimeoutMs: Number.POSITIVE_INFINITY,
    started: () => undefined,
    deadlineMs: () => Number.POSITIVE_INFINITY,
    ...overrides,
  };
}
