import { LISTING_FIELDS, type Listing, type ListingField, type Part, type PartLocation } from '../station/listing.ts';
import type { Page } from './page.ts';

/** A page of fewer records may be requested for than told; `requested` is how many were. */
export type FetchPage<Row> = (offset: number, size: number) => Promise<RequestedPage<Row>>;

interface RequestedPage<Row> extends Page<Row> {
  readonly requested: number;
}

interface PassOptions<Row> {
  readonly idOf: (row: Row) => string;
  readonly pageSize: number;
  /** How many pages may be requested for side by side. */
  readonly concurrency: number;
}

/** What ended the pages when the service gave no total: the proof, or the lack of it, that they were all. */
type Ending = keyof typeof DOUBTS;

/** What speaks against the pages having been all, by how they ended. */
const DOUBTS = {
  'nothing-new': undefined,
  'repeated-full-page': 'without a total, a full page came again: the service may ignore the offset',
  'no-usable-id': 'without a total, the last page had records but none with a usable id',
  'too-many-pages': 'the pages did not end',
} as const;

/** Far above any real listing; bounds what an endless one can cost. */
const MAX_PAGES = 100_000;

/** A page without a new id may be an overlap while rows move, or duplicates; this many in a row are a service that ignores the offset. */
const MAX_FRUITLESS_PAGES = 3;

/** Reads a listing once, from the first page to the last. */
export async function listPages<Row>(fetchPage: FetchPage<Row>, options: PassOptions<Row>): Promise<Listing<Row>> {
  const pass = new Pass(fetchPage, options.idOf);
  const first = await pass.fetch(0, options.pageSize);
  const { total } = first.page;
  // A total below what one page brought is no bound to stop at: read on as if there were none.
  const ending = total === undefined || total < first.page.received ? await readOn(pass, first, options) : await fill(pass, first, options);
  return pass.listing(ending);
}

/** Page after page, each from where the last one ended, until one brings no new id. */
async function readOn<Row>(pass: Pass<Row>, first: FetchedPage<Row>, { pageSize }: PassOptions<Row>): Promise<Ending> {
  let last = first;
  let offset = first.page.received;
  while (last.fresh > 0 && pass.hasPagesLeft()) {
    last = await pass.fetch(offset, pageSize);
    offset += last.page.received;
  }
  if (last.fresh > 0) return 'too-many-pages';
  if (last.page.received > 0 && last.page.rows.length === 0) return 'no-usable-id';
  // The same full page again may be the head of a list whose rest cannot be reached.
  return last.page.received === last.page.requested ? 'repeated-full-page' : 'nothing-new';
}

/** The pages between the first one and the total, side by side; a page that comes short leaves a gap, which is requested for again. */
async function fill<Row>(pass: Pass<Row>, first: FetchedPage<Row>, { concurrency, pageSize }: PassOptions<Row>): Promise<Ending> {
  const { received, requested } = first.page;
  const isShort = received > 0 && received < requested && received < pass.largestTotal;
  // One short page may be a cap or a whim: the second one tells how far apart to ask.
  const second = isShort ? (await pass.fetch(received, pageSize)).page.received : 0;
  const stride = Math.max(received, second);
  const gaps: { offset: number; size: number }[] = [];
  let next = received + second;
  let limit = stride === 0 || (isShort && second === 0) ? 0 : Number.POSITIVE_INFINITY;
  let fruitless = 0;

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
      const { page, fresh } = await pass.fetch(range.offset, range.size);
      if (page.received === 0) limit = Math.min(limit, range.offset);
      else if (page.received < range.size) gaps.push({ offset: range.offset + page.received, size: range.size - page.received });
      if (page.rows.length > 0) fruitless = fresh > 0 ? 0 : fruitless + 1;
      if (fruitless >= MAX_FRUITLESS_PAGES) limit = 0;
    }
  };

  await Promise.all(Array.from({ length: concurrency }, work));
  return pass.hasPagesLeft() ? 'nothing-new' : 'too-many-pages';
}

interface FetchedPage<Row> extends ReceivedPage<Row> {
  readonly page: RequestedPage<Row>;
  /** Ids not seen before in this pass. */
  readonly fresh: number;
}

/** What has come so far, in the order in which it came. */
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
    return { offset, page, fresh: this.#ids.size - before };
  }

  hasPagesLeft(): boolean {
    return this.#pages.length < MAX_PAGES;
  }

  listing(ending: Ending): Listing<Row> {
    const rows = this.#pages.reduce((sum, { page }) => sum + page.rows.length, 0);
    const merged = mergePages(this.#pages, this.#idOf, rows === this.#ids.size);
    const reportedTotal = this.#pages.findLast(({ page }) => page.total !== undefined)?.page.total;
    const doubt = reportedTotal === undefined ? DOUBTS[ending] : doubtOf([...this.#totals], merged);
    const doubts = doubt === undefined ? [] : [doubt];
    return { ...merged, complete: doubts.length === 0, incompleteReasons: doubts, reportedTotal, pages: this.#pages.length };
  }
}

function doubtOf(totals: readonly number[], { size, rejected }: Pick<Listing<unknown>, 'size' | 'rejected'>): string | undefined {
  if (totals.length > 1) return `the total moved between pages: ${totals.toSorted((a, b) => a - b).join(', ')}`;
  const [total] = totals;
  if (size + rejected === total) return undefined;
  return `the service reports a total of ${total}, but ${size + rejected} different records came`;
}

interface ReceivedPage<Row> {
  readonly offset: number;
  readonly page: Page<Row>;
}

type Merged<Row> = Pick<Listing<Row>, 'parts' | 'locations' | 'size' | 'duplicates' | 'rejected' | 'invalidFields'>;

/**
 * The pages as one list in the service's order, however they arrived: equal listings give equal bytes.
 * `distinct`: no two rows have the same id, and none need be looked for.
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
    const { rows, positions, invalid } = distinct ? page : withoutKnown(page, ids, idOf);
    if (page.totalInvalid) invalidFields['page.total'] += 1;
    for (const fields of invalid.values()) for (const field of fields) invalidFields[field] += 1;
    if (rows.length > 0) parts.push(rows);
    if (rows.length > 0) locations.push({ offset, positions, invalid });
    size += rows.length;
    duplicates += page.rows.length - rows.length;
    // A page of known ids alone came again as a whole: its rejected records were counted the first time.
    const repeated = rows.length === 0 && page.rows.length > 0;
    if (!repeated) rejected += page.received - page.rows.length;
  }
  return { parts, locations: locations, size, duplicates, rejected, invalidFields };
}

type Kept<Row> = Pick<Page<Row>, 'rows' | 'positions' | 'invalid'>;

/** A page without known ids stays as it is: it can be recognised the next time. */
function withoutKnown<Row>(page: Page<Row>, ids: Set<string>, idOf: (row: Row) => string): Kept<Row> {
  const { rows, positions, invalid } = page;
  const fresh = [...rows.keys()].filter((index) => ids.size < ids.add(idOf(rows[index] as Row)).size);
  if (fresh.length === rows.length) return page;
  return {
    rows: fresh.map((index) => rows[index] as Row),
    positions: fresh.map((index) => positions?.[index] ?? index),
    invalid: new Map(fresh.flatMap((index, at) => (invalid.has(index) ? [[at, invalid.get(index) ?? []]] : []))),
  };
}
