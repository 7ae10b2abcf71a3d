import { RECORD_FIELDS, type Resource } from './resource.ts';

/** Where a telemetry station lives in the service. */
export interface StationPath {
  readonly subscription: string;
  readonly resourceGroup: string;
  readonly zone: string;
  readonly telemetryStation: string;
}

/** What narrows a listing; what is left out is not sent. */
export interface ListingFilters {
  readonly resourceIds?: readonly string[];
  readonly resourceType?: string;
  readonly resourceTypes?: readonly string[];
  readonly product?: string;
  readonly displayNamePrefix?: string;
  readonly enabledAlert?: boolean;
}

export interface ListingQuery {
  readonly path: StationPath;
  readonly filters: ListingFilters;
}

/** Fields whose invalid values are counted, by their names on the wire. */
export const LISTING_FIELDS = [...RECORD_FIELDS, 'page.total'] as const;

export type ListingField = (typeof LISTING_FIELDS)[number];

/** What one page brought to a listing. The same array comes again for as long as the page's bytes do, so that work on it can be kept. */
export type Part<Row> = readonly Row[];

/** Where the rows of a part came from. */
export interface PartLocation {
  /** Of the page in the listing. */
  readonly offset: number;
  /** Of each row in its page; undefined where that is the row's own index, because nothing was left out. */
  readonly positions: readonly number[] | undefined;
  /** The fields that could not be used, for the rows that have such, by their index. */
  readonly invalid: ReadonlyMap<number, readonly ListingField[]>;
}

/** One listing read to its end. */
export interface Listing<Row> {
  /** In the service's order; of several rows under one id the first. */
  readonly parts: readonly Part<Row>[];
  /** Of each part. */
  readonly locations: readonly PartLocation[];
  /** Unique rows, all parts together. */
  readonly size: number;
  /** Proven whole: nothing is missing. */
  readonly complete: boolean;
  /** Why that is not proven, in words; none where it is. */
  readonly incompleteReasons: readonly string[];
  readonly reportedTotal: number | undefined;
  readonly pages: number;
  readonly duplicates: number;
  readonly rejected: number;
  readonly invalidFields: Readonly<Record<ListingField, number>>;
}

/** Who asks, and how long it may take. */
export interface ListingContext {
  readonly signal: AbortSignal;
  /** Wall-clock milliseconds by which the whole refresh must have ended. */
  readonly deadlineMs: number;
  /** The name of the station that is refreshed: stations take tasks. */
  readonly station?: string;
}

/**
 * The port to the service, one per station. It rejects with a ListingFailure, or with the signal's reason when that aborts first.
 */
export interface StationSource {
  listResources(query: ListingQuery, context: ListingContext): Promise<Listing<Resource>>;
  /** Of listings that only tell which resources belong to something. */
  listIds(query: ListingQuery, context: ListingContext): Promise<Listing<string>>;
}
