import { type Clock, systemClock } from '../model/clock.ts';
import { ListingFailure, RecordLimitFailure } from '../model/failure.ts';
import type {
  Listing,
  ListingContext,
  ListingFilters,
  ListingQuery,
  RecordAccount,
  RecordAccounts,
  StationSource,
} from '../model/listing.ts';
import type { Resource } from '../model/resource.ts';
import type { TaskQueue } from '../model/task-queue.ts';
import type { UpstreamOptions } from '../model/upstream-options.ts';
import type { ReadBody, SmallerPath } from './http/client.ts';
import type { ListedPage, ListingObserver } from './http/observer.ts';
import { listPages } from './paging/list-pages.ts';
import { type ListingAttempt, PageCache } from './paging/page-cache.ts';
import { PageSize, type ReadRow, type RowProgress, readPage } from './protocol/page.ts';
import type { RunTask } from './protocol/page-json.ts';
import { InternedTexts, readId, readResource, rowFinder } from './protocol/record.ts';

type Get = <T>(pathAndQuery: string, context: ListingContext, read: ReadBody<T>, smaller: SmallerPath) => Promise<T>;

interface SourceOptions extends Pick<UpstreamOptions, 'baseUrl' | 'listStyle' | 'pageSize' | 'concurrency'> {
  /** Up to which age the pages that a failed refresh has received are reused by the next one; default: none are. */
  readonly reusePagesMs?: number;
}

interface SharedState {
  /** Bounds the records that are held. */
  readonly records?: RecordAccounts;
  /** Shared by the stations of an upstream, whose types, states and skus are mostly the same. */
  readonly texts?: InternedTexts;
  readonly clock?: Pick<Clock, 'elapsedMs'>;
}

/** Implements the port of one station with the service's protocol. */
export function stationSource(
  get: Get,
  options: SourceOptions,
  tasks: TaskQueue,
  observer: Partial<ListingObserver> = {},
  { records, texts = new InternedTexts(), clock = systemClock }: SharedState = {},
): StationSource {
  let account: RecordAccount | undefined;
  let latest: Refresh | undefined;
  const refreshOf = (context: ListingContext): Refresh => {
    if (latest?.context === context) return latest;
    const pageSize = new PageSize(options.pageSize, (size) => observer.pageSizeReduced?.(context, size));
    latest = { context, pageSize, followsFailure: latest?.hasFailed ?? false, hasFailed: false };
    return latest;
  };
  const lister = <Row>(rows: ListedPage['rows'], readRow: ReadRow<Row>, idOf: (row: Row) => string) => {
    const pageCaches = new Map<string, PageCache<Row>>();
    const readBody = (body: Uint8Array, before: readonly Row[], run: RunTask, progress: RowProgress) =>
      readPage(body, readRow, run, progress, rowFinder(before, idOf)).catch((error: unknown) => {
        if (error instanceof ListingFailure && !(error instanceof RecordLimitFailure)) observer.unreadable?.();
        throw error;
      });
    return async (query: ListingQuery, context: ListingContext): Promise<Listing<Row>> => {
      const path = listingPath(query, options);
      const run: RunTask = async (task) => {
        context.signal.throwIfAborted();
        return tasks.run(task);
      };
      const refresh = refreshOf(context);
      const { pageSize, followsFailure } = refresh;
      const reuseMs = followsFailure ? options.reusePagesMs : undefined;
      const pageCache = pageCaches.get(path) ?? new PageCache<Row>();
      pageCaches.set(path, pageCache);
      account ??= records?.open(context.station);
      const count = account?.start(`${rows} ${path}`, context.signal);
      const counts = new PageCounts(rows, (change) => count?.add(change));
      const list = (attempt: ListingAttempt<Row>) => {
        const request = async (offset: number, size: number) => {
          let requested = pageSize.atMost(size);
          const currentPath = () => pagePath(path, offset, requested);
          const smaller = () => {
            const less = pageSize.below(requested);
            requested = less ?? requested;
            return less === undefined ? undefined : currentPath();
          };
          const read = async (body: Uint8Array) => {
            const progress = counts.of(currentPath());
            const range = { offset, size: requested };
            const page = await attempt.read(currentPath(), range, body, run, (bytes, before) =>
              readBody(bytes, before, run, progress),
            );
            progress(page.rows.length, page.textLength);
            const { received, total } = page;
            observer.pageReceived?.({ rows, query, offset, size: requested, received, total, body });
            return page;
          };
          const page = await get(currentPath(), context, read, smaller);
          return { page, requested, requests: 1, path: currentPath() };
        };
        const fetchFirst = async (size: number) => {
          counts.restart();
          const first = await request(0, size);
          const further = attempt.start(first.path, first.page, idOf);
          if (further === undefined) return first;
          const checked = await request(further.offset, further.size);
          attempt.check(checked.path, checked.page, idOf);
          return { ...first, requests: 2 };
        };
        const fetchPage = async (offset: number, size: number) => {
          if (offset === 0) return fetchFirst(size);
          const requested = pageSize.atMost(size);
          const page = attempt.reuse(pagePath(path, offset, requested));
          if (page === undefined) return request(offset, size);
          counts.of(pagePath(path, offset, requested))(page.rows.length, page.textLength);
          return { page, requested, requests: 0 };
        };
        return listPages(fetchPage, { ...options, idOf, run });
      };
      try {
        const listing = await pageCache.list({ reuseMs, nowMs: clock.elapsedMs }, list);
        count?.keep();
        return listing;
      } catch (error) {
        refresh.hasFailed = true;
        const isReusable = options.reusePagesMs !== undefined && !(error instanceof RecordLimitFailure);
        if (!isReusable) pageCache.forget();
        throw error;
      }
    };
  };
  return {
    listResources: lister<Resource>(
      'resources',
      (record, find) => readResource(record, texts, find),
      ({ id }) => id,
    ),
    listIds: lister<string>('ids', readId, (id) => id),
  };
}

/** Characters of a usual record: one with longer texts counts several times. */
const RECORD_CHARACTERS = 512;

/** Of a further listing only the ids are kept. */
const IDS_PER_RECORD = 3;

/** How many records rows with so many characters count as. */
function recordsOf(kind: ListedPage['rows'], rows: number, textLength: number): number {
  return Math.ceil(Math.max(1, kind === 'ids' ? rows / IDS_PER_RECORD : rows, textLength / RECORD_CHARACTERS));
}

/** Counts the records of pages as their rows are read; a page that is read again replaces the earlier one. */
class PageCounts {
  readonly #kind: ListedPage['rows'];
  readonly #add: (change: number) => void;
  readonly #counted = new Map<string, number>();

  constructor(kind: ListedPage['rows'], add: (change: number) => void) {
    this.#kind = kind;
    this.#add = add;
  }

  of(path: string): RowProgress {
    return (rows, textLength) => {
      const records = recordsOf(this.#kind, rows, textLength);
      this.#add(records - (this.#counted.get(path) ?? 0));
      this.#counted.set(path, records);
    };
  }

  /** Every pass replaces the one before. */
  restart(): void {
    for (const records of this.#counted.values()) this.#add(-records);
    this.#counted.clear();
  }
}

/** What the listings of a refresh share. */
interface Refresh {
  readonly context: ListingContext;
  readonly pageSize: PageSize;
  readonly followsFailure: boolean;
  hasFailed: boolean;
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
  if (filters.displayNamePrefix !== undefined)
    yield ['resource_display_name_prefix', encoded(filters.displayNamePrefix)];
  if (filters.enabledAlert !== undefined) yield ['enabled_alert', String(filters.enabledAlert)];
}

function* list(
  name: string,
  values: readonly string[] = [],
  style: PathStyle['listStyle'],
): Iterable<[string, string]> {
  if (style === 'repeat') for (const value of values) yield [name, encoded(value)];
  else if (values.length > 0) yield [name, values.map(encoded).join(',')];
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
