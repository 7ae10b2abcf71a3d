/** The keys that identify a telemetry station, outermost first. */
export const PATH_KEYS = ['subscription', 'resource_group', 'zone', 'telemetry_station'] as const;

/** The four names that identify a telemetry station in the service. */
export type StationPath = Readonly<Record<(typeof PATH_KEYS)[number], string>>;

/** Query parameters that narrow a listing, under the names of the service; an empty list is not sent. */
export type QueryFilters = Readonly<Record<string, string | boolean | readonly string[]>>;

/** The total of a page, by its name among the fields whose invalid values are counted. */
export const TOTAL_FIELD = 'page.total';

export interface ReadRecord<Row> {
  readonly row: Row;
  /** As sent: the row has its label value. */
  readonly id: string;
  readonly invalid: readonly string[];
  /** The fields that it lacks, of those that should be there; null is not one of them. */
  readonly absent?: readonly string[];
}

export type FindRow<Row> = (id: string) => Row | undefined;

/** A listing of the service: where it is, and how its records are read. Field names are those on the wire. */
export interface ListingKind<Row> {
  readonly name: string;
  readonly path: string;
  readonly field: string;
  readonly idField: string;
  /** The other fields whose invalid values are counted. */
  readonly fields: readonly string[];
  /** How many rows take as much memory as a record; 1 unless given. */
  readonly rowsPerRecord?: number;
  /** Reads one record; undefined when it has no valid id. */
  readonly read: (record: unknown, find: FindRow<Row>) => ReadRecord<Row> | undefined;
  /** What can be read of a record without a valid id, for people. */
  readonly rejectedTexts?: (record: Readonly<Record<string, unknown>>) => RejectedRecord['texts'];
}

export type List<Row> = (filters: QueryFilters, context: RefreshContext) => Promise<Listing<Row>>;

/** The rows of one page, or of a slice of a long one: the same array while the bytes of the page are the same. */
export type Part<Row> = readonly Row[];

/** The names of fields of those rows of a part that have any, by row index. */
export type FieldsOfPart = ReadonlyMap<number, readonly string[]>;

/** Why a listing is not verified complete: `further_listing` is a listing of a product or of the alertable resources. */
export const INCOMPLETE_REASONS = ['rejected_records', 'total_mismatch', 'paging', 'further_listing'] as const;

export type IncompleteReason = (typeof INCOMPLETE_REASONS)[number];

interface ExplainedReason {
  readonly reason: IncompleteReason;
  /** The reason with its numbers, for people. */
  readonly text: string;
}

export interface RejectedRecord {
  /** How many records are before it in the listing: the offset that requests it. */
  readonly position: number;
  readonly rejection: string;
  /** What could be read of it: valid label values, '' for none. */
  readonly texts: Readonly<Record<string, string>>;
}

/** Rejected records that are kept of a page or a listing, the first ones: each may be as large as a resource. */
export const MAX_REJECTED_RECORDS = 20;

export interface RejectedRecords {
  readonly rejected: number;
  readonly rejectedRecords: readonly RejectedRecord[];
}

/** One listing, read to its end. */
export interface Listing<Row> extends RejectedRecords {
  /** In the service's order, without duplicates: the first row of each id. */
  readonly parts: readonly Part<Row>[];
  /** Invalid fields, by part: the page of a resource shows them. */
  readonly invalid: readonly FieldsOfPart[];
  readonly size: number;
  /** Nothing that the service lists is missing, except for rejected records. */
  readonly addsUp: boolean;
  /** Verified complete: it adds up, and no record was rejected. */
  readonly complete: boolean;
  /** Why the listing is not verified complete; empty when it is. */
  readonly incompleteReasons: readonly ExplainedReason[];
  readonly reportedTotal: number | undefined;
  /** How many records of a page the service returns at most, where that is less than requested; undefined: as many as requested. */
  readonly pageLimit?: number | undefined;
  /** The size of the pages that are requested, where those of `page_size` may be too large for the service. */
  readonly reducedPageSize?: number;
  readonly pages: number;
  readonly duplicates: number;
  readonly invalidFields: Readonly<Record<string, number>>;
  /** How many records lack a field; none for those that all records have. */
  readonly absentFields: Readonly<Record<string, number>>;
}

export interface PagesPerInterval {
  readonly pages: number;
  /** The time between two readings, unless new resources make it due earlier; 0: every scrape reads it. */
  readonly intervalMs: number;
}

/** A reply that comes from a cache between the exporter and the service. */
export interface CachedReply {
  /** For how long the service had not been asked for it; undefined: the cache does not say. */
  readonly ageMs: number | undefined;
  /** The header that says so, for people: `Age: 34 s`, `X-Cache: HIT`. */
  readonly header: string;
}

/** One refresh of a station: all of its requests share this object. Times are monotonic milliseconds. */
export interface RefreshContext {
  /** Aborts when the refresh ends, and before if it times out or the station is closed. */
  readonly signal: AbortSignal;
  /** Whose refresh it is, for admission, limits and page sizes: a further collector of a station is one of its own, or its failures would be those of the station. */
  readonly station: string;
  /** When its data becomes older than ttl, or later if a refresh takes long: upstreams serve the earliest first. */
  readonly outdatedAtMs: number;
  readonly refreshTimeoutMs: number;
  /** Called when the first request is admitted, and again when one is after all have waited: the refresh timeout counts from there. */
  started(): void;
  /** Called for each page that comes from a cache: the data of the refresh is that old. */
  repliedFromCache(reply: CachedReply): void;
  /** Called when all requests wait for admission: the refresh timeout does not count that. */
  waiting(): void;
  /** When the refresh times out; Infinity until it has started. */
  deadlineMs(): number;
}

/** The port to the service, one per station. Lists reject with a ListingFailure, or with the signal's reason when that aborts first. */
export interface StationSource {
  /** The returned function keeps the pages that it has read, to reuse those that did not change. */
  lister<Row>(kind: ListingKind<Row>): List<Row>;
}

/** Bounds the records in memory: a service may list without end, and stations may grow. Both throw a RecordLimitFailure above a limit. */
export interface RecordCounter {
  /** A station has so many records, in all its listings. */
  check(station: string, records: number): void;
  /** They stay in memory after the refresh, instead of those that the station kept before. */
  keep(station: string, records: number): void;
}

export function hasSameElements(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  // A loop: every changed row of a refresh is compared.
  for (let at = 0; at < a.length; at += 1) if (a[at] !== b[at]) return false;
  return true;
}
