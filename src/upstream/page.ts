import { hash } from 'node:crypto';
import { ListingFailure } from '../station/failure.ts';
import type { ListingField, Part } from '../station/listing.ts';
import { isObject } from '../station/resource.ts';
import { wholeNumber } from './record.ts';

/** One page of the listing, as read. */
export interface Page<Row> {
  /** Records in the page, valid or not: what the offset advances by. */
  readonly received: number;
  readonly rows: Part<Row>;
  /** Each row's index among the records; undefined when every record became a row. */
  readonly positions: readonly number[] | undefined;
  /** The invalid fields of the rows that have any, by row index. */
  readonly invalid: ReadonlyMap<number, readonly ListingField[]>;
  readonly total: number | undefined;
  readonly totalInvalid: boolean;
}

/** Reads one record; undefined when it has no valid id. */
export type ReadRow<Row> = (record: unknown) => { readonly row: Row; readonly invalid: readonly ListingField[] } | undefined;

/** Throws a ListingFailure of reason `body` for anything but a page; an invalid record in it is only counted. */
export function readPage<Row>(body: Uint8Array, readRow: ReadRow<Row>): Page<Row> {
  const envelope = parse(body);
  if (!isObject(envelope)) throw new ListingFailure('body', `expected a JSON object, got ${kind(envelope)}`);
  if (!Object.hasOwn(envelope, 'resources')) throw new ListingFailure('body', 'expected a JSON object with a field "resources"');
  const resources = envelope['resources'] ?? [];
  if (!Array.isArray(resources)) throw new ListingFailure('body', `expected "resources" to be an array, got ${kind(resources)}`);
  const rows: Row[] = [];
  const positions: number[] = [];
  const invalid = new Map<number, readonly ListingField[]>();
  for (const [position, record] of resources.entries()) {
    const read = readRow(record);
    if (!read) continue;
    if (read.invalid.length > 0) invalid.set(rows.length, read.invalid);
    rows.push(read.row);
    positions.push(position);
  }
  const hasAll = rows.length === resources.length;
  return { received: resources.length, rows, positions: hasAll ? undefined : positions, invalid, ...readTotal(envelope['page']) };
}

function parse(body: Uint8Array): unknown {
  const json = decode(body);
  try {
    return JSON.parse(json);
  } catch (cause) {
    const found = json.startsWith('<') ? `an HTML or XML page (${body.byteLength} bytes)` : `${body.byteLength} bytes that are not JSON`;
    throw new ListingFailure('body', `expected JSON, got ${found}`, { cause });
  }
}

/** Decodes the body without a byte order mark. */
function decode(body: Uint8Array): string {
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  return Buffer.from(body.buffer, body.byteOffset + start, body.byteLength - start).toString();
}

function readTotal(page: unknown): Pick<Page<unknown>, 'total' | 'totalInvalid'> {
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
    const listed = await list((path, body, read) => {
      const digest = hash('sha256', body, 'base64');
      const cached = this.#pages.get(path);
      const page = cached?.digest === digest ? cached.page : read(body);
      pages.set(path, { digest, page });
      return page;
    });
    this.#pages = pages;
    return listed;
  }
}

/** Returns the cached page of this path if its bytes are the same, else reads it. */
export type ReadThrough<Row> = (path: string, body: Uint8Array, read: (body: Uint8Array) => Page<Row>) => Page<Row>;

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
