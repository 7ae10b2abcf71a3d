import { type AuthCheck, authProblem } from './auth.ts';
import type { FaultEffect, FilteredListing, ListingBody, PageRequest } from './faults.ts';
import type {
  FilterName,
  Filters,
  ListingRequest,
  RejectedRequest,
  RequestHead,
  StationPath,
} from './listing-request.ts';
import { jsonReply, type SimulatedReply, statusReply } from './reply.ts';

/** The records of a station; undefined: unknown station. */
export type RecordSource = (path: StationPath, atMs: number) => readonly SourceEntry[] | undefined;

/** The recorded body for exactly this request; undefined: not recorded. */
export type RecordedPages = (request: ListingRequest) => ListingBody | undefined;

interface ReplyOptions {
  readonly source: RecordSource;
  readonly replay: RecordedPages | undefined;
  readonly auth: AuthCheck | undefined;
}

/** For requests without a page size. */
const DEFAULT_PAGE_SIZE = 20;

/** The reply to a request, changed by the effects in order. */
export function replyTo(
  head: RequestHead,
  request: ListingRequest | RejectedRequest,
  effects: readonly FaultEffect[],
  options: ReplyOptions,
  atMs: number,
): SimulatedReply {
  const healthy = healthyReply(head, request, effects, options, atMs);
  return changedBy(effects, healthy, (effect, reply) => effect.reply?.(reply));
}

function healthyReply(
  head: RequestHead,
  request: ListingRequest | RejectedRequest,
  effects: readonly FaultEffect[],
  options: ReplyOptions,
  atMs: number,
): SimulatedReply {
  const problem = options.auth && authProblem(options.auth, head, atMs);
  if (problem !== undefined) return jsonReply(401, { message: problem });
  if ('status' in request)
    return statusReply(request.status, request.message, request.status === 405 ? { allow: 'GET' } : {});
  const entries = options.source(request.path, atMs);
  if (entries === undefined) return statusReply(404, `telemetry station ${JSON.stringify(request.station)} not found`);
  // A recorded body cannot show the effect of a fault on the request or the listing.
  const isChanged = effects.some((effect) => effect.page ?? effect.listing);
  const recorded = isChanged ? undefined : options.replay?.(request);
  const body = recorded ?? pageOf(entries, { ...request, size: request.size || DEFAULT_PAGE_SIZE }, effects);
  return jsonReply(
    200,
    changedBy(effects, body, (effect, before) => effect.body?.(before)),
  );
}

function pageOf(entries: readonly SourceEntry[], requested: PageRequest, effects: readonly FaultEffect[]): ListingBody {
  const { filters, offset, size } = changedBy(effects, requested, (effect, page) => effect.page?.(page));
  const selected = select(entries, filters);
  const all: FilteredListing = { records: selected, total: selected.length };
  const { records, total } = changedBy(effects, all, (effect, listing) => effect.listing?.(listing, requested));
  return { resources: records.slice(offset, offset + size), page: { offset, size, total } };
}

/** The value, changed by one effect after the other. */
function changedBy<T>(
  effects: readonly FaultEffect[],
  value: T,
  change: (effect: FaultEffect, before: T) => Partial<T> | undefined,
): T {
  let changed = value;
  for (const effect of effects) changed = { ...changed, ...change(effect, changed) };
  return changed;
}

/** A record (any JSON value), and the properties the service filters by without sending them. */
export interface SourceEntry {
  readonly record: unknown;
  readonly product?: string;
  readonly alertable?: boolean;
}

function select(entries: readonly SourceEntry[], filters: Filters): readonly unknown[] {
  const predicates = (Object.keys(filters) as FilterName[]).map((name) => FILTERS[name](new Set(filters[name])));
  return entries.filter((entry) => predicates.every((matches) => matches(entry))).map(({ record }) => record);
}

type Predicate = (entry: SourceEntry) => boolean;

const FILTERS: Readonly<Record<FilterName, (values: ReadonlySet<unknown>) => Predicate>> = {
  resource_ids: (ids) => (entry) => ids.has(fieldOf(entry.record, 'resource_id')),
  resource_type: typeAmong,
  resource_types: typeAmong,
  product: (products) => (entry) => products.has(entry.product),
  resource_display_name_prefix: (prefixes) => (entry) => {
    const displayName = fieldOf(entry.record, 'display_name');
    return typeof displayName === 'string' && [...prefixes].every((prefix) => displayName.startsWith(`${prefix}`));
  },
  enabled_alert: () => (entry) => entry.alertable === true,
};

function typeAmong(types: ReadonlySet<unknown>): Predicate {
  return (entry) => types.has(fieldOf(fieldOf(entry.record, 'resource_type'), 'key'));
}

export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
