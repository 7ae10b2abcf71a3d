import { randomUUID } from 'node:crypto';
import { ListingFailure } from '../../model/failure.ts';
import { isObject } from '../../model/resource.ts';

/** Runs a task when those before it have run, as `TaskQueue` does. */
export type RunTask = <T>(task: () => T) => Promise<T>;

/** A complete reply is not a page. */
export class UnreadablePage extends ListingFailure {
  constructor(message: string, options?: ErrorOptions) {
    super('body', message, options);
  }
}

/**
 * What is parsed in one event-loop iteration, in bytes: more than a hundred usual records. The values in it need no other bound: the
 * worst ones, objects of two bytes with a key of their own, take about ten milliseconds.
 */
const PARSE_SLICE_BYTES = 64 * 1024;

/** Records that are read in one event-loop iteration: those of a usual page. */
const MAX_TAKEN = 1000;

type TakeRecords = (records: readonly unknown[]) => void;

/** Parses the JSON of a page: `take` gets its records, in as many steps as it is parsed in. Resolves with the object around them, rejects with an UnreadablePage. */
export async function parsePage(bytes: Uint8Array, run: RunTask, take: TakeRecords): Promise<unknown> {
  const body = withoutByteOrderMark(bytes);
  if (body.toString('latin1', 0, 1) === '<')
    throw new UnreadablePage(`expected JSON, got an HTML or XML page (${body.length} bytes)`);
  try {
    if (body.length > PARSE_SLICE_BYTES) return await parseInSlices(body, run, take);
    const { value, further } = await run(() => {
      const envelope: unknown = JSON.parse(body.toString());
      return { value: envelope, further: takeFirst(envelopeRecords(envelope), take) };
    });
    await takeFurther(further, run, take);
    return value;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new UnreadablePage(`expected JSON, got ${body.length} bytes that are not JSON`, { cause });
  }
}

function withoutByteOrderMark(bytes: Uint8Array): Buffer {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, bytes.byteLength - start);
}

function envelopeRecords(envelope: unknown): readonly unknown[] {
  if (!isObject(envelope)) throw new UnreadablePage(`expected a JSON object, got ${jsonKind(envelope)}`);
  if (!Object.hasOwn(envelope, 'resources'))
    throw new UnreadablePage('expected a JSON object with a field "resources"');
  const resources = envelope['resources'] ?? [];
  if (!Array.isArray(resources))
    throw new UnreadablePage(`expected "resources" to be an array, got ${jsonKind(resources)}`);
  return resources;
}

function jsonKind(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Takes the records that one iteration has time for, and returns the others: there are none unless they are tiny. */
function takeFirst(records: readonly unknown[], take: TakeRecords): readonly unknown[] {
  if (records.length <= MAX_TAKEN) {
    take(records);
    return [];
  }
  take(records.slice(0, MAX_TAKEN));
  return records.slice(MAX_TAKEN);
}

async function takeFurther(records: readonly unknown[], run: RunTask, take: TakeRecords): Promise<void> {
  for (let at = 0; at < records.length; at += MAX_TAKEN) await run(() => take(records.slice(at, at + MAX_TAKEN)));
}

/** Everything but the records. */
const MAX_REST_BYTES = 128 * 1024;

/** One record: texts and unknown fields may be long. */
const MAX_RECORD_BYTES = 1024 * 1024;

/** Far more than a record has: empty arrays of three bytes would take a dozen times their size when parsed. */
const MAX_RECORD_VALUES = 6000;

/**
 * Parses the JSON of a large page slice by slice, so that neither its size nor its nesting takes much time or memory at once. The result is
 * the rest, in which the array `resources` is empty. Equal to parsing it at once, because the elements and the rest are validated
 * separately; throws what JSON.parse does, and an UnreadablePage for what no listing contains.
 */
export async function parseInSlices(
  body: Buffer,
  run: RunTask,
  take: TakeRecords,
  sliceBytes = PARSE_SLICE_BYTES,
): Promise<unknown> {
  const start = await run(() => arrayStart(body));
  let at = start;
  let end = start;
  do {
    const from = at;
    const slice = await run(() => {
      const { records, end: sliceEnd } = nextSlice(body, from, sliceBytes);
      const isOnly = from === start && body[sliceEnd] === CLOSE_BRACKET;
      if (records.length === 0 && !isOnly) throw new SyntaxError('expected an element after the comma');
      return { end: sliceEnd, further: takeFirst(records, take) };
    });
    await takeFurther(slice.further, run, take);
    end = slice.end;
    at = end + 1;
  } while (body[end] === COMMA);
  if (start + body.length - end > MAX_REST_BYTES) throw tooMuchBeside();
  return run(() => {
    const rest: unknown = JSON.parse(`${body.toString('utf8', 0, start)}"${MARK}"${body.toString('utf8', end)}`);
    // JSON.parse takes the last value of a key that occurs twice.
    const resources = isObject(rest) ? rest['resources'] : undefined;
    if (!Array.isArray(resources) || resources.pop() !== MARK) throw noArray(body);
    return rest;
  });
}

function noArray(body: Buffer): UnreadablePage {
  return new UnreadablePage(`expected a JSON object with one array "resources" in ${body.length} bytes`);
}

function tooMuchBeside(): UnreadablePage {
  return new UnreadablePage(`expected at most ${MAX_REST_BYTES} bytes beside "resources"`);
}

/** Stands for the records in the rest, so that an array from another place is noticed; no service knows it. */
const MARK = randomUUID();

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

interface Slice {
  readonly records: readonly unknown[];
  /** The index of the comma or bracket after them. */
  readonly end: number;
}

/** The elements from `from` on: about as many as fit in a slice, at least one. */
function nextSlice(body: Buffer, from: number, sliceBytes: number): Slice {
  const border = body.subarray(from, from + sliceBytes).lastIndexOf(RECORD_BORDER);
  const slice = border < 0 ? undefined : sliceUpTo(body, from, from + border + 1);
  if (slice) return slice;
  const end = valueEnd(body, from, from + sliceBytes);
  return { records: elementsOf(body, from, end), end };
}

/** Between two records, unless it is inside of one. */
const RECORD_BORDER = '},{';

/** The elements before a comma; undefined if that is not one between elements: only then do they parse. */
function sliceUpTo(body: Buffer, from: number, end: number): Slice | undefined {
  try {
    return { records: elementsOf(body, from, end), end };
  } catch {
    return undefined;
  }
}

function elementsOf(body: Buffer, from: number, end: number): readonly unknown[] {
  return JSON.parse(`[${body.toString('utf8', from, end)}]`);
}

/** The longest text that is searched for the opening of the array: whitespace between its tokens may be of any length. */
const MAX_OPENING = 64;

/** The index after the bracket that opens `resources`. */
function arrayStart(body: Buffer): number {
  const [brace] = /^\s*\{/.exec(body.toString('latin1', 0, MAX_OPENING)) ?? [];
  if (brace === undefined) throw noArray(body);
  for (let at = brace.length; at < body.length; ) {
    if (at > MAX_REST_BYTES) throw tooMuchBeside();
    const [opening] = /^\s*"resources"\s*:\s*\[/.exec(body.toString('latin1', at, at + MAX_OPENING)) ?? [];
    if (opening !== undefined) return at + opening.length;
    at = valueEnd(body, at, at) + 1;
  }
  throw noArray(body);
}

/** The index of the first comma from `least` on, or of the closing bracket, that does not belong to a value which starts at or after `start`. */
function valueEnd(body: Buffer, start: number, least: number): number {
  const limit = Math.min(body.length, least + MAX_RECORD_BYTES);
  let depth = 0;
  let values = 0;
  let at = start;
  for (; at < limit && values <= MAX_RECORD_VALUES; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) at = stringEnd(body, at, limit);
    else if (depth === 0 && (isClosing(byte) || (byte === COMMA && at >= least))) return at;
    else {
      depth += depthChange(byte);
      values = depth === 0 ? 0 : values + valuesStarted(byte);
    }
  }
  if (at < body.length) throw tooLargeRecord(values);
  return at;
}

function tooLargeRecord(values: number): UnreadablePage {
  const limit = values > MAX_RECORD_VALUES ? `${MAX_RECORD_VALUES} values` : `${MAX_RECORD_BYTES} bytes`;
  return new UnreadablePage(`expected records, got one with more than ${limit}`);
}

function valuesStarted(byte: number | undefined): 0 | 1 {
  return byte === COMMA || isOpening(byte) ? 1 : 0;
}

function depthChange(byte: number | undefined): 1 | 0 | -1 {
  if (isOpening(byte)) return 1;
  return isClosing(byte) ? -1 : 0;
}

function isOpening(byte: number | undefined): boolean {
  return byte === OPEN_BRACE || byte === OPEN_BRACKET;
}

function isClosing(byte: number | undefined): boolean {
  return byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
}

/** The index of the quote that closes the string, at most the limit. */
function stringEnd(body: Buffer, open: number, limit: number): number {
  let at = open + 1;
  while (at < limit && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
  return at;
}
