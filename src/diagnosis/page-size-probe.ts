import { requestsPerSecond } from '../inventory/capacity.ts';
import { countText, numberText } from '../inventory/words.ts';
import { type FailureReason, ListingFailure } from '../model/failure.ts';
import type { ListingContext } from '../model/listing.ts';
import type { StationSpec } from '../model/station-spec.ts';
import type { UpstreamOptions } from '../model/upstream-options.ts';
import { repeatedListings, type Snapshot } from '../refresh/snapshot.ts';
import { TaskQueue } from '../tasks/task-queue.ts';
import { UpstreamClient } from '../upstream/http/client.ts';
import type { ListedPage, ReplyInfo } from '../upstream/request-observer.ts';
import { stationSource } from '../upstream/station-source.ts';

const PROBED_PAGE_SIZE = 1000;

/** What the service did with the request for a page of this size. */
export type PageSizeResult =
  | { readonly ok: true; readonly received: number }
  | { readonly ok: false; readonly reason: FailureReason; readonly status: number | undefined };

/** A station with its snapshot. */
interface ListedStation {
  readonly spec: StationSpec;
  readonly snapshot: Snapshot;
}

/** The station whose pages show most: the largest; undefined if larger pages would save nothing. */
export function probedStation(
  stations: readonly ListedStation[],
  { pageSize }: Pick<UpstreamOptions, 'pageSize'>,
): StationSpec | undefined {
  const [largest] = stations.toSorted((a, b) => b.snapshot.size - a.snapshot.size);
  if (largest === undefined || pageSize >= PROBED_PAGE_SIZE || largest.snapshot.size <= pageSize) return undefined;
  // A service that returns more than was requested ignores the page size.
  const [main] = largest.snapshot.listings;
  return main && main.pages * pageSize >= largest.snapshot.size ? largest.spec : undefined;
}

/**
 * Requests one large page, without retries and by a client of its own, so that the facts of the refreshes stay those of the refreshes.
 * `replies`: those; a service that throttles gets no further request.
 */
export async function probePageSize(
  options: UpstreamOptions,
  { name, path, filters }: StationSpec,
  replies: readonly Pick<ReplyInfo, 'status'>[],
): Promise<PageSizeResult> {
  if (replies.some(({ status }) => status === 429)) return { ok: false, reason: 'rate_limited', status: 429 };
  const client = new UpstreamClient({ ...options, maxRetries: 0 }, {});
  const end = new AbortController();
  let page: ListedPage | undefined;
  const source = stationSource({
    client,
    options: { ...options, pageSize: PROBED_PAGE_SIZE },
    tasks: new TaskQueue(),
    observer: {
      pageReceived: (received) => {
        page = received;
        // The rest of the listing is known.
        end.abort();
      },
      pageSizeReduced: () => end.abort(TOO_LARGE),
    },
  });
  const context: ListingContext = {
    signal: end.signal,
    station: name,
    outdatedAtMs: 0,
    refreshTimeoutMs: options.timeoutMs,
    started: () => undefined,
    deadlineMs: () => Number.POSITIVE_INFINITY,
  };
  try {
    await source.listIds({ path, filters }, context);
  } catch (error) {
    if (page === undefined && !(error instanceof ListingFailure)) throw error;
    if (error instanceof ListingFailure) return { ok: false, reason: error.reason, status: error.replyStatus };
  } finally {
    await client.close();
  }
  return { ok: true, received: page?.received ?? 0 };
}

const TOO_LARGE = new ListingFailure('status', 'the page is too large', { replyStatus: 413 });

/** What verifying the end of a listing without a total costs, whatever the page size. */
const REQUESTS_WITHOUT_TOTAL = 2;

/** What a larger page would save. `stations`: all of the upstream. */
export function pageSizeText(result: PageSizeResult, pageSize: number, stations: readonly ListedStation[]): string {
  const page = `a page of ${countText(PROBED_PAGE_SIZE, 'resource')}`;
  if (!result.ok && result.reason === 'rate_limited')
    return 'It is unknown whether a larger page_size would save requests: the service throttles.';
  if (!result.ok && result.status !== undefined)
    return `The service does not return ${page}: it answers with status ${result.status}.`;
  if (!result.ok) return `The service does not return ${page}: the request failed (${result.reason}).`;
  const largest = Math.max(...stations.map(({ snapshot }) => snapshot.size));
  const { received } = result;
  if (received <= pageSize)
    return `The service returns ${countText(received, 'resource')} for ${page}: a larger page_size would save nothing.`;
  const accepted = received < Math.min(PROBED_PAGE_SIZE, largest) ? received : PROBED_PAGE_SIZE;
  const listings = stations.flatMap(({ spec, snapshot }) => repeatedListings(spec, snapshot));
  const larger = stations.flatMap(({ spec, snapshot }) => {
    const overhead = snapshot.reportedTotal === undefined ? REQUESTS_WITHOUT_TOTAL : 0;
    const pagesOf = (pages: number) => Math.ceil((Math.max(1, pages - overhead) * pageSize) / accepted) + overhead;
    return repeatedListings(spec, snapshot).map(({ pages, intervalMs }) => ({ pages: pagesOf(pages), intervalMs }));
  });
  const [before = 0, after = 0] = [listings, larger].map((some) => Math.ceil(3600 * requestsPerSecond(some)));
  return `The service accepts larger pages: page_size: ${accepted} would save ${numberText(before - after)} of ${countText(before, 'request')} per hour.`;
}
