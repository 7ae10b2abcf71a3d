import type { Dispatcher, Pool } from 'undici';
import { GrowableBuffer } from '../../model/growable-buffer.ts';
import { RequestFailure, transportFailure } from './request-failure.ts';

const MAX_ERROR_BYTES = 64 * 1024;

/** A server that requests are sent to, with its limits. */
export interface RemoteEndpoint {
  /** As messages name it. */
  readonly name: string;
  readonly pool: Pool;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Names and values, alternating. */
  readonly headers: readonly string[];
  readonly body?: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The complete body of a 2xx, in the given buffer; of any other reply what was received, at most 64 KiB. */
  readonly body: Buffer;
}

/** Sends one request and reads its reply, whatever the status, within the endpoint's timeout and size limit. */
export async function exchange(
  endpoint: RemoteEndpoint,
  request: OutgoingRequest,
  signal: AbortSignal,
  buffer = new GrowableBuffer(),
): Promise<Reply> {
  const cancel = new AbortController();
  const forward = () => cancel.abort(signal.reason);
  const timeOut = () =>
    cancel.abort(
      new RequestFailure('timeout', `${endpoint.name}: no complete reply within ${endpoint.timeoutMs} ms`, {
        retryable: true,
      }),
    );
  const timer = setTimeout(timeOut, endpoint.timeoutMs);
  signal.addEventListener('abort', forward);
  try {
    signal.throwIfAborted();
    const { method, path, body = null } = request;
    const options = { method, path, body, headers: [...request.headers], signal: cancel.signal };
    // The pool ignores the signal until it is connected.
    return await receive(endpoint, await untilAborted(endpoint.pool.request(options), cancel.signal), signal, buffer);
  } catch (error) {
    signal.throwIfAborted();
    throw transportFailure(endpoint.name, error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', forward);
  }
}

async function receive(
  endpoint: RemoteEndpoint,
  response: Dispatcher.ResponseData,
  signal: AbortSignal,
  buffer: GrowableBuffer,
): Promise<Reply> {
  const { statusCode: status, headers, body } = response;
  // Destroying a body emits an error, which would be unhandled without a listener.
  body.on('error', () => undefined);
  if (status < 200 || status > 299) {
    const start = await readStart(body);
    signal.throwIfAborted();
    return { status, headers, body: start };
  }
  const problem = headerProblem(headers, endpoint.maxBytes);
  if (problem !== undefined) {
    body.destroy();
    throw new RequestFailure('body', `${endpoint.name}: ${problem}`);
  }
  buffer.clear(Number(headers['content-length'] ?? 0));
  for await (const chunk of body) {
    if (buffer.length + chunk.length > endpoint.maxBytes) {
      throw new RequestFailure('body', `${endpoint.name}: body is larger than ${endpoint.maxBytes} bytes`);
    }
    buffer.append(chunk);
  }
  return { status, headers, body: buffer.bytes() };
}

/** The start of an error's body; a body that is cut off is no further failure, because the status is already known. */
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
    // Show what was received.
  }
  return Buffer.concat(chunks).subarray(0, MAX_ERROR_BYTES);
}

function headerProblem(headers: Reply['headers'], maxBytes: number): string | undefined {
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding !== 'identity') return 'the body is compressed or otherwise encoded, expected no content-encoding';
  const length = Number(headers['content-length'] ?? 0);
  return length > maxBytes ? `body of ${length} bytes is larger than ${maxBytes} bytes` : undefined;
}

/** Settles like the promise, or rejects with the signal's reason when that aborts first; the work behind the promise continues. */
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
