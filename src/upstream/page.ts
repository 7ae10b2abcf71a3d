import { hash } from 'node:crypto';
import { ListingFailure } from '../station/failure.ts';
import type { ListingField, Part } from '../station/listing.ts';
import { isObject, wholeNumber } from './record.ts';

/** One reply, read. */
export interface Page<Row> {
  /** How many records came, usable or not: what the offset advances by. */
  readonly received: number;
  readonly rows: Part<Row>;
  /** Of each row among the records; undefined when every record became a row. */
  readonly positions: readonly number[] | undefined;
  /** The fields that could not be used, for the rows that have such, by their index. */
  readonly invalid: ReadonlyMap<number, readonly ListingField[]>;
  readonly total: number | undefined;
  readonly totalInvalid: boolean;
}

/** Reads one record; undefined when it has no usable id. */
export type ReadRow<Row> = (record: unknown) => { readonly row: Row; readonly invalid: readonly ListingField[] } | undefined;

/** Throws a ListingFailure of reason `body` for anything but the envelope; a strange record in it is only counted. */
export function readPage<Row>(body: Uint8Array, readRow: ReadRow<Row>): Page<Row> {
  const envelope = parse(body);
  if (!isObject(envelope)) throw new ListingFailure('body', `expected a JSON object, got ${kind(envelope)}`);
  if (!Object.hasOwn(envelope, 'resources')) throw new ListingFailure('body', 'expected a field "resources", there is none');
  const resources = envelope['resources'] ?? [];
  if (!Array.isArray(resources)) throw new ListingFailure('body', `expected "resources" to be a list, got ${kind(resources)}`);
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
  const isWhole = rows.length === resources.length;
  return { received: resources.length, rows, positions: isWhole ? undefined : positions, invalid, ...readTotal(envelope['page']) };
}

function parse(body: Uint8Array): unknown {
  const json = text(body);
  try {
    return JSON.parse(json);
  } catch (cause) {
    const found = json.startsWith('<') ? `a page of HTML or XML (${body.byteLength} bytes)` : `${body.byteLength} bytes that are none`;
    throw new ListingFailure('body', `expected JSON, got ${found}`, { cause });
  }
}

/** Without the byte order mark that some writers put in front. */
function text(body: Uint8Array): string {
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
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

interface KnownPage<Row> {
  readonly digest: string;
  readonly page: Page<Row>;
}

/** The pages of a listing as they were last time: one whose bytes are the same is not read again. */
export class PageCache<Row> {
  #known: ReadonlyMap<string, KnownPage<Row>> = new Map();

  /** Runs one listing over what is known, and knows afterwards what that listing held and nothing else. */
  async reuse<T>(list: (read: ReadThrough<Row>) => Promise<T>): Promise<T> {
    const seen = new Map<string, KnownPage<Row>>();
    const listed = await list((place, body, read) => {
      const digest = hash('sha256', body, 'base64');
      const known = this.#known.get(place);
      const page = known?.digest === digest ? known.page : read(body);
      seen.set(place, { digest, page });
      return page;
    });
    this.#known = seen;
    return listed;
  }
}

/** Reads a page by its place in the listing, or gives it back as it was read before. */
export type ReadThrough<Row> = (place: string, body: Uint8Array, read: (body: Uint8Array) => Page<Row>) => Page<Row>;

/** Below this a page cannot be what was too large. */
const SMALLEST = 10;

/** How many records the pages of one refresh ask for; goes down when the service finds them too many, never up. */
export class PageSize {
  readonly #reduced: (size: number) => void;
  #most: number;

  constructor(most: number, reduced: (size: number) => void) {
    this.#most = most;
    this.#reduced = reduced;
  }

  atMost(wanted: number): number {
    return Math.min(wanted, this.#most);
  }

  /** What to ask for when so many were too many; undefined: no less. Pages side by side that fail alike reduce it once. */
  below(tooMany: number): number | undefined {
    if (tooMany <= SMALLEST) return undefined;
    if (tooMany <= this.#most) {
      this.#most = Math.max(SMALLEST, Math.floor(tooMany / 2));
      this.#reduced(this.#most);
    }
    return this.#most;
  }
}
