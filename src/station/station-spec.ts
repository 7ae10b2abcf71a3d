import type { ListingFilters, StationPath } from './listing.ts';

/** How long a station's snapshot may be trusted, and who asks for a new one. */
interface CachePolicy {
  /** A younger snapshot is served without asking the service. */
  readonly ttlMs: number;
  /** An older snapshot is not served any more. */
  readonly maxStaleMs: number;
  /** A failed station is not asked again sooner. */
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
}
