import { Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';

/**
 * Part of an exposition, compressed once: raw deflate blocks that are byte-aligned and do not refer to data outside,
 * so that concatenated segments are one valid deflate stream.
 */
export interface Segment {
  readonly deflated: Uint8Array;
  /** Length of the text in bytes. */
  readonly length: number;
  readonly crc: number;
  /** Factor for the CRC of everything before this segment. */
  readonly shift: number;
}

/** A segment of already deflated text. */
export function deflatedSegment(deflated: Uint8Array, text: Uint8Array): Segment {
  return { deflated, length: text.length, crc: crc32(text), shift: crcShift(text.length) };
}

/** Maximum size of a stored deflate block. */
const MAX_STORED = 65_535;

/** A segment of uncompressed blocks, for text that is short or changes too often. */
export function storedSegment(text: Uint8Array): Segment {
  const blocks: Uint8Array[] = [];
  for (let start = 0; start < text.length; start += MAX_STORED) {
    const block = text.subarray(start, start + MAX_STORED);
    const header = Buffer.alloc(5);
    header.writeUInt16LE(block.length, 1);
    header.writeUInt16LE(~block.length & 0xffff, 3);
    blocks.push(header, block);
  }
  return deflatedSegment(Buffer.concat(blocks), text);
}

/** Concatenates segments, for fewer writes. */
export function joinedSegment(segments: readonly Segment[]): Segment {
  const length = segments.reduce((sum, segment) => sum + segment.length, 0);
  const crc = segments.reduce((sum, segment) => combineCrc(sum, segment.crc, segment.shift), 0);
  return { deflated: Buffer.concat(segments.map(({ deflated }) => deflated)), length, crc, shift: crcShift(length) };
}

/** Deflate, no file name, no modification time, unknown operating system. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** An empty deflate block with the final bit set. */
const LAST_BLOCK = Buffer.from([3, 0]);

const TRAILER_LENGTH = 8;

/** Plain text inflated at once: enough for few writes, little for each client that does not read. */
const PLAIN_CHUNK_BYTES = 64 * 1024;

/** An exposition of compressed segments: gzip concatenates them, plain text inflates them while it is read. */
export class Body {
  readonly plainLength: number;
  readonly gzipLength: number;
  readonly #segments: readonly Segment[];
  readonly #deflatedLength: number;
  readonly #crc: number;

  /** With `before`, the segments are appended to those of that body. */
  constructor(segments: readonly Segment[], before?: Body) {
    let plainLength = before ? before.plainLength : 0;
    let deflatedLength = before ? before.#deflatedLength : 0;
    let crc = before ? before.#crc : 0;
    for (const segment of segments) {
      plainLength += segment.length;
      deflatedLength += segment.deflated.length;
      crc = combineCrc(crc, segment.crc, segment.shift);
    }
    this.#segments = before ? before.#segments.concat(segments) : segments;
    this.#deflatedLength = deflatedLength;
    this.#crc = crc;
    this.plainLength = plainLength;
    this.gzipLength = GZIP_HEADER.length + deflatedLength + LAST_BLOCK.length + TRAILER_LENGTH;
  }

  /** A single gzip member, because curl and wget read only the first of several. */
  gzip(): readonly Uint8Array[] {
    const deflated = this.#segments.map((segment) => segment.deflated);
    return [GZIP_HEADER, ...deflated, LAST_BLOCK, gzipTrailer(this.#crc, this.plainLength)];
  }

  /** Inflates only as fast as it is read: a segment can be a thousand times larger than its deflated bytes. */
  plain(): AsyncIterable<Uint8Array> {
    const deflated = this.#segments.map((segment) => segment.deflated);
    return Readable.from([...deflated, LAST_BLOCK]).pipe(createInflateRaw({ chunkSize: PLAIN_CHUNK_BYTES }));
  }
}

function gzipTrailer(crc: number, length: number): Uint8Array {
  const trailer = Buffer.alloc(TRAILER_LENGTH);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(length % 2 ** 32, 4);
  return trailer;
}

/** The CRC of two concatenated texts, from the CRC of each and the shift of the second. */
export function combineCrc(first: number, second: number, secondShift: number): number {
  return (multiply(secondShift, first) ^ second) >>> 0;
}

/** The CRC-32 polynomial of gzip, lowest power first. */
const POLYNOMIAL = 0xedb88320;

/** x to the power of 2^n, for every n that a length can need. */
const POWERS = powers(64);

/** The factor for a CRC that is followed by this many bytes. */
export function crcShift(bytes: number): number {
  let shift = 1 << 31;
  // One byte is eight powers of x, so the table is entered at 2^3.
  for (let power = 3, rest = bytes; rest > 0; power += 1, rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shift = multiply(POWERS[power] ?? 0, shift);
  }
  return shift >>> 0;
}

function powers(count: number): readonly number[] {
  const table = [1 << 30];
  while (table.length < count) {
    const last = table.at(-1) ?? 0;
    table.push(multiply(last, last));
  }
  return table;
}

/** The product of two polynomials modulo the CRC polynomial; the highest bit is the lowest power. */
function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let rest = a | 0; rest !== 0; rest <<= 1) {
    if (rest < 0) product ^= factor;
    factor = factor & 1 ? (factor >>> 1) ^ POLYNOMIAL : factor >>> 1;
  }
  return product;
}
