import type { Listing, ListingContext, ListingQuery, ListResources } from '../station/listing.ts';
import { listOnce } from './listing-pass.ts';
import { listingPath, pagePath } from './listing-path.ts';
import type { UpstreamOptions } from './options.ts';
import { readPage } from './page.ts';

type Get = (pathAndQuery: string, context: ListingContext) => Promise<Uint8Array>;

/** The core's port, spoken over the service's protocol. */
export function listResources(
  get: Get,
  options: Pick<UpstreamOptions, 'baseUrl' | 'listStyle' | 'pageSize' | 'concurrency'>,
): ListResources {
  return async (query: ListingQuery, context: ListingContext): Promise<Listing> => {
    const path = listingPath(query, options);
    const fetchPage = async (offset: number, size: number) => readPage(await get(pagePath(path, offset, size), context));
    const listing = await listOnce(fetchPage, options);
    if (listing.complete || listing.reportedTotal === undefined) return listing;
    // Rows may have moved under the reader: once more, and what does not add up then is published as incomplete.
    const again = await listOnce(fetchPage, options);
    return { ...again, pages: listing.pages + again.pages };
  };
}
