import type { StationPath } from './listing.ts';

/** How long a snapshot is served, and what triggers the next refresh. */
interface CachePolicy {
  readonly ttlMs: number;
  readonly maxStaleMs: number;
  readonly errorTtlMs: number;
  readonly refresh: 'scrape' | 'background';
}

export interface StationSpec {
  readonly name: string;
  readonly upstream: string;
  readonly path: StationPath;
  readonly cache: CachePolicy;
  readonly refreshTimeoutMs: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly metrics: { readonly disabled: ReadonlySet<string> };
}

/** How much earlier than its ttl data is due, as a share of it: with an interval equal to ttl, a late scrape must not make the next one skip a refresh. */
export const EARLY_SHARE = 0.05;
