import type { Dispatcher } from 'undici';
import type { PoolOptions } from './connection.ts';
import { type Reply, RequestFailure, transportFailure } from './request-failure.ts';

const MAX_ERROR_BYTES = 64 * 1024;

/** Replies such as 103 before the one that counts; each may have headers of 16 KiB. */
const MAX_INFORMATIONAL_REPLIES = 16;

/** Each chunk costs time, however small it is: a body may have this many, and further ones for its bytes. */
const MAX_SMALL_CHUNKS = 4096;
const BYTES_PER_FURTHER_CHUNK = 256;

/** A server that requests are sent to, with its limits. */
export interface RemoteEndpoint {
  /** As messages name it. */
  readonly name: string;
  readonly pool: LazyPool;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Names and values, alternating. */
  readonly headers: readonly string[];
  readonly body?: string;
  /** What no message may contain. */
  readonly secrets: readonly string[];
}

/**
 * Sends one request and reads its reply within the endpoint's timeout and size limit: of a 2xx the complete body, of others at most 64 KiB.
 * The body is in the buffer.
 */
export async function exchange(
  endpoint: RemoteEndpoint,
  request: OutgoingRequest,
  signal: AbortSignal,
  buffer = new GrowableBuffer(),
): Promise<Reply> {
  const receiver = new ReplyReceiver(endpoint, buffer);
  const forward = () => receiver.abort(signal.reason);
  const timer = setTimeout(() => receiver.abort(timeoutFailure(endpoint)), endpoint.timeoutMs);
  signal.addEventListener('abort', forward);
  try {
    signal.throwIfAborted();
    const { method, path, headers, body = null } = request;
    const options = { method, path, headers: [...headers], body };
    const [reply] = await Promise.all([receiver.reply, endpoint.pool.dispatch(options, receiver)]);
    signal.throwIfAborted();
    return reply;
  } catch (error) {
    signal.throwIfAborted();
    throw transportFailure(endpoint.name, error, request.secrets);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', forward);
  }
}

function timeoutFailure({ name, timeoutMs }: RemoteEndpoint): RequestFailure {
  return new RequestFailure('timeout', `${name}: no complete reply within ${timeoutMs} ms`, { retryable: true });
}

/** Receives one reply; what a method throws closes the connection and becomes the error of the reply. */
class ReplyReceiver implements Dispatcher.DispatchHandler {
  readonly reply: Promise<Reply>;
  readonly #endpoint: RemoteEndpoint;
  #resolve!: (reply: Reply) => void;
  #reject!: (reason: unknown) => void;
  #connection: Dispatcher.DispatchController | undefined;
  #aborted: Error | undefined;
  #head: Omit<Reply, 'body'> = { status: 0, headers: {} };
  #informationalReplies = 0;
  readonly #buffer: GrowableBuffer;
  #chunks = 0;

  constructor(endpoint: RemoteEndpoint, buffer: GrowableBuffer) {
    this.#endpoint = endpoint;
    this.#buffer = buffer;
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** The pool connects on: the request is not sent then. */
  abort(reason: Error): void {
    this.#aborted = reason;
    this.#fail(reason);
    this.#connection?.abort(reason);
  }

  onRequestStart(connection: Dispatcher.DispatchController): void {
    this.#connection = connection;
    if (this.#aborted !== undefined) connection.abort(this.#aborted);
  }

  onResponseStart(_connection: Dispatcher.DispatchController, status: number, headers: Reply['headers']): void {
    const { name, maxBytes } = this.#endpoint;
    if (status < 200) {
      this.#informationalReplies += 1;
      if (this.#informationalReplies <= MAX_INFORMATIONAL_REPLIES) return;
      throw new RequestFailure('network', `${name}: more than ${MAX_INFORMATIONAL_REPLIES} informational replies`);
    }
    const problem = isSuccess(status) ? headerProblem(headers, maxBytes) : undefined;
    if (problem !== undefined) throw new RequestFailure('body', `${name}: ${problem}`);
    this.#head = { status, headers };
  }

  onResponseData(_connection: Dispatcher.DispatchController, chunk: Buffer): void {
    const { name } = this.#endpoint;
    const maxBytes = isSuccess(this.#head.status) ? this.#endpoint.maxBytes : MAX_ERROR_BYTES;
    const length = this.#buffer.append(chunk);
    this.#chunks += 1;
    if (length > maxBytes) throw new RequestFailure('body', `${name}: body is larger than ${maxBytes} bytes`);
    if (this.#chunks > MAX_SMALL_CHUNKS + length / BYTES_PER_FURTHER_CHUNK) {
      throw new RequestFailure('body', `${name}: the body has ${this.#chunks} chunks in its first ${length} bytes`);
    }
  }

  onResponseEnd(): void {
    this.#resolve({ ...this.#head, body: this.#buffer.bytes() });
  }

  onResponseError(_connection: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  /** An error reply whose body is cut off is not another failure: the status is already known. */
  #fail(error: unknown): void {
    if (this.#head.status === 0 || isSuccess(this.#head.status)) this.#reject(error);
    else this.onResponseEnd();
  }
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

function headerProblem(headers: Reply['headers'], maxBytes: number): string | undefined {
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding !== 'identity') return 'the body is compressed or otherwise encoded, expected no content-encoding';
  const length = Number(headers['content-length'] ?? 0);
  return length > maxBytes ? `body of ${length} bytes is larger than ${maxBytes} bytes` : undefined;
}

/** A buffer that is larger is not kept: one large page must not hold the memory for good. */
const MAX_KEPT_BYTES = 1024 * 1024;

/** Bytes in memory that is reused: allocated anew for each page, it takes a third of the CPU time of a refresh to collect. */
export class GrowableBuffer {
  #buffer = Buffer.allocUnsafeSlow(0);
  #length = 0;

  /** Returns the length. */
  append(chunk: Uint8Array): number {
    const length = this.#length + chunk.length;
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#buffer.length));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = length;
    return length;
  }

  /** A view, not a copy: valid until the next `clear` or `append`. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    if (this.#buffer.length > MAX_KEPT_BYTES) this.#buffer = Buffer.allocUnsafeSlow(0);
  }
}

/** A pool of connections to one origin: its requests cannot leave that origin. */
export class LazyPool {
  readonly #origin: string;
  readonly #options: PoolOptions;
  #pool: Promise<Dispatcher> | undefined;
  #isClosed = false;

  constructor(origin: string, options: PoolOptions) {
    this.#origin = origin;
    this.#options = options;
  }

  /** Loads the HTTP client with the first request: that takes a sixth of the time until the exporter listens. */
  async dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): Promise<void> {
    // As undici fails when it was loaded before.
    if (this.#isClosed) throw new Error('The client is destroyed');
    this.#pool ??= import('./connection.ts').then(({ openPool }) => openPool(this.#origin, this.#options));
    (await this.#pool).dispatch(options, handler);
  }

  async destroy(): Promise<void> {
    this.#isClosed = true;
    await (await this.#pool)?.destroy();
  }
}
