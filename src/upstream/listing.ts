import type { Listing, ListingContext, ListingQuery, ListResources } from '../station/listing.ts';
import { listOnce } from './listing-pass.ts';
import { listingPath, pagePath } from './listing-path.ts';
import type { ListingObserver } from './observer.ts';
import type { UpstreamOptions } from './options.ts';
import { readPage } from './page.ts';
import { PageSize } from './page-size.ts';

/** `smaller` gives the path of a smaller page from the same offset, as long as there is one. */
type Get = (pathAndQuery: string, context: ListingContext, smaller: () => string | undefined) => Promise<Uint8Array>;

/** The core's port, spoken over the service's protocol. */
export function listResources(
  get: Get,
  options: Pick<UpstreamOptions, 'baseUrl' | 'listStyle' | 'pageSize' | 'concurrency'>,
  observer: Partial<ListingObserver> = {},
): ListResources {
  // All listings of a refresh share one context, and so one size of their pages.
  const pageSizes = new WeakMap<ListingContext, PageSize>();
  return async (query: ListingQuery, context: ListingContext): Promise<Listing> => {
    const path = listingPath(query, options);
    const pageSize = pageSizes.get(context) ?? new PageSize(options.pageSize, (size) => observer.pageSizeReduced?.(context, size));
    pageSizes.set(context, pageSize);
    const fetchPage = async (offset: number, size: number) => {
      let asked = pageSize.atMost(size);
      const body = await get(pagePath(path, offset, asked), context, () => {
        const less = pageSize.below(asked);
        asked = less ?? asked;
        return less === undefined ? undefined : pagePath(path, offset, less);
      });
      try {
        return { ...readPage(body), asked };
      } catch (error) {
        observer.unreadable?.();
        throw error;
      }
    };
    const listing = await listOnce(fetchPage, options);
    if (listing.complete || listing.reportedTotal === undefined) return listing;
    // Rows may have moved under the reader: once more, and what does not add up then is published as incomplete.
    const again = await listOnce(fetchPage, options);
    return { ...again, pages: listing.pages + again.pages };
  };
}
