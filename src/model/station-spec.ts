import type { StateMeanings } from '../resources/alert-state.ts';
import type { ListingFilters } from '../resources/filters.ts';
import type { ResourceLabels } from '../resources/resource-labels.ts';
import type { StationPath } from './listing.ts';

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

/** Which series of a station are published. */
interface MetricsPolicy {
  readonly perResource: boolean;
  /** Above this number of resources, per-resource series are withheld. */
  readonly maxResources: number;
  /** Above this number of firing resources, they have no series each. */
  readonly maxFiringResources: number;
  /** Names of families. */
  readonly disabled: ReadonlySet<string>;
}

/** One configured station. */
export interface StationSpec {
  readonly name: string;
  readonly upstream: string;
  readonly path: StationPath;
  readonly filters: ListingFilters;
  readonly products: readonly string[];
  readonly alertability: boolean;
  /** After which time the listings of products, and that of the alertable resources, are read again; 0: every refresh reads them. */
  readonly productsTtlMs: number;
  readonly alertabilityTtlMs: number;
  readonly cache: CachePolicy;
  readonly metrics: MetricsPolicy;
  readonly refreshTimeoutMs: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly resourceLabels: ResourceLabels;
  readonly states: StateMeanings;
  /** Maximum number of values of each label that the service supplies. */
  readonly labelValues: number;
  /** Maximum number of listed changes of a refresh. */
  readonly maxChanges: number;
}

/** How much earlier than its ttl data is due, as a share of it: with an interval equal to ttl, a late scrape must not make the next one skip a refresh. */
export const EARLY_SHARE = 0.05;

/** Whether something says which resources can have alerts: a listing of the service, or exemptions. */
export function knowsAlertable({
  alertability,
  resourceLabels,
}: Pick<StationSpec, 'alertability' | 'resourceLabels'>): boolean {
  return alertability || resourceLabels.hasExemptions;
}
