import type { ListingRequest } from './listing.ts';
import { between, hash, hashText, type Random, randomFrom, shuffled } from './random.ts';
import {
  byteByByte,
  type Delivery,
  endless,
  never,
  reset,
  type SimulatedReply,
  statusReply,
  truncated,
} from './reply.ts';

export interface ListingBody {
  readonly resources: readonly unknown[] | null;
  readonly page?: unknown;
}

/** The stages of a reply. */
interface Stages {
  readonly page: ListingRequest;
  /** All records that match the filters, and the total as reported, for the page as the client requested it. */
  readonly listing: {
    readonly records: readonly unknown[];
    readonly total: number;
    readonly requested: ListingRequest;
  };
  readonly body: ListingBody;
  readonly reply: SimulatedReply;
}

/** What a fault changes at each stage. */
type FaultEffect = {
  readonly [Stage in keyof Stages]?: (before: Stages[Stage], random: Random) => Partial<Stages[Stage]>;
};

/** A deviation from a healthy reply. */
export interface Fault extends FaultEffect {
  /** The share of the requests it affects, chosen by the seed; default: all. */
  readonly share?: number;
  /** Chooses periods of this length instead of single requests. */
  readonly periodMs?: number;
}

/** The faults that affect a request. */
export interface DrawnFaults {
  readonly faults: readonly FaultEffect[];
  readonly random: Random;
}

/** The value of a stage, changed by one fault after the other. */
export function changedBy<Stage extends keyof Stages>(
  { faults, random }: DrawnFaults,
  stage: Stage,
  value: Stages[Stage],
): Stages[Stage] {
  let changed = value;
  for (const fault of faults) changed = { ...changed, ...fault[stage]?.(changed, random) };
  return changed;
}

/** Draws the faults of requests. Its only state is a random sequence per station, so that the same sequence of requests always meets the same faults. */
export function faultDraw(seed: number) {
  const sequences = new Map<string, Random>();
  return (faults: readonly Fault[], station: string, atMs: number): DrawnFaults => {
    const key = hash(seed, hashText(station));
    const random = sequences.get(station) ?? randomFrom(key);
    sequences.set(station, random);
    const drawn = faults.filter(({ share = 1, periodMs }, index) => {
      const draw = periodMs === undefined ? random : randomFrom(hash(key, index, Math.floor(atMs / periodMs)));
      return draw() < share;
    });
    return { faults: drawn, random };
  };
}

/** The faults of `simulate --fault`. */
export const NAMED_FAULTS = {
  // The reply is not a listing, or is not delivered as it should be.
  rate_limited: replyWith(429),
  unauthorized: replyWith(401),
  forbidden: replyWith(403),
  not_found: replyWith(404),
  server_error: replyWith(500),
  unavailable: replyWith(503),
  slow: slow(2000, 6000),
  hang: delivered(never),
  /** One byte at a time. */
  drip: delivered(byteByByte),
  reset: delivered(reset),
  /** The connection ends before Content-Length is reached. */
  truncated: delivered(truncated),
  endless: delivered(endless),
  html: replyWith(
    200,
    { 'content-type': 'text/html; charset=utf-8' },
    '<!doctype html><title>Sign in</title><p>Please sign in to continue.',
  ),
  not_json: replyWith(200, {}, '{"resources": ['),

  // The reply is a listing that deviates from the documented one.
  null_page: { body: () => ({ page: null }) },
  missing_page: { body: () => ({ page: undefined }) },
  /** Page numbers and rule counts are strings. */
  text_numbers: {
    body: (body) =>
      changed(body, (name, value) => (NUMBERS.has(name) && typeof value === 'number' ? String(value) : value)),
  },
  /** A page holds between one record and the requested size. */
  short_pages: { page: ({ size }, random) => ({ size: between(random, 1, size) }) },
  ignored_offset: { page: () => ({ offset: 0 }) },
  /** The first record has the offset 1. */
  offset_from_one: { page: ({ offset }) => ({ offset: Math.max(0, offset - 1) }) },
  /** The offset is the number of a page. */
  offset_in_pages: { page: ({ offset, size }) => ({ offset: offset * size }) },
  /** Every page is cut from another order of the records. */
  unstable_order: { listing: ({ records }, random) => ({ records: shuffled(random, records) }) },
  /** The page holds all remaining records. */
  ignored_size: { page: () => ({ size: Number.MAX_SAFE_INTEGER }) },
  /** The total grows from page to page. */
  moving_total: {
    listing: ({ total, requested }) => ({ total: total + Math.ceil(requested.offset / requested.size) }),
  },
  wrong_total: { listing: ({ total }) => ({ total: total + 1 }) },
  unreadable_total: { body: ({ page }) => ({ page: page && { ...page, total: 'many' } }) },
  /** Every tenth record of the listing appears twice, and the total includes the duplicates. */
  duplicates: {
    listing: (listing) => {
      const records = listing.records.flatMap((record, at) => (at % 10 === 9 ? [record, record] : [record]));
      return { records, total: listing.total + records.length - listing.records.length };
    },
  },
  /** Every hundredth record of the listing has no id. */
  missing_ids: {
    listing: ({ records }) => ({
      records: records.map((record, at) => (at % 100 === 99 ? withoutId(record) : record)),
    }),
  },
  /** The first three records of the listing have no id. */
  three_missing_ids: withoutIds(3),
  no_ids: withoutIds(),
  /** Every tenth record of the listing has a state whose name says nothing. */
  unknown_state: {
    listing: ({ records }) => ({
      records: records.map((record, at) =>
        at % 10 === 9 ? changed(record, (name, value) => (name === 'state' ? 'ALERTSTATE_ESCALATED' : value)) : record,
      ),
    }),
  },
  numeric_state: { body: (body) => changed(body, (name, value) => (name === 'state' ? 7 : value)) },
} satisfies Readonly<Record<string, Fault>>;

/** By default with a google.rpc.Status for the status code. */
export function replyWith(status: number, headers?: SimulatedReply['headers'], body?: string | Uint8Array): Fault {
  const reply = statusReply(status, `simulated ${status}`, headers);
  return { reply: () => ({ status, headers: reply.headers, body: Buffer.from(body ?? reply.body) }) };
}

export function slow(leastMs: number, mostMs = leastMs): Fault {
  return { reply: ({ delayMs }, random) => ({ delayMs: delayMs + between(random, leastMs, mostMs) }) };
}

export function limitedPages(limit: number): Fault {
  return { page: ({ size }) => ({ size: Math.min(size, limit) }) };
}

/** The first records of the listing have no id. */
function withoutIds(count = Number.POSITIVE_INFINITY): Fault {
  return {
    listing: ({ records }) => ({ records: records.map((record, at) => (at < count ? withoutId(record) : record)) }),
  };
}

function withoutId(record: unknown): unknown {
  return changed(record, (name, value) => (name === 'resource_id' ? undefined : value));
}

export function delivered(deliver: Delivery): Fault {
  return { reply: () => ({ deliver }) };
}

const NUMBERS: ReadonlySet<string> = new Set(['offset', 'size', 'total', 'alert_rules_count']);

/** A copy of JSON, with other values where `change` returns some; undefined removes a value. */
function changed<T>(json: T, change: (name: string, value: unknown) => unknown): T {
  return JSON.parse(JSON.stringify(json), change);
}
