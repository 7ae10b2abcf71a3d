import { gzipSync } from 'node:zlib';
import type { FaultEffect, ListingBody, ListingFault, ReplyFault } from './faults.ts';
import { between, type Random, shuffled } from './random.ts';
import { jsonReply, type ReplyDelivery, type SimulatedReply, statusReply, textReply, withHeaders } from './reply.ts';

type ReplyFaultOf<Kind extends ReplyFault['kind']> = Extract<ReplyFault, { readonly kind: Kind }>;

export const replyFaultEffects: {
  readonly [Kind in ReplyFault['kind']]: (fault: ReplyFaultOf<Kind>, random: Random) => FaultEffect;
} = {
  reset: ({ at = 'start' }) => deliveredBy({ mode: 'reset', at }),
  hang: () => deliveredBy({ mode: 'hang' }),
  headersOnly: () => deliveredBy({ mode: 'headersOnly' }),
  drip: ({ everyMs = 50 }) => deliveredBy({ mode: 'drip', everyMs }),
  truncate: () => deliveredBy({ mode: 'truncate' }),
  endless: () => deliveredBy({ mode: 'endless' }),
  html: () =>
    replacedBy(
      textReply(200, 'text/html; charset=utf-8', '<!doctype html><title>Sign in</title><p>Please sign in to continue.'),
    ),
  notJson: () => replacedBy(textReply(200, 'application/json', '{"resources": [')),
  wrongJson: ({ value }) => replacedBy(jsonReply(200, value)),
  bytes: ({ body }) => replacedBy({ ...textReply(200, 'application/json', ''), body }),
  redirect: ({ location }) => replacedBy(withHeaders(textReply(302, 'text/plain', ''), { location })),
  status: (fault) => replacedBy(failedReply(fault)),
  latency: ({ ms }, random) => {
    const delayMs = typeof ms === 'number' ? ms : between(random, ...ms);
    return { onReply: (reply) => ({ ...reply, delayMs: reply.delayMs + delayMs }) };
  },
  gzip: () => ({
    onReply: (reply) => ({ ...withHeaders(reply, { 'content-encoding': 'gzip' }), body: gzipSync(reply.body) }),
  }),
};

function deliveredBy(delivery: ReplyDelivery): FaultEffect {
  return { onReply: (reply) => ({ ...reply, delivery }) };
}

/** Keeps the delay and delivery of the replaced reply. */
function replacedBy(other: SimulatedReply): FaultEffect {
  return { onReply: ({ delayMs, delivery }) => ({ ...other, delayMs, delivery }) };
}

function failedReply({ code, retryAfter, body, headers = {} }: ReplyFaultOf<'status'>): SimulatedReply {
  const reply = body === undefined ? statusReply(code, `simulated ${code}`) : textReply(code, 'text/plain', body);
  return withHeaders(reply, retryAfter === undefined ? headers : { 'retry-after': String(retryAfter), ...headers });
}

type ListingFaultOf<Kind extends ListingFault['kind']> = Extract<ListingFault, { readonly kind: Kind }>;

export const listingFaultEffects: {
  readonly [Kind in ListingFault['kind']]: (fault: ListingFaultOf<Kind>, random: Random) => FaultEffect;
} = {
  nullPage: () => ({ onBody: (body) => ({ ...body, page: null }) }),
  missingPage: () => ({ onBody: ({ resources }) => ({ resources }) }),
  textNumbers: () => ({ onBody: (body) => onPage(onRecords(body, withTextRuleCount), textNumbers) }),
  pageCap: ({ size }) => ({ onPageRequest: (page) => ({ ...page, size: Math.min(page.size, size) }) }),
  randomCap: (_, random) => ({ onPageRequest: (page) => ({ ...page, size: between(random, 1, page.size) }) }),
  ignoreOffset: () => ({ onPageRequest: (page) => ({ ...page, offset: 0 }) }),
  offsetFromOne: () => ({ onPageRequest: (page) => ({ ...page, offset: Math.max(0, page.offset - 1) }) }),
  offsetInPages: () => ({ onPageRequest: (page) => ({ ...page, offset: page.offset * page.size }) }),
  unstableOrder: (_, random) => ({
    onListing: ({ records, total }) => ({ records: shuffled(random, records), total }),
  }),
  ignoreSize: ({ size = Number.MAX_SAFE_INTEGER }) => ({ onPageRequest: (page) => ({ ...page, size }) }),
  ignoreFilter: ({ name }) => ({
    onPageRequest({ filters: { [name]: _, ...filters }, ...page }) {
      return { ...page, filters };
    },
  }),
  totalMoves: ({ by = 1 }) => ({
    onListing: ({ records, total }, { offset, size }) => ({ records, total: total + by * Math.ceil(offset / size) }),
  }),
  totalLies: ({ delta }) => ({ onListing: ({ records, total }) => ({ records, total: total + delta }) }),
  totalIs: ({ total }) => ({ onBody: (body) => onPage(body, (page) => ({ ...page, total })) }),
  omitTotal: () => ({ onBody: (body) => onPage(body, ({ total: _, ...page }) => page) }),
  rowShift: ({ rows, keepTotal = false }) => ({
    onListing({ records, total }, { offset }) {
      if (offset === 0) return { records, total };
      return { records: [...rows, ...records], total: keepTotal ? total : total + rows.length };
    },
  }),
  duplicate: ({ every = 1, counted = false }) => ({
    onListing({ records, total }) {
      const repeated = records.flatMap((record, index) => ((index + 1) % every === 0 ? [record, record] : [record]));
      return { records: repeated, total: counted ? total + repeated.length - records.length : total };
    },
  }),
  missingIds: ({ every }) => ({
    onListing: ({ records, total }) => ({
      records: records.map((record, index) => ((index + 1) % every === 0 ? withoutId(record) : record)),
      total,
    }),
  }),
  nullResources: () => ({
    onBody: (body) => (body.resources?.length === 0 ? { ...body, resources: null } : body),
  }),
  numericState: ({ state }) => ({ onBody: (body) => onRecords(body, (record) => ({ ...record, state })) }),
};

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

function withoutId(record: unknown): unknown {
  return isObject(record) ? { ...record, resource_id: undefined } : record;
}

function withTextRuleCount(record: object): object {
  return 'alert_rules_count' in record
    ? { ...record, ...textNumbers({ alert_rules_count: record.alert_rules_count }) }
    : record;
}
