import { createHash, type Hash } from 'node:crypto';
import { ListingFailure } from '../../model/failure.ts';
import type { ListingField, Part } from '../../model/listing.ts';
import { isObject } from '../../model/resource.ts';
import { parseInSlices, type RunTask } from './page-json.ts';
import { type FindRow, jsonOf, type ReadRecord, recordKey, wholeNumber } from './record.ts';

/** Rows of a page. */
interface PageRows<Row> {
  readonly rows: Part<Row>;
  /** Each row's index among the records of the page; undefined when every record became a row. */
  readonly positions: readonly number[] | undefined;
  /** The invalid fields of the rows that have any, by row index. */
  readonly invalid: ReadonlyMap<number, readonly ListingField[]>;
}

/** Rows of a page, and the same rows in parts that are short enough for one event-loop iteration each. */
export interface SplitRows<Row> extends PageRows<Row> {
  readonly parts: readonly PageRows<Row>[];
}

/** One page of the listing, as read. */
export interface Page<Row> extends SplitRows<Row> {
  /** Records in the page, valid or not: what the offset advances by. */
  readonly received: number;
  /** The keys of the first and the last record (see `recordKey`). */
  readonly borders: readonly [first: string | undefined, last: string | undefined];
  /** A digest of the records that are no rows; '' when there are none. */
  readonly rejectedDigest: string;
  /** The rows without the first record: the same object on every call. */
  readonly afterFirst: () => SplitRows<Row>;
  /** Characters of all texts of the rows. */
  readonly textLength: number;
  readonly total: number | undefined;
  readonly totalInvalid: boolean;
}

/** Compares ids, and records without one. */
export function hasSameRecords<Row>(a: Page<Row>, b: Page<Row>, idOf: (row: Row) => string): boolean {
  return (
    a.received === b.received &&
    a.rejectedDigest === b.rejectedDigest &&
    a.rows.every((row, index) => idOf(row) === idOf(b.rows[index] as Row))
  );
}

/** Reads one record; undefined when it has no valid id. */
export type ReadRow<Row> = (record: unknown, find: FindRow<Row>) => ReadRecord<Row> | undefined;

/** Called with the rows read so far and the characters of their texts; may throw to stop reading. */
export type RowProgress = (rows: number, textLength: number) => void;

/** A larger page is parsed in slices; for usual ones one iteration is cheaper. */
const MAX_WHOLE_BYTES = 512 * 1024;

/** Rejects with a ListingFailure of reason `body` for anything but a page; an invalid record in it is only counted. */
export async function readPage<Row>(
  bytes: Uint8Array,
  readRow: ReadRow<Row>,
  run: RunTask,
  progress: RowProgress = () => undefined,
  find: FindRow<Row> = () => undefined,
): Promise<Page<Row>> {
  const body = withoutByteOrderMark(bytes);
  const reader = new RowReader((record) => readRow(record, find), progress);
  if (body.length <= MAX_WHOLE_BYTES) return run(() => readWhole(body, reader));
  const parsed = await parseInSlices(body, run, (records) => reader.read(records)).catch((cause) => {
    throw cause instanceof SyntaxError ? notJson(body, cause) : cause;
  });
  if (parsed === undefined && isMarkup(body)) throw notJson(body);
  if (parsed === undefined) {
    throw new ListingFailure('body', `expected a JSON object with one array "resources" in ${body.length} bytes`);
  }
  return reader.page(parsed.rest);
}

function readWhole<Row>(body: Buffer, reader: RowReader<Row>): Page<Row> {
  const envelope = parse(body);
  reader.read(recordsOf(envelope));
  return reader.page(envelope);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch (cause) {
    throw notJson(body, cause);
  }
}

function isMarkup(body: Buffer): boolean {
  return body.toString('latin1', 0, 1) === '<';
}

function notJson(body: Buffer, cause?: unknown): ListingFailure {
  const found =
    body.toString('latin1', 0, 1) === '<'
      ? `an HTML or XML page (${body.length} bytes)`
      : `${body.length} bytes that are not JSON`;
  return new ListingFailure('body', `expected JSON, got ${found}`, { cause });
}

function withoutByteOrderMark(bytes: Uint8Array): Buffer {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, bytes.byteLength - start);
}

function recordsOf(envelope: unknown): readonly unknown[] {
  if (!isObject(envelope)) throw new ListingFailure('body', `expected a JSON object, got ${kind(envelope)}`);
  if (!Object.hasOwn(envelope, 'resources'))
    throw new ListingFailure('body', 'expected a JSON object with a field "resources"');
  const resources = envelope['resources'] ?? [];
  if (!Array.isArray(resources))
    throw new ListingFailure('body', `expected "resources" to be an array, got ${kind(resources)}`);
  return resources;
}

/** Reads the records of a page, in as many steps as they arrive in. */
class RowReader<Row> {
  readonly #readRow: (record: unknown) => ReadRecord<Row> | undefined;
  readonly #progress: RowProgress;
  readonly #rows: Row[] = [];
  readonly #positions: number[] = [];
  readonly #invalid = new Map<number, readonly ListingField[]>();
  #rejected: Hash | undefined;
  #received = 0;
  #first: unknown;
  #last: unknown;
  #textLength = 0;

  constructor(readRow: (record: unknown) => ReadRecord<Row> | undefined, progress: RowProgress) {
    this.#readRow = readRow;
    this.#progress = progress;
  }

  read(records: readonly unknown[]): void {
    if (this.#received === 0) this.#first = records[0];
    if (records.length > 0) this.#last = records.at(-1);
    for (const record of records) {
      const read = this.#readRow(record);
      if (read) {
        if (read.invalid.length > 0) this.#invalid.set(this.#rows.length, read.invalid);
        this.#rows.push(read.row);
        this.#positions.push(this.#received);
        this.#textLength += read.textLength;
      } else {
        this.#rejected ??= createHash('sha256');
        this.#rejected.update(`${this.#received} ${jsonOf(record)}\n`);
      }
      this.#received += 1;
    }
    this.#progress(this.#rows.length, this.#textLength);
  }

  page(envelope: unknown): Page<Row> {
    const hasAll = this.#rows.length === this.#received;
    const rows = inParts({ rows: this.#rows, positions: hasAll ? undefined : this.#positions, invalid: this.#invalid });
    let afterFirst: SplitRows<Row> | undefined;
    return {
      ...rows,
      received: this.#received,
      textLength: this.#textLength,
      borders: this.#received === 0 ? [undefined, undefined] : [recordKey(this.#first), recordKey(this.#last)],
      rejectedDigest: this.#rejected?.digest('base64') ?? '',
      afterFirst: () => {
        afterFirst ??= withoutFirstRecord(rows);
        return afterFirst;
      },
      ...readTotal(envelope),
    };
  }
}

function withoutFirstRecord<Row>(page: SplitRows<Row>): SplitRows<Row> {
  const isRejected = page.positions !== undefined && page.positions[0] !== 0;
  return isRejected ? page : selectRows(page, [...page.rows.keys()].slice(1));
}

/** The rows with these indexes. */
export function selectRows<Row>(
  { rows, positions, invalid }: PageRows<Row>,
  indexes: readonly number[],
): SplitRows<Row> {
  return inParts({
    rows: indexes.map((index) => rows[index] as Row),
    positions: indexes.map((index) => positions?.[index] ?? index),
    invalid: new Map(indexes.flatMap((index, at) => (invalid.has(index) ? [[at, invalid.get(index) ?? []]] : []))),
  });
}

/** What reads, joins and encodes a part does so in one event-loop iteration. */
const MAX_PART = 1000;

/** Splits rows into parts; those of a usual page are a single one. */
function inParts<Row>(page: PageRows<Row>): SplitRows<Row> {
  const { rows, positions, invalid } = page;
  if (rows.length <= MAX_PART) return { ...page, parts: rows.length === 0 ? [] : [page] };
  const parts = Array.from({ length: Math.ceil(rows.length / MAX_PART) }, (_, at) => {
    const start = at * MAX_PART;
    const part = rows.slice(start, start + MAX_PART);
    const indexes = part.map((_row, index) => positions?.[start + index] ?? start + index);
    return { rows: part, positions: indexes, invalid: new Map<number, readonly ListingField[]>() };
  });
  for (const [index, fields] of invalid) parts[Math.floor(index / MAX_PART)]?.invalid.set(index % MAX_PART, fields);
  return { ...page, parts };
}

function readTotal(envelope: unknown): Pick<Page<unknown>, 'total' | 'totalInvalid'> {
  const page = isObject(envelope) ? envelope['page'] : undefined;
  const given = isObject(page) ? page['total'] : undefined;
  if (given === undefined || given === null) return { total: undefined, totalInvalid: false };
  const total = wholeNumber(given);
  return typeof total === 'number' ? { total, totalInvalid: false } : { total: undefined, totalInvalid: true };
}

function kind(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Smaller pages cannot be too large for a service. */
const MIN_PAGE_SIZE = 10;

/** The page size of one refresh: halved when the service rejects a page as too large, never raised. */
export class PageSize {
  readonly #reduced: (size: number) => void;
  #current: number;

  constructor(configured: number, reduced: (size: number) => void) {
    this.#current = configured;
    this.#reduced = reduced;
  }

  atMost(size: number): number {
    return Math.min(size, this.#current);
  }

  /** The size to request after a page of `rejected` records was too large; undefined at the minimum. Concurrent pages that fail alike reduce it once. */
  below(rejected: number): number | undefined {
    if (rejected <= MIN_PAGE_SIZE) return undefined;
    if (rejected <= this.#current) {
      this.#current = Math.max(MIN_PAGE_SIZE, Math.floor(rejected / 2));
      this.#reduced(this.#current);
    }
    return this.#current;
  }
}
