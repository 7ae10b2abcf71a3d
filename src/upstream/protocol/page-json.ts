import { randomUUID } from 'node:crypto';
import { ListingFailure } from '../../model/failure.ts';
import { isObject } from '../../model/resource.ts';

/** Runs a task in an event-loop iteration of its own. */
export type RunTask = <T>(task: () => T) => Promise<T>;

/** A complete reply is not a page. */
export class UnreadablePage extends ListingFailure {
  constructor(message: string, options?: ErrorOptions) {
    super('body', message, options);
  }
}

/** A larger page is parsed in slices; for usual ones one iteration is cheaper. */
const MAX_WHOLE_BYTES = 512 * 1024;

type TakeRecords = (records: readonly unknown[]) => void;

/** Parses the JSON of a page: `take` gets its records, in as many steps as it is parsed in. Resolves with the object around them, rejects with an UnreadablePage. */
export async function parsePage(bytes: Uint8Array, run: RunTask, take: TakeRecords): Promise<unknown> {
  const body = withoutByteOrderMark(bytes);
  if (body.toString('latin1', 0, 1) === '<')
    throw new UnreadablePage(`expected JSON, got an HTML or XML page (${body.length} bytes)`);
  try {
    if (body.length > MAX_WHOLE_BYTES) return await parseInSlices(body, run, take);
    return await run(() => {
      const envelope: unknown = JSON.parse(body.toString());
      take(recordsOf(envelope));
      return envelope;
    });
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new UnreadablePage(`expected JSON, got ${body.length} bytes that are not JSON`, { cause });
  }
}

function withoutByteOrderMark(bytes: Uint8Array): Buffer {
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, bytes.byteLength - start);
}

function recordsOf(envelope: unknown): readonly unknown[] {
  if (!isObject(envelope)) throw new UnreadablePage(`expected a JSON object, got ${kind(envelope)}`);
  if (!Object.hasOwn(envelope, 'resources'))
    throw new UnreadablePage('expected a JSON object with a field "resources"');
  const resources = envelope['resources'] ?? [];
  if (!Array.isArray(resources))
    throw new UnreadablePage(`expected "resources" to be an array, got ${kind(resources)}`);
  return resources;
}

function kind(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Records parsed in one event-loop iteration, in bytes: several hundred usual ones. */
const SLICE_BYTES = 256 * 1024;

/** Values in one slice, far more than records have: empty arrays of three bytes would take a dozen times their size when parsed. */
const MAX_VALUES = 250_000;

/** Everything but the records. */
const MAX_REST_BYTES = 1024 * 1024;

/**
 * Parses the JSON of a large page slice by slice, so that neither its size nor its nesting takes much time or memory at once. The result is
 * the rest, in which the array `resources` is empty. Equal to parsing it at once, because the elements and the rest are validated
 * separately; throws what JSON.parse does, and an UnreadablePage for what no listing contains.
 */
export async function parseInSlices(
  body: Buffer,
  run: RunTask,
  take: TakeRecords,
  sliceBytes = SLICE_BYTES,
): Promise<unknown> {
  const start = await run(() => arrayStart(body));
  let at = start;
  let end = start;
  do {
    const from = at;
    end = await run(() => {
      const sliceEnd = valueEnd(body, from, from + sliceBytes);
      const records: readonly unknown[] = JSON.parse(`[${body.toString('utf8', from, sliceEnd)}]`);
      const isOnly = from === start && body[sliceEnd] === CLOSE_BRACKET;
      if (records.length === 0 && !isOnly) throw new SyntaxError('expected an element after the comma');
      take(records);
      return sliceEnd;
    });
    at = end + 1;
  } while (body[end] === COMMA);
  if (start + body.length - end > MAX_REST_BYTES)
    throw new UnreadablePage(`expected at most ${MAX_REST_BYTES} bytes beside "resources"`);
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

/** Stands for the records in the rest, so that an array from another place is noticed; no service knows it. */
const MARK = randomUUID();

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The longest text that is searched for the opening of the array: whitespace between its tokens may be of any length. */
const MAX_OPENING = 64;

/** The index after the bracket that opens `resources`. */
function arrayStart(body: Buffer): number {
  const [brace] = /^\s*\{/.exec(body.toString('latin1', 0, MAX_OPENING)) ?? [];
  if (brace === undefined) throw noArray(body);
  for (let at = brace.length; at < body.length; ) {
    const [opening] = /^\s*"resources"\s*:\s*\[/.exec(body.toString('latin1', at, at + MAX_OPENING)) ?? [];
    if (opening !== undefined) return at + opening.length;
    at = valueEnd(body, at, at) + 1;
  }
  throw noArray(body);
}

/** The index of the first comma from `least` on, or of the closing bracket, that does not belong to a value which starts at or after `start`. */
function valueEnd(body: Buffer, start: number, least: number): number {
  let depth = 0;
  let values = 0;
  let at = start;
  for (; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) at = stringEnd(body, at);
    else if (depth === 0 && (isClosing(byte) || (byte === COMMA && at >= least))) return at;
    else {
      const change = depthChange(byte);
      depth += change;
      if (change === 1 || byte === COMMA) values += 1;
    }
    if (values > MAX_VALUES) throw new UnreadablePage(`expected records, got one with more than ${MAX_VALUES} values`);
  }
  return at;
}

function depthChange(byte: number | undefined): 1 | 0 | -1 {
  if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return 1;
  return isClosing(byte) ? -1 : 0;
}

function isClosing(byte: number | undefined): boolean {
  return byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
}

/** The index of the quote that closes the string. */
function stringEnd(body: Buffer, open: number): number {
  let at = open + 1;
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
  return at;
}
