import { combineCrc } from './crc32.ts';
import { type Segment, segmentText } from './segment.ts';

/** Deflate, no name, no time, unknown system. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** An empty block marked as the last one. */
const LAST_BLOCK = Buffer.from([3, 0]);

/** An exposition that costs a write: gzip is stitched from segments, plain text is inflated as it is read. */
export class Body {
  readonly plainLength: number;
  readonly gzipLength: number;
  readonly #segments: readonly Segment[];
  readonly #trailer: Uint8Array;

  constructor(segments: readonly Segment[]) {
    let plainLength = 0;
    let deflatedLength = 0;
    let crc = 0;
    for (const segment of segments) {
      plainLength += segment.length;
      deflatedLength += segment.deflated.length;
      crc = combineCrc(crc, segment.crc, segment.shift);
    }
    this.#segments = segments;
    this.#trailer = gzipTrailer(crc, plainLength);
    this.plainLength = plainLength;
    this.gzipLength = GZIP_HEADER.length + deflatedLength + LAST_BLOCK.length + this.#trailer.length;
  }

  /** One gzip member: members laid end to end would be simpler, but curl and wget read only the first. */
  *gzip(): Iterable<Uint8Array> {
    yield GZIP_HEADER;
    for (const { deflated } of this.#segments) yield deflated;
    yield LAST_BLOCK;
    yield this.#trailer;
  }

  async *plain(): AsyncIterable<Uint8Array> {
    for (const segment of this.#segments) yield await segmentText(segment);
  }
}

function gzipTrailer(crc: number, length: number): Uint8Array {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(length % 2 ** 32, 4);
  return trailer;
}
