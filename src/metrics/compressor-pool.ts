import { constants, createDeflateRaw, deflateRawSync } from 'node:zlib';
import type { TaskQueue } from '../model/task-queue.ts';
import { deflatedSegment, type Segment, storedSegment } from './segment.ts';
import { TextBuffer } from './text-buffer.ts';

/** The compressors shared by all stations; their number bounds the memory, because each holds a text until it is compressed. */
export class CompressorPool {
  readonly #tasks: TaskQueue;
  readonly #idle: Compressor[];
  readonly #waiting: ((compressor: Compressor) => void)[] = [];

  constructor(tasks: TaskQueue, size: number) {
    this.#tasks = tasks;
    this.#idle = Array.from({ length: size }, () => new Compressor());
  }

  /** Writes the texts in one event-loop iteration, then compresses them one by one. */
  async compress<Result>(
    write: (buffer: TextBuffer) => Result,
  ): Promise<{ readonly result: Result; readonly segments: ReadonlyMap<string, Segment> }> {
    const compressor = this.#idle.pop() ?? (await new Promise<Compressor>((resolve) => this.#waiting.push(resolve)));
    try {
      const result = await this.#tasks.run(() => {
        compressor.buffer.clear();
        return write(compressor.buffer);
      });
      return { result, segments: await compressor.segments() };
    } finally {
      const next = this.#waiting.shift();
      if (next) next(compressor);
      else this.#idle.push(compressor);
    }
  }
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

/** Compresses the texts of its buffer, long ones off the event loop. The deflate stream is reused because creating one is expensive. */
export class Compressor {
  readonly buffer = new TextBuffer();
  readonly #stream = createDeflateRaw(STREAM_OPTIONS);

  async segments(): Promise<ReadonlyMap<string, Segment>> {
    const segments = new Map<string, Segment>();
    for (const [name, text] of this.buffer.texts()) segments.set(name, await this.#segment(text));
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
    return this.#stream.read();
  }
}
