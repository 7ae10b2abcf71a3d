import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { chunksOf } from '../text/records.ts';

/** Writes with backpressure and leaves the stream open; a closed pipe ends it without an error. */
export async function writeToStream(out: Writable, pieces: Iterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(chunksOf(pieces)), out, { end: false });
  } catch (error) {
    if (!isBrokenPipe(error)) throw error;
  }
}

export function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}
