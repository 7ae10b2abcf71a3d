import { hasSameElements, type ListingField, type Part, type RejectedRecords } from '../../model/listing.ts';
import { isObject } from '../../model/resource.ts';
import { parsePage, type RunTask } from './page-json.ts';
import { type FindRow, type ReadRecord, recordKey, wholeNumber } from './record.ts';
import { Rejects } from './rejects.ts';

/** Rows of a page, few enough to read, join or encode them in one event-loop iteration. */
export interface PagePart<Row> {
  readonly rows: Part<Row>;
  /** Each row's id as sent. */
  readonly ids: readonly string[];
  /** Each row's index among the records of the page; undefined when the rows are all records of the page. */
  readonly positions: readonly number[] | undefined;
  /** The invalid fields of the rows that have any, by row index. */
  readonly invalid: ReadonlyMap<number, readonly ListingField[]>;
}

/** One page of the listing, as read. */
export interface Page<Row> extends RejectedRecords {
  /** Records in the page, valid or not: what the offset advances by. */
  readonly received: number;
  /** The rows of all parts. */
  readonly rowCount: number;
  /** The parts in the order of the page; a usual page has one. */
  readonly parts: readonly PagePart<Row>[];
  /** The keys of the first and the last record (see `recordKey`). */
  readonly borders: readonly [first: string | undefined, last: string | undefined];
  /** The page without the row of its first record, if that is one: the same object on every call. */
  readonly afterFirst: () => Page<Row>;
  /** Bytes of all texts that are kept. */
  readonly textBytes: number;
  readonly total: number | undefined;
  readonly totalInvalid: boolean;
}

/** Compares ids, and the first and the last record. */
export async function hasSameRecords(a: Page<unknown>, b: Page<unknown>, run: RunTask): Promise<boolean> {
  if (a.received !== b.received || a.rowCount !== b.rowCount || !hasSameElements(a.borders, b.borders)) return false;
  const hasSamePart = (at: number) => hasSameElements(a.parts[at]?.ids ?? [], b.parts[at]?.ids ?? []);
  if (!hasSamePart(0)) return false;
  for (let at = 1; at < a.parts.length; at += 1) if (!(await run(() => hasSamePart(at)))) return false;
  return true;
}

/** Reads one record; undefined when it has no valid id. */
export type ReadRow<Row> = (record: unknown, find: FindRow<Row>) => ReadRecord<Row> | undefined;

/** Called with the records read so far, rejected ones too, and the bytes of the texts kept; may throw to stop reading. */
export type RowProgress = (records: number, textBytes: number) => void;

/** Rejects with an UnreadablePage for anything but a page; an invalid record in it is only counted. `before`: the page of the listing before. */
export async function readPage<Row>(
  bytes: Uint8Array,
  readRow: ReadRow<Row>,
  run: RunTask,
  { progress, before }: { readonly progress?: RowProgress; readonly before?: Page<Row> | undefined } = {},
): Promise<Page<Row>> {
  const find = rowFinder(before?.parts ?? []);
  const rows = new PageRows<Row>();
  let received = 0;
  let textBytes = 0;
  const rejected = new Rejects();
  let first: unknown;
  let last: unknown;
  const add = (record: unknown) => {
    const read = readRow(record, find);
    if (read) {
      rows.add(read, received);
      textBytes += read.textBytes;
    } else {
      textBytes += rejected.add(record, received);
    }
    received += 1;
  };
  const envelope = await parsePage(bytes, run, (records) => {
    if (received === 0) first = records[0];
    if (records.length > 0) last = records.at(-1);
    for (const record of records) add(record);
    progress?.(received, textBytes);
  });
  return withAfterFirst({
    received,
    rowCount: rows.count,
    parts: rows.parts(received),
    textBytes,
    borders: received === 0 ? [undefined, undefined] : [recordKey(first), recordKey(last)],
    ...rejected.facts(),
    ...readTotal(envelope),
  });
}

/** Rows of a part. */
const PART_ROWS = 1000;

/** Finds the rows of a page that are requested in about its order, as when rows were inserted or removed. */
export function rowFinder<Row>(parts: readonly Pick<PagePart<Row>, 'rows' | 'ids'>[]): FindRow<Row> {
  let next = 0;
  const idAt = (index: number) => parts[Math.floor(index / PART_ROWS)]?.ids[index % PART_ROWS];
  return (id) => {
    const at = idAt(next) === id ? next : next + 1;
    if (idAt(at) !== id) return undefined;
    next = at + 1;
    return parts[Math.floor(at / PART_ROWS)]?.rows[at % PART_ROWS];
  };
}

interface GrowingPart<Row> {
  readonly rows: Row[];
  readonly ids: string[];
  readonly positions: number[];
  readonly invalid: Map<number, readonly ListingField[]>;
}

/** Collects the rows of a page in parts. All but the last have PART_ROWS rows. */
class PageRows<Row> {
  readonly #parts: GrowingPart<Row>[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add({ row, id, invalid }: ReadRecord<Row>, position: number): void {
    let part = this.#parts.at(-1);
    if (part === undefined || part.rows.length === PART_ROWS) {
      part = { rows: [], ids: [], positions: [], invalid: new Map() };
      this.#parts.push(part);
    }
    if (invalid.length > 0) part.invalid.set(part.rows.length, invalid);
    part.rows.push(row);
    part.ids.push(id);
    part.positions.push(position);
    this.#count += 1;
  }

  /** The parts of the page, which has this many records. */
  parts(received: number): readonly PagePart<Row>[] {
    const [first, ...others] = this.#parts;
    if (first === undefined) return [];
    const isWholePage = first.rows.length === received;
    return isWholePage ? [{ ...first, positions: undefined }] : [first, ...others];
  }
}

/** A function of its own: closures created in `readPage` share all that it captures, so that a cached page would hold the previous one. */
function withAfterFirst<Row>(facts: Omit<Page<Row>, 'afterFirst'>): Page<Row> {
  let afterFirst: Page<Row> | undefined;
  const page: Page<Row> = {
    ...facts,
    afterFirst: () => {
      afterFirst ??= withoutFirstRow(page);
      return afterFirst;
    },
  };
  return page;
}

/** A rejected record needs no removal: the listing counts those by their positions. */
function withoutFirstRow<Row>(page: Page<Row>): Page<Row> {
  const [first, ...others] = page.parts;
  if (first === undefined || (first.positions?.[0] ?? 0) !== 0) return page;
  const further = [...first.rows.keys()].slice(1);
  const parts = further.length === 0 ? others : [selectRows(first, further), ...others];
  return { ...page, rowCount: page.rowCount - 1, parts };
}

/** The rows with these indexes. */
export function selectRows<Row>(part: PagePart<Row>, indexes: readonly number[]): PagePart<Row> {
  const invalid = new Map<number, readonly ListingField[]>();
  for (const [at, index] of indexes.entries()) {
    const fields = part.invalid.get(index);
    if (fields) invalid.set(at, fields);
  }
  return {
    rows: indexes.map((index) => part.rows[index] as Row),
    ids: indexes.map((index) => part.ids[index] as string),
    positions: indexes.map((index) => part.positions?.[index] ?? index),
    invalid,
  };
}

function readTotal(envelope: unknown): Pick<Page<unknown>, 'total' | 'totalInvalid'> {
  const page = isObject(envelope) ? envelope['page'] : undefined;
  const given = isObject(page) ? page['total'] : undefined;
  if (given === undefined || given === null) return { total: undefined, totalInvalid: false };
  const total = wholeNumber(given);
  return typeof total === 'number' ? { total, totalInvalid: false } : { total: undefined, totalInvalid: true };
}
