import { createCipheriv, randomBytes } from 'node:crypto';
import { ListingFailure, RecordLimitFailure } from '../model/failure.ts';
import type { Listing, ListingContext, ListingQuery, RecordCounter, StationSource } from '../model/listing.ts';
import { StateMeanings } from '../resources/alert-state.ts';
import type { Resource } from '../resources/fields.ts';
import { InternedTexts, readId, readResource } from '../resources/record.ts';
import type { SerialQueue } from '../tasks/serial-queue.ts';
import { yieldToEventLoop } from '../tasks/yield-to-event-loop.ts';
import type { UpstreamClient } from './http/client.ts';
import { listPages, type PlacedPage } from './paging/list-pages.ts';
import { type Page, type ReadRow, readPage } from './protocol/page.ts';
import type { ListedPage, ListingObserver } from './request-observer.ts';
import type { UpstreamOptions } from './upstream-options.ts';

type SourceOptions = Pick<UpstreamOptions, 'baseUrl' | 'listStyle' | 'pageSize' | 'concurrency'>;

/** What the stations of an upstream share. */
interface Service {
  readonly client: Pick<UpstreamClient, 'get'>;
  readonly options: SourceOptions;
  /** Replies are read one at a time, or those that arrive together would block the event loop together, and be parsed in memory together. */
  readonly replies: SerialQueue;
  readonly observer?: Partial<ListingObserver>;
  /** Bounds the records in memory. */
  readonly records?: RecordCounter | undefined;
  /** Types, states and skus, which are mostly the same. */
  readonly texts?: InternedTexts;
  readonly states?: StateMeanings;
}

/** Implements the port of one station with the service's protocol. */
export function stationSource(service: Service): StationSource {
  const { texts = new InternedTexts(), states = new StateMeanings() } = service;
  const recordContext = { texts, states };
  const reader = new ListingReader(service);
  const resources: RowKind<Resource> = {
    kind: 'resources',
    readRow: (record, find) => readResource(record, recordContext, find),
    pages: new Map(),
  };
  const ids: RowKind<string> = { kind: 'ids', readRow: readId, pages: new Map() };
  return {
    listResources: (query, context) => reader.list(resources, query, context),
    listIds: (query, context) => reader.list(ids, query, context),
  };
}

/** What the records of a listing are read to. */
interface RowKind<Row> {
  readonly kind: ListedPage['kind'];
  readonly readRow: ReadRow<Row>;
  /** The pages of each listing when it last succeeded, by the listing's path. */
  readonly pages: Map<string, ReadonlyMap<string, CachedPage<Row>>>;
}

interface CachedPage<Row> {
  /** A digest of the page's bytes. */
  readonly digest: string;
  readonly page: Page<Row>;
}

interface CountedListing extends Pick<ListedPage, 'kind'> {
  readonly context: ListingContext;
  readonly path: string;
  /** Records read by the current pass. */
  records: number;
}

/** A listing that is being read. */
interface OpenListing<Row> extends RowKind<Row>, CountedListing {
  readonly query: ListingQuery;
  /** The pages read, by their paths. */
  readonly read: Map<string, CachedPage<Row>>;
}

/** Smaller pages cannot be too large for a service. */
const MIN_PAGE_SIZE = 10;

/** Reads the listings of one station. */
class ListingReader {
  readonly #service: Service;
  /** The page size of each refresh in which a page was too large: it is reduced for all listings. */
  readonly #pageSizes = new WeakMap<ListingContext, number>();
  /** The number of records of each listing that are in memory, by kind and path. */
  readonly #kept = new Map<string, number>();

  constructor(service: Service) {
    this.#service = service;
  }

  async list<Row>(kind: RowKind<Row>, query: ListingQuery, context: ListingContext): Promise<Listing<Row>> {
    const { options, records } = this.#service;
    const path = listingPath(query, options);
    const listing: OpenListing<Row> = { ...kind, query, context, path, read: new Map(), records: 0 };
    const listed = await listPages((offset, size) => this.#fetch(listing, offset, size), options);
    // An aborted refresh keeps nothing: its station may have been replaced.
    context.signal.throwIfAborted();
    records?.keep(context.station, this.#recordsWith(listing));
    this.#kept.set(listingKey(listing), listing.records);
    kind.pages.set(path, listing.read);
    return listed;
  }

  async #fetch<Row>(listing: OpenListing<Row>, offset: number, size: number): Promise<PlacedPage<Row>> {
    const { kind, query, context, path } = listing;
    const { client, observer, replies } = this.#service;
    // A further pass replaces an earlier one of the refresh.
    if (offset === 0) listing.records = 0;
    let requested = Math.min(size, this.#pageSize(context));
    const currentPath = () => `${path}page.offset=${offset}&page.size=${requested}`;
    const smaller = () => {
      if (requested <= MIN_PAGE_SIZE) return undefined;
      requested = this.#reducedPageSize(context, requested);
      return currentPath();
    };
    const read = async (body: Uint8Array) => {
      const page = await replies.run(async () => {
        await yieldToEventLoop();
        return this.#read(listing, currentPath(), body);
      });
      const { received, total } = page;
      observer?.pageReceived?.({ kind, query, offset, size: requested, received, total, body });
      return page;
    };
    const page = await client.get(currentPath(), context, read, smaller);
    return { offset, page, requested };
  }

  /** A page whose bytes did not change since the listing before is not parsed again, and stays the same object. */
  async #read<Row>(listing: OpenListing<Row>, pagePath: string, body: Uint8Array): Promise<Page<Row>> {
    const { readRow, pages, path, read, context } = listing;
    const counted = (received: number) => this.#count(listing, received);
    try {
      context.signal.throwIfAborted();
      const digest = digestOf(body);
      const before = pages.get(path)?.get(pagePath);
      const isSame = before?.digest === digest;
      if (isSame) counted(before.page.received);
      const options = { before: before?.page, counted, signal: context.signal };
      const page = isSame ? before.page : await readPage(body, readRow, options);
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
  #count(listing: CountedListing, received: number): void {
    listing.records += listing.kind === 'ids' ? Math.ceil(received / IDS_PER_RECORD) : received;
    this.#service.records?.check(listing.context.station, this.#recordsWith(listing));
  }

  /** The records of the station with those that the listing has read. */
  #recordsWith(listing: CountedListing): number {
    const key = listingKey(listing);
    let { records } = listing;
    for (const [other, kept] of this.#kept) if (other !== key) records += kept;
    return records;
  }

  #pageSize(context: ListingContext): number {
    return this.#pageSizes.get(context) ?? this.#service.options.pageSize;
  }

  /** Halved when a page is rejected as too large; concurrent pages that fail alike reduce it once. */
  #reducedPageSize(context: ListingContext, rejected: number): number {
    if (rejected <= this.#pageSize(context)) {
      const size = Math.max(MIN_PAGE_SIZE, Math.floor(rejected / 2));
      this.#pageSizes.set(context, size);
      this.#service.observer?.pageSizeReduced?.(context, size);
    }
    return this.#pageSize(context);
  }
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

/** Only the ids of a further listing are kept. */
const IDS_PER_RECORD = 3;

function listingKey({ kind, path }: CountedListing): string {
  return `${kind} ${path}`;
}

/** The path and query of a listing without paging, encoded as sent: signatures cover exactly these characters. */
function listingPath({ path, filters }: ListingQuery, { baseUrl, listStyle }: SourceOptions): string {
  const query = Object.entries(filters).flatMap(([name, given]) => {
    const values = [given].flat().map((value) => pathEncoded(String(value)));
    const sent = listStyle === 'comma' && values.length > 0 ? [values.join(',')] : values;
    return sent.map((value) => `${name}=${value}&`);
  });
  const names = `subscriptions/${pathEncoded(path.subscription)}/resourceGroups/${pathEncoded(path.resource_group)}/zones/${pathEncoded(path.zone)}/telemetryStations/${pathEncoded(path.telemetry_station)}`;
  return `${baseUrl.pathname.replace(/\/+$/, '')}/monitor/ts/data/v1/${names}/resources?${query.join('')}`;
}

function pathEncoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
