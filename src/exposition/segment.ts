import { constants, crc32, createDeflateRaw, deflateRawSync } from 'node:zlib';
import { getOrCreate } from '../model/sums.ts';
import { yieldToEventLoop } from '../tasks/yield-to-event-loop.ts';

/**
 * Part of an exposition, compressed once: raw deflate blocks that are byte-aligned and do not refer to data outside,
 * so that concatenated segments are one valid deflate stream.
 */
export interface Segment<Bytes = Uint8Array> {
  readonly deflated: Bytes;
  readonly length: number;
  readonly crc: number;
  /** Factor for the CRC of everything before this segment. */
  readonly shift: number;
}

export type SegmentsByFamily = ReadonlyMap<string, readonly Segment[]>;

export type ListedSegment = Segment<readonly Uint8Array[]>;

function deflatedSegment(deflated: Uint8Array, text: Uint8Array): Segment {
  return { deflated, length: text.length, crc: crc32(text), shift: crcShift(text.length) };
}

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
  const { deflated, ...text } = listedSegment(segments);
  return { ...text, deflated: Buffer.concat(deflated) };
}

/** The segments joined as a list of pieces, without a copy. */
export function listedSegment(segments: readonly (Segment | ListedSegment)[]): ListedSegment {
  const deflated = segments.flatMap((segment) => segment.deflated);
  const length = segments.reduce((sum, segment) => sum + segment.length, 0);
  const crc = segments.reduce((sum, segment) => combineCrc(sum, segment.crc, segment.shift), 0);
  return { deflated, length, crc, shift: crcShift(length) };
}

/** A piece of the text of a family; the pieces of a family follow each other. */
export type FamilyText = readonly [family: string, text: string];

/** The compressors shared by all stations; their number bounds the memory, because each holds a text until it is compressed. */
export class CompressorPool {
  readonly #idle: Compressor[];
  readonly #waiting: ((compressor: Compressor) => void)[] = [];

  constructor(size: number) {
    this.#idle = Array.from({ length: size }, () => new Compressor());
  }

  /** Takes the texts when a compressor is free and the events that have arrived are handled; a family without text has no segment. */
  async compress(texts: Iterable<FamilyText>): Promise<ReadonlyMap<string, Segment>> {
    const compressor = this.#idle.pop() ?? (await new Promise<Compressor>((resolve) => this.#waiting.push(resolve)));
    try {
      await yieldToEventLoop();
      return await compressor.compress(texts);
    } finally {
      const next = this.#waiting.shift();
      if (next) next(compressor);
      else this.#idle.push(compressor);
    }
  }
}

/** The segments of short texts, which are not compressed. */
export function storedTexts(texts: Iterable<FamilyText>): SegmentsByFamily {
  const written = new TextBuffer().write(texts);
  return new Map(Array.from(written, ([family, text]) => [family, [storedSegment(text)]]));
}

/** The fastest level; segments are long enough to compress well with it. */
const LEVEL = 1;

/** Below this size the overhead of a deflate stream exceeds the savings. */
const MIN_COMPRESSED = 512;

/** Below this size compressing on the event loop is faster than handing over to the thread pool. */
const MIN_ASYNC = 8 * 1024;

/** A small window and hash table: zlib initializes both for every call. */
const SYNC_OPTIONS = {
  level: LEVEL,
  windowBits: 13,
  memLevel: 5,
  chunkSize: MIN_ASYNC,
  finishFlush: constants.Z_FULL_FLUSH,
};

/**
 * One write is one segment: the full flush makes segments independent, and the high-water mark lets a segment be read at once.
 * The type omits the stream options.
 */
const STREAM_OPTIONS: object = {
  level: LEVEL,
  flush: constants.Z_FULL_FLUSH,
  chunkSize: 64 * 1024,
  readableHighWaterMark: Number.MAX_SAFE_INTEGER,
};

/** Compresses texts, long ones off the event loop. The deflate stream is reused because creating one is expensive. */
export class Compressor {
  readonly #buffer = new TextBuffer();
  readonly #stream = createDeflateRaw(STREAM_OPTIONS);

  /** All texts are written at once, then compressed one by one. */
  async compress(texts: Iterable<FamilyText>): Promise<ReadonlyMap<string, Segment>> {
    const segments = new Map<string, Segment>();
    for (const [family, text] of this.#buffer.write(texts)) segments.set(family, await this.#segment(text));
    return segments;
  }

  async #segment(text: Uint8Array): Promise<Segment> {
    if (text.length < MIN_COMPRESSED) return storedSegment(text);
    // Copied because the result may be a slice of zlib's much larger buffer.
    return deflatedSegment(Buffer.from(await this.#deflate(text)), text);
  }

  async #deflate(text: Uint8Array): Promise<Uint8Array> {
    if (text.length < MIN_ASYNC) return deflateRawSync(text, SYNC_OPTIONS);
    await new Promise<unknown>((resolve) => this.#stream.write(text, resolve));
    // Without a size, Node 26 returns the first of several chunks alone.
    return this.#stream.read(this.#stream.readableLength);
  }
}

/** A UTF-16 code unit takes at most this many bytes as UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

/** Several times what a block of resources needs, unless its texts are very long. */
const MAX_KEPT_OUTPUT_BYTES = 8 * 1024 * 1024;

/** Writes texts as UTF-8 into one reused buffer, so that steady use allocates no memory. */
class TextBuffer {
  #buffer = Buffer.allocUnsafeSlow(0);
  #length = 0;

  /** The texts of the families, except for empty ones; valid until the next call. */
  write(texts: Iterable<FamilyText>): ReadonlyMap<string, Uint8Array> {
    // One large use must not hold its memory for good.
    if (this.#buffer.length > MAX_KEPT_OUTPUT_BYTES) this.#buffer = Buffer.allocUnsafeSlow(0);
    this.#length = 0;
    const ranges = new Map<string, { readonly start: number; end: number }>();
    for (const [family, text] of texts) {
      const range = getOrCreate(ranges, family, () => ({ start: this.#length, end: this.#length }));
      this.#add(text);
      range.end = this.#length;
    }
    const written = Array.from(
      ranges,
      ([family, { start, end }]) => [family, this.#buffer.subarray(start, end)] as const,
    );
    return new Map(written.filter(([, bytes]) => bytes.length > 0));
  }

  #add(text: string): void {
    const size = this.#length + text.length * MAX_BYTES_PER_UNIT;
    if (size > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(size, this.#buffer.length * 2));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    this.#length += this.#buffer.write(text, this.#length);
  }
}

/** The CRC of two concatenated texts, from the CRC of each and the shift of the second. */
export function combineCrc(first: number, second: number, secondShift: number): number {
  return (multiply(secondShift, first) ^ second) >>> 0;
}

/** The CRC-32 polynomial of gzip, lowest power first. */
const POLYNOMIAL = 0xedb88320;

/** The factor for a CRC that is followed by this many bytes. */
export function crcShift(bytes: number): number {
  let shift = 1 << 31;
  // One byte is eight powers of x, which is squared for each further bit of the length.
  let power = 1 << 23;
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shift = multiply(power, shift);
    power = multiply(power, power);
  }
  return shift >>> 0;
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
