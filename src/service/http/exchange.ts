import { once } from 'node:events';
import type { Dispatcher } from 'undici';
import { untilAborted } from '../../tasks/until-aborted.ts';
import { quoted } from '../../text/quoted.ts';
import { safeExcerpt } from '../redaction.ts';
import { type Reply, RequestFailure, transportFailure } from '../request-failure.ts';
import type { ConnectionPool, PoolOptions } from './connection.ts';
import { contentCoding, tooLarge, unpackedStart } from './content-coding.ts';

const MAX_ERROR_BYTES = 64 * 1024;

export interface EndpointOptions extends PoolOptions {
  /** The name that messages give it. */
  readonly name: string;
  readonly origin: string;
  readonly maxBytes: number;
  readonly unusedProxy?: string | undefined;
}

interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Names and values, alternating. */
  readonly headers: readonly string[];
  readonly body?: string;
  /** The reply may be compressed, and its body stays so. */
  readonly acceptsGzip?: boolean;
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
  buffer = new BodyBuffer(),
): Promise<Reply> {
  const controller = new AbortController();
  const forward = () => controller.abort(signal.reason);
  const timer = setTimeout(() => controller.abort(timeoutFailure(endpoint.options)), endpoint.options.timeoutMs);
  signal.addEventListener('abort', forward);
  try {
    signal.throwIfAborted();
    const reply = await receive(endpoint, request, controller.signal, buffer);
    signal.throwIfAborted();
    return reply;
  } catch (error) {
    signal.throwIfAborted();
    const { name } = endpoint.options;
    throw withProxyHint(transportFailure(error, { endpoint: name, secrets: request.secrets }), endpoint.options);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', forward);
  }
}

function timeoutFailure({ name, timeoutMs }: EndpointOptions): RequestFailure {
  return new RequestFailure('timeout', `${name}: no complete reply within ${timeoutMs} ms`, { retryable: true });
}

/** Where outbound traffic needs a proxy, connections without one are usually dropped. */
function withProxyHint(failure: unknown, { unusedProxy }: EndpointOptions): unknown {
  const isUnanswered = failure instanceof RequestFailure && ['timeout', 'network'].includes(failure.reason);
  if (!isUnanswered || unusedProxy === undefined) return failure;
  return failure.with({ message: `${failure.message}; ${unusedProxy} is set, but not proxy_from_environment` });
}

/** Rejects with the signal's reason when that aborts. A body that is refused closes the connection, unless it has already ended. */
async function receive(
  endpoint: RemoteEndpoint,
  request: OutgoingRequest,
  signal: AbortSignal,
  buffer: BodyBuffer,
): Promise<Reply> {
  const { name, maxBytes } = endpoint.options;
  const accepted = request.acceptsGzip ? ['Accept-Encoding', 'gzip'] : [];
  // The body is read as it arrives: the connection need not pause for it.
  const options = { ...request, headers: [...accepted, ...request.headers], signal, highWaterMark: maxBytes };
  // The pool connects on when the signal aborts; the request is not sent then.
  const { statusCode: status, headers, body } = await untilAborted(endpoint.request(options), signal);
  const limitBytes = isSuccess(status) ? maxBytes : MAX_ERROR_BYTES;
  const refuse = (problem: string) => body.destroy(new RequestFailure('body', `${name}: ${problem}`));
  const problem = isSuccess(status) ? headerProblem(headers, limitBytes, request) : undefined;
  if (problem !== undefined) refuse(problem);
  body.on('data', (chunk: Buffer) => {
    if (buffer.append(chunk) > limitBytes) body.destroy(tooLarge({ name, maxBytes: limitBytes }));
  });
  await once(body, 'close').catch((error) => {
    // An error reply whose body is cut off is not another failure: the status is already known.
    if (isSuccess(status)) throw error;
  });
  const reply = { status, headers, body: buffer.bytes() };
  return isSuccess(status) ? reply : readableReply(reply);
}

/** An error reply without its coding, if that can be removed. */
async function readableReply({ headers, body, ...reply }: Reply): Promise<Reply> {
  const coding = contentCoding(headers);
  const text = coding === 'gzip' ? await unpackedStart(body, MAX_ERROR_BYTES) : body;
  if (text === undefined || !['', 'gzip'].includes(coding)) return { ...reply, headers, body };
  return { ...reply, headers: { ...headers, 'content-encoding': undefined }, body: text };
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

function headerProblem(
  headers: Reply['headers'],
  maxBytes: number,
  { acceptsGzip, secrets }: OutgoingRequest,
): string | undefined {
  const coding = contentCoding(headers);
  if (coding !== '' && !(acceptsGzip && coding === 'gzip'))
    return `content-encoding ${quoted(safeExcerpt(coding, secrets))}, expected ${acceptsGzip ? 'gzip or none' : 'none'}`;
  const length = Number(headers['content-length'] ?? 0);
  return length > maxBytes ? `body of ${length} bytes is larger than ${maxBytes} bytes` : undefined;
}

/** A buffer that is larger is not kept: one large page must not hold the memory for good. */
const MAX_REUSED_BYTES = 1024 * 1024;

/** Collects a body in memory that is reused: allocated anew for each page, it takes a third of the CPU time of a refresh to collect. */
export class BodyBuffer {
  #buffer = Buffer.allocUnsafeSlow(0);
  #length = 0;

  /** Returns the length. */
  append(chunk: Uint8Array): number {
    const length = this.#length + chunk.length;
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#buffer.length));
      larger.set(this.bytes());
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
    if (this.#buffer.length > MAX_REUSED_BYTES) this.#buffer = Buffer.allocUnsafeSlow(0);
  }
}

/** A server that requests are sent to, with its limits and a pool of connections: requests cannot leave its origin. */
export class RemoteEndpoint {
  readonly options: EndpointOptions;
  #pool: Promise<ConnectionPool> | undefined;

  constructor(options: EndpointOptions) {
    this.options = options;
  }

  /** Loads the HTTP client with the first request: that takes a sixth of the time until the exporter listens. */
  async request(options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
    this.#pool ??= import('./connection.ts').then(({ openPool }) => openPool(this.options.origin, this.options));
    return (await this.#pool).request(options);
  }

  async destroy(): Promise<void> {
    await (await this.#pool)?.destroy();
  }
}
