import type { ServerResponse } from 'node:http';
import type { Body } from '../metrics/body.ts';
import { cutOffSlowReader } from './slow-reader.ts';

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
  const { socket } = response.req;
  const most = gzip && !('encrypted' in socket) ? SHARED_BATCH_BYTES : OWN_BATCH_BYTES;
  let batched = 0;
  response.cork();
  for await (const chunk of gzip ? body.gzip() : body.plain()) {
    for (let start = 0; start < chunk.length; start += most) {
      const piece = chunk.subarray(start, start + most);
      response.write(piece);
      batched += piece.length;
      if (batched < most) continue;
      batched = 0;
      response.uncork();
      if (response.writableNeedDrain) await drained(response);
      // A client that went away is no error, and nobody is left to be told.
      if (socket.destroyed) return;
      response.cork();
    }
  }
  response.uncork();
  response.end();
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
