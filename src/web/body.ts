import type { ServerResponse } from 'node:http';
import type { Body } from '../metrics/segment.ts';

/** What is handed to a socket at once when all readers share the bytes: few calls, and only references wait for a slow one. */
const SHARED_BATCH_BYTES = 64 * 1024 * 1024;

/** And when each reader has bytes of its own: inflated for it, or copied by an encrypted connection. */
const OWN_BATCH_BYTES = 256 * 1024;

/** Writes the body no faster than the client reads it. */
export async function writeBody(response: ServerResponse, body: Body, gzip: boolean, readingMs?: number): Promise<void> {
  // A pipelined response whose turn never comes would wait for it for ever.
  if (response.req.destroyed) return;
  if (gzip) response.setHeader('Content-Encoding', 'gzip');
  response.setHeader('Content-Length', gzip ? body.gzipLength : body.plainLength);
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  cutOffSlowReader(response, readingMs);
  const most = gzip && !('encrypted' in response.req.socket) ? SHARED_BATCH_BYTES : OWN_BATCH_BYTES;
  // What is there already is not waited for: a promise for each of a thousand pieces costs more than to write it.
  for await (const chunks of gzip ? [body.gzip()] : each(body.plain())) {
    for (const batch of batches(chunks, most)) {
      await writeBatch(response, batch);
      // A client that went away is no error, and nobody is left to be told.
      if (response.req.socket.destroyed) return;
    }
  }
  response.end();
}

async function* each(chunks: AsyncIterable<Uint8Array>): AsyncIterable<readonly Uint8Array[]> {
  for await (const chunk of chunks) yield [chunk];
}

/** Neighbours put together to so many bytes; what is longer is cut. */
function* batches(chunks: readonly Uint8Array[], most: number): Iterable<readonly Uint8Array[]> {
  let batch: Uint8Array[] = [];
  let bytes = 0;
  for (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += most) {
      const piece = chunk.length <= most ? chunk : chunk.subarray(start, start + most);
      batch.push(piece);
      bytes += piece.length;
      if (bytes < most) continue;
      yield batch;
      batch = [];
      bytes = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

async function writeBatch(response: ServerResponse, batch: readonly Uint8Array[]): Promise<void> {
  response.cork();
  for (const piece of batch) response.write(piece);
  response.uncork();
  if (response.writableNeedDrain) await drained(response);
}

/** Or the connection broke: also before a pipelined response had its turn. */
function drained(response: ServerResponse): Promise<void> {
  const { socket } = response.req;
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    response.on('drain', done);
    socket.on('close', done);
    if (socket.destroyed) done();
  });
}

/** More than Prometheus waits for a scrape as a rule. */
const READING_MS = 60_000;

/** Breaks the connection of a client that has not taken the whole response in time: it would hold its place and its bytes for ever. */
export function cutOffSlowReader({ req: request }: ServerResponse, readingMs = READING_MS): void {
  const timer = setTimeout(() => request.destroy(), readingMs).unref();
  // It closes after its response, and also when the connection breaks before a pipelined response had its turn.
  request.once('close', () => clearTimeout(timer));
}
