import { gzipSync } from 'node:zlib';
import type { FilterName, ListingRequest } from './listing-request.ts';
import { between, hash, hashText, type Random, randomFrom, shuffled } from './random.ts';
import {
  byteByByte,
  endless,
  headersOnly,
  never,
  resetAtStart,
  resetWithinBody,
  type SimulatedReply,
  statusReply,
  truncated,
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
  readonly page?: Readonly<Record<string, unknown>> | null | undefined;
}

/** What a fault changes at each stage of a reply; every stage is pure. `requested` is the page as the client requested it. */
export interface FaultEffect {
  readonly page?: (page: PageRequest) => Partial<PageRequest>;
  readonly listing?: (listing: FilteredListing, requested: PageRequest) => Partial<FilteredListing>;
  readonly body?: (body: ListingBody) => Partial<ListingBody>;
  readonly reply?: (reply: SimulatedReply) => Partial<SimulatedReply>;
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
  nullPage: () => ({ body: () => ({ page: null }) }),
  missingPage: () => ({ body: () => ({ page: undefined }) }),
  /** Page numbers and rule counts are strings. */
  textNumbers: () => ({
    body: (body) =>
      changed(body, (name, value) => (NUMBERS.has(name) && typeof value === 'number' ? String(value) : value)),
  }),
  pageCap: ({ size }: { readonly size: number }) => ({ page: (page) => ({ size: Math.min(page.size, size) }) }),
  /** A page holds between one record and the requested size. */
  randomCap: (_: unknown, random) => ({ page: ({ size }) => ({ size: between(random, 1, size) }) }),
  ignoreOffset: () => ({ page: () => ({ offset: 0 }) }),
  /** The first record has the offset 1. */
  offsetFromOne: () => ({ page: ({ offset }) => ({ offset: Math.max(0, offset - 1) }) }),
  /** The offset is the number of a page. */
  offsetInPages: () => ({ page: ({ offset, size }) => ({ offset: offset * size }) }),
  /** Every page is cut from another order of the records. */
  unstableOrder: (_: unknown, random) => ({ listing: ({ records }) => ({ records: shuffled(random, records) }) }),
  /** The page has this size; without one, it holds all remaining records. */
  ignoreSize: ({ size = Number.MAX_SAFE_INTEGER }: { readonly size?: number }) => ({ page: () => ({ size }) }),
  /** The total grows from page to page. */
  totalMoves: () => ({ listing: ({ total }, { offset, size }) => ({ total: total + Math.ceil(offset / size) }) }),
  totalLies: ({ delta }: { readonly delta: number }) => ({ listing: ({ total }) => ({ total: total + delta }) }),
  /** undefined: the page has no total. */
  totalIs: ({ total }: { readonly total: unknown }) => ({ body: ({ page }) => ({ page: page && { ...page, total } }) }),
  /** Rows are inserted at the head after the first page, so that later pages overlap; with `keepTotal` the total does not change. */
  rowShift: ({ rows, keepTotal = false }: { readonly rows: readonly unknown[]; readonly keepTotal?: boolean }) => ({
    listing: ({ records, total }, { offset }) =>
      offset === 0 ? {} : { records: [...rows, ...records], total: keepTotal ? total : total + rows.length },
  }),
  /** Every nth record (default: each) of the listing appears twice; with `counted` the total includes the duplicates. */
  duplicate: ({ every = 1, counted = false }: { readonly every?: number; readonly counted?: boolean }) => ({
    listing: (listing) => {
      const records = listing.records.flatMap((record, at) => ((at + 1) % every === 0 ? [record, record] : [record]));
      return { records, total: listing.total + (counted ? records.length - listing.records.length : 0) };
    },
  }),
  /** Every nth record of the listing has no id. */
  missingIds: ({ every }: { readonly every: number }) => ({
    listing: ({ records }) => ({
      records: records.map((record, at) =>
        (at + 1) % every === 0
          ? changed(record, (name, value) => (name === 'resource_id' ? undefined : value))
          : record,
      ),
    }),
  }),
  /** An empty list is null. */
  nullResources: () => ({ body: ({ resources }) => (resources?.length === 0 ? { resources: null } : {}) }),
  numericState: ({ state }: { readonly state: number }) => ({
    body: (body) => changed(body, (name, value) => (name === 'state' ? state : value)),
  }),

  // The reply is not a listing, or is not delivered as it should be.
  reset: ({ at = 'start' }: { readonly at?: 'start' | 'body' }) => ({
    reply: () => ({ deliver: at === 'start' ? resetAtStart : resetWithinBody }),
  }),
  hang: () => ({ reply: () => ({ deliver: never }) }),
  headersOnly: () => ({ reply: () => ({ deliver: headersOnly }) }),
  /** One byte at a time. */
  drip: () => ({ reply: () => ({ deliver: byteByByte }) }),
  /** The connection ends before Content-Length is reached. */
  truncate: () => ({ reply: () => ({ deliver: truncated }) }),
  endless: () => ({ reply: () => ({ deliver: endless }) }),
  /** With any status, and any body. */
  status: (options: StatusOptions) => ({
    reply: () => {
      const { code: status, retryAfter, body, headers } = options;
      const retry = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
      const reply = statusReply(status, `simulated ${status}`, { ...retry, ...headers });
      return { status, headers: reply.headers, body: body === undefined ? reply.body : Buffer.from(body) };
    },
  }),
  /** Fixed, or drawn from a range. */
  latency: ({ ms }: { readonly ms: number | readonly [least: number, most: number] }, random) => ({
    reply: ({ delayMs }) => ({ delayMs: delayMs + (typeof ms === 'number' ? ms : between(random, ...ms)) }),
  }),
  gzip: () => ({
    reply: ({ headers, body }) => ({ headers: { ...headers, 'content-encoding': 'gzip' }, body: gzipSync(body) }),
  }),
} satisfies Readonly<Record<string, (options: never, random: Random) => FaultEffect>>;

const NUMBERS: ReadonlySet<string> = new Set(['offset', 'size', 'total', 'alert_rules_count']);

/** A copy of JSON, with other values where `change` returns some; undefined removes a value. */
function changed<T>(json: T, change: (name: string, value: unknown) => unknown): T {
  return JSON.parse(JSON.stringify(json), change);
}

/** The effects on a request, called in order of arrival. */
export type FaultPlan = (request: MatchedRequest, atMs: number) => readonly FaultEffect[];

/** The part of a request that conditions depend on. */
type MatchedRequest = Pick<ListingRequest, 'station' | 'filters' | 'offset'>;

export function faultPlan(faults: readonly Fault[], seed: number): FaultPlan {
  const planned = faults.map((fault, index) => new PlannedFault(fault, hash(seed, index, hashText(fault.kind))));
  return (request, atMs) => planned.flatMap((fault) => fault.effect(request, atMs) ?? []);
}

/** Its only state is the request counts, so that the same sequence of requests always meets the same faults. */
class PlannedFault {
  readonly #fault: Fault;
  readonly #seed: number;
  readonly #counts = new Map<string, number>();

  constructor(fault: Fault, seed: number) {
    this.#fault = fault;
    this.#seed = seed;
  }

  effect({ station, filters, offset }: MatchedRequest, atMs: number): FaultEffect | undefined {
    const { when = {}, kind } = this.#fault;
    if (when.offset !== undefined && when.offset !== offset) return undefined;
    if (when.filter !== undefined && filters[when.filter] === undefined) return undefined;
    const requests = this.#count([station], 1);
    const listings = this.#count([station, filters], offset === 0 ? 1 : 0);
    if (requests > (when.first ?? requests) || listings > (when.firstListings ?? listings)) return undefined;
    const seed = hash(this.#seed, hashText(station));
    const drawn = when.periodMs === undefined ? requests : Math.floor(atMs / when.periodMs);
    if (randomFrom(hash(seed, drawn, 2))() >= (when.share ?? 1)) return undefined;
    const effect = FAULTS[kind] as (fault: Fault, random: Random) => FaultEffect;
    return effect(this.#fault, randomFrom(hash(seed, requests, 1)));
  }

  #count(by: readonly unknown[], change: number): number {
    const key = JSON.stringify(by);
    const count = (this.#counts.get(key) ?? 0) + change;
    this.#counts.set(key, count);
    return count;
  }
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
