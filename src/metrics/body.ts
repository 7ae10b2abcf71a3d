import { combineCrc, type Segment, segmentText } from './segment.ts';

/** Deflate, no file name, no modification time, unknown operating system. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** An empty deflate block with the final bit set. */
const LAST_BLOCK = Buffer.from([3, 0]);

const TRAILER_LENGTH = 8;

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

  async *plain(): AsyncIterable<Uint8Array> {
    for (const segment of this.#segments) yield await segmentText(segment);
  }
}

function gzipTrailer(crc: number, length: number): Uint8Array {
  const trailer = Buffer.alloc(TRAILER_LENGTH);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(length % 2 ** 32, 4);
  return trailer;
}
