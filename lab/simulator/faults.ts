import type { FaultName } from '../../src/cli/flag-type.ts';
import type { ListingRequest } from './listing.ts';
import { between, hash, hashText, type Random, randomFrom } from './random.ts';
import { type Delivery, never, reset, type SimulatedReply, statusReply, truncated } from './reply.ts';

export interface ListingBody {
  readonly resources?: readonly unknown[] | null | undefined;
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
  reset: delivered(reset),
  /** The connection ends before Content-Length is reached. */
  truncated: delivered(truncated),
  html: replyWith(
    200,
    { 'content-type': 'text/html; charset=utf-8' },
    '<!doctype html><title>Sign in</title><p>Please sign in to continue.',
  ),
  not_json: replyWith(200, { 'content-type': 'text/plain' }, 'no healthy upstream'),
  /** Half of the reply, as a complete one: nginx does that when the service behind it closes early. */
  cut: { reply: ({ body }) => ({ body: body.subarray(0, Math.floor(body.length / 2)) }) },

  // The reply is a listing that deviates from the documented one.
  null_page: { body: () => ({ page: null }) },
  /** Page numbers and rule counts are strings. */
  text_numbers: {
    body: (body) =>
      changed(body, (name, value) => (NUMBERS.has(name) && typeof value === 'number' ? String(value) : value)),
  },
  /** As a gateway without options: names in camelCase. */
  camel_case: { body: (body) => inCamelCase(body) as ListingBody },
  /** As protojson by default: zeros, empty texts and empty lists are left out. */
  omitted_zeros: {
    body: (body) => ({
      resources: undefined,
      ...changed(body, (_, value) => (isZero(value) ? undefined : value)),
    }),
  },
  wrong_total: wrongTotal(1),
  /** Every hundredth record of the listing has no id. */
  missing_ids: {
    listing: ({ records }) => ({
      records: records.map((record, at) => (at % 100 === 99 ? withoutId(record) : record)),
    }),
  },
  /** Every tenth record of the listing has a state whose name says nothing. */
  unknown_state: {
    listing: ({ records }) => ({
      records: records.map((record, at) =>
        at % 10 === 9 ? changed(record, (name, value) => (name === 'state' ? 'ALERTSTATE_ESCALATED' : value)) : record,
      ),
    }),
  },
} satisfies Readonly<Record<FaultName, Fault>>;

/** By default with a google.rpc.Status for the status code. */
export function replyWith(status: number, headers?: SimulatedReply['headers'], body?: string | Uint8Array): Fault {
  const reply = statusReply(status, `simulated ${status}`, headers);
  return { reply: () => ({ status, headers: reply.headers, body: Buffer.from(body ?? reply.body) }) };
}

export function slow(leastMs: number, mostMs = leastMs): Fault {
  return { reply: ({ delayMs }, random) => ({ delayMs: delayMs + between(random, leastMs, mostMs) }) };
}

export function wrongTotal(delta: number): Fault {
  return { listing: ({ total }) => ({ total: total + delta }) };
}

export function limitedPages(limit: number): Fault {
  return { page: ({ size }) => ({ size: Math.min(size, limit) }) };
}

function withoutId(record: unknown): unknown {
  return changed(record, (name, value) => (name === 'resource_id' ? undefined : value));
}

export function delivered(deliver: Delivery): Fault {
  return { reply: () => ({ deliver }) };
}

function isZero(value: unknown): boolean {
  return value === 0 || value === '' || (Array.isArray(value) && value.length === 0);
}

function inCamelCase(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(inCamelCase);
  if (typeof json !== 'object' || json === null) return json;
  const renamed = Object.entries(json).map(([name, value]) => [
    name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    inCamelCase(value),
  ]);
  return Object.fromEntries(renamed);
}

const NUMBERS: ReadonlySet<string> = new Set(['offset', 'size', 'total', 'alert_rules_count']);

/** A copy of JSON, with other values where `change` returns some; undefined removes a value. */
function changed<T>(json: T, change: (name: string, value: unknown) => unknown): T {
  return JSON.parse(JSON.stringify(json), change);
}
