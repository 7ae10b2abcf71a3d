import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Few enough to begin at once, many enough that a write is worth its while. */
const CHUNK_CHARACTERS = 65_536;

/** Writes the pieces no faster than they are taken, and leaves the stream open; a reader that has gone away wants no more, which is no failure. */
export async function writePieces(out: Writable, pieces: Iterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(chunks(pieces)), out, { end: false });
  } catch (error) {
    if (!isReaderGone(error)) throw error;
  }
}

export function isReaderGone(error: unknown): boolean {
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
