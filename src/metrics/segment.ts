import { promisify } from 'node:util';
import { constants, crc32, createDeflateRaw, inflateRaw } from 'node:zlib';
import { combineCrc, crcShift } from './crc32.ts';

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

/** What was compressed waits to be read as a whole; the types leave out the options of the stream underneath. */
const UNBOUNDED: object = { level: LEVEL, chunkSize: 64 * 1024, readableHighWaterMark: Number.MAX_SAFE_INTEGER };

const expand = promisify(inflateRaw) as (deflated: Uint8Array, options: object) => Promise<Buffer>;

/**
 * Makes one segment at a time off the event loop. Its compressor and its room are used again for the next: setting up a compressor
 * costs as much as some kilobytes of text. A full flush after each segment keeps the next one from referring to it.
 */
export class SegmentPress {
  readonly #deflate = createDeflateRaw(UNBOUNDED);
  #room = Buffer.allocUnsafeSlow(0);

  async segment(text: string): Promise<Segment> {
    // What a text of this length can take at most.
    if (this.#room.length < text.length * 3) this.#room = Buffer.allocUnsafeSlow(text.length * 3);
    const bytes = this.#room.subarray(0, this.#room.write(text));
    if (bytes.length < WORTH_COMPRESSING) return storedSegment(bytes);
    this.#deflate.write(bytes);
    await new Promise<void>((resolve) => this.#deflate.flush(constants.Z_FULL_FLUSH, resolve));
    // Copied, because what is read may be a slice of the compressor's much larger buffer.
    return { deflated: Buffer.from(this.#deflate.read() as Buffer), ...checksum(bytes) };
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
