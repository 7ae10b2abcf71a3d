import { randomUUID } from 'node:crypto';
import { ListingFailure } from '../../model/failure.ts';
import { isObject } from '../../model/resource.ts';

/** Runs a task in an event-loop iteration of its own. */
export type RunTask = <T>(task: () => T) => Promise<T>;

/** Records parsed in one event-loop iteration, in bytes: several hundred usual ones. */
const SLICE_BYTES = 256 * 1024;

/** Values in one slice, far more than records have: empty arrays of three bytes would take a dozen times their size when parsed. */
const MAX_VALUES = 250_000;

/** Everything but the records. */
const MAX_REST_BYTES = 1024 * 1024;

/**
 * Parses the JSON of a large page slice by slice, so that neither its size nor its nesting takes much time or memory at once: `take` gets
 * the elements of the top-level array `resources`, and the result is the rest, in which that array is empty. Equal to parsing it
 * at once, because the elements and the rest are validated separately. Undefined without such an array; throws what JSON.parse does, and
 * a ListingFailure for what no listing contains.
 */
export async function parseInSlices(
  body: Buffer,
  run: RunTask,
  take: (records: readonly unknown[]) => void,
  sliceBytes = SLICE_BYTES,
): Promise<{ readonly rest: unknown } | undefined> {
  const start = await run(() => arrayStart(body));
  if (start === undefined) return undefined;
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
  if (start + body.length - end > MAX_REST_BYTES) {
    throw new ListingFailure('body', `expected little beside "resources", got more than ${MAX_REST_BYTES} bytes`);
  }
  return run(() => {
    const rest: unknown = JSON.parse(`${body.toString('utf8', 0, start)}"${MARK}"${body.toString('utf8', end)}`);
    // Of a key that occurs twice JSON.parse takes the last.
    const resources = isObject(rest) ? rest['resources'] : undefined;
    if (!Array.isArray(resources) || resources.pop() !== MARK) {
      throw new ListingFailure('body', `expected a JSON object with one array "resources" in ${body.length} bytes`);
    }
    return { rest };
  });
}

/** Stands for the records in the rest, so that an array from another place is noticed; no service knows it. */
const MARK = randomUUID();

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The longest text that is searched for the opening of the array: whitespace between its tokens may be of any length. */
const MAX_OPENING = 64;

/** The index after the bracket that opens `resources`, if the body is an object with such a member. */
function arrayStart(body: Buffer): number | undefined {
  const [brace] = /^\s*\{/.exec(body.toString('latin1', 0, MAX_OPENING)) ?? [];
  if (brace === undefined) return undefined;
  for (let at = brace.length; at < body.length; ) {
    const [opening] = /^\s*"resources"\s*:\s*\[/.exec(body.toString('latin1', at, at + MAX_OPENING)) ?? [];
    if (opening !== undefined) return at + opening.length;
    at = valueEnd(body, at, at) + 1;
  }
  return undefined;
}

/** The index of the first comma from `least` on, or of the closing bracket, that does not belong to a value which starts at or after `start`. */
function valueEnd(body: Buffer, start: number, least: number): number {
  let depth = 0;
  let values = 0;
  let at = start;
  for (; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) {
      at = stringEnd(body, at);
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth += 1;
      values += 1;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 0) return at;
      depth -= 1;
    } else if (byte === COMMA) {
      if (depth === 0 && at >= least) return at;
      values += 1;
    }
    if (values > MAX_VALUES)
      throw new ListingFailure('body', `expected records, got one with more than ${MAX_VALUES} values`);
  }
  return at;
}

/** The index of the quote that closes the string. */
function stringEnd(body: Buffer, open: number): number {
  let at = open + 1;
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
  return at;
}
