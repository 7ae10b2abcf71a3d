import { LISTING_FIELDS, type Listing, type ListingField, type Part, type PartLocation } from '../station/listing.ts';
import { type Page, partsOf } from './page.ts';

/** Fetches a page of at most `size` records; `requested` is the size that was sent. */
export type FetchPage<Row> = (offset: number, size: number) => Promise<RequestedPage<Row>>;

interface RequestedPage<Row> extends Page<Row> {
  readonly requested: number;
}

interface PassOptions<Row> {
  readonly idOf: (row: Row) => string;
  readonly pageSize: number;
  /** Pages requested concurrently. */
  readonly concurrency: number;
}

/** Far above any real listing; bounds the cost of an endless one. */
const MAX_PAGES = 100_000;

/** How the last page ended a pass. */
type Ending = keyof typeof ENDINGS;

/** Without a total, why a listing that ended so is not verified complete; undefined when it is. */
const ENDINGS = {
  'no-new-ids': undefined,
  'repeated-full-page': 'the service reports no total and returned the same full page again: it may ignore page.offset',
  'no-usable-id': 'the service reports no total and the last page has no valid resource_id',
  'too-many-pages': `the listing did not end within ${MAX_PAGES} pages`,
} as const;

/** A page without new ids may overlap another one while rows move; this many in succession mean that the service ignores the offset. */
const MAX_PAGES_WITHOUT_NEW_IDS = 3;

/** Reads a listing once, from its first page to its last. */
export async function listPages<Row>(fetchPage: FetchPage<Row>, options: PassOptions<Row>): Promise<Listing<Row>> {
  const pass = new Pass(fetchPage, options.idOf);
  const first = await pass.fetch(0, options.pageSize);
  const { total } = first.page;
  // A total below the size of the first page is wrong: list as if there were none.
  const ending =
    total === undefined || total < first.page.received
      ? await fetchUntilNoNewIds(pass, first, options)
      : await fetchUpToTotal(pass, first, options);
  return pass.listing(ending);
}

/** Fetches page after page, each from the end of the previous one, until one has no new ids. */
async function fetchUntilNoNewIds<Row>(pass: Pass<Row>, first: FetchedPage<Row>, { pageSize }: PassOptions<Row>): Promise<Ending> {
  let last = first;
  let offset = first.page.received;
  while (last.newIds > 0 && pass.hasPagesLeft()) {
    last = await pass.fetch(offset, pageSize);
    offset += last.page.received;
  }
  if (last.newIds > 0) return 'too-many-pages';
  if (last.page.received > 0 && last.page.rows.length === 0) return 'no-usable-id';
  // A repeated full page may be the start of a longer listing of which the rest cannot be reached.
  return last.page.received === last.page.requested ? 'repeated-full-page' : 'no-new-ids';
}

/** Fetches the pages between the first one and the total concurrently; the gap that a short page leaves is requested again. */
async function fetchUpToTotal<Row>(pass: Pass<Row>, first: FetchedPage<Row>, { concurrency, pageSize }: PassOptions<Row>): Promise<Ending> {
  const { received, requested } = first.page;
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
      else if (page.received < range.size) gaps.push({ offset: range.offset + page.received, size: range.size - page.received });
      if (page.rows.length > 0) pagesWithoutNewIds = newIds > 0 ? 0 : pagesWithoutNewIds + 1;
      if (pagesWithoutNewIds >= MAX_PAGES_WITHOUT_NEW_IDS) limit = 0;
    }
  };

  await Promise.all(Array.from({ length: concurrency }, work));
  return pass.hasPagesLeft() ? 'no-new-ids' : 'too-many-pages';
}

interface FetchedPage<Row> extends ReceivedPage<Row> {
  readonly page: RequestedPage<Row>;
  /** Ids not seen before in this pass. */
  readonly newIds: number;
}

/** The pages received so far, in order of arrival. */
class Pass<Row> {
  readonly #fetchPage: FetchPage<Row>;
  readonly #idOf: (row: Row) => string;
  readonly #pages: ReceivedPage<Row>[] = [];
  readonly #ids = new Set<string>();
  readonly #totals = new Set<number>();
  largestTotal = 0;

  constructor(fetchPage: FetchPage<Row>, idOf: (row: Row) => string) {
    this.#fetchPage = fetchPage;
    this.#idOf = idOf;
  }

  async fetch(offset: number, size: number): Promise<FetchedPage<Row>> {
    const page = await this.#fetchPage(offset, size);
    this.#pages.push({ offset, page });
    if (page.total !== undefined) this.#totals.add(page.total);
    this.largestTotal = Math.max(this.largestTotal, page.total ?? 0);
    const before = this.#ids.size;
    for (const row of page.rows) this.#ids.add(this.#idOf(row));
    return { offset, page, newIds: this.#ids.size - before };
  }

  hasPagesLeft(): boolean {
    return this.#pages.length < MAX_PAGES;
  }

  listing(ending: Ending): Listing<Row> {
    const rows = this.#pages.reduce((sum, { page }) => sum + page.rows.length, 0);
    const merged = mergePages(this.#pages, this.#idOf, rows === this.#ids.size);
    const reportedTotal = this.#pages.findLast(({ page }) => page.total !== undefined)?.page.total;
    const reason = reportedTotal === undefined ? ENDINGS[ending] : totalMismatch([...this.#totals], merged);
    const incompleteReasons = reason === undefined ? [] : [reason];
    return { ...merged, complete: reason === undefined, incompleteReasons, reportedTotal, pages: this.#pages.length };
  }
}

function totalMismatch(totals: readonly number[], { size, rejected }: Pick<Listing<unknown>, 'size' | 'rejected'>): string | undefined {
  if (totals.length > 1) return `the total changed between pages: ${totals.toSorted((a, b) => a - b).join(', ')}`;
  const [total] = totals;
  if (size + rejected === total) return undefined;
  return `the service reports a total of ${total}, but returned ${size + rejected} distinct records`;
}

interface ReceivedPage<Row> {
  readonly offset: number;
  readonly page: Page<Row>;
}

type Merged<Row> = Pick<Listing<Row>, 'parts' | 'locations' | 'size' | 'duplicates' | 'rejected' | 'invalidFields'>;

/**
 * Merges the pages in the service's order, whatever their order of arrival, so that equal listings encode to equal bytes.
 * `distinct`: all ids are known to be unique, so duplicates need not be searched.
 */
function mergePages<Row>(pages: readonly ReceivedPage<Row>[], idOf: (row: Row) => string, distinct: boolean): Merged<Row> {
  const ids = new Set<string>();
  const parts: Part<Row>[] = [];
  const locations: PartLocation[] = [];
  const invalidFields = Object.fromEntries(LISTING_FIELDS.map((field) => [field, 0])) as Record<ListingField, number>;
  let size = 0;
  let duplicates = 0;
  let rejected = 0;
  for (const { offset, page } of pages.toSorted((a, b) => a.offset - b.offset)) {
    const { rows, invalid, parts: pageParts } = distinct ? page : withoutDuplicates(page, ids, idOf);
    if (page.totalInvalid) invalidFields['page.total'] += 1;
    for (const fields of invalid.values()) for (const field of fields) invalidFields[field] += 1;
    for (const part of pageParts) {
      parts.push(part.rows);
      locations.push({ offset, positions: part.positions, invalid: part.invalid });
    }
    size += rows.length;
    duplicates += page.rows.length - rows.length;
    // The rejected records of a repeated page were counted the first time.
    const repeated = rows.length === 0 && page.rows.length > 0;
    if (!repeated) rejected += page.received - page.rows.length;
  }
  return { parts, locations, size, duplicates, rejected, invalidFields };
}

type KeptRows<Row> = Pick<Page<Row>, 'rows' | 'invalid' | 'parts'>;

/** A page without duplicates is returned as it is, so that it stays identical between listings. */
function withoutDuplicates<Row>(page: Page<Row>, ids: Set<string>, idOf: (row: Row) => string): KeptRows<Row> {
  const { rows, positions, invalid } = page;
  const kept = [...rows.keys()].filter((index) => ids.size < ids.add(idOf(rows[index] as Row)).size);
  if (kept.length === rows.length) return page;
  const remaining = {
    rows: kept.map((index) => rows[index] as Row),
    positions: kept.map((index) => positions?.[index] ?? index),
    invalid: new Map(kept.flatMap((index, at) => (invalid.has(index) ? [[at, invalid.get(index) ?? []]] : []))),
  };
  return { ...remaining, parts: partsOf(remaining) };
}
