import { createHash, hash } from 'node:crypto';
import { ListingFailure } from '../station/failure.ts';
import type { Listing, ListingContext, ListingFilters, ListingQuery, StationSource } from '../station/listing.ts';
import { type RecordAccount, type RecordBudget, RecordLimitFailure } from '../station/record-budget.ts';
import type { Resource } from '../station/resource.ts';
import type { TaskQueue } from '../station/task-queue.ts';
import type { ReadBody, SmallerPath } from './client.ts';
import { listPages } from './list-pages.ts';
import type { ListedPage, ListingObserver } from './observer.ts';
import type { UpstreamOptions } from './options.ts';
import { type Page, PageSize, type ReadRow, type RowProgress, readPage } from './page.ts';
import type { RunTask } from './page-json.ts';
import { InternedTexts, readId, readResource } from './record.ts';

type Get = <T>(pathAndQuery: string, context: ListingContext, read: ReadBody<T>, smaller: SmallerPath) => Promise<T>;

type SourceOptions = Pick<UpstreamOptions, 'baseUrl' | 'listStyle' | 'pageSize' | 'concurrency'>;

interface SharedState {
  /** Bounds the records that are held. */
  readonly records?: RecordBudget;
  /** Shared by the stations of an upstream, whose types, states and skus are mostly the same. */
  readonly texts?: InternedTexts;
}

/** Implements the port of one station with the service's protocol. */
export function stationSource(
  get: Get,
  options: SourceOptions,
  tasks: TaskQueue,
  observer: Partial<ListingObserver> = {},
  { records, texts = new InternedTexts() }: SharedState = {},
): StationSource {
  let account: RecordAccount | undefined;
  // All listings of a refresh share one context and therefore one page size.
  const pageSizes = new WeakMap<ListingContext, PageSize>();
  const pageSizeOf = (context: ListingContext) => {
    const pageSize = pageSizes.get(context) ?? new PageSize(options.pageSize, (size) => observer.pageSizeReduced?.(context, size));
    pageSizes.set(context, pageSize);
    return pageSize;
  };
  const lister = <Row>(rows: ListedPage['rows'], readRow: ReadRow<Row>, idOf: (row: Row) => string) => {
    const pageCaches = new Map<string, PageCache<Row>>();
    const readBody = (body: Uint8Array, run: RunTask, progress: RowProgress) =>
      readPage(body, readRow, run, progress).catch((error: unknown) => {
        if (error instanceof ListingFailure && !(error instanceof RecordLimitFailure)) observer.unreadable?.();
        throw error;
      });
    return async (query: ListingQuery, context: ListingContext): Promise<Listing<Row>> => {
      const path = listingPath(query, options);
      const run: RunTask = async (task) => {
        context.signal.throwIfAborted();
        return tasks.run(task);
      };
      const pageSize = pageSizeOf(context);
      const pageCache = pageCaches.get(path) ?? new PageCache<Row>();
      pageCaches.set(path, pageCache);
      account ??= records?.open(context.station);
      const count = account?.start(`${rows} ${path}`, context.signal);
      const countPage = pageCounts(rows, (change) => count?.add(change));
      const listing = await pageCache.reuse((readThrough) => {
        const fetchPage = async (offset: number, size: number) => {
          let requested = pageSize.atMost(size);
          const currentPath = () => pagePath(path, offset, requested);
          const smaller = () => {
            const less = pageSize.below(requested);
            requested = less ?? requested;
            return less === undefined ? undefined : currentPath();
          };
          const read = async (body: Uint8Array) => {
            const progress = countPage(currentPath());
            const page = await readThrough(currentPath(), body, run, (bytes) => readBody(bytes, run, progress));
            progress(page.rows.length, page.textLength);
            const { received, total } = page;
            observer.pageReceived?.({ rows, query, offset, size: requested, received, total, body });
            return page;
          };
          const page = await get(currentPath(), context, read, smaller);
          return { page, requested };
        };
        return listPages(fetchPage, { ...options, idOf });
      });
      count?.keep();
      return listing;
    };
  };
  return {
    listResources: lister<Resource>(
      'resources',
      (record) => readResource(record, texts),
      ({ id }) => id,
    ),
    listIds: lister<string>('ids', readId, (id) => id),
  };
}

/** Characters of a usual record: one with longer texts counts several times. */
const RECORD_CHARACTERS = 512;

/** Of a further listing only the ids are kept. */
const IDS_PER_RECORD = 3;

/** Counts the records of pages as their rows are read; a page that is read again replaces the earlier one. */
function pageCounts(kind: ListedPage['rows'], add: (change: number) => void): (path: string) => RowProgress {
  const counted = new Map<string, number>();
  return (path) => (rows, textLength) => {
    const records = Math.ceil(Math.max(1, kind === 'ids' ? rows / IDS_PER_RECORD : rows, textLength / RECORD_CHARACTERS));
    add(records - (counted.get(path) ?? 0));
    counted.set(path, records);
  };
}

interface CachedPage<Row> {
  readonly digest: string;
  readonly page: Page<Row>;
}

/** The pages of the previous listing: a page with the same bytes is not parsed again. */
class PageCache<Row> {
  #pages: ReadonlyMap<string, CachedPage<Row>> = new Map();

  /** Runs a listing that reads its pages through the cache; afterwards the cache holds the pages of that listing only. */
  async reuse<T>(list: (read: ReadThrough<Row>) => Promise<T>): Promise<T> {
    const pages = new Map<string, CachedPage<Row>>();
    const listed = await list(async (path, body, run, read) => {
      const digest = await digestOf(body, run);
      const cached = this.#pages.get(path);
      const page = cached?.digest === digest ? cached.page : await read(body);
      pages.set(path, { digest, page });
      return page;
    });
    this.#pages = pages;
    return listed;
  }
}

/** Returns the cached page of this path if its bytes are the same, else reads it. */
type ReadThrough<Row> = (
  path: string,
  body: Uint8Array,
  run: RunTask,
  read: (body: Uint8Array) => Promise<Page<Row>>,
) => Promise<Page<Row>>;

/** Bytes hashed in one event-loop iteration. */
const HASHED_BYTES = 1024 * 1024;

async function digestOf(body: Uint8Array, run: RunTask): Promise<string> {
  if (body.length <= HASHED_BYTES) return run(() => hash('sha256', body, 'base64'));
  const digest = createHash('sha256');
  for (let at = 0; at < body.length; at += HASHED_BYTES) await run(() => digest.update(body.subarray(at, at + HASHED_BYTES)));
  return digest.digest('base64');
}

interface PathStyle {
  readonly baseUrl: URL;
  readonly listStyle: 'repeat' | 'comma';
}

/** The path and query of a listing without paging, encoded as sent: signatures cover exactly these characters. */
function listingPath({ path, filters }: ListingQuery, { baseUrl, listStyle }: PathStyle): string {
  const parts = [
    ...['monitor', 'ts', 'data', 'v1'],
    ...['subscriptions', path.subscription],
    ...['resourceGroups', path.resourceGroup],
    ...['zones', path.zone],
    ...['telemetryStations', path.telemetryStation],
    'resources',
  ];
  const query = [...filterParameters(filters, listStyle)].map(([name, value]) => `${name}=${value}&`).join('');
  return `${baseUrl.pathname.replace(/\/+$/, '')}/${parts.map(encoded).join('/')}?${query}`;
}

function pagePath(listing: string, offset: number, size: number): string {
  return `${listing}page.offset=${offset}&page.size=${size}`;
}

function* filterParameters(filters: ListingFilters, listStyle: PathStyle['listStyle']): Iterable<[string, string]> {
  yield* list('resource_ids', filters.resourceIds, listStyle);
  if (filters.resourceType !== undefined) yield ['resource_type', encoded(filters.resourceType)];
  yield* list('resource_types', filters.resourceTypes, listStyle);
  if (filters.product !== undefined) yield ['product', encoded(filters.product)];
  if (filters.displayNamePrefix !== undefined) yield ['resource_display_name_prefix', encoded(filters.displayNamePrefix)];
  if (filters.enabledAlert !== undefined) yield ['enabled_alert', String(filters.enabledAlert)];
}

function* list(name: string, values: readonly string[] = [], style: PathStyle['listStyle']): Iterable<[string, string]> {
  if (style === 'repeat') for (const value of values) yield [name, encoded(value)];
  else if (values.length > 0) yield [name, values.map(encoded).join(',')];
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
