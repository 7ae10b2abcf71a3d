import { ListingFailure } from '../../model/failure.ts';
import { isObject } from '../../model/resource.ts';
import { yieldToEventLoop } from '../../tasks/yield-to-event-loop.ts';

/** Drops a byte order mark. */
const UTF8 = new TextDecoder();

/**
 * Parses a page; of a large one, only "resources" and the fields that are not arrays have their values. Rejects with a ListingFailure if the
 * page is not JSON or exceeds a limit, and with the reason of the signal when that aborts.
 */
export async function parsePage(bytes: Uint8Array, signal?: AbortSignal): Promise<unknown> {
  const { length } = bytes;
  if (UTF8.decode(bytes.subarray(0, 100)).trimStart().startsWith('<'))
    throw new ListingFailure('body', `expected JSON, got an HTML or XML page (${length} bytes)`);
  try {
    const text = UTF8.decode(bytes);
    return text.length <= LARGE_PAGE ? JSON.parse(text) : await parseInPieces(text, signal);
  } catch (cause) {
    if (cause instanceof ListingFailure || signal?.aborted) throw cause;
    throw new ListingFailure('body', `expected JSON, got ${length} bytes that are not JSON`, { cause });
  }
}

/** Characters that are parsed without a pause: `JSON.parse` cannot be interrupted. A page of 1,000 typical records has 330,000. */
const LARGE_PAGE = 524_288;

/** About 80,000 typical records (26 MiB) have as many. The values of a page are in memory together, whatever `max_page_bytes` is. */
const MAX_VALUES = 1_000_000;

/** A typical record has 12. */
const MAX_RECORD_VALUES = 20_000;

/**
 * Parses the arrays of the page in pieces, and yields to the event loop before each of them. The rest of the page has the index of each
 * array in place of its elements, so that `JSON.parse` decides which of them is the value of "resources".
 */
async function parseInPieces(text: string, signal?: AbortSignal): Promise<unknown> {
  const arrays: unknown[][] = [];
  let array: unknown[] = [];
  let values = 0;
  let rest = '';
  let restStart = 0;
  for (const piece of piecesOf(text)) {
    values += piece.values;
    if (values > MAX_VALUES)
      throw new ListingFailure('body', `expected at most ${MAX_VALUES} values in a page, got more`);
    await yieldToEventLoop();
    signal?.throwIfAborted();
    const isFirstOfArray = text[piece.start - 1] === '[';
    if (isFirstOfArray) {
      rest += `${text.slice(restStart, piece.start)}${arrays.length}`;
      array = [];
      arrays.push(array);
    }
    for (const element of parsePiece(text, piece)) array.push(element);
    restStart = piece.end;
  }
  await yieldToEventLoop();
  signal?.throwIfAborted();
  const page = parseRest(rest + text.slice(restStart));
  if (!isObject(page) || !Array.isArray(page['resources'])) return page;
  return { ...page, resources: arrays[page['resources'][0]] };
}

function parsePiece(text: string, { start, end, values }: Piece): readonly unknown[] {
  if (values > PIECE_VALUES + MAX_RECORD_VALUES)
    throw new ListingFailure(
      'body',
      `expected records of at most ${MAX_RECORD_VALUES} values, got more or a missing bracket after character ${start}`,
    );
  const elements: unknown[] = JSON.parse(`[${text.slice(start, end)}]`);
  if (elements.length === 0 && text[start - 1] === ',') throw new SyntaxError('expected a value after the last comma');
  return elements;
}

function parseRest(rest: string): unknown {
  if (rest.length > LARGE_PAGE)
    throw new ListingFailure(
      'body',
      `expected a JSON object with an array "resources" and little else, got ${rest.length} characters outside of arrays`,
    );
  return JSON.parse(rest);
}

/** Elements of an array: what is between its brackets, a bracket and a comma, or two commas. */
interface Piece {
  readonly start: number;
  readonly end: number;
  /** Commas and opening brackets: about one for each value. */
  readonly values: number;
}

/** A piece ends at the next comma: about 200 typical records. */
const PIECE_VALUES = 2500;

/** Divides the arrays that are fields of the page. If the text is not JSON, a piece or the rest is not JSON either. */
function* piecesOf(text: string): Generator<Piece> {
  let depth = 0;
  let values = 0;
  /** Of the current piece; undefined outside of the arrays. */
  let start: number | undefined;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at);
        break;
      case '{':
        depth += 1;
        values += 1;
        break;
      case '[':
        depth += 1;
        values += 1;
        if (depth === 2) {
          start = at + 1;
          values = 0;
        }
        break;
      case ',':
        values += 1;
        if (depth === 2 && start !== undefined && values >= PIECE_VALUES) {
          yield { start, end: at, values };
          start = at + 1;
          values = 0;
        }
        break;
      case '}':
      case ']':
        if (depth === 2 && start !== undefined) {
          yield { start, end: at, values };
          start = undefined;
        }
        depth -= 1;
        break;
    }
  }
}

/** The index of the quotation mark that ends the string which starts with another; the end of the text when there is none. */
function endOfString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at === -1 ? text.length : at;
}

/** A quotation mark is escaped if an odd number of backslashes precedes it. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}
