import { promisify } from 'node:util';
import { constants, crc32, createDeflateRaw, deflateRawSync, inflateRaw } from 'node:zlib';
import { TextBuffer } from './text-buffer.ts';

/** The polynomial of CRC-32 as gzip uses it, lowest power first. */
const POLYNOMIAL = 0xedb88320;

/** Where x to the power of 2^n is kept for each n that a length can need. */
const POWERS = powers(64);

/** What a CRC is multiplied by when so many bytes follow it. */
export function crcShift(bytes: number): number {
  let shift = 1 << 31;
  // A byte is eight powers of x, hence the table is entered at 2^3.
  for (let power = 3, rest = bytes; rest > 0; power += 1, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shift = multiply(POWERS[power] ?? 0, shift);
  }
  return shift >>> 0;
}

/** The CRC of two texts laid end to end, from the CRC of each and the second one's shift. */
export function combineCrc(first: number, second: number, secondShift: number): number {
  return (multiply(secondShift, first) ^ second) >>> 0;
}

function powers(count: number): readonly number[] {
  const table = [1 << 30];
  while (table.length < count) {
    const last = table.at(-1) ?? 0;
    table.push(multiply(last, last));
  }
  return table;
}

/** The product of two polynomials modulo that of the CRC; the highest bit is the lowest power. */
function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let rest = a | 0; rest !== 0; rest <<= 1) {
    if (rest < 0) product ^= factor;
    factor = factor & 1 ? (factor >>> 1) ^ POLYNOMIAL : factor >>> 1;
  }
  return product;
}

/**
 * A piece of an exposition, compressed once: raw deflate blocks that begin and end on a byte border and refer to nothing outside,
 * so that pieces laid end to end are one deflate stream.
 */
export interface Segment {
  readonly deflated: Uint8Array;
  /** Of the text. */
  readonly length: number;
  readonly crc: number;
  /** What the CRC of all that stands before it is multiplied by. */
  readonly shift: number;
}

/** Cheap in time, and the pieces are long enough for it to find what repeats. */
const LEVEL = 1;

/** Below this the compressor's own start costs more than it saves. */
const WORTH_COMPRESSING = 512;

/** What a stored block can hold. */
const MAX_STORED = 65_535;

/** Up to this the hand-over to another thread costs more than the work. */
const WORTH_HANDING_OVER = 8 * 1024;

/** For short texts: what a compressor must clear before it starts is much less than usual. */
const SHORT = { level: LEVEL, windowBits: 13, memLevel: 5, chunkSize: WORTH_HANDING_OVER, finishFlush: constants.Z_FULL_FLUSH };

/**
 * Each write is a segment: a full flush keeps the next one from referring to it, and what was compressed waits to be read as a whole.
 * The types leave out the options of the stream underneath.
 */
const LONG: object = {
  level: LEVEL,
  flush: constants.Z_FULL_FLUSH,
  chunkSize: 64 * 1024,
  readableHighWaterMark: Number.MAX_SAFE_INTEGER,
};

const expand = promisify(inflateRaw) as (deflated: Uint8Array, options: object) => Promise<Buffer>;

/** Makes segments of the texts in its buffer, the long ones off the event loop. Its compressor is used again: setting one up costs as much as some kilobytes of text. */
export class Compressor {
  readonly buffer = new TextBuffer();
  readonly #deflate = createDeflateRaw(LONG);

  async segments(): Promise<ReadonlyMap<string, Segment>> {
    const segments = new Map<string, Segment>();
    for (const [name, text] of this.buffer.pieces()) segments.set(name, await this.#segment(text));
    return segments;
  }

  async #segment(text: Uint8Array): Promise<Segment> {
    if (text.length < WORTH_COMPRESSING) return storedSegment(text);
    // Copied, because what is read may be a slice of the compressor's much larger buffer.
    return { deflated: Buffer.from(await this.#deflated(text)), ...checksum(text) };
  }

  async #deflated(text: Uint8Array): Promise<Uint8Array> {
    if (text.length < WORTH_HANDING_OVER) return deflateRawSync(text, SHORT);
    await new Promise<unknown>((resolve) => this.#deflate.write(text, resolve));
    return this.#deflate.read();
  }
}

/** Wraps without compressing: for what is short, or changes too often to be worth it. */
export function storedSegment(text: Uint8Array): Segment {
  const blocks: Uint8Array[] = [];
  for (let start = 0; start < text.length; start += MAX_STORED) {
    const block = text.subarray(start, start + MAX_STORED);
    const header = Buffer.alloc(5);
    header.writeUInt16LE(block.length, 1);
    header.writeUInt16LE(~block.length & 0xffff, 3);
    blocks.push(header, block);
  }
  return { deflated: Buffer.concat(blocks), ...checksum(text) };
}

/** Several segments as one, for fewer writes. */
export function joinedSegment(segments: readonly Segment[]): Segment {
  const length = segments.reduce((sum, segment) => sum + segment.length, 0);
  const crc = segments.reduce((sum, segment) => combineCrc(sum, segment.crc, segment.shift), 0);
  return { deflated: Buffer.concat(segments.map(({ deflated }) => deflated)), length, crc, shift: crcShift(length) };
}

export function segmentText({ deflated }: Segment): Promise<Uint8Array> {
  return expand(deflated, { finishFlush: constants.Z_SYNC_FLUSH });
}

function checksum(text: Uint8Array): Omit<Segment, 'deflated'> {
  return { length: text.length, crc: crc32(text), shift: crcShift(text.length) };
}
