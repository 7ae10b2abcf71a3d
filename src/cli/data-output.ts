import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Small enough to start at once, large enough to limit the number of writes. */
const CHUNK_CHARACTERS = 65_536;

/** Writes with backpressure and leaves the stream open; a closed pipe ends it without an error. */
export async function writePieces(out: Writable, pieces: Iterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(chunks(pieces)), out, { end: false });
  } catch (error) {
    if (!isBrokenPipe(error)) throw error;
  }
}

export function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}

function* chunks(pieces: Iterable<string>): Iterable<string> {
  let chunk = '';
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}
