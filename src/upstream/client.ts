import { setMaxListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Pool } from 'undici';
import { type FailureReason, ListingFailure } from '../station/failure.ts';
import { GrowableBuffer } from '../station/growable-buffer.ts';
import type { ListingContext } from '../station/listing.ts';
import { Authenticator } from './authenticator.ts';
import { openPool, withoutIdentity } from './connection.ts';
import { exchange, type RemoteEndpoint, type Reply } from './exchange.ts';
import { clockHint } from './hmac.ts';
import type { RequestObserver } from './observer.ts';
import type { TlsOptions, UpstreamOptions } from './options.ts';
import { httpDateMs, replyFailure } from './reply-failure.ts';
import { RequestFailure } from './request-failure.ts';
import { RequestLimiter } from './request-limiter.ts';
import { retryDelay } from './retry.ts';
import type { Header } from './signer.ts';

export interface ClientDependencies {
  /** Wall-clock milliseconds. */
  readonly now: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

const MAX_TOKEN_REPLY_BYTES = 1024 * 1024;

/** More than a usual page needs. */
const MAX_FREE_BUFFER_BYTES = 1024 * 1024;

/** The bytes are valid until the returned promise settles. */
export type ReadBody<T> = (body: Uint8Array) => T | Promise<T>;

/** The path of a smaller page at the same offset; undefined when the page cannot be smaller. */
export type SmallerPath = () => string | undefined;

/** The HTTP client of one upstream, shared by all stations on it. */
export class UpstreamClient {
  readonly #options: UpstreamOptions;
  readonly #observer: RequestObserver;
  readonly #dependencies: ClientDependencies;
  readonly #limiter: RequestLimiter;
  readonly #authenticator: Authenticator;
  readonly #service: RemoteEndpoint;
  readonly #defaultHeaders: readonly Header[];
  readonly #pools: Pool[] = [];
  /** Free buffers: never more than requests were in flight at once. */
  readonly #freeBuffers: GrowableBuffer[] = [];

  constructor(options: UpstreamOptions, observer: RequestObserver, dependencies: Partial<ClientDependencies> = {}) {
    this.#options = options;
    this.#observer = observer;
    this.#dependencies = {
      now: Date.now,
      random: Math.random,
      sleep: (ms, signal) => setTimeout(ms, undefined, { signal }),
      ...dependencies,
    };
    const { baseUrl, concurrency, requestsPerSecond, maxPageBytes, userAgent } = options;
    const { now, sleep } = this.#dependencies;
    this.#limiter = new RequestLimiter({ concurrency, requestsPerSecond, observer, now, sleep });
    this.#service = { name: baseUrl.host, maxBytes: maxPageBytes, ...this.#connections(baseUrl, concurrency, options.tls) };
    this.#authenticator = new Authenticator(options, (url) => this.#tokenEndpoint(url), now);
    this.#defaultHeaders = [
      ['Accept', 'application/json'],
      ['Content-Type', 'application/json'],
      ['User-Agent', userAgent],
    ];
  }

  /**
   * GETs a path with query, exactly as given, and resolves with what `read` returns for the body of a 2xx. Reading counts against
   * the concurrency limit, so that replies cannot accumulate faster than they are read. When the service rejects a page as too
   * large, the path from `smaller` is requested instead, if there is one.
   * Rejects with a ListingFailure, or with the signal's reason when that aborts.
   */
  async get<T>(pathAndQuery: string, context: ListingContext, read: ReadBody<T>, smaller: SmallerPath = () => undefined): Promise<T> {
    const { signal } = context;
    // All requests of a refresh listen to the same signal, which is no leak.
    setMaxListeners(0, signal);
    try {
      return await this.#getWithRetries(pathAndQuery, context, read, smaller);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  /** Requests still in flight fail: callers abort them first. */
  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.destroy()));
  }

  async #getWithRetries<T>(pathAndQuery: string, context: ListingContext, read: ReadBody<T>, smaller: SmallerPath): Promise<T> {
    const { signal, deadlineMs, station: lane = '' } = context;
    const { now, random, sleep } = this.#dependencies;
    let path = pathAndQuery;
    let renewed = false;
    for (let retries = 0; ; ) {
      let credentialVersion = 0;
      try {
        return await this.#limiter.run({ signal, lane }, async () => {
          credentialVersion = this.#authenticator.credentialVersion;
          const buffer = this.#freeBuffers.pop() ?? new GrowableBuffer();
          try {
            return await read(await this.#attempt(path, context, buffer));
          } finally {
            buffer.release(MAX_FREE_BUFFER_BYTES);
            this.#freeBuffers.push(buffer);
          }
        });
      } catch (error) {
        if (signal.aborted || !(error instanceof RequestFailure)) throw error;
        if (error.unauthorized && !renewed && this.#authenticator.renew(credentialVersion)) {
          renewed = true;
        } else {
          const { maxRetries } = this.#options;
          const less = error.tooLarge ? smaller() : undefined;
          const asksForLess = less !== undefined;
          const delayMs = retryDelay(error, { retries, maxRetries, nowMs: now(), deadlineMs, random: random(), asksForLess });
          if (delayMs === undefined) throw error;
          path = less ?? path;
          retries += asksForLess ? 0 : 1;
          await sleep(delayMs, signal);
        }
        this.#observer.retried();
      }
    }
  }

  async #attempt(pathAndQuery: string, { signal, station }: ListingContext, buffer: GrowableBuffer): Promise<Buffer> {
    const { now } = this.#dependencies;
    const signable = { method: 'GET', host: this.#options.baseUrl.host, pathAndQuery, nowMs: now(), signal } as const;
    const { headers, secrets } = await this.#authenticator.authenticate(signable);
    const request = { method: 'GET', path: pathAndQuery, headers: [...this.#defaultHeaders, ...headers].flat() } as const;
    const startMs = now();
    this.#observer.started();
    const end = (reason?: FailureReason) => this.#observer.ended(Math.max(0, now() - startMs) / 1000, reason);
    try {
      const reply = await exchange(this.#service, request, signal, buffer);
      const { status, headers: replyHeaders } = reply;
      this.#observer.replied?.({ station, status, sentMs: startMs, receivedMs: now(), dateMs: httpDateMs(String(replyHeaders['date'])) });
      if (status < 200 || status > 299) throw this.#replyFailure(reply, secrets);
      end();
      return reply.body;
    } catch (error) {
      end(requestReason(error, signal));
      throw error;
    }
  }

  #replyFailure(reply: Reply, secrets: readonly string[]): RequestFailure {
    const nowMs = this.#dependencies.now();
    const mayBeClockSkew = reply.status === 401 && this.#options.auth?.scheme === 'hmac';
    const hint = mayBeClockSkew ? clockHint(reply.headers['date'], nowMs) : undefined;
    return replyFailure(reply, { endpoint: this.#service.name, secrets, nowMs, hint });
  }

  #tokenEndpoint(url: URL): RemoteEndpoint {
    const name = `token endpoint ${url.host}`;
    return { name, maxBytes: MAX_TOKEN_REPLY_BYTES, ...this.#connections(url, 1, withoutIdentity(this.#options.tls)) };
  }

  #connections({ origin }: URL, connections: number, tls: TlsOptions | undefined): Pick<RemoteEndpoint, 'pool' | 'timeoutMs'> {
    const { timeoutMs, proxyUrl } = this.#options;
    const pool = openPool(origin, { connections, timeoutMs, tls, proxyUrl });
    this.#pools.push(pool);
    return { pool, timeoutMs };
  }
}

/** Why a request failed; undefined for one that its caller aborted for another reason than a timeout. */
function requestReason(error: unknown, signal: AbortSignal): FailureReason | undefined {
  if (error instanceof ListingFailure) return error.reason;
  return signal.aborted ? undefined : 'internal';
}
