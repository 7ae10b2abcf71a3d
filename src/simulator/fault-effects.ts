import { gzipSync } from 'node:zlib';
import type { Effect, Envelope, Failure, Quirk } from './faults.ts';
import { between, type Random } from './random.ts';
import { type Delivery, jsonReply, type Reply, statusReply, textReply, withHeaders } from './reply.ts';

type FailureOf<Kind extends Failure['kind']> = Extract<Failure, { readonly kind: Kind }>;

export const failureEffects: { readonly [Kind in Failure['kind']]: (failure: FailureOf<Kind>, random: Random) => Effect } = {
  reset: ({ at = 'start' }) => delivered({ how: 'reset', at }),
  hang: () => delivered({ how: 'hang' }),
  headersOnly: () => delivered({ how: 'headersOnly' }),
  drip: ({ everyMs = 50 }) => delivered({ how: 'drip', everyMs }),
  truncate: () => delivered({ how: 'truncate' }),
  endless: () => delivered({ how: 'endless' }),
  html: () => instead(textReply(200, 'text/html; charset=utf-8', '<!doctype html><title>Sign in</title><p>Please sign in to continue.')),
  notJson: () => instead(textReply(200, 'application/json', '{"resources": [')),
  wrongJson: ({ value }) => instead(jsonReply(200, value)),
  bytes: ({ body }) => instead({ ...textReply(200, 'application/json', ''), body }),
  redirect: ({ location }) => instead(withHeaders(textReply(302, 'text/plain', ''), { location })),
  status: (failure) => instead(failedReply(failure)),
  latency: ({ ms }, random) => {
    const delayMs = typeof ms === 'number' ? ms : between(random, ...ms);
    return { onReply: (reply) => ({ ...reply, delayMs: reply.delayMs + delayMs }) };
  },
  gzip: () => ({
    onReply: (reply) => ({ ...withHeaders(reply, { 'content-encoding': 'gzip' }), body: gzipSync(reply.body) }),
  }),
};

function delivered(delivery: Delivery): Effect {
  return { onReply: (reply) => ({ ...reply, delivery }) };
}

/** Another reply, as late and by the same way as the one it replaces. */
function instead(other: Reply): Effect {
  return { onReply: ({ delayMs, delivery }) => ({ ...other, delayMs, delivery }) };
}

function failedReply({ code, retryAfter, body, headers = {} }: FailureOf<'status'>): Reply {
  const reply = body === undefined ? statusReply(code, `simulated ${code}`) : textReply(code, 'text/plain', body);
  return withHeaders(reply, retryAfter === undefined ? headers : { 'retry-after': String(retryAfter), ...headers });
}

type QuirkOf<Kind extends Quirk['kind']> = Extract<Quirk, { readonly kind: Kind }>;

export const quirkEffects: { readonly [Kind in Quirk['kind']]: (quirk: QuirkOf<Kind>, random: Random) => Effect } = {
  nullPage: () => ({ onEnvelope: (envelope) => ({ ...envelope, page: null }) }),
  missingPage: () => ({ onEnvelope: ({ resources }) => ({ resources }) }),
  textNumbers: () => ({ onEnvelope: (envelope) => onPage(onRecords(envelope, textRules), textNumbers) }),
  pageCap: ({ size }) => ({ onAsked: (asked) => ({ ...asked, size: Math.min(asked.size, size) }) }),
  randomCap: (_, random) => ({ onAsked: (asked) => ({ ...asked, size: between(random, 1, asked.size) }) }),
  ignoreOffset: () => ({ onAsked: (asked) => ({ ...asked, offset: 0 }) }),
  ignoreSize: ({ size = Number.MAX_SAFE_INTEGER }) => ({ onAsked: (asked) => ({ ...asked, size }) }),
  ignoreFilter: ({ name }) => ({
    onAsked({ filters: { [name]: _, ...filters }, ...asked }) {
      return { ...asked, filters };
    },
  }),
  totalMoves: ({ by = 1 }) => ({
    onRows: ({ records, total }, { offset, size }) => ({ records, total: total + by * Math.ceil(offset / size) }),
  }),
  totalLies: ({ delta }) => ({ onRows: ({ records, total }) => ({ records, total: total + delta }) }),
  totalIs: ({ total }) => ({ onEnvelope: (envelope) => onPage(envelope, (page) => ({ ...page, total })) }),
  omitTotal: () => ({ onEnvelope: (envelope) => onPage(envelope, ({ total: _, ...page }) => page) }),
  rowShift: ({ rows, keepTotal = false }) => ({
    onRows({ records, total }, { offset }) {
      if (offset === 0) return { records, total };
      return { records: [...rows, ...records], total: keepTotal ? total : total + rows.length };
    },
  }),
  duplicate: ({ every = 1, counted = false }) => ({
    onRows({ records, total }) {
      const repeated = records.flatMap((record, index) => ((index + 1) % every === 0 ? [record, record] : [record]));
      return { records: repeated, total: counted ? total + repeated.length - records.length : total };
    },
  }),
  missingIds: ({ every }) => ({
    onRows: ({ records, total }) => ({
      records: records.map((record, index) => ((index + 1) % every === 0 ? withoutId(record) : record)),
      total,
    }),
  }),
  nullResources: () => ({
    onEnvelope: (envelope) => (envelope.resources?.length === 0 ? { ...envelope, resources: null } : envelope),
  }),
  numericState: ({ state }) => ({ onEnvelope: (envelope) => onRecords(envelope, (record) => ({ ...record, state })) }),
};

function onPage(envelope: Envelope, change: (page: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>): Envelope {
  return envelope.page ? { ...envelope, page: change(envelope.page) } : envelope;
}

function onRecords({ resources, ...rest }: Envelope, change: (record: object) => object): Envelope {
  const changed = resources?.map((record) => (isObject(record) ? change(record) : record));
  return { ...rest, resources: changed ?? null };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textNumbers(values: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]));
}

function withoutId(record: unknown): unknown {
  return isObject(record) ? { ...record, resource_id: undefined } : record;
}

function textRules(record: object): object {
  return 'alert_rules_count' in record ? { ...record, ...textNumbers({ alert_rules_count: record.alert_rules_count }) } : record;
}
