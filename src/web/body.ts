import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';

/** A client that takes nothing for this long is cut off, so that it cannot hold a scrape's place for ever. */
const STALL_MS = 30_000;

/** Writes the chunks as the response's body, no faster than the client reads them. */
export async function writeBody(response: ServerResponse, chunks: readonly Uint8Array[], gzip: boolean, stallMs = STALL_MS): Promise<void> {
  // A pipelined response whose turn never comes would wait for it for ever.
  if (response.req.destroyed) return;
  if (gzip) response.setHeader('Content-Encoding', 'gzip');
  else response.setHeader('Content-Length', totalBytes(chunks));
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  response.setTimeout(stallMs);
  try {
    if (gzip) await pipeline(chunks, createGzip({ level: constants.Z_BEST_SPEED }), response);
    else await pipeline(chunks, response);
  } catch (error) {
    // A client that went away is no error, and nobody is left to be told.
    if (!response.req.destroyed) throw error;
  }
}

function totalBytes(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
}
