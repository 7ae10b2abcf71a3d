import {
  type FieldsOfPart,
  type Listing,
  type ListingKind,
  MAX_REJECTED_RECORDS,
  type Part,
  type RejectedRecord,
  type RejectedRecords,
  TOTAL_FIELD,
} from '../../model/listing.ts';
import { labelText } from '../../model/values.ts';
import { forEachPart, yieldToEventLoop } from '../../tasks/yield-to-event-loop.ts';
import { hasSameRecords, type Page, type PagePart, selectRows } from '../protocol/page.ts';

/** A page with its place in the listing. */
export interface PlacedPage<Row> {
  readonly offset: number;
  readonly page: Page<Row>;
  /** The size that was sent. */
  readonly requested: number;
}

/** Fetches a page of at most `size` records. */
type FetchPage<Row> = (offset: number, size: number) => Promise<PlacedPage<Row>>;

/** What a listing needs to know of its kind. */
type ListedKind = Pick<ListingKind<unknown>, 'idField' | 'fields'>;

interface PagingOptions {
  readonly kind: ListedKind;
  readonly pageSize: number;
  /** Pages requested concurrently. */
  readonly concurrency: number;
}

/** Reads a listing; when it does not add up, because rows may have moved between pages, reads it once more. */
export async function listPages<Row>(fetchPage: FetchPage<Row>, options: PagingOptions): Promise<Listing<Row>> {
  const listing = await listOnce(fetchPage, options);
  if (listing.addsUp) return listing;
  const again = await listOnce(fetchPage, options, true);
  return { ...again, pages: listing.pages + again.pages };
}

/** How a pass ended, and why a listing that ended so does not add up: undefined when other facts decide. */
const ENDINGS = {
  end: undefined,
  'border-mismatch':
    'a page did not begin with the last record of the page before: the service ignores the offset, counts it differently, or rows moved',
  'single-records': 'the service reports no total and returns single records, so that pages cannot overlap',
} as const;

type Ending = keyof typeof ENDINGS;

/**
 * Reads a listing from its first page to its last. A pass that is not the last one is abandoned when pages do not overlap. A listing without
 * end is ended by the refresh: by its timeout, or the limit on records.
 */
async function listOnce<Row>(fetchPage: FetchPage<Row>, options: PagingOptions, isLast = false): Promise<Listing<Row>> {
  const pass = new Pass(fetchPage, options.kind);
  const first = await pass.fetch(0, options.pageSize);
  const { total = 0, received } = first.page;
  // A total below the size of the first page is wrong: list as if there were none.
  const hasTotal = total >= received;
  let ending: Ending = 'end';
  if (hasTotal) await fetchUpToTotal(pass, first, options);
  else ending = await fetchOverlapping(pass, first, options.pageSize);
  if (isLast && ending !== 'end') await fetchUntilNoNewIds(pass, options.pageSize);
  return pass.finish(ending);
}

/**
 * Lists without a total. Each page is requested from the last record received and must begin with it, which shows that the service
 * counts offsets as expected and that no row between the two pages is missing.
 */
async function fetchOverlapping<Row>(pass: Pass<Row>, first: PlacedPage<Row>, pageSize: number): Promise<Ending> {
  let last = first;
  for (;;) {
    const next = await overlappingPage(pass, last, pageSize);
    if (typeof next === 'string') return next;
    await pass.add({ ...next, page: next.page.afterFirst() });
    last = next;
  }
}

/**
 * The page that begins with the last record of the page before. The listing ends with a page that has only this record, and an empty one
 * after it: the service may have cut the former short.
 */
async function overlappingPage<Row>(
  pass: Pass<Row>,
  last: PlacedPage<Row>,
  pageSize: number,
): Promise<PlacedPage<Row> | Ending> {
  const end = endOf(last);
  if (last.page.received > 1) {
    const next = await pass.request(end - 1, pageSize);
    if (last.offset === 0 && last.page.received > last.requested && hasSameRecords(next.page, last.page)) {
      // The service ignores size and offset, and returns everything at once.
      pass.addRepeated(next.page);
      return 'end';
    }
    if (!follows(last, next)) return 'border-mismatch';
    if (next.page.received > 1) return next;
  }
  // After a single record, offset 1 is the second record also where offsets count pages, if these have one record.
  const after = await pass.request(end, end === 1 ? 1 : pageSize);
  if (after.page.received === 0) return 'end';
  return hasSameRecords(after.page, last.page) ? 'border-mismatch' : 'single-records';
}

function endOf({ offset, page }: PlacedPage<unknown>): number {
  return offset + page.received;
}

function follows(last: PlacedPage<unknown>, next: PlacedPage<unknown>): boolean {
  const [begin] = next.page.borders;
  const [, end] = last.page.borders;
  return begin !== undefined && begin === end && !hasSameRecords(next.page, last.page);
}

/** Fetches page after page, each from the end of the previous one, until one has no new ids; the listing stays incomplete. */
async function fetchUntilNoNewIds<Row>(pass: Pass<Row>, pageSize: number): Promise<void> {
  for (;;) {
    const { newIds } = await pass.fetch(pass.end, pageSize);
    if (newIds === 0) return;
  }
}

/** Fetches the pages between the first one and the total concurrently. */
async function fetchUpToTotal<Row>(
  pass: Pass<Row>,
  { page: { received }, requested }: PlacedPage<Row>,
  { concurrency, pageSize }: PagingOptions,
): Promise<void> {
  const isShort = received > 0 && received < requested && received < pass.largestTotal;
  // A short page may be a cap of the service or an exception: the second page decides the distance between requests.
  const second = isShort ? (await pass.fetch(received, pageSize)).page.received : received;
  if (second === 0) return;
  await fetchRanges(pass, isShort ? received + second : received, Math.max(received, second), concurrency);
}

/** A page without new ids may overlap another one while rows move; this many in succession mean that the service ignores the offset. */
const MAX_PAGES_WITHOUT_NEW_IDS = 3;

interface Range {
  readonly offset: number;
  readonly size: number;
}

/** Fetches what remains up to the total; the gap that a short page leaves is requested again. */
async function fetchRanges(pass: Pass<unknown>, start: number, stride: number, concurrency: number): Promise<void> {
  const gaps: Range[] = [];
  let next = start;
  let limit = Number.POSITIVE_INFINITY;
  let pagesWithoutNewIds = 0;
  const takeRange = () => {
    const end = Math.min(limit, pass.largestTotal);
    const gap = gaps.findLastIndex(({ offset }) => offset < end);
    if (gap >= 0) return gaps.splice(gap, 1)[0];
    if (next >= end) return undefined;
    const offset = next;
    next += stride;
    return { offset, size: stride };
  };
  const fetch = async ({ offset, size }: Range) => {
    const { page, newIds } = await pass.fetch(offset, size);
    if (page.received === 0) limit = Math.min(limit, offset);
    else if (page.received < size) gaps.push({ offset: offset + page.received, size: size - page.received });
    if (page.rowCount > 0) pagesWithoutNewIds = newIds > 0 ? 0 : pagesWithoutNewIds + 1;
    if (pagesWithoutNewIds >= MAX_PAGES_WITHOUT_NEW_IDS) limit = 0;
  };
  const work = async () => {
    for (let range = takeRange(); range; range = takeRange()) await fetch(range);
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}

interface AddedPage<Row> extends PlacedPage<Row> {
  readonly newIds: number;
}

/** One pass through a listing. */
class Pass<Row> {
  readonly #fetchPage: FetchPage<Row>;
  readonly #kind: ListedKind;
  readonly #totals: number[] = [];
  #invalidTotals = 0;
  /** As label values. */
  readonly #ids = new Set<string>();
  #duplicates = 0;
  /** Those that are part of the listing, in order of arrival. */
  readonly #pages: PlacedPage<Row>[] = [];
  #fetched = 0;
  #largestTotal = 0;
  #repeatedRows = 0;

  constructor(fetchPage: FetchPage<Row>, kind: ListedKind) {
    this.#fetchPage = fetchPage;
    this.#kind = kind;
  }

  /** Where the page added last ends. */
  get end(): number {
    const last = this.#pages.at(-1);
    return last === undefined ? 0 : endOf(last);
  }

  /** The largest total that a page has reported; 0 if none has. */
  get largestTotal(): number {
    return this.#largestTotal;
  }

  /** A page was received twice and is part of the listing once. */
  addRepeated({ rowCount }: Page<Row>): void {
    this.#repeatedRows = rowCount;
  }

  /** Fetches a page that becomes part of the listing. */
  async fetch(offset: number, size: number): Promise<AddedPage<Row>> {
    const placed = await this.request(offset, size);
    return { ...placed, newIds: await this.add(placed) };
  }

  /** Fetches a page for its total; its records are not part of the listing. */
  async request(offset: number, size: number): Promise<PlacedPage<Row>> {
    const fetched = await this.#fetchPage(offset, size);
    const { total, totalInvalid } = fetched.page;
    this.#fetched += 1;
    if (total !== undefined) this.#totals.push(total);
    if (totalInvalid) this.#invalidTotals += 1;
    this.#largestTotal = Math.max(this.#largestTotal, total ?? 0);
    return fetched;
  }

  /** Makes a page part of the listing, and returns how many label values are new in it. */
  async add(placed: PlacedPage<Row>): Promise<number> {
    this.#pages.push(placed);
    let newIds = 0;
    const idsOfParts = placed.page.parts.map(({ ids }) => ids);
    await forEachPart(idsOfParts, (ids) => {
      newIds += this.#addIds(ids);
    });
    return newIds;
  }

  #addIds(ids: readonly string[]): number {
    const before = this.#ids.size;
    for (const id of ids) {
      const label = labelText(id);
      if (this.#ids.has(label)) this.#duplicates += 1;
      else this.#ids.add(label);
    }
    return this.#ids.size - before;
  }

  async finish(ending: Ending): Promise<Listing<Row>> {
    const merged = await this.#merge();
    const { rejected, invalidFields } = merged;
    const size = this.#ids.size;
    // A total of 0 beside records is a number that the service did not set.
    const isEmpty = this.#pages.every(({ page }) => page.received === 0);
    const totals = this.#totals.filter((total) => total > 0 || isEmpty);
    const mismatch = totalMismatch(totals, size + rejected);
    const problem = ENDINGS[ending] ?? (totals.length === 0 && this.#duplicates > 0 ? DUPLICATES : undefined);
    const reasons: Listing<Row>['incompleteReasons'][number][] = [];
    if (mismatch !== undefined) reasons.push({ reason: 'total_mismatch', text: mismatch });
    else if (problem !== undefined) reasons.push({ reason: 'paging', text: problem });
    const addsUp = reasons.length === 0;
    if (rejected > 0) reasons.push({ reason: 'rejected_records', text: rejectedText(rejected, this.#kind) });
    return {
      ...merged,
      size,
      addsUp,
      complete: addsUp && rejected === 0,
      incompleteReasons: reasons,
      reportedTotal: totals.at(-1),
      pageLimit: this.#pageLimit(),
      pages: this.#fetched,
      duplicates: this.#duplicates + this.#repeatedRows,
      invalidFields: { ...invalidFields, [TOTAL_FIELD]: this.#invalidTotals },
    };
  }

  /** A page that ends the listing may be short: only several that are shorter than requested show a limit. */
  #pageLimit(): number | undefined {
    const [first] = this.#pages;
    const longest = this.#pages.reduce((most, { page }) => Math.max(most, page.received), 0);
    return first && longest < first.requested && this.#ids.size > longest ? longest : undefined;
  }

  /** Merges the pages in the service's order, whatever their order of arrival, so that equal listings encode to equal bytes. */
  async #merge(): Promise<MergedPages<Row>> {
    const parts: Part<Row>[] = [];
    const invalid: FieldsOfPart[] = [];
    const invalidFields: Record<string, number> = Object.fromEntries(this.#kind.fields.map((field) => [field, 0]));
    const absentFields: Record<string, number> = {};
    const labels = new Set<string>();
    const rejects = new RejectCounts();
    for (const placed of inOrder(this.#pages)) {
      let keptRows = 0;
      for (const part of placed.page.parts) {
        if (this.#duplicates > 0) await yieldToEventLoop();
        const kept = this.#duplicates === 0 ? part : withoutDuplicates(part, labels);
        if (kept.rows.length === 0) continue;
        keptRows += kept.rows.length;
        parts.push(kept.rows);
        invalid.push(kept.invalid);
        countFields(kept.invalid, invalidFields);
        countFields(kept.absent, absentFields);
      }
      rejects.add(placed, keptRows);
    }
    return { parts, invalid, invalidFields, absentFields, ...rejects.all() };
  }
}

type MergedPages<Row> = Pick<Listing<Row>, 'parts' | 'invalid' | 'invalidFields' | 'absentFields'> & RejectedRecords;

/**
 * Counts the rejected records of a listing. They have no id by which a repeated one is recognized: one in the overlap of two pages counts
 * once, and those of a page whose rows were all received before do not count again.
 */
class RejectCounts {
  /** Where the pages added so far end. */
  #end = 0;
  #rejected = 0;
  readonly #records: RejectedRecord[] = [];

  /** Adds the next page in the order of offsets, of which this many rows are not duplicates. */
  add({ offset, page }: PlacedPage<unknown>, keptRows: number): void {
    const overlap = Math.max(0, this.#end - offset);
    this.#end = Math.max(this.#end, offset + page.received);
    const isRepeated = page.rowCount > 0 && keptRows === 0;
    if (page.rejected === 0 || isRepeated) return;
    this.#rejected += Math.max(0, page.received - overlap) - rowsFrom(overlap, page);
    for (const record of page.rejectedRecords) {
      const isKept = record.position >= overlap && this.#records.length < MAX_REJECTED_RECORDS;
      if (isKept) this.#records.push({ ...record, position: offset + record.position });
    }
  }

  all(): RejectedRecords {
    return { rejected: this.#rejected, rejectedRecords: this.#records };
  }
}

/** How many rows of a page are at this position or after it. */
function rowsFrom(position: number, { parts }: Page<unknown>): number {
  let count = 0;
  for (const { rows, positions } of parts) {
    // Without positions, each record has a row.
    const places = positions ?? rows.keys();
    for (const place of places) if (place >= position) count += 1;
  }
  return count;
}

/** A part without duplicates is returned as it is, so that it stays identical between listings. */
function withoutDuplicates<Row>(part: PagePart<Row>, labels: Set<string>): PagePart<Row> {
  const kept: number[] = [];
  for (const [index, id] of part.ids.entries()) {
    const label = labelText(id);
    if (labels.has(label)) continue;
    labels.add(label);
    kept.push(index);
  }
  return kept.length === part.ids.length ? part : selectRows(part, kept);
}

function countFields(fieldsOf: FieldsOfPart, counts: Record<string, number>): void {
  for (const fields of fieldsOf.values()) for (const field of fields) counts[field] = (counts[field] ?? 0) + 1;
}

function inOrder<Row>(pages: readonly PlacedPage<Row>[]): readonly PlacedPage<Row>[] {
  return pages.toSorted((a, b) => a.offset - b.offset);
}

const DUPLICATES = 'an id was listed twice, and the service reports no total: rows may have moved';

function rejectedText(rejected: number, { idField }: ListedKind): string {
  return rejected === 1
    ? `1 record was rejected because it has no usable ${idField}`
    : `${rejected} records were rejected because they have no usable ${idField}`;
}

function totalMismatch(totals: readonly number[], records: number): string | undefined {
  const [total, ...others] = totals.toSorted((a, b) => a - b);
  const largest = others.at(-1) ?? total;
  if (total !== largest) return `the total changed between pages: from ${total} to ${largest}`;
  if (total === undefined || records === total) return undefined;
  return `the service reports a total of ${total}, but returned ${records} distinct records`;
}
