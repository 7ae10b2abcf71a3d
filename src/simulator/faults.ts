import { gzipSync } from 'node:zlib';
import type { FilterName, ListingRequest } from './listing-request.ts';
import { between, hash, hashText, type Random, randomFrom, shuffled } from './random.ts';
import {
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

export interface ListingBody {
  readonly resources: readonly unknown[] | null;
  readonly page?: Readonly<Record<string, unknown>> | null | undefined;
}

/** The stages of a reply. */
interface Stages {
  readonly page: PageRequest;
  /** All records that match the filters, and the total as reported, for the page as the client requested it. */
  readonly listing: {
    readonly records: readonly unknown[];
    readonly total: number;
    readonly requested: PageRequest;
  };
  readonly body: ListingBody;
  readonly reply: SimulatedReply;
}

/** What a fault changes at each stage; every change is pure. */
export type FaultEffect = {
  readonly [Stage in keyof Stages]?: (before: Stages[Stage]) => Partial<Stages[Stage]>;
};

/** The value of a stage, changed by one effect after the other. */
export function changedBy<Stage extends keyof Stages>(
  effects: readonly FaultEffect[],
  stage: Stage,
  value: Stages[Stage],
): Stages[Stage] {
  let changed = value;
  for (const effect of effects) changed = { ...changed, ...effect[stage]?.(changed) };
  return changed;
}

type FaultTable = Readonly<Record<string, (options: never, random: Random) => FaultEffect>>;

/** The faults of `simulate --fault`: the effect of each by its options, all of which have a default. */
export const NAMED_FAULTS = {
  // The reply is not a listing, or is not delivered as it should be.
  rate_limited: () => status({ code: 429 }),
  unauthorized: () => status({ code: 401 }),
  forbidden: () => status({ code: 403 }),
  not_found: () => status({ code: 404 }),
  server_error: () => status({ code: 500 }),
  unavailable: () => status({ code: 503 }),
  /** Fixed, or drawn from a range. */
  slow: ({ ms = [2000, 6000] }: { readonly ms?: number | readonly [least: number, most: number] }, random) => ({
    reply: ({ delayMs }) => ({ delayMs: delayMs + (typeof ms === 'number' ? ms : between(random, ...ms)) }),
  }),
  hang: () => delivered(never),
  /** One byte at a time. */
  drip: () => delivered(byteByByte),
  reset: ({ at = 'start' }: { readonly at?: 'start' | 'body' }) =>
    delivered(at === 'start' ? resetAtStart : resetWithinBody),
  /** The connection ends before Content-Length is reached. */
  truncated: () => delivered(truncated),
  endless: () => delivered(endless),
  html: () =>
    status({
      code: 200,
      headers: { 'content-type': 'text/html; charset=utf-8' },
      body: '<!doctype html><title>Sign in</title><p>Please sign in to continue.',
    }),
  not_json: () => status({ code: 200, body: '{"resources": [' }),

  // The reply is a listing that deviates from the documented one.
  null_page: () => ({ body: () => ({ page: null }) }),
  missing_page: () => ({ body: () => ({ page: undefined }) }),
  /** Page numbers and rule counts are strings. */
  text_numbers: () => ({
    body: (body) =>
      changed(body, (name, value) => (NUMBERS.has(name) && typeof value === 'number' ? String(value) : value)),
  }),
  /** A page holds between one record and the requested size. */
  short_pages: (_: unknown, random) => ({ page: ({ size }) => ({ size: between(random, 1, size) }) }),
  ignored_offset: () => ({ page: () => ({ offset: 0 }) }),
  /** The first record has the offset 1. */
  offset_from_one: () => ({ page: ({ offset }) => ({ offset: Math.max(0, offset - 1) }) }),
  /** The offset is the number of a page. */
  offset_in_pages: () => ({ page: ({ offset, size }) => ({ offset: offset * size }) }),
  /** Every page is cut from another order of the records. */
  unstable_order: (_: unknown, random) => ({ listing: ({ records }) => ({ records: shuffled(random, records) }) }),
  /** The page has this size; without one, it holds all remaining records. */
  ignored_size: ({ size = Number.MAX_SAFE_INTEGER }: { readonly size?: number }) => ({ page: () => ({ size }) }),
  /** The total grows from page to page. */
  moving_total: () => ({
    listing: ({ total, requested }) => ({ total: total + Math.ceil(requested.offset / requested.size) }),
  }),
  wrong_total: ({ delta = 1 }: { readonly delta?: number }) => ({ listing: ({ total }) => ({ total: total + delta }) }),
  unreadable_total: () => reportedTotal('many'),
  /** Every nth record of the listing appears twice; with `counted` the total includes the duplicates. */
  duplicates: ({ every = 10, counted = true }: { readonly every?: number; readonly counted?: boolean }) => ({
    listing: (listing) => {
      const records = listing.records.flatMap((record, at) => ((at + 1) % every === 0 ? [record, record] : [record]));
      return { records, total: listing.total + (counted ? records.length - listing.records.length : 0) };
    },
  }),
  /** Every nth record of the listing has no id. */
  missing_ids: ({ every = 100 }: { readonly every?: number }) => ({
    listing: ({ records }) => ({
      records: records.map((record, at) =>
        (at + 1) % every === 0
          ? changed(record, (name, value) => (name === 'resource_id' ? undefined : value))
          : record,
      ),
    }),
  }),
  numeric_state: () => ({ body: (body) => changed(body, (name, value) => (name === 'state' ? 7 : value)) }),
} satisfies FaultTable;

/** Every kind of fault. */
const FAULTS = {
  ...NAMED_FAULTS,
  /** With any status, and any body. */
  status,
  headers_only: () => delivered(headersOnly),
  gzip: () => ({
    reply: ({ headers, body }) => ({ headers: { ...headers, 'content-encoding': 'gzip' }, body: gzipSync(body) }),
  }),
  page_cap: ({ size }: { readonly size: number }) => ({ page: (page) => ({ size: Math.min(page.size, size) }) }),
  /** undefined: the page has no total. */
  reported_total: ({ total }: { readonly total: unknown }) => reportedTotal(total),
  /** Rows are inserted at the head after the first page, so that later pages overlap; with `keepTotal` the total does not change. */
  row_shift: ({ rows, keepTotal = false }: { readonly rows: readonly unknown[]; readonly keepTotal?: boolean }) => ({
    listing: ({ records, total, requested }) =>
      requested.offset === 0 ? {} : { records: [...rows, ...records], total: keepTotal ? total : total + rows.length },
  }),
  /** An empty list is null. */
  null_resources: () => ({ body: ({ resources }) => (resources?.length === 0 ? { resources: null } : {}) }),
} satisfies FaultTable;

interface StatusOptions {
  readonly code: number;
  readonly retryAfter?: number | string;
  /** Default: a google.rpc.Status for the code. */
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

function status({ code, retryAfter, body, headers }: StatusOptions): FaultEffect {
  const retry = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
  const reply = statusReply(code, `simulated ${code}`, { ...retry, ...headers });
  return {
    reply: () => ({
      status: code,
      headers: reply.headers,
      body: body === undefined ? reply.body : Buffer.from(body),
    }),
  };
}

function delivered(deliver: Delivery): FaultEffect {
  return { reply: () => ({ deliver }) };
}

function reportedTotal(total: unknown): FaultEffect {
  return { body: ({ page }) => ({ page: page && { ...page, total } }) };
}

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
  const planned = faults.map((fault, index) => plannedFault(fault, hash(seed, index, hashText(fault.kind))));
  return (request, atMs) => planned.flatMap((effect) => effect(request, atMs) ?? []);
}

/** Its only state is the request counts, so that the same sequence of requests always meets the same faults. */
function plannedFault(fault: Fault, faultSeed: number) {
  const { kind, when = {} } = fault;
  const {
    filter,
    first = Number.POSITIVE_INFINITY,
    firstListings = Number.POSITIVE_INFINITY,
    share = 1,
    periodMs,
  } = when;
  const counts = new Map<string, number>();
  const counted = (by: readonly unknown[], change: number) => {
    const key = JSON.stringify(by);
    const count = (counts.get(key) ?? 0) + change;
    counts.set(key, count);
    return count;
  };
  return ({ station, filters, offset }: MatchedRequest, atMs: number): FaultEffect | undefined => {
    if ((when.offset ?? offset) !== offset || (filter && !filters[filter])) return undefined;
    const requests = counted([station], 1);
    const listings = counted([station, filters], offset === 0 ? 1 : 0);
    if (requests > first || listings > firstListings) return undefined;
    const seed = hash(faultSeed, hashText(station));
    const drawn = periodMs === undefined ? requests : Math.floor(atMs / periodMs);
    if (randomFrom(hash(seed, drawn, 2))() >= share) return undefined;
    const effect = FAULTS[kind] as (fault: Fault, random: Random) => FaultEffect;
    return effect(fault, randomFrom(hash(seed, requests, 1)));
  };
}
