import type { ListingFilters, StationPath } from './listing.ts';

/** How long a snapshot is served, and what triggers the next refresh. */
interface CachePolicy {
  /** A younger snapshot is served without a refresh. */
  readonly ttlMs: number;
  /** An older snapshot is no longer served. */
  readonly maxStaleMs: number;
  /** The pause after a failed refresh. */
  readonly errorTtlMs: number;
  readonly refresh: 'scrape' | 'background';
}

/** One configured station. */
export interface StationSpec {
  readonly name: string;
  readonly upstream: string;
  readonly path: StationPath;
  readonly filters: ListingFilters;
  readonly products: readonly string[];
  readonly alertability: boolean;
  readonly cache: CachePolicy;
  readonly refreshTimeoutMs: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Maximum number of values of each label that the service supplies. */
  readonly labelValues: number;
}
