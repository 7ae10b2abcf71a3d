import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { cutOffSlowReader } from './slow-reader.ts';

/** What is handed on at once: an encrypted connection would take in a whole chunk, however large, for each of its readers. */
const PIECE_BYTES = 256 * 1024;

/** Writes the chunks as the response's body, no faster than the client reads them. */
export async function writeBody(response: ServerResponse, chunks: readonly Uint8Array[], gzip: boolean, readingMs?: number): Promise<void> {
  // A pipelined response whose turn never comes would wait for it for ever.
  if (response.req.destroyed) return;
  if (gzip) response.setHeader('Content-Encoding', 'gzip');
  else response.setHeader('Content-Length', totalBytes(chunks));
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  cutOffSlowReader(response, readingMs);
  try {
    if (gzip) await pipeline(pieces(chunks), createGzip({ level: constants.Z_BEST_SPEED }), response);
    else await pipeline(pieces(chunks), response);
  } catch (error) {
    // A client that went away is no error, and nobody is left to be told.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

function totalBytes(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
}

/** Views of the chunks, which all readers share. */
function* pieces(chunks: readonly Uint8Array[]): Iterable<Uint8Array> {
  for (const chunk of chunks) {
    for (let start = 0; start < chunk.byteLength; start += PIECE_BYTES) yield chunk.subarray(start, start + PIECE_BYTES);
  }
}
