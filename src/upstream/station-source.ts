import type { Listing, ListingContext, ListingQuery, StationSource } from '../station/listing.ts';
import type { Resource } from '../station/resource.ts';
import type { Turns } from '../station/turns.ts';
import type { ReadBody, Smaller } from './client.ts';
import { listOnce } from './listing-pass.ts';
import { listingPath, pagePath } from './listing-path.ts';
import type { ListedPage, ListingObserver } from './observer.ts';
import type { UpstreamOptions } from './options.ts';
import { type ReadRow, readPage } from './page.ts';
import { PageMemory } from './page-memory.ts';
import { PageSize } from './page-size.ts';
import { readId, readResource } from './record.ts';
import { SharedTexts } from './shared-texts.ts';

type Get = <T>(pathAndQuery: string, context: ListingContext, read: ReadBody<T>, smaller: Smaller) => Promise<T>;

type SourceOptions = Pick<UpstreamOptions, 'baseUrl' | 'listStyle' | 'pageSize' | 'concurrency'>;

/** The core's port for one station, spoken over the service's protocol. */
export function stationSource(get: Get, options: SourceOptions, turns: Turns, observer: Partial<ListingObserver> = {}): StationSource {
  const texts = new SharedTexts();
  // All listings of a refresh share one context, and so one size of their pages.
  const pageSizes = new WeakMap<ListingContext, PageSize>();
  const pageSizeOf = (context: ListingContext) => {
    const pageSize = pageSizes.get(context) ?? new PageSize(options.pageSize, (size) => observer.pageSizeReduced?.(context, size));
    pageSizes.set(context, pageSize);
    return pageSize;
  };
  const lister = <Row>(rows: ListedPage['rows'], readRow: ReadRow<Row>, idOf: (row: Row) => string) => {
    const memories = new Map<string, PageMemory<Row>>();
    const readBody = (body: Uint8Array) => {
      try {
        return readPage(body, readRow);
      } catch (error) {
        observer.unreadable?.();
        throw error;
      }
    };
    return async (query: ListingQuery, context: ListingContext): Promise<Listing<Row>> => {
      const path = listingPath(query, options);
      const pageSize = pageSizeOf(context);
      const memory = memories.get(path) ?? new PageMemory<Row>();
      memories.set(path, memory);
      const pass = () =>
        memory.listing((readThrough) => {
          const fetchPage = async (offset: number, size: number) => {
            let asked = pageSize.atMost(size);
            const place = () => pagePath(path, offset, asked);
            const smaller = () => {
              const less = pageSize.below(asked);
              asked = less ?? asked;
              return less === undefined ? undefined : place();
            };
            const read = async (body: Uint8Array) => {
              const page = await turns.run(() => readThrough(place(), body, readBody));
              const { received, total } = page;
              observer.pageReceived?.({ rows, query, offset, size: asked, received, total, body });
              return page;
            };
            const page = await get(place(), context, read, smaller);
            return { ...page, asked };
          };
          return listOnce(fetchPage, { ...options, idOf });
        });
      const listing = await pass();
      if (listing.complete || listing.reportedTotal === undefined) return listing;
      // Rows may have moved under the reader: once more, and what does not add up then is published as incomplete.
      const again = await pass();
      return { ...again, pages: listing.pages + again.pages };
    };
  };
  return {
    resources: lister<Resource>(
      'resources',
      (record) => readResource(record, texts),
      ({ id }) => id,
    ),
    ids: lister<string>('ids', readId, (id) => id),
  };
}
