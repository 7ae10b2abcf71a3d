import type { FilterName, Filters } from './call.ts';
import type { Reply } from './reply.ts';

/** Something a station does wrong or differently, as data; without `when`, always. */
export type Fault = (Quirk | Failure) & { readonly when?: When };

/** Limits of a fault. All that are given must hold. Requests are counted per fault and station, and only those that fit `offset` and `filter`. */
export interface When {
  readonly offset?: number;
  /** Only listings with this filter, or only those without any. */
  readonly filter?: FilterName | 'none';
  /** With `filter`: only when this is among its values. */
  readonly filterValue?: string;
  /** The first request is 1. */
  readonly nth?: number | readonly number[];
  /** So many requests, then healthy. */
  readonly first?: number;
  /** So many listings, then healthy; each request at offset 0 begins one, counted apart for each set of filters. */
  readonly firstListings?: number;
  /** This part of the requests, chosen by the seed. */
  readonly share?: number;
  /** With `share`: whole periods of this length are chosen instead of single requests. */
  readonly periodMs?: number;
}

/** A listing that is answered, but oddly. */
export type Quirk =
  | { readonly kind: 'nullPage' }
  | { readonly kind: 'missingPage' }
  /** Page numbers and rule counts come as text. */
  | { readonly kind: 'textNumbers' }
  | { readonly kind: 'pageCap'; readonly size: number }
  /** A page holds anything from one record to what was asked for. */
  | { readonly kind: 'randomCap' }
  | { readonly kind: 'ignoreOffset' }
  /** The page has this size, or all the rest when none is given. */
  | { readonly kind: 'ignoreSize'; readonly size?: number }
  | { readonly kind: 'ignoreFilter'; readonly name: FilterName }
  /** The total grows by so much (1) from page to page. */
  | { readonly kind: 'totalMoves'; readonly by?: number }
  | { readonly kind: 'totalLies'; readonly delta: number }
  | { readonly kind: 'totalIs'; readonly total: unknown }
  | { readonly kind: 'omitTotal' }
  /** These rows come in at the head after the first page, so that later pages overlap; `keepTotal` hides it from the total. */
  | { readonly kind: 'rowShift'; readonly rows: readonly unknown[]; readonly keepTotal?: boolean }
  /** Every nth row (each one) of the whole list comes twice; `counted` tells whether the total knows of it. */
  | { readonly kind: 'duplicate'; readonly every?: number; readonly counted?: boolean }
  /** Every nth record of the whole list has no id. */
  | { readonly kind: 'missingIds'; readonly every: number }
  /** An empty list is null. */
  | { readonly kind: 'nullResources' }
  | { readonly kind: 'numericState'; readonly state: number };

/** A request that is not answered as it should be. */
export type Failure =
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
  /** JSON, but this value. */
  | { readonly kind: 'wrongJson'; readonly value: unknown }
  | { readonly kind: 'bytes'; readonly body: Uint8Array }
  | { readonly kind: 'redirect'; readonly location: string }
  | {
      readonly kind: 'status';
      readonly code: number;
      readonly retryAfter?: number | string;
      /** A google.rpc.Status that fits the code when left out. */
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Milliseconds, or the ends of a range to draw from. */
  | { readonly kind: 'latency'; readonly ms: number | readonly [least: number, most: number] }
  | { readonly kind: 'gzip' };

/** Faults by names that can be typed. */
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
  ignored_size: { kind: 'ignoreSize' },
  moving_total: { kind: 'totalMoves' },
  wrong_total: { kind: 'totalLies', delta: 1 },
  unreadable_total: { kind: 'totalIs', total: 'many' },
  duplicates: { kind: 'duplicate', every: 10, counted: true },
  missing_ids: { kind: 'missingIds', every: 100 },
  numeric_state: { kind: 'numericState', state: 7 },
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof NAMED_FAULTS;

/** The fault with this share of the requests, chosen by the seed. */
export function namedFault(name: FaultName, share: number): Fault {
  return { ...NAMED_FAULTS[name], when: { share } };
}

/** What is about to be listed. */
export interface Asked {
  readonly filters: Filters;
  readonly offset: number;
  readonly size: number;
}

/** The whole filtered list, and how long the service says it is. */
export interface Rows {
  readonly records: readonly unknown[];
  readonly total: number;
}

export interface Envelope {
  readonly resources: readonly unknown[] | null;
  readonly page?: Readonly<Record<string, unknown>> | null;
}

/** What a fault changes, stage by stage; every stage is pure. `asked` is what the client asked for. */
export interface Effect {
  readonly onAsked?: (asked: Asked) => Asked;
  readonly onRows?: (rows: Rows, asked: Asked) => Rows;
  readonly onEnvelope?: (envelope: Envelope, asked: Asked) => Envelope;
  readonly onReply?: (reply: Reply) => Reply;
}
