import type { Listing } from '../../model/listing.ts';
import type { RunTask } from '../protocol/page-json.ts';
import { type Ending, type FetchPage, ListingPass, type ReceivedPage } from './listing-pass.ts';

interface ListingOptions<Row> {
  readonly idOf: (row: Row) => string;
  readonly pageSize: number;
  /** Pages requested concurrently. */
  readonly concurrency: number;
  readonly run: RunTask;
}

/** Reads a listing; when it is not verified complete, because rows may have moved between pages, reads it once more. */
export async function listPages<Row>(fetchPage: FetchPage<Row>, options: ListingOptions<Row>): Promise<Listing<Row>> {
  const { listing, isFinal } = await listOnce(fetchPage, options);
  if (isFinal) return listing;
  const { listing: again } = await listOnce(fetchPage, options, true);
  return { ...again, pages: listing.pages + again.pages };
}

/** Reads a listing from its first page to its last. A pass that is not the last one is abandoned when pages do not overlap. */
async function listOnce<Row>(fetchPage: FetchPage<Row>, options: ListingOptions<Row>, isLast = false) {
  const pass = new ListingPass(fetchPage, options.idOf);
  const first = await pass.fetch(0, options.pageSize);
  const { total = 0, received } = first.page;
  // A total below the size of the first page is wrong: list as if there were none.
  const hasTotal = received > 0 ? total >= received : total > 0;
  const ending = hasTotal
    ? await fetchUpToTotal(pass, first, options)
    : await fetchOverlapping(pass, first, options.pageSize);
  const isMismatch = ending === 'border-mismatch' || ending === 'single-records';
  const excess = isMismatch && isLast ? await fetchUntilNoNewIds(pass, options.pageSize) : undefined;
  const listing = await pass.listing(excess ?? ending, options.run);
  return { listing, isFinal: listing.complete || (listing.reportedTotal === undefined && !isMismatch) };
}

/**
 * Lists without a total. Each page is requested from the last record received and must begin with it, which shows that the service
 * counts offsets as expected and that no row between the two pages is missing. The listing ends with a page that has only this record,
 * and an empty one after it: the service may have cut the former short.
 */
async function fetchOverlapping<Row>(
  pass: ListingPass<Row>,
  first: ReceivedPage<Row>,
  pageSize: number,
): Promise<Ending> {
  let last = first;
  let largest = first.page.received;
  /** All pages but the last have the same size. */
  let isRegular = true;
  const follows = ({ page }: ReceivedPage<Row>) =>
    page.received > 0 && page.borders[0] !== undefined && page.borders[0] === last.page.borders[1];
  const moveTo = (next: ReceivedPage<Row>) => {
    if (last.page.received < largest || next.page.received > largest) isRegular = false;
    largest = Math.max(largest, next.page.received);
    pass.add(next, { overlaps: true });
    last = next;
  };

  while (first.page.received > 0) {
    if (!pass.hasPagesLeft()) return 'too-many-pages';
    const end = last.offset + last.page.received;
    // A listing takes at most one request more than without overlaps: where they have already cost one, a short page after full ones and
    // the empty page after it have to do.
    const isLate = isRegular && last.page.received < largest && pass.fetched > Math.ceil(end / largest);
    if (last.page.received > 1 && !isLate) {
      const next = await pass.request(end - 1, pageSize);
      const isRepeated = pass.isSame(next.page, last.page);
      if (isRepeated && last === first && first.page.received > first.requested) {
        // The service ignores size and offset, and returns everything at once.
        pass.add(next);
        return 'end';
      }
      if (isRepeated || !follows(next)) return 'border-mismatch';
      if (next.page.received > 1) {
        moveTo(next);
        continue;
      }
    }
    // After a single record, offset 1 is the second record also where offsets count pages, if these have one record.
    const after = await pass.request(end, end === 1 ? 1 : pageSize);
    if (after.page.received === 0) return 'end';
    if (pass.isSame(after.page, last.page)) return 'border-mismatch';
    // The page from the last record was cut short, or not requested: the next one may be longer. Offset 0 would start a listing.
    if (end === 1) return 'single-records';
    const again = await pass.request(end - 1, pageSize);
    if (!follows(again)) return 'border-mismatch';
    if (again.page.received === 1) return 'single-records';
    moveTo(again);
  }
  return 'end';
}

/** Fetches page after page, each from the end of the previous one, until one has no new ids. */
async function fetchUntilNoNewIds<Row>(pass: ListingPass<Row>, pageSize: number): Promise<Ending | undefined> {
  while (pass.hasPagesLeft()) {
    const { newIds } = await pass.fetch(pass.end, pageSize);
    if (newIds === 0) return undefined;
  }
  return 'too-many-pages';
}

/** A page without new ids may overlap another one while rows move; this many in succession mean that the service ignores the offset. */
const MAX_PAGES_WITHOUT_NEW_IDS = 3;

/** Fetches the pages between the first one and the total concurrently; the gap that a short page leaves is requested again. */
async function fetchUpToTotal<Row>(
  pass: ListingPass<Row>,
  { page: { received }, requested }: ReceivedPage<Row>,
  { concurrency, pageSize }: ListingOptions<Row>,
): Promise<Ending> {
  const isShort = received > 0 && received < requested && received < pass.largestTotal;
  // A short page may be a cap of the service or an exception: the second page decides the distance between requests.
  const second = isShort ? (await pass.fetch(received, pageSize)).page.received : 0;
  const stride = Math.max(received, second);
  const gaps: { offset: number; size: number }[] = [];
  let next = received + second;
  let limit = stride === 0 || (isShort && second === 0) ? 0 : Number.POSITIVE_INFINITY;
  let pagesWithoutNewIds = 0;

  const take = () => {
    const end = pass.hasPagesLeft() ? Math.min(limit, pass.largestTotal) : 0;
    const gap = gaps.filter(({ offset }) => offset < end).at(-1);
    if (gap) {
      gaps.splice(gaps.indexOf(gap), 1);
      return gap;
    }
    if (next >= end) return undefined;
    const range = { offset: next, size: stride };
    next += stride;
    return range;
  };

  const work = async () => {
    for (let range = take(); range !== undefined; range = take()) {
      const { page, newIds } = await pass.fetch(range.offset, range.size);
      if (page.received === 0) limit = Math.min(limit, range.offset);
      else if (page.received < range.size)
        gaps.push({ offset: range.offset + page.received, size: range.size - page.received });
      if (page.rows.length > 0) pagesWithoutNewIds = newIds > 0 ? 0 : pagesWithoutNewIds + 1;
      if (pagesWithoutNewIds >= MAX_PAGES_WITHOUT_NEW_IDS) limit = 0;
    }
  };

  await Promise.all(Array.from({ length: concurrency }, work));
  return pass.hasPagesLeft() ? 'end' : 'too-many-pages';
}
