import { hash } from 'node:crypto';
import { ListingFailure } from '../../model/failure.ts';
import { jsonName } from '../../model/json-name.ts';
import {
  type FieldsOfPart,
  type FindRow,
  hasSameElements,
  type ListingKind,
  MAX_REJECTED_RECORDS,
  type Part,
  type ReadRecord,
  type RejectedRecord,
  type RejectedRecords,
} from '../../model/listing.ts';
import { isMissing, isObject, readWholeNumber } from '../../model/values.ts';
import { yieldToEventLoop } from '../../tasks/yield-to-event-loop.ts';
import { quoted } from '../../text/quoted.ts';
import { firstOf } from '../../text/words.ts';
import { cutReply, htmlTitle, RequestFailure } from '../request-failure.ts';

/** Rows of a page, few enough to read, join or encode them without a pause. */
export interface PagePart<Row> {
  readonly rows: Part<Row>;
  /** Each row's id as sent. */
  readonly ids: readonly string[];
  /** Each row's index among the records of the page; undefined when the rows are all records of the page. */
  readonly positions: readonly number[] | undefined;
  readonly invalid: FieldsOfPart;
  /** The fields that a row's record lacks. */
  readonly absent: FieldsOfPart;
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
  readonly total: number | undefined;
  readonly totalInvalid: boolean;
}

/** Compares ids, and the first and the last record. */
export function hasSameRecords(a: Page<unknown>, b: Page<unknown>): boolean {
  if (a.received !== b.received || a.rowCount !== b.rowCount || !hasSameElements(a.borders, b.borders)) return false;
  return a.parts.every(({ ids }, at) => hasSameElements(ids, b.parts[at]?.ids ?? []));
}

/** What a page needs to know of the listing. */
type PageKind<Row> = RecordsKind & Pick<ListingKind<Row>, 'read'>;

type RecordsKind = Pick<ListingKind<never>, 'field' | 'idField' | 'fields' | 'rejectedTexts'>;

interface ReadOptions<Row> {
  /** Called with the number of records, rejected ones too, before they are read; may throw to refuse them. */
  readonly counted?: (records: number) => void;
  /** The page of the listing before. */
  readonly before?: Page<Row> | undefined;
  /** What no message may contain. */
  readonly secrets?: readonly string[];
  /** Reading ends with its reason when it aborts. */
  readonly signal?: AbortSignal;
}

/**
 * Rejects with a ListingFailure for anything but a page; an invalid record in it is only counted. Yields to the event loop before each block
 * of records: a service that ignores the page size may return tens of thousands.
 */
export async function readPage<Row>(
  bytes: Uint8Array,
  kind: PageKind<Row>,
  { counted, before, signal, secrets = [] }: ReadOptions<Row> = {},
): Promise<Page<Row>> {
  const envelope = await parsePage(bytes, secrets, signal);
  const records = recordsOf(envelope, kind.field);
  const received = records.length;
  counted?.(received);
  const renamed = renaming(records, kind);
  const find = rowFinder(before?.parts ?? []);
  const rows = new PageRows<Row>();
  const rejectedRecords: RejectedRecord[] = [];
  for (const [position, sent] of records.entries()) {
    if (position % PART_ROWS === 0) {
      await yieldToEventLoop();
      signal?.throwIfAborted();
    }
    const record = renamed(sent);
    const read = kind.read(record, find);
    if (read) rows.add(read, position);
    else if (rejectedRecords.length < MAX_REJECTED_RECORDS)
      rejectedRecords.push(rejectedRecord(record, position, kind));
  }
  return withAfterFirst({
    received,
    rowCount: rows.count,
    parts: rows.parts(received),
    borders: bordersOf(records, kind, renamed),
    rejected: received - rows.count,
    rejectedRecords,
    ...readTotal(envelope),
  });
}

/** Drops a byte order mark. */
const UTF8 = new TextDecoder();

/** About 80,000 typical records (26 MiB) have as many. The values of a page are in memory together, whatever `max_page_bytes` is. */
const MAX_VALUES = 1_000_000;

/** An HTML page has its title in the beginning. */
const MAX_HEAD_BYTES = 64 * 1024;

/** `JSON.parse` cannot be interrupted: counting, parsing and reading a large page are turns of their own. */
async function parsePage(
  bytes: Uint8Array,
  secrets: readonly string[],
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const { length } = bytes;
  const start = UTF8.decode(bytes.subarray(0, 100)).trimStart();
  const isBlank = start === '' && UTF8.decode(bytes).trim() === '';
  if (isBlank) throw new RequestFailure('body', 'expected JSON, got an empty reply', { retryable: true });
  if (start.startsWith('<')) {
    const title = htmlTitle(UTF8.decode(bytes.subarray(0, MAX_HEAD_BYTES)), secrets);
    const page = `an HTML or XML page (${length} bytes)${title === undefined ? '' : `: ${title}`}`;
    throw new ListingFailure('body', `expected JSON, got ${page}`);
  }
  const mayHaveTooMany = length > MAX_VALUES;
  if (mayHaveTooMany && atMostValuesIn(bytes) > MAX_VALUES)
    throw new ListingFailure('body', `expected at most ${MAX_VALUES} values in a page, got more`);
  if (mayHaveTooMany) await yieldToEventLoop();
  signal?.throwIfAborted();
  try {
    return JSON.parse(UTF8.decode(bytes));
  } catch (cause) {
    if (BEGIN_OF_JSON.test(start) && hasOpenBrackets(bytes)) throw cutReply(length);
    const first = objectInFirstLine(bytes);
    if (first)
      throw new ListingFailure('body', `expected a JSON object, got a stream of objects; ${fieldsText(first)}`);
    throw new ListingFailure('body', `expected JSON, got ${length} bytes that are not JSON`, { cause });
  }
}

const BEGIN_OF_JSON = /^(\[(\s|[{"]|$)|\{\s*("|$))/;

/** A streaming operation sends an object per line. */
function objectInFirstLine(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const [line] = UTF8.decode(bytes).split('\n', 1);
    const value: unknown = JSON.parse(`${line}`);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const [COMMA, BRACE, BRACKET, END_BRACE, END_BRACKET, QUOTE, BACKSLASH] = Buffer.from(',{[}]"\\');

/** Whether the text ends within an object or an array. */
function hasOpenBrackets(bytes: Uint8Array): boolean {
  let open = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) isText = !isText;
    else if (isText && byte === BACKSLASH) at += 1;
    else if (isText) continue;
    else if (byte === BRACE || byte === BRACKET) open += 1;
    else if (byte === END_BRACE || byte === END_BRACKET) open -= 1;
  }
  return open > 0;
}

/** Each value follows one of these characters; those in texts count too. */
function atMostValuesIn(bytes: Uint8Array): number {
  let values = 0;
  for (const byte of bytes) if (byte === COMMA || byte === BRACE || byte === BRACKET) values += 1;
  return values;
}

function recordsOf(envelope: unknown, field: string): readonly unknown[] {
  if (!isObject(envelope)) throw new ListingFailure('body', `expected a JSON object, got ${jsonKind(envelope)}`);
  if (!Object.hasOwn(envelope, field) && !isPageAlone(envelope))
    throw new ListingFailure('body', `expected a JSON object with a field "${field}"; ${fieldsText(envelope)}`);
  const records = envelope[field] ?? [];
  if (!Array.isArray(records))
    throw new ListingFailure('body', `expected "${field}" to be an array, got ${jsonKind(records)}`);
  return records;
}

/** A gateway may leave out an empty list. A reply that has another list or object is no listing. */
function isPageAlone({ page, ...others }: Readonly<Record<string, unknown>>): boolean {
  return isObject(page) && Object.values(others).every((value) => typeof value !== 'object' || value === null);
}

/** Fields of a reply that a message names. */
const MAX_NAMED_FIELDS = 4;

function fieldsText(envelope: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(envelope).map(quoted);
  return names.length === 0 ? 'it is empty' : `it has ${firstOf(names, MAX_NAMED_FIELDS).join(', ')}`;
}

type Renaming = (record: unknown) => unknown;

/**
 * Gives the fields of the records their names on the wire. The first record that has a field whose name differs between the two spellings
 * decides for the page.
 */
function renaming(records: readonly unknown[], { idField, fields }: RecordsKind): Renaming {
  const differing = [idField, ...fields].filter((field) => field.includes('_'));
  for (const record of records.slice(0, PART_ROWS)) {
    const sent = isObject(record) ? Object.keys(record) : [];
    if (sent.some((name) => differing.includes(name))) return asSent;
    const names = new Map(differing.map((field) => [jsonName(field), field]));
    if (sent.some((name) => names.has(name))) return (other) => withNames(other, names);
  }
  return asSent;
}

const asSent: Renaming = (record) => record;

/** Changes the record, which no one else has yet: a copy takes several times as long. */
function withNames(record: unknown, names: ReadonlyMap<string, string>): unknown {
  if (!isObject(record)) return record;
  const renamed: Record<string, unknown> = record;
  for (const [name, field] of names) if (Object.hasOwn(renamed, name)) renamed[field] = renamed[name];
  return renamed;
}

function bordersOf(records: readonly unknown[], { idField }: RecordsKind, renamed: Renaming): Page<unknown>['borders'] {
  if (records.length === 0) return [undefined, undefined];
  return [recordKey(renamed(records[0]), idField), recordKey(renamed(records.at(-1)), idField)];
}

/** Identifies a record among others: its id, or a digest of a record without one; undefined if that is nested too deep to be written. */
function recordKey(record: unknown, idField: string): string | undefined {
  const id = isObject(record) ? record[idField] : undefined;
  if (typeof id === 'string' && id !== '') return `id ${id}`;
  try {
    return `record ${hash('sha256', JSON.stringify(record), 'hex')}`;
  } catch {
    return undefined;
  }
}

function rejectedRecord(record: unknown, position: number, kind: RecordsKind): RejectedRecord {
  const { idField, rejectedTexts } = kind;
  if (!isObject(record)) return { position, rejection: 'not an object', texts: {} };
  return { position, rejection: rejectionOf(record[idField], idField), texts: rejectedTexts?.(record) ?? {} };
}

function rejectionOf(id: unknown, idField: string): string {
  if (isMissing(id)) return `no ${idField}`;
  return id === '' ? `${idField} is empty` : `${idField} is not text`;
}

function jsonKind(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
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
  readonly invalid: Map<number, readonly string[]>;
  readonly absent: Map<number, readonly string[]>;
}

/** Collects the rows of a page in parts. All but the last have PART_ROWS rows. */
class PageRows<Row> {
  readonly #parts: GrowingPart<Row>[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add({ row, id, invalid, absent }: ReadRecord<Row>, position: number): void {
    let part = this.#parts.at(-1);
    if (part === undefined || part.rows.length === PART_ROWS) {
      part = { rows: [], ids: [], positions: [], invalid: new Map(), absent: new Map() };
      this.#parts.push(part);
    }
    if (invalid.length > 0) part.invalid.set(part.rows.length, invalid);
    if (absent && absent.length > 0) part.absent.set(part.rows.length, absent);
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
  return {
    rows: indexes.map((index) => part.rows[index] as Row),
    ids: indexes.map((index) => part.ids[index] as string),
    positions: indexes.map((index) => part.positions?.[index] ?? index),
    invalid: selectFields(part.invalid, indexes),
    absent: selectFields(part.absent, indexes),
  };
}

function selectFields(fieldsOf: FieldsOfPart, indexes: readonly number[]): FieldsOfPart {
  const selected = new Map<number, readonly string[]>();
  for (const [at, index] of indexes.entries()) {
    const fields = fieldsOf.get(index);
    if (fields) selected.set(at, fields);
  }
  return selected;
}

function readTotal(envelope: unknown): Pick<Page<unknown>, 'total' | 'totalInvalid'> {
  const page = isObject(envelope) ? envelope['page'] : undefined;
  const given = isObject(page) ? page['total'] : undefined;
  if (isMissing(given)) return { total: undefined, totalInvalid: false };
  const total = readWholeNumber(given);
  return typeof total === 'number' ? { total, totalInvalid: false } : { total: undefined, totalInvalid: true };
}
