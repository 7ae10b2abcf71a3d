import type { Dispatcher, Pool } from 'undici';
import { GrowableBuffer } from '../station/growable-buffer.ts';
import { RequestFailure, transportFailure } from './request-failure.ts';

const MAX_ERROR_BYTES = 64 * 1024;

/** The other side of a connection, and what is expected of it. */
export interface Endpoint {
  /** How messages call it. */
  readonly name: string;
  readonly pool: Pool;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body?: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Of a success the whole body, in the scratch that was given; of any other reply as much as came, at most 64 KiB. */
  readonly body: Buffer;
}

/** Sends one request and reads its reply, whatever the status, within the peer's time and size. */
export async function exchange(
  peer: Endpoint,
  request: OutgoingRequest,
  signal: AbortSignal,
  scratch = new GrowableBuffer(),
): Promise<Reply> {
  const cancel = new AbortController();
  const forward = () => cancel.abort(signal.reason);
  const tooLate = () =>
    cancel.abort(new RequestFailure('timeout', `${peer.name}: no complete reply within ${peer.timeoutMs} ms`, { retryable: true }));
  const timer = setTimeout(tooLate, peer.timeoutMs);
  signal.addEventListener('abort', forward);
  try {
    signal.throwIfAborted();
    const { method, path, body = null } = request;
    const options = { method, path, body, headers: [...request.headers], signal: cancel.signal };
    // The pool heeds its signal only once it is connected.
    return await receive(peer, await untilAborted(peer.pool.request(options), cancel.signal), signal, scratch);
  } catch (error) {
    signal.throwIfAborted();
    throw transportFailure(peer.name, error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', forward);
  }
}

async function receive(peer: Endpoint, response: Dispatcher.ResponseData, signal: AbortSignal, scratch: GrowableBuffer): Promise<Reply> {
  const { statusCode: status, headers, body } = response;
  // Destroying a body makes it emit an error that nobody else may be listening for.
  body.on('error', () => undefined);
  if (status < 200 || status > 299) {
    const start = await readStart(body);
    signal.throwIfAborted();
    return { status, headers, body: start };
  }
  const problem = headerProblem(headers, peer.maxBytes);
  if (problem !== undefined) {
    body.destroy();
    throw new RequestFailure('body', `${peer.name}: ${problem}`);
  }
  scratch.clear(Number(headers['content-length'] ?? 0));
  for await (const chunk of body) {
    if (scratch.length + chunk.length > peer.maxBytes) {
      throw new RequestFailure('body', `${peer.name}: body is larger than ${peer.maxBytes} bytes`);
    }
    scratch.append(chunk);
  }
  return { status, headers, body: scratch.bytes() };
}

/** What came of an error's body: its status is the news, so a body that breaks off is no further failure. */
async function readStart(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= MAX_ERROR_BYTES) break;
    }
  } catch {
    // The part that came is what there is to show.
  }
  return Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES);
}

function headerProblem(headers: Reply['headers'], maxBytes: number): string | undefined {
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding !== 'identity') return 'body is encoded, though no encoding was asked for';
  const length = Number(headers['content-length'] ?? 0);
  return length > maxBytes ? `body of ${length} bytes is larger than ${maxBytes} bytes` : undefined;
}

/** The promise's outcome, or the signal's reason should that abort first; the work behind the promise goes on. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
