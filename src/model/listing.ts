import { RECORD_FIELDS, type Resource } from '../resources/fields.ts';

/** The keys that identify a telemetry station, outermost first. */
export const PATH_KEYS = ['subscription', 'resource_group', 'zone', 'telemetry_station'] as const;

/** The four names that identify a telemetry station in the service. */
export type StationPath = Readonly<Record<(typeof PATH_KEYS)[number], string>>;

/** Query parameters that narrow a listing, under the names of the service; an absent one or an empty list is not sent. */
export interface ListingFilters {
  readonly resource_ids?: readonly string[];
  readonly resource_type?: string;
  readonly resource_types?: readonly string[];
  readonly product?: string;
  readonly resource_display_name_prefix?: string;
  readonly enabled_alert?: boolean;
}

export interface ListingQuery {
  readonly path: StationPath;
  readonly filters: ListingFilters;
}

/** Fields whose invalid values are counted, by their names on the wire. */
export const LISTING_FIELDS = [...RECORD_FIELDS, 'page.total'] as const;

export type ListingField = (typeof LISTING_FIELDS)[number];

/** The rows of one page, or of a slice of a long one: the same array while the bytes of the page are the same. */
export type Part<Row> = readonly Row[];

/** The positions of a part's rows in the listing, and their invalid fields: the page of a resource shows them. */
export interface PartLocation {
  /** The page's offset in the listing. */
  readonly offset: number;
  /** Each row's index in its page; undefined when the page was taken over without omissions. */
  readonly positions: readonly number[] | undefined;
  /** The invalid fields of the rows that have any, by row index. */
  readonly invalid: ReadonlyMap<number, readonly ListingField[]>;
}

/** Why a listing is not verified complete: `further_listing` is a listing of a product or of the alertable resources. */
export const INCOMPLETE_REASONS = [
  'rejected_records',
  'total_mismatch',
  'paging',
  'shared_labels',
  'further_listing',
] as const;

/** What to do about each of them: shown on pages. */
export const INCOMPLETE_ADVICE: Readonly<Record<(typeof INCOMPLETE_REASONS)[number], string>> = {
  rejected_records:
    'Report the records to the operators of the service: the table “Rejected records” of the station has their positions and names.',
  total_mismatch:
    'Compare with the console of the service: the account may not see all resources. If the difference changes, resources are added and removed meanwhile: raise page_size or concurrency.',
  paging:
    'Raise page_size, so that fewer pages have to fit together; if that does not help, report it to the operators of the service.',
  shared_labels: 'Report the ids to the operators of the service: Prometheus cannot distinguish their series.',
  further_listing:
    'The labels product and alertable of some resources may be wrong. Report it to the operators of the service if it persists.',
};

interface IncompleteReason {
  readonly reason: (typeof INCOMPLETE_REASONS)[number];
  /** The reason with its numbers, for people. */
  readonly text: string;
}

/** Why a record is rejected. */
export type Rejection = 'not an object' | 'no resource_id' | 'resource_id is not text' | 'resource_id is empty';

/** What could be read of a record without a usable id; texts are valid label values, '' for none. */
export interface RejectedRecord {
  /** How many records are before it in the listing: the offset that requests it. */
  readonly position: number;
  readonly rejection: Rejection;
  readonly name: string;
  readonly displayName: string;
  readonly type: string;
}

/** Rejected records that are kept of a page or a listing, the first ones: each may be as large as a resource. */
export const MAX_REJECTED_RECORDS = 20;

/** The records without a usable id. */
export interface RejectedRecords {
  readonly rejected: number;
  /** The first ones. */
  readonly rejectedRecords: readonly RejectedRecord[];
}

/** One listing, read to its end. */
export interface Listing<Row> extends RejectedRecords {
  /** In the service's order, without duplicates: the first row of each id. */
  readonly parts: readonly Part<Row>[];
  /** One per part. */
  readonly locations: readonly PartLocation[];
  /** Unique rows in all parts. */
  readonly size: number;
  /** Nothing that the service lists is missing, except for rejected records. */
  readonly addsUp: boolean;
  /** Verified complete: it adds up, and no record was rejected. */
  readonly complete: boolean;
  /** Why the listing is not verified complete; empty when it is. */
  readonly incompleteReasons: readonly IncompleteReason[];
  readonly reportedTotal: number | undefined;
  readonly pages: number;
  readonly duplicates: number;
  readonly invalidFields: Readonly<Record<ListingField, number>>;
}

/** One refresh of a station: all of its requests share this object. Times are monotonic milliseconds. */
export interface ListingContext {
  /** Aborts when the refresh ends, and before if it times out or the station is closed. */
  readonly signal: AbortSignal;
  readonly station: string;
  /** When its data becomes older than ttl, or later if a refresh takes long: upstreams serve the earliest first. */
  readonly outdatedAtMs: number;
  readonly refreshTimeoutMs: number;
  /** Called once, when the first request is admitted: the refresh timeout counts from there. */
  started(): void;
  /** When the refresh times out; Infinity until it has started. */
  deadlineMs(): number;
}

/** The port to the service, one per station. Rejects with a ListingFailure, or with the signal's reason when that aborts first. */
export interface StationSource {
  listResources(query: ListingQuery, context: ListingContext): Promise<Listing<Resource>>;
  /** Lists the ids alone. */
  listIds(query: ListingQuery, context: ListingContext): Promise<Listing<string>>;
}

/** Bounds the records in memory: a service may list without end, and stations may grow. Both throw a RecordLimitFailure above a limit. */
export interface RecordCounter {
  /** A station has so many records, in all its listings. */
  check(station: string, records: number): void;
  /** They stay in memory after the refresh, instead of those that the station kept before. */
  keep(station: string, records: number): void;
}

/** Whether both lists have identical elements: what is derived from one can be reused for the other. */
export function hasSameElements(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((element, at) => element === b[at]);
}
