import { createHash, type Hash } from 'node:crypto';
import { type ListingField, MAX_REJECTED_RECORDS, type Part, type RejectedRecord } from '../../model/listing.ts';
import { isObject } from '../../model/resource.ts';
import { parsePage, type RunTask } from './page-json.ts';
import {
  type FindRow,
  type ReadRecord,
  readRejected,
  recordDigest,
  recordKey,
  rowFinder,
  wholeNumber,
} from './record.ts';

/** Rows of a page. */
interface PageRows<Row> {
  readonly rows: Part<Row>;
  /** Each row's id as sent. */
  readonly ids: readonly string[];
  /** Each row's index among the records of the page; undefined when every record became a row. */
  readonly positions: readonly number[] | undefined;
  /** The invalid fields of the rows that have any, by row index. */
  readonly invalid: ReadonlyMap<number, readonly ListingField[]>;
}

/** Rows of a page, and the same rows in parts that are short enough for one event-loop iteration each. */
export interface SplitRows<Row> extends PageRows<Row> {
  readonly parts: readonly Omit<PageRows<Row>, 'ids'>[];
}

/** Records of a page without a valid id, which are not rows. */
interface RejectedRows {
  readonly rejected: number;
  /** Of their contents and their places in the page; '' when there are none. */
  readonly rejectedDigest: string;
  /** The sum of the digests of their contents: the same in any order, and that of several pages is the sum of theirs. */
  readonly rejectedSum: bigint;
  /** What the first record of the page contributes to it; 0 if that is a row. */
  readonly firstRejected: bigint;
  readonly areRejectedNamed: boolean;
  /** The first ones, with their places in the page. */
  readonly rejectedRecords: readonly RejectedRecord[];
}

/** One page of the listing, as read. */
export interface Page<Row> extends SplitRows<Row>, RejectedRows {
  /** Records in the page, valid or not: what the offset advances by. */
  readonly received: number;
  /** The keys of the first and the last record (see `recordKey`). */
  readonly borders: readonly [first: string | undefined, last: string | undefined];
  /** The page without its first record: the same object on every call. */
  readonly afterFirst: () => Page<Row>;
  /** Characters of all texts that are kept. */
  readonly textBytes: number;
  readonly total: number | undefined;
  readonly totalInvalid: boolean;
}

/** Compares ids, and records without one. */
export function hasSameRecords(a: Page<unknown>, b: Page<unknown>): boolean {
  return (
    a.received === b.received &&
    a.rejectedDigest === b.rejectedDigest &&
    a.ids.every((id, index) => id === b.ids[index])
  );
}

/** Reads one record; undefined when it has no valid id. */
export type ReadRow<Row> = (record: unknown, find: FindRow<Row>) => ReadRecord<Row> | undefined;

/** Called with the records read so far, rejected ones too, and the characters of the texts kept; may throw to stop reading. */
export type RowProgress = (records: number, textBytes: number) => void;

/** Rejects with an UnreadablePage for anything but a page; an invalid record in it is only counted. `before`: the page of the listing before. */
export async function readPage<Row>(
  bytes: Uint8Array,
  readRow: ReadRow<Row>,
  run: RunTask,
  { progress, before }: { readonly progress?: RowProgress; readonly before?: Page<Row> | undefined } = {},
): Promise<Page<Row>> {
  const find = rowFinder(before?.rows ?? [], before?.ids ?? []);
  const rows: Row[] = [];
  const ids: string[] = [];
  const positions: number[] = [];
  const invalid = new Map<number, readonly ListingField[]>();
  let received = 0;
  let textBytes = 0;
  const rejected = new Rejects();
  let first: unknown;
  let last: unknown;
  const add = (record: unknown) => {
    const read = readRow(record, find);
    if (read) {
      if (read.invalid.length > 0) invalid.set(rows.length, read.invalid);
      rows.push(read.row);
      ids.push(read.id);
      positions.push(received);
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
  return pageOf({
    ...inParts({ rows, ids, positions: rows.length === received ? undefined : positions, invalid }),
    received,
    textBytes,
    borders: received === 0 ? [undefined, undefined] : [recordKey(first), recordKey(last)],
    ...rejected.facts(),
    ...readTotal(envelope),
  });
}

/** Collects the rejected records of a page. */
class Rejects {
  #sequence: Hash | undefined;
  #rejected = 0;
  #sum = 0n;
  #first = 0n;
  #areNamed = true;
  readonly #records: RejectedRecord[] = [];

  /** Returns the characters of the texts that are kept of it. */
  add(record: unknown, position: number): number {
    const digest = recordDigest(record);
    this.#sequence ??= createHash('sha256');
    this.#sequence.update(`${position} ${digest}\n`);
    this.#rejected += 1;
    this.#sum += digestNumber(digest);
    if (position === 0) this.#first = this.#sum;
    const read = readRejected(record, position);
    // Without a digest, it cannot be compared with others.
    this.#areNamed &&= digest !== undefined && isNamed(read);
    if (this.#records.length === MAX_REJECTED_RECORDS) return 0;
    this.#records.push(read);
    return read.name.length + read.displayName.length + read.type.length;
  }

  facts(): RejectedRows {
    return {
      rejected: this.#rejected,
      rejectedDigest: this.#sequence?.digest('base64') ?? '',
      rejectedSum: this.#sum,
      firstRejected: this.#first,
      areRejectedNamed: this.#areNamed,
      rejectedRecords: this.#records,
    };
  }
}

/** 0 for a record that is nested too deep to have a digest. */
function digestNumber(digest: string | undefined): bigint {
  return digest === undefined ? 0n : BigInt(`0x${digest}`);
}

/** A display name need not be unique. */
function isNamed({ name }: RejectedRecord): boolean {
  return name !== '';
}

/** Apart from `readPage`: closures of one function share what they capture, and a cached page would hold the page before it. */
function pageOf<Row>(facts: Omit<Page<Row>, 'afterFirst'>): Page<Row> {
  let afterFirst: Page<Row> | undefined;
  const page: Page<Row> = {
    ...facts,
    afterFirst: () => {
      afterFirst ??= withoutFirstRecord(page);
      return afterFirst;
    },
  };
  return page;
}

function withoutFirstRecord<Row>(page: Page<Row>): Page<Row> {
  if (page.positions !== undefined && page.positions[0] !== 0)
    return {
      ...page,
      rejected: page.rejected - 1,
      rejectedSum: page.rejectedSum - page.firstRejected,
      rejectedRecords: page.rejectedRecords.slice(1),
    };
  return { ...page, ...selectRows(page, [...page.rows.keys()].slice(1)) };
}

/** The rows with these indexes. */
export function selectRows<Row>(
  { rows, ids, positions, invalid }: PageRows<Row>,
  indexes: readonly number[],
): SplitRows<Row> {
  return inParts({
    rows: indexes.map((index) => rows[index] as Row),
    ids: indexes.map((index) => ids[index] as string),
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
