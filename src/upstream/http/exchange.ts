import type { Dispatcher } from 'undici';
import { GrowableBuffer } from './growable-buffer.ts';
import { RequestFailure, transportFailure } from './request-failure.ts';

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
  readonly pool: {
    dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): Promise<void>;
  };
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
  readonly #buffer: GrowableBuffer;
  #resolve!: (reply: Reply) => void;
  #reject!: (reason: unknown) => void;
  #connection: Dispatcher.DispatchController | undefined;
  #aborted: Error | undefined;
  #head: Omit<Reply, 'body'> = { status: 0, headers: {} };
  #informationalReplies = 0;
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
    this.#buffer.clear(isSuccess(status) ? Number(headers['content-length'] ?? 0) : 0);
  }

  onResponseData(_connection: Dispatcher.DispatchController, chunk: Buffer): void {
    const { name } = this.#endpoint;
    const maxBytes = isSuccess(this.#head.status) ? this.#endpoint.maxBytes : MAX_ERROR_BYTES;
    const length = this.#buffer.length + chunk.length;
    this.#chunks += 1;
    if (length > maxBytes) throw new RequestFailure('body', `${name}: body is larger than ${maxBytes} bytes`);
    if (this.#chunks > MAX_SMALL_CHUNKS + length / BYTES_PER_FURTHER_CHUNK) {
      throw new RequestFailure('body', `${name}: the body has ${this.#chunks} chunks in its first ${length} bytes`);
    }
    this.#buffer.append(chunk);
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
    else this.#resolve({ ...this.#head, body: this.#buffer.bytes() });
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

function headerProblem(headers: Reply['headers'], maxBytes: number): string | undefined {
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding !== 'identity') return 'the body is compressed or otherwise encoded, expected no content-encoding';
  const length = Number(headers['content-length'] ?? 0);
  return length > maxBytes ? `body of ${length} bytes is larger than ${maxBytes} bytes` : undefined;
}
