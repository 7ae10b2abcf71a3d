import { gzipSync } from 'node:zlib';
import type { FilterName, ListingRequest } from './listing-request.ts';
import { between, type Random, shuffled } from './random.ts';
import {
  bodyReply,
  byteByByte,
  type Delivery,
  endless,
  headersOnly,
  never,
  resetAtStart,
  resetWithinBody,
  type SimulatedReply,
  statusReply,
  truncated,
  withHeaders,
} from './reply.ts';

/** A deviation from a healthy reply, as data; without `when`, on every request. */
export type Fault = {
  readonly [Kind in keyof typeof FAULTS]: { readonly kind: Kind } & OptionsOf<(typeof FAULTS)[Kind]>;
}[keyof typeof FAULTS] & { readonly when?: When };

type OptionsOf<Effect> = Effect extends (options: infer Options, random: Random) => FaultEffect ? Options : never;

/** Conditions of a fault; all of them must hold. Requests are counted per fault and station, among those that match `offset` and `filter`. */
export interface When {
  readonly offset?: number;
  /** Only listings with this filter. */
  readonly filter?: FilterName;
  /** With `filter`: only when its values include this one. */
  readonly filterValue?: string;
  /** Only the first so many requests. */
  readonly first?: number;
  /** Only the first so many listings, counted per set of filters; each request at offset 0 starts one. */
  readonly firstListings?: number;
  /** This share of the requests, chosen by the seed. */
  readonly share?: number;
  /** With `share`: chooses periods of this length instead of single requests. */
  readonly periodMs?: number;
}

export type PageRequest = Pick<ListingRequest, 'filters' | 'offset' | 'size'>;

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
  readonly onBody?: (body: ListingBody) => ListingBody;
  readonly onReply?: (reply: SimulatedReply) => SimulatedReply;
}

export function effectOf(fault: Fault, random: Random): FaultEffect {
  const effect = FAULTS[fault.kind] as (fault: Fault, random: Random) => FaultEffect;
  return effect(fault, random);
}

interface StatusOptions {
  readonly code: number;
  readonly retryAfter?: number | string;
  /** Default: a google.rpc.Status for the code. */
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Every kind of fault: its effect by its options. */
const FAULTS = {
  // The reply is a listing that deviates from the documented one.
  nullPage: () => onBody((body) => ({ ...body, page: null })),
  missingPage: () => onBody(({ resources }) => ({ resources })),
  /** Page numbers and rule counts are strings. */
  textNumbers: () => onBody((body) => onPage(onRecords(body, textRuleCount), textNumbers)),
  pageCap: ({ size }: { readonly size: number }) => onRequest((page) => ({ size: Math.min(page.size, size) })),
  /** A page holds between one record and the requested size. */
  randomCap: (_: unknown, random: Random) => onRequest(({ size }) => ({ size: between(random, 1, size) })),
  ignoreOffset: () => onRequest(() => ({ offset: 0 })),
  /** The first record has the offset 1. */
  offsetFromOne: () => onRequest(({ offset }) => ({ offset: Math.max(0, offset - 1) })),
  /** The offset is the number of a page. */
  offsetInPages: () => onRequest(({ offset, size }) => ({ offset: offset * size })),
  /** Every page is cut from another order of the records. */
  unstableOrder: (_: unknown, random: Random) => onListing(({ records }) => ({ records: shuffled(random, records) })),
  /** The page has this size; without one, it holds all remaining records. */
  ignoreSize: ({ size = Number.MAX_SAFE_INTEGER }: { readonly size?: number }) => onRequest(() => ({ size })),
  ignoreFilter: ({ name }: { readonly name: FilterName }) =>
    onRequest(({ filters: { [name]: _, ...filters } }) => ({ filters })),
  /** The total grows from page to page. */
  totalMoves: () => onListing(({ total }, { offset, size }) => ({ total: total + Math.ceil(offset / size) })),
  totalLies: ({ delta }: { readonly delta: number }) => onListing(({ total }) => ({ total: total + delta })),
  /** undefined: the page has no total. */
  totalIs: ({ total }: { readonly total: unknown }) => onBody((body) => onPage(body, (page) => ({ ...page, total }))),
  /** Rows are inserted at the head after the first page, so that later pages overlap; with `keepTotal` the total does not change. */
  rowShift: ({ rows, keepTotal = false }: { readonly rows: readonly unknown[]; readonly keepTotal?: boolean }) =>
    onListing(({ records, total }, { offset }) =>
      offset === 0 ? {} : { records: [...rows, ...records], total: keepTotal ? total : total + rows.length },
    ),
  /** Every nth record (default: each) of the listing appears twice; with `counted` the total includes the duplicates. */
  duplicate: ({ every = 1, counted = false }: { readonly every?: number; readonly counted?: boolean }) =>
    onListing((listing) => {
      const records = listing.records.flatMap((record, at) => ((at + 1) % every === 0 ? [record, record] : [record]));
      return { records, total: listing.total + (counted ? records.length - listing.records.length : 0) };
    }),
  /** Every nth record of the listing has no id. */
  missingIds: ({ every }: { readonly every: number }) =>
    onListing(({ records }) => ({
      records: records.map((record, at) => ((at + 1) % every === 0 ? withoutId(record) : record)),
    })),
  /** An empty list is null. */
  nullResources: () => onBody((body) => (body.resources?.length === 0 ? { ...body, resources: null } : body)),
  numericState: ({ state }: { readonly state: number }) =>
    onBody((body) => onRecords(body, (record) => ({ ...record, state }))),

  // The reply is not a listing, or is not delivered as it should be.
  reset: ({ at = 'start' }: { readonly at?: 'start' | 'body' }) =>
    deliveredBy(at === 'start' ? resetAtStart : resetWithinBody),
  hang: () => deliveredBy(never),
  headersOnly: () => deliveredBy(headersOnly),
  /** One byte at a time. */
  drip: () => deliveredBy(byteByByte),
  /** The connection ends before Content-Length is reached. */
  truncate: () => deliveredBy(truncated),
  endless: () => deliveredBy(endless),
  /** With any status, and any body. */
  status: ({ code, retryAfter, body, headers = {} }: StatusOptions) => {
    const reply = body === undefined ? statusReply(code, `simulated ${code}`) : bodyReply(code, body);
    const retry = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
    return replacedBy(withHeaders(reply, { ...retry, ...headers }));
  },
  /** Fixed, or drawn from a range. */
  latency: ({ ms }: { readonly ms: number | readonly [least: number, most: number] }, random: Random) => {
    const delayMs = typeof ms === 'number' ? ms : between(random, ...ms);
    return { onReply: (reply: SimulatedReply) => ({ ...reply, delayMs: reply.delayMs + delayMs }) };
  },
  gzip: () => ({
    onReply: (reply: SimulatedReply) => ({
      ...withHeaders(reply, { 'content-encoding': 'gzip' }),
      body: gzipSync(reply.body),
    }),
  }),
};

function onRequest(change: (page: PageRequest) => Partial<PageRequest>): FaultEffect {
  return { onPageRequest: (page) => ({ ...page, ...change(page) }) };
}

function onListing(
  change: (listing: FilteredListing, requested: PageRequest) => Partial<FilteredListing>,
): FaultEffect {
  return { onListing: (listing, requested) => ({ ...listing, ...change(listing, requested) }) };
}

function onBody(change: (body: ListingBody) => ListingBody): FaultEffect {
  return { onBody: change };
}

function deliveredBy(deliver: Delivery): FaultEffect {
  return { onReply: (reply) => ({ ...reply, deliver }) };
}

/** Keeps the delay and delivery of the replaced reply. */
function replacedBy(other: SimulatedReply): FaultEffect {
  return { onReply: ({ delayMs, deliver }) => ({ ...other, delayMs, deliver }) };
}

function onPage(
  body: ListingBody,
  change: (page: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): ListingBody {
  return body.page ? { ...body, page: change(body.page) } : body;
}

function onRecords({ resources, ...rest }: ListingBody, change: (record: object) => object): ListingBody {
  const changed = resources?.map((record) => (isObject(record) ? change(record) : record));
  return { ...rest, resources: changed ?? null };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textNumbers(values: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]),
  );
}

function textRuleCount(record: object): object {
  return {
    ...record,
    ...('alert_rules_count' in record && textNumbers({ alert_rules_count: record.alert_rules_count })),
  };
}

function withoutId(record: unknown): unknown {
  return isObject(record) ? { ...record, resource_id: undefined } : record;
}

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
  html: {
    kind: 'status',
    code: 200,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: '<!doctype html><title>Sign in</title><p>Please sign in to continue.',
  },
  not_json: { kind: 'status', code: 200, body: '{"resources": [' },
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
