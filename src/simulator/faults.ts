import type { FilterName, Filters } from './listing-request.ts';
import type { SimulatedReply } from './reply.ts';

/** A deviation from a healthy reply, as data; without `when`, on every request. */
export type Fault = (ListingFault | ReplyFault) & { readonly when?: When };

/** Conditions of a fault; all of them must hold. Requests are counted per fault and station, among those that match `offset` and `filter`. */
export interface When {
  readonly offset?: number;
  /** Only listings with this filter, or only those without filters. */
  readonly filter?: FilterName | 'none';
  /** With `filter`: only when its values include this one. */
  readonly filterValue?: string;
  /** Counted from 1. */
  readonly nth?: number | readonly number[];
  /** Only the first so many requests. */
  readonly first?: number;
  /** Only the first so many listings, counted per set of filters; each request at offset 0 starts one. */
  readonly firstListings?: number;
  /** This share of the requests, chosen by the seed. */
  readonly share?: number;
  /** With `share`: chooses periods of this length instead of single requests. */
  readonly periodMs?: number;
}

/** The reply is a listing that deviates from the documented one. */
export type ListingFault =
  | { readonly kind: 'nullPage' }
  | { readonly kind: 'missingPage' }
  /** Page numbers and rule counts are strings. */
  | { readonly kind: 'textNumbers' }
  | { readonly kind: 'pageCap'; readonly size: number }
  /** A page holds between one record and the requested size. */
  | { readonly kind: 'randomCap' }
  | { readonly kind: 'ignoreOffset' }
  /** The first record has the offset 1. */
  | { readonly kind: 'offsetFromOne' }
  /** The offset is the number of a page. */
  | { readonly kind: 'offsetInPages' }
  /** Every page is cut from another order of the records. */
  | { readonly kind: 'unstableOrder' }
  /** The page has this size; without one, it holds all remaining records. */
  | { readonly kind: 'ignoreSize'; readonly size?: number }
  | { readonly kind: 'ignoreFilter'; readonly name: FilterName }
  /** The total grows by `by` (1) from page to page. */
  | { readonly kind: 'totalMoves'; readonly by?: number }
  | { readonly kind: 'totalLies'; readonly delta: number }
  | { readonly kind: 'totalIs'; readonly total: unknown }
  | { readonly kind: 'omitTotal' }
  /** Rows are inserted at the head after the first page, so that later pages overlap; with `keepTotal` the total does not change. */
  | { readonly kind: 'rowShift'; readonly rows: readonly unknown[]; readonly keepTotal?: boolean }
  /** Every nth record (default: each) of the listing appears twice; with `counted` the total includes the duplicates. */
  | { readonly kind: 'duplicate'; readonly every?: number; readonly counted?: boolean }
  /** Every nth record of the listing has no id. */
  | { readonly kind: 'missingIds'; readonly every: number }
  /** An empty list is null. */
  | { readonly kind: 'nullResources' }
  | { readonly kind: 'numericState'; readonly state: number };

/** The reply is not a listing, or is not delivered as it should be. */
export type ReplyFault =
  | { readonly kind: 'reset'; readonly at?: 'start' | 'body' }
  | { readonly kind: 'hang' }
  | { readonly kind: 'headersOnly' }
  /** One byte at a time. */
  | { readonly kind: 'drip'; readonly everyMs?: number }
  /** The connection ends before Content-Length is reached. */
  | { readonly kind: 'truncate' }
  | { readonly kind: 'endless' }
  | { readonly kind: 'html' }
  | { readonly kind: 'notJson' }
  /** Valid JSON with this value. */
  | { readonly kind: 'wrongJson'; readonly value: unknown }
  | { readonly kind: 'bytes'; readonly body: Uint8Array }
  | { readonly kind: 'redirect'; readonly location: string }
  | {
      readonly kind: 'status';
      readonly code: number;
      readonly retryAfter?: number | string;
      /** Default: a google.rpc.Status for the code. */
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Fixed, or drawn from a range. */
  | { readonly kind: 'latency'; readonly ms: number | readonly [least: number, most: number] }
  | { readonly kind: 'gzip' };

/** The faults of `simulate --fault`. */
export const NAMED_FAULTS = {
  rate_limited: { kind: 'status', code: 429 },
  unauthorized: { kind: 'status', code: 401 },
  forbidden: { kind: 'status', code: 403 },
  not_found: { kind: 'status', code: 404 },
  server_error: { kind: 'status', code: 500 },
  unavailable: { kind: 'status', code: 503 },
  slow: { kind: 'latency', ms: [2000, 6000] },
  hang: { kind: 'hang' },
  drip: { kind: 'drip' },
  reset: { kind: 'reset' },
  truncated: { kind: 'truncate' },
  endless: { kind: 'endless' },
  html: { kind: 'html' },
  not_json: { kind: 'notJson' },
  null_page: { kind: 'nullPage' },
  missing_page: { kind: 'missingPage' },
  text_numbers: { kind: 'textNumbers' },
  short_pages: { kind: 'randomCap' },
  ignored_offset: { kind: 'ignoreOffset' },
  offset_from_one: { kind: 'offsetFromOne' },
  offset_in_pages: { kind: 'offsetInPages' },
  unstable_order: { kind: 'unstableOrder' },
  ignored_size: { kind: 'ignoreSize' },
  moving_total: { kind: 'totalMoves' },
  wrong_total: { kind: 'totalLies', delta: 1 },
  unreadable_total: { kind: 'totalIs', total: 'many' },
  duplicates: { kind: 'duplicate', every: 10, counted: true },
  missing_ids: { kind: 'missingIds', every: 100 },
  numeric_state: { kind: 'numericState', state: 7 },
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof NAMED_FAULTS;

export function namedFault(name: FaultName, share: number): Fault {
  return { ...NAMED_FAULTS[name], when: { share } };
}

export interface PageRequest {
  readonly filters: Filters;
  readonly offset: number;
  readonly size: number;
}

/** All records that match the filters, and the total as reported. */
export interface FilteredListing {
  readonly records: readonly unknown[];
  readonly total: number;
}

export interface ListingBody {
  readonly resources: readonly unknown[] | null;
  readonly page?: Readonly<Record<string, unknown>> | null;
}

/** What a fault changes at each stage of a reply; every stage is pure. `requested` is the page as the client requested it. */
export interface FaultEffect {
  readonly onPageRequest?: (page: PageRequest) => PageRequest;
  readonly onListing?: (listing: FilteredListing, requested: PageRequest) => FilteredListing;
  readonly onBody?: (body: ListingBody, requested: PageRequest) => ListingBody;
  readonly onReply?: (reply: SimulatedReply) => SimulatedReply;
}
