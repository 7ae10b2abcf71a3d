import { createCipheriv, randomBytes } from 'node:crypto';
import { ListingFailure, RecordLimitFailure } from '../model/failure.ts';
import type {
  Listing,
  ListingKind,
  QueryFilters,
  RecordCounter,
  RefreshContext,
  StationPath,
  StationSource,
} from '../model/listing.ts';
import type { SerialQueue } from '../tasks/serial-queue.ts';
import { yieldToEventLoop } from '../tasks/yield-to-event-loop.ts';
import type { UpstreamClient } from './http/client.ts';
import type { PageBody } from './http/content-coding.ts';
import { listPages, type PlacedPage } from './paging/list-pages.ts';
import { type Page, readPage } from './protocol/page.ts';
import { RequestFailure } from './request-failure.ts';
import type { ListingObserver } from './request-observer.ts';
import type { UpstreamOptions } from './upstream-options.ts';

type SourceOptions = Pick<UpstreamOptions, 'baseUrl' | 'listStyle' | 'pageSize' | 'concurrency'>;

/** What the stations of an upstream share. */
interface Service {
  readonly client: Pick<UpstreamClient, 'get'>;
  readonly options: SourceOptions;
  /** Replies are read one at a time, or those that arrive together would block the event loop together, and be parsed in memory together. */
  readonly replies: SerialQueue;
  /** The page size of stations for which that of the options is too large. */
  readonly reducedPageSizes: Map<string, number>;
  readonly observer?: Partial<ListingObserver>;
  /** Bounds the records in memory. */
  readonly records?: RecordCounter | undefined;
}

/** Implements the port of one station with the service's protocol. */
export function stationSource(station: StationPath, service: Service): StationSource {
  const reader = new StationReader(station, service);
  return {
    lister: <Row>(kind: ListingKind<Row>) => {
      const pages: ListedPages<Row> = new Map();
      return (filters, context) => reader.list({ kind, pages, filters, context });
    },
  };
}

/** The pages of each listing of a kind when it last succeeded, by the listing's path. */
type ListedPages<Row> = Map<string, ReadonlyMap<string, CachedPage<Row>>>;

interface CachedPage<Row> {
  /** A digest of the page's bytes as they came. */
  readonly digest: string;
  readonly page: Page<Row>;
}

/** A listing that is being read. */
interface UnfinishedListing<Row> {
  readonly kind: ListingKind<Row>;
  readonly pages: ListedPages<Row>;
  readonly filters: QueryFilters;
  readonly context: RefreshContext;
  readonly path: string;
  /** The pages read, by their paths. */
  readonly read: Map<string, CachedPage<Row>>;
  /** Records read by the current pass. */
  records: number;
}

/** Smaller pages cannot be too large for a service. */
const MIN_PAGE_SIZE = 10;

/** Reads the listings of one station. */
class StationReader {
  readonly #station: StationPath;
  readonly #service: Service;
  /** The page size of a refresh in which a page may have been too large: it was throttled again and again. */
  readonly #triedSizes = new WeakMap<RefreshContext, number>();
  /** The number of records of the largest page so far. */
  #largestPage = 0;
  /** The number of records of each listing that are in memory, by kind and path. */
  readonly #kept = new Map<string, number>();

  constructor(station: StationPath, service: Service) {
    this.#station = station;
    this.#service = service;
  }

  async list<Row>(requested: Omit<UnfinishedListing<Row>, 'path' | 'read' | 'records'>): Promise<Listing<Row>> {
    const { options, records } = this.#service;
    const { kind, pages, filters, context } = requested;
    const path = listingPath(this.#station, kind.path, filters, options);
    const listing: UnfinishedListing<Row> = { ...requested, path, read: new Map(), records: 0 };
    const listed = await listPages((offset, size) => this.#fetch(listing, offset, size), { ...options, kind });
    // An aborted refresh keeps nothing: its station may have been replaced.
    context.signal.throwIfAborted();
    records?.keep(context.station, this.#recordsWith(listing));
    this.#kept.set(listingKey(listing), listing.records);
    pages.set(path, listing.read);
    const pageSize = this.#pageSizeOf(context);
    return pageSize < options.pageSize ? { ...listed, reducedPageSize: pageSize } : listed;
  }

  async #fetch<Row>(listing: UnfinishedListing<Row>, offset: number, size: number): Promise<PlacedPage<Row>> {
    const { kind, filters, context, path } = listing;
    const { client, observer, replies } = this.#service;
    // A further pass replaces an earlier one of the refresh.
    if (offset === 0) listing.records = 0;
    let requested = Math.min(size, this.#pageSizeOf(context));
    const currentPath = () => `${path}page.offset=${offset}&page.size=${requested}`;
    const smaller = (isTooLarge: boolean) => {
      if (requested <= MIN_PAGE_SIZE) {
        // A proxy that rejects every page may do so for some minutes only.
        if (isTooLarge) this.#service.reducedPageSizes.delete(context.station);
        return undefined;
      }
      requested = this.#reducedPageSize(context, requested, isTooLarge);
      return currentPath();
    };
    const read = async (body: PageBody, secrets: readonly string[] = []) => {
      const page = await replies.run(async () => {
        await yieldToEventLoop();
        return this.#read(listing, currentPath(), body, secrets);
      });
      const { received, total } = page;
      this.#accepted(context, requested, received);
      const query = { path: this.#station, filters };
      const place = { kind: kind.name, query, offset, size: requested };
      observer?.pageReceived?.({ ...place, received, total, body: await body.plain() });
      return page;
    };
    const page = await client.get(currentPath(), context, read, smaller).catch((error) => {
      throw smallestPageFailure(error, offset, requested);
    });
    return { offset, page, requested };
  }

  /** A page whose bytes did not change since the listing before is neither unpacked nor parsed again, and stays the same object. */
  async #read<Row>(
    listing: UnfinishedListing<Row>,
    pagePath: string,
    body: PageBody,
    secrets: readonly string[],
  ): Promise<Page<Row>> {
    const { kind, pages, path, read, context } = listing;
    const counted = (received: number) => this.#count(listing, received);
    try {
      context.signal.throwIfAborted();
      const digest = digestOf(body.bytes);
      const before = pages.get(path)?.get(pagePath);
      const isSame = before?.digest === digest;
      if (isSame) counted(before.page.received);
      const options = { before: before?.page, counted, signal: context.signal, secrets };
      const page = isSame ? before.page : await readPage(await body.plain(), kind, options);
      read.set(pagePath, { digest, page });
      return page;
    } catch (error) {
      // The request has not failed when there are too many records.
      const isFailed = error instanceof ListingFailure && !(error instanceof RecordLimitFailure);
      if (isFailed) this.#service.observer?.readFailed?.(error.reason);
      throw error;
    }
  }

  /** Fails a refresh that reads too many records. */
  #count<Row>(listing: UnfinishedListing<Row>, received: number): void {
    listing.records += Math.ceil(received / (listing.kind.rowsPerRecord ?? 1));
    this.#service.records?.check(listing.context.station, this.#recordsWith(listing));
  }

  /** The records of the station with those that the listing has read. */
  #recordsWith<Row>(listing: UnfinishedListing<Row>): number {
    const key = listingKey(listing);
    let { records } = listing;
    for (const [other, kept] of this.#kept) if (other !== key) records += kept;
    return records;
  }

  #pageSizeOf(context: RefreshContext): number {
    const { options, reducedPageSizes } = this.#service;
    const known = reducedPageSizes.get(context.station) ?? options.pageSize;
    return Math.min(known, this.#triedSizes.get(context) ?? known);
  }

  /** Halved when a page is rejected as too large; concurrent pages that fail alike reduce it once. */
  #reducedPageSize(context: RefreshContext, rejected: number, isTooLarge: boolean): number {
    if (rejected <= this.#pageSizeOf(context)) {
      const size = Math.max(MIN_PAGE_SIZE, Math.floor(rejected / 2));
      if (isTooLarge) this.#service.reducedPageSizes.set(context.station, size);
      else this.#triedSizes.set(context, size);
      this.#service.observer?.pageSizeReduced?.(context, size);
    }
    return this.#pageSizeOf(context);
  }

  /** A smaller page that was only tried was the solution, as far as is known, if it was full and no larger one has ever been accepted. */
  #accepted(context: RefreshContext, requested: number, received: number): void {
    this.#largestPage = Math.max(this.#largestPage, received);
    const triedSize = this.#triedSizes.get(context);
    if (triedSize === undefined || received < requested || this.#largestPage > triedSize) return;
    this.#service.reducedPageSizes.set(context.station, this.#pageSizeOf(context));
  }
}

/** Says of a page that cannot be smaller that it is too large, and where it is. */
function smallestPageFailure(error: unknown, offset: number, size: number): unknown {
  if (!(error instanceof RequestFailure) || error.status !== 413) return error;
  const page = `the page of ${size} records from offset ${offset} is too large, and page_size cannot be smaller`;
  return error.with({ message: `${error.message}; ${page}` });
}

/** Valid in this process only: digests are compared and never shown. */
const DIGEST_KEY = randomBytes(16);
const DIGEST_NONCE = Buffer.alloc(12);

/** The authentication tag of AES-GCM over the bytes: as good as a hash here, and ten times as fast where the CPU has no SHA-256. */
function digestOf(body: Uint8Array): string {
  const cipher = createCipheriv('aes-128-gcm', DIGEST_KEY, DIGEST_NONCE);
  cipher.setAAD(body);
  cipher.final();
  return cipher.getAuthTag().toString('base64');
}

function listingKey<Row>({ kind, path }: UnfinishedListing<Row>): string {
  return `${kind.name} ${path}`;
}

/** The path and query of a listing without paging, encoded as sent: signatures cover exactly these characters. */
export function listingPath(
  station: StationPath,
  kindPath: string,
  filters: QueryFilters,
  { baseUrl, listStyle }: Pick<SourceOptions, 'baseUrl' | 'listStyle'>,
): string {
  const query = Object.entries(filters).flatMap(([name, given]) => {
    const values = [given].flat().map((value) => pathEncoded(String(value)));
    const sent = listStyle === 'comma' && values.length > 0 ? [values.join(',')] : values;
    return sent.map((value) => `${name}=${value}&`);
  });
  const { subscription, resource_group, zone, telemetry_station } = station;
  const names = `subscriptions/${pathEncoded(subscription)}/resourceGroups/${pathEncoded(resource_group)}/zones/${pathEncoded(zone)}/telemetryStations/${pathEncoded(telemetry_station)}`;
  return `${baseUrl.pathname.replace(/\/+$/, '')}/monitor/ts/data/v1/${names}/${kindPath}?${query.join('')}`;
}

function pathEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
