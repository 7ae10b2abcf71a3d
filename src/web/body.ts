import type { ServerResponse } from 'node:http';
import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Body } from '../metrics/segment.ts';

/** Batch size when all responses share the same bytes: few writes, and a slow client holds references only. */
const SHARED_BATCH_BYTES = 64 * 1024 * 1024;

/** Batch size when each response has its own bytes: decompressed for it, or copied by an encrypted connection. */
const COPIED_BATCH_BYTES = 256 * 1024;

/** Writes the body no faster than the client reads it. */
export async function writeBody(
  response: ServerResponse,
  body: Body,
  gzip: boolean,
  timeoutMs?: number,
): Promise<void> {
  // A pipelined response on a closed connection never drains.
  if (response.req.destroyed) return;
  if (gzip) response.setHeader('Content-Encoding', 'gzip');
  response.setHeader('Content-Length', gzip ? body.gzipLength : body.plainLength);
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  limitResponseTime(response, timeoutMs);
  const maxBytes = isShared(response, gzip) ? SHARED_BATCH_BYTES : COPIED_BATCH_BYTES;
  // Compressed chunks are written as one list: a promise per chunk costs more than the write.
  for await (const chunks of gzip ? [body.gzip()] : singly(body.plain())) {
    for (const batch of batches(chunks, maxBytes)) {
      await writeBatch(response, batch);
      // A client that disconnects is not an error.
      if (response.req.socket.destroyed) return;
    }
  }
  response.end();
}

/** The most that a response holds while its client does not read: request, response, own metrics and lists of references. */
const SHARED_RESPONSE_BYTES = 64 * 1024;

/** The most that a response with its own bytes holds in addition: a batch as text and encrypted, or the inflater and its output. */
const COPIED_RESPONSE_BYTES = 2 * COPIED_BATCH_BYTES;

/** Memory that a response holds while its client does not read it. */
export function unreadBytes(response: ServerResponse, body: Body, gzip: boolean): number {
  if (isShared(response, gzip)) return SHARED_RESPONSE_BYTES;
  return SHARED_RESPONSE_BYTES + Math.min(gzip ? body.gzipLength : body.plainLength, COPIED_RESPONSE_BYTES);
}

/** Whether the response consists of the compressed bytes that all responses share. */
function isShared({ req: { socket } }: ServerResponse, gzip: boolean): boolean {
  return gzip && !('encrypted' in socket);
}

/** About a millisecond of work, so that a long list does not block the event loop. */
const PIECES_CHARACTERS = 64 * 1024;

/** Writes the text no faster than the client reads it; rejects with the reason of the signal once it aborts. */
export async function writePieces(
  response: ServerResponse,
  pieces: Iterable<string>,
  signal: AbortSignal,
  timeoutMs?: number,
): Promise<void> {
  limitResponseTime(response, timeoutMs);
  let chunk = '';
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < PIECES_CHARACTERS) continue;
    if (response.req.method === 'HEAD') break;
    await writeBatch(response, [Buffer.from(chunk)]);
    await nextIteration();
    signal.throwIfAborted();
    chunk = '';
  }
  // The length of a longer text is unknown until it is written.
  if (!response.headersSent && chunk.length < PIECES_CHARACTERS)
    response.setHeader('Content-Length', Buffer.byteLength(chunk));
  response.end(chunk);
}

async function* singly(chunks: AsyncIterable<Uint8Array>): AsyncIterable<readonly Uint8Array[]> {
  for await (const chunk of chunks) yield [chunk];
}

/** Groups consecutive chunks into batches of about `maxBytes`; longer chunks are split. */
function* batches(chunks: readonly Uint8Array[], maxBytes: number): Iterable<readonly Uint8Array[]> {
  let batch: Uint8Array[] = [];
  let bytes = 0;
  for (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += maxBytes) {
      const piece = chunk.length <= maxBytes ? chunk : chunk.subarray(start, start + maxBytes);
      batch.push(piece);
      bytes += piece.length;
      if (bytes < maxBytes) continue;
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

/** Also resolves when the connection closes, because a queued pipelined response emits no event of its own then. */
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

/** Longer than the usual scrape timeout. */
const RESPONSE_TIMEOUT_MS = 60_000;

/** Closes the connection of a client that has not read the response in time, which would hold its request slot and memory. */
export function limitResponseTime({ req: request }: ServerResponse, timeoutMs = RESPONSE_TIMEOUT_MS): void {
  const timer = setTimeout(() => request.destroy(), timeoutMs).unref();
  // Emitted after the response, and also when the connection closes before a queued pipelined response is sent.
  request.once('close', () => clearTimeout(timer));
}
