import { repeatedListings, type Snapshot } from '../resources/snapshot.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import { pageLimitText } from '../status/advice.ts';
import { requestsPerSecond } from '../status/capacity.ts';
import { countText } from '../text/words.ts';

/** A page of this size is still parsed without delaying scrapes. */
const LARGER_PAGE_SIZE = 500;

/** What verifying the end of a listing without a total costs, whatever the page size. */
const REQUESTS_WITHOUT_TOTAL = 2;

/** The requests of the stations of an upstream, and with larger pages; undefined if these would save nothing. The length that was received decides. */
export function pageSizeText(
  pageSize: number,
  stations: readonly { readonly spec: ResourceSpec; readonly snapshot: Snapshot }[],
): string | undefined {
  const limits = stations.flatMap(({ snapshot }) => snapshot.pageLimit ?? []);
  if (limits.length > 0) return `the service ${pageLimitText(Math.max(...limits))}: a larger page_size is of no use.`;
  const now = stations.flatMap(({ spec, snapshot }) => repeatedListings(spec, snapshot));
  const larger = stations.flatMap(({ spec, snapshot }) => {
    const overhead = snapshot.reportedTotal === undefined ? REQUESTS_WITHOUT_TOTAL : 0;
    return repeatedListings(spec, snapshot).map(({ pages, intervalMs }) => ({
      pages: Math.ceil((Math.max(1, pages - overhead) * pageSize) / LARGER_PAGE_SIZE) + overhead,
      intervalMs,
    }));
  });
  const [before, after] = [requestsPerHour(now), requestsPerHour(larger)];
  if (after >= before) return undefined;
  const saving = `with page_size ${LARGER_PAGE_SIZE}: ${countText(after, 'request')} per hour, if the service accepts it`;
  return `${countText(before, 'request')} per hour; ${saving}.`;
}

/** Rounding errors of the sum are no further request. */
function requestsPerHour(listings: Parameters<typeof requestsPerSecond>[0]): number {
  return Math.ceil(3600 * requestsPerSecond(listings) - 1e-6);
}
