import { LISTING_FIELDS, type Listing, type ListingField, type Part, type PartLocation } from '../../model/listing.ts';
import { hasSameRecords, type Page, type SplitRows, selectRows } from '../protocol/page.ts';
import type { RunTask } from '../protocol/page-json.ts';

/** Fetches a page of at most `size` records. */
export type FetchPage<Row> = (offset: number, size: number) => Promise<FetchedPage<Row>>;

interface FetchedPage<Row> {
  readonly page: Page<Row>;
  /** The size that was sent. */
  readonly requested: number;
  /** How many it took: none for a page that an earlier refresh received. */
  readonly requests: number;
}

/** A page with its place in the listing. */
export interface ReceivedPage<Row> extends FetchedPage<Row> {
  readonly offset: number;
}

/** Far above any real listing; bounds the cost of an endless one. */
const MAX_PAGES = 100_000;

/** How a pass ended. */
export type Ending = keyof typeof ENDINGS;

/** Why a listing that ended so is not verified complete; undefined when only its total decides. */
const ENDINGS = {
  end: undefined,
  'border-mismatch':
    'a page did not begin with the last record of the page before: the service ignores the offset, counts it differently, or rows moved',
  'single-records': 'the service reports no total and returns single records, so that pages cannot overlap',
  'too-many-pages': `the listing did not end within ${MAX_PAGES} pages`,
} as const;

/** One pass through a listing: the pages received so far, in order of arrival. */
export class ListingPass<Row> {
  readonly #fetchPage: FetchPage<Row>;
  readonly #idOf: (row: Row) => string;
  readonly #pages: ListedPage<Row>[] = [];
  readonly #ids = new Set<string>();
  readonly #totals: number[] = [];
  #invalidTotals = 0;
  #fetched = 0;
  #requests = 0;
  largestTotal = 0;

  constructor(fetchPage: FetchPage<Row>, idOf: (row: Row) => string) {
    this.#fetchPage = fetchPage;
    this.#idOf = idOf;
  }

  /** Pages fetched, reused ones included. */
  get fetched(): number {
    return this.#fetched;
  }

  /** Where the records received so far end, when they were requested one page after another. */
  get end(): number {
    const last = this.#pages.at(-1);
    return last === undefined ? 0 : last.offset + last.page.received;
  }

  hasPagesLeft(): boolean {
    return this.#fetched < MAX_PAGES;
  }

  /** Fetches a page that becomes part of the listing. */
  async fetch(offset: number, size: number): Promise<ReceivedPage<Row> & { readonly newIds: number }> {
    const received = await this.request(offset, size);
    return { ...received, newIds: this.add(received) };
  }

  /** Fetches a page of which only the total becomes part of the listing. */
  async request(offset: number, size: number): Promise<ReceivedPage<Row>> {
    const { page, requested, requests } = await this.#fetchPage(offset, size);
    this.#fetched += 1;
    this.#requests += requests;
    if (page.total !== undefined) this.#totals.push(page.total);
    if (page.totalInvalid) this.#invalidTotals += 1;
    this.largestTotal = Math.max(this.largestTotal, page.total ?? 0);
    return { offset, page, requested, requests };
  }

  /** Makes a page part of the listing, and returns how many ids are new in it; `overlaps`: its first record already is. */
  add({ offset, page }: ReceivedPage<Row>, { overlaps = false } = {}): number {
    this.#pages.push({ offset, page, overlaps });
    const before = this.#ids.size;
    for (const row of rowsOf({ page, overlaps }).rows) this.#ids.add(this.#idOf(row));
    return this.#ids.size - before;
  }

  isSame(a: Page<Row>, b: Page<Row>): boolean {
    return hasSameRecords(a, b, this.#idOf);
  }

  async listing(ending: Ending, run: RunTask): Promise<Listing<Row>> {
    const rows = this.#pages.reduce((sum, page) => sum + rowsOf(page).rows.length, 0);
    const merged = await mergePages(this.#pages, this.#idOf, rows === this.#ids.size, run);
    const invalidFields = { ...merged.invalidFields, 'page.total': this.#invalidTotals };
    // A total of 0 beside records is a number that the service did not set.
    const isEmpty = this.#pages.every(({ page }) => page.received === 0);
    const totals = this.#totals.filter((total) => total > 0 || isEmpty);
    const reason = totalMismatch(totals, merged) ?? ENDINGS[ending];
    const incompleteReasons = reason === undefined ? [] : [reason];
    const reportedTotal = totals.at(-1);
    return {
      ...merged,
      invalidFields,
      complete: reason === undefined,
      incompleteReasons,
      reportedTotal,
      pages: this.#requests,
    };
  }
}

/** In the reason, which is one line of a log or a page. */
const MAX_OTHER_TOTALS = 4;

function totalMismatch(
  totals: readonly number[],
  { size, rejected }: Pick<Listing<unknown>, 'size' | 'rejected'>,
): string | undefined {
  const [total, ...others] = [...new Set(totals)].sort((a, b) => a - b);
  if (total === undefined) return undefined;
  if (others.length > 0) {
    const more = others.length - MAX_OTHER_TOTALS;
    return `the total changed between pages: ${[total, ...others.slice(0, MAX_OTHER_TOTALS)].join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  }
  if (size + rejected === total) return undefined;
  return `the service reports a total of ${total}, but returned ${size + rejected} distinct records`;
}

interface ListedPage<Row> {
  readonly offset: number;
  readonly page: Page<Row>;
  /** Its first record is the last one of the page before. */
  readonly overlaps: boolean;
}

function rowsOf<Row>({ page, overlaps }: Pick<ListedPage<Row>, 'page' | 'overlaps'>): SplitRows<Row> {
  return overlaps ? page.afterFirst() : page;
}

type Merged<Row> = Pick<Listing<Row>, 'parts' | 'locations' | 'size' | 'duplicates' | 'rejected' | 'invalidFields'>;

/**
 * Merges the pages in the service's order, whatever their order of arrival, so that equal listings encode to equal bytes.
 * `distinct`: all ids are known to be unique, so duplicates need not be searched.
 */
async function mergePages<Row>(
  pages: readonly ListedPage<Row>[],
  idOf: (row: Row) => string,
  distinct: boolean,
  run: RunTask,
): Promise<Merged<Row>> {
  const ids = new Set<string>();
  const rejectedDigests = new Set<string>();
  const parts: Part<Row>[] = [];
  const locations: PartLocation[] = [];
  const invalidFields = Object.fromEntries(LISTING_FIELDS.map((field) => [field, 0])) as Record<ListingField, number>;
  let size = 0;
  let duplicates = 0;
  let rejected = 0;
  let lastKey: string | undefined;
  for (const { offset, page, overlaps } of pages.toSorted((a, b) => a.offset - b.offset)) {
    const listed = rowsOf({ page, overlaps });
    const {
      rows,
      invalid,
      parts: pageParts,
    } = distinct ? listed : await run(() => withoutDuplicates(listed, ids, idOf));
    for (const fields of invalid.values()) for (const field of fields) invalidFields[field] += 1;
    for (const part of pageParts) {
      parts.push(part.rows);
      locations.push({ offset, positions: part.positions, invalid: part.invalid });
    }
    size += rows.length;
    duplicates += listed.rows.length - rows.length;
    // The rejected records of a repeated page were counted the first time, and so was one that also ended the page before.
    const isRepeated = rows.length === 0 && (listed.rows.length > 0 || rejectedDigests.has(page.rejectedDigest));
    const isFirstRejected = page.positions !== undefined && page.positions[0] !== 0;
    const isFirstRepeated = isFirstRejected && page.borders[0] !== undefined && page.borders[0] === lastKey;
    if (!isRepeated) rejected += page.received - page.rows.length - (isFirstRepeated ? 1 : 0);
    rejectedDigests.add(page.rejectedDigest);
    lastKey = page.borders[1];
  }
  return { parts, locations, size, duplicates, rejected, invalidFields };
}

/** A page without duplicates is returned as it is, so that it stays identical between listings. */
function withoutDuplicates<Row>(page: SplitRows<Row>, ids: Set<string>, idOf: (row: Row) => string): SplitRows<Row> {
  const kept = [...page.rows.keys()].filter((index) => ids.size < ids.add(idOf(page.rows[index] as Row)).size);
  return kept.length === page.rows.length ? page : selectRows(page, kept);
}
