import type { FilterName } from './call.ts';

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
