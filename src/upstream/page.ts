import { createHash, hash } from 'node:crypto';
import { ListingFailure } from '../station/failure.ts';
import type { ListingField, Part } from '../station/listing.ts';
import { isObject } from '../station/resource.ts';
import { parseInSlices, type RunTask } from './page-json.ts';
import { wholeNumber } from './record.ts';

/** Rows of a page. */
interface PageRows<Row> {
  readonly rows: Part<Row>;
  /** Each row's index among the records of the page; undefined when every record became a row. */
  readonly positions: readonly number[] | undefined;
  /** The invalid fields of the rows that have any, by row index. */
  readonly invalid: ReadonlyMap<number, readonly ListingField[]>;
}

/** One page of the listing, as read. */
export interface Page<Row> extends PageRows<Row> {
  /** Records in the page, valid or not: what the offset advances by. */
  readonly received: number;
  /** The rows in parts that are short enough for one event-loop iteration each. */
  readonly parts: readonly PageRows<Row>[];
  readonly total: number | undefined;
  readonly totalInvalid: boolean;
}

/** Reads one record; undefined when it has no valid id. */
export type ReadRow<Row> = (record: unknown) => { readonly row: Row; readonly invalid: readonly ListingField[] } | undefined;

/** A larger page is parsed in slices; for usual ones one iteration is cheaper. */
const MAX_WHOLE_BYTES = 512 * 1024;

/** Rejects with a ListingFailure of reason `body` for anything but a page; an invalid record in it is only counted. */
export async function readPage<Row>(bytes: Uint8Array, readRow: ReadRow<Row>, run: RunTask): Promise<Page<Row>> {
  const body = withoutByteOrderMark(bytes);
  if (body.length <= MAX_WHOLE_BYTES) return run(() => readWhole(body, readRow));
  const reader = new RowReader(readRow);
  const parsed = await parseInSlices(body, run, (records) => reader.read(records)).catch((cause) => {
    throw cause instanceof SyntaxError ? notJson(body, cause) : cause;
  });
  // Rare: no such array, or the key twice, of which JSON.parse takes the last.
  if (parsed === undefined || recordsOf(parsed.rest).length > 0) return run(() => readWhole(body, readRow));
  return reader.page(parsed.rest);
}

function readWhole<Row>(body: Buffer, readRow: ReadRow<Row>): Page<Row> {
  const envelope = parse(body);
  const reader = new RowReader(readRow);
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

function notJson(body: Buffer, cause: unknown): ListingFailure {
  const found =
    body.toString('latin1', 0, 1) === '<' ? `an HTML or XML page (${body.length} bytes)` : `${body.length} bytes that are not JSON`;
  return new ListingFailure('body', `expected JSON, got ${found}`, { cause });
}

function withoutByteOrderMark(bytes: Uint8Array): Buffer {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, bytes.byteLength - start);
}

function recordsOf(envelope: unknown): readonly unknown[] {
  if (!isObject(envelope)) throw new ListingFailure('body', `expected a JSON object, got ${kind(envelope)}`);
  if (!Object.hasOwn(envelope, 'resources')) throw new ListingFailure('body', 'expected a JSON object with a field "resources"');
  const resources = envelope['resources'] ?? [];
  if (!Array.isArray(resources)) throw new ListingFailure('body', `expected "resources" to be an array, got ${kind(resources)}`);
  return resources;
}

/** Reads the records of a page, in as many steps as they arrive in. */
class RowReader<Row> {
  readonly #readRow: ReadRow<Row>;
  readonly #rows: Row[] = [];
  readonly #positions: number[] = [];
  readonly #invalid = new Map<number, readonly ListingField[]>();
  #received = 0;

  constructor(readRow: ReadRow<Row>) {
    this.#readRow = readRow;
  }

  read(records: readonly unknown[]): void {
    for (const record of records) {
      const read = this.#readRow(record);
      if (read) {
        if (read.invalid.length > 0) this.#invalid.set(this.#rows.length, read.invalid);
        this.#rows.push(read.row);
        this.#positions.push(this.#received);
      }
      this.#received += 1;
    }
  }

  page(envelope: unknown): Page<Row> {
    const hasAll = this.#rows.length === this.#received;
    const rows = { rows: this.#rows, positions: hasAll ? undefined : this.#positions, invalid: this.#invalid };
    return { ...rows, received: this.#received, parts: partsOf(rows), ...readTotal(envelope) };
  }
}

/** What reads, joins and encodes a part does so in one event-loop iteration. */
const MAX_PART = 1000;

/** Splits rows into parts; those of a usual page are a single one. */
export function partsOf<Row>(page: PageRows<Row>): readonly PageRows<Row>[] {
  const { rows, positions, invalid } = page;
  if (rows.length <= MAX_PART) return rows.length === 0 ? [] : [page];
  const parts = Array.from({ length: Math.ceil(rows.length / MAX_PART) }, (_, at) => {
    const start = at * MAX_PART;
    const part = rows.slice(start, start + MAX_PART);
    const indexes = part.map((_row, index) => positions?.[start + index] ?? start + index);
    return { rows: part, positions: indexes, invalid: new Map<number, readonly ListingField[]>() };
  });
  for (const [index, fields] of invalid) parts[Math.floor(index / MAX_PART)]?.invalid.set(index % MAX_PART, fields);
  return parts;
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

interface CachedPage<Row> {
  readonly digest: string;
  readonly page: Page<Row>;
}

/** The pages of the previous listing: a page with the same bytes is not parsed again. */
export class PageCache<Row> {
  #pages: ReadonlyMap<string, CachedPage<Row>> = new Map();

  /** Runs a listing that reads its pages through the cache; afterwards the cache holds the pages of that listing only. */
  async reuse<T>(list: (read: ReadThrough<Row>) => Promise<T>): Promise<T> {
    const pages = new Map<string, CachedPage<Row>>();
    const listed = await list(async (path, body, run, read) => {
      const digest = await digestOf(body, run);
      const cached = this.#pages.get(path);
      const page = cached?.digest === digest ? cached.page : await read(body, run);
      pages.set(path, { digest, page });
      return page;
    });
    this.#pages = pages;
    return listed;
  }
}

/** Returns the cached page of this path if its bytes are the same, else reads it. */
type ReadThrough<Row> = (
  path: string,
  body: Uint8Array,
  run: RunTask,
  read: (body: Uint8Array, run: RunTask) => Promise<Page<Row>>,
) => Promise<Page<Row>>;

/** Bytes hashed in one event-loop iteration. */
const HASHED_BYTES = 1024 * 1024;

async function digestOf(body: Uint8Array, run: RunTask): Promise<string> {
  if (body.length <= HASHED_BYTES) return run(() => hash('sha256', body, 'base64'));
  const digest = createHash('sha256');
  for (let at = 0; at < body.length; at += HASHED_BYTES) await run(() => digest.update(body.subarray(at, at + HASHED_BYTES)));
  return digest.digest('base64');
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
