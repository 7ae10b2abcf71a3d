import { setMaxListeners } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Pool } from 'undici';
import { type FailureReason, ListingFailure } from '../station/failure.ts';
import { GrowableBuffer } from '../station/growable-buffer.ts';
import type { ListingContext } from '../station/listing.ts';
import { Authenticator } from './authenticator.ts';
import { openPool, withoutIdentity } from './connection.ts';
import { type Endpoint, exchange, type Reply } from './exchange.ts';
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

/** The bytes are only there until it has resolved. */
export type ReadBody<T> = (body: Uint8Array) => T | Promise<T>;

/** The path of a smaller page from the same offset, as long as there is one. */
export type SmallerPath = () => string | undefined;

/** The HTTP client of one upstream, shared by all stations on it. */
export class UpstreamClient {
  readonly #options: UpstreamOptions;
  readonly #observer: RequestObserver;
  readonly #dependencies: ClientDependencies;
  readonly #limiter: RequestLimiter;
  readonly #authenticator: Authenticator;
  readonly #service: Endpoint;
  readonly #defaultHeaders: readonly Header[];
  readonly #pools: Pool[] = [];
  /** Those that no request is using: never more than were under way at once. */
  readonly #scratches: GrowableBuffer[] = [];

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
   * GETs a path with query, exactly as given, and resolves with what is read from the bytes of a 2xx. Reading is a part of the
   * request's turn, so that replies cannot pile up faster than they are read. A reply that is too large for the service is asked
   * for by `smaller` instead, as long as that gives a path.
   * Rejects with a ListingFailure; rejects with the signal's reason when that aborts.
   */
  async get<T>(pathAndQuery: string, context: ListingContext, read: ReadBody<T>, smaller: SmallerPath = () => undefined): Promise<T> {
    const { signal } = context;
    // All pages of a refresh wait on one signal at a time, which is no leak.
    setMaxListeners(0, signal);
    try {
      return await this.#getWithRetries(pathAndQuery, context, read, smaller);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  }

  /** Callers abort their requests first: one still under way breaks. */
  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.destroy()));
  }

  async #getWithRetries<T>(pathAndQuery: string, context: ListingContext, read: ReadBody<T>, smaller: SmallerPath): Promise<T> {
    const { signal, deadlineMs, station: lane = '' } = context;
    const { now, random, sleep } = this.#dependencies;
    let path = pathAndQuery;
    let renewed = false;
    for (let retries = 0; ; ) {
      let generation = 0;
      try {
        return await this.#limiter.run({ signal, lane }, async () => {
          generation = this.#authenticator.credentialVersion;
          const scratch = this.#scratches.pop() ?? new GrowableBuffer();
          try {
            return await read(await this.#attempt(path, context, scratch));
          } finally {
            this.#scratches.push(scratch);
          }
        });
      } catch (error) {
        if (signal.aborted || !(error instanceof RequestFailure)) throw error;
        if (error.unauthorized && !renewed && this.#authenticator.renew(generation)) {
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

  async #attempt(pathAndQuery: string, { signal, station }: ListingContext, scratch: GrowableBuffer): Promise<Buffer> {
    const { now } = this.#dependencies;
    const signable = { method: 'GET', host: this.#options.baseUrl.host, pathAndQuery, nowMs: now(), signal } as const;
    const { headers, secrets } = await this.#authenticator.authenticate(signable);
    const request = { method: 'GET', path: pathAndQuery, headers: [...this.#defaultHeaders, ...headers].flat() } as const;
    const startMs = now();
    this.#observer.started();
    const end = (reason?: FailureReason) => this.#observer.ended(Math.max(0, now() - startMs) / 1000, reason);
    try {
      const reply = await exchange(this.#service, request, signal, scratch);
      const { status, headers: told } = reply;
      this.#observer.replied?.({ station, status, sentMs: startMs, receivedMs: now(), dateMs: httpDateMs(String(told['date'])) });
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
    const mayBeClock = reply.status === 401 && this.#options.auth?.scheme === 'hmac';
    const hint = mayBeClock ? clockHint(reply.headers['date'], nowMs) : undefined;
    return replyFailure(reply, { peer: this.#service.name, secrets, nowMs, hint });
  }

  #tokenEndpoint(url: URL): Endpoint {
    const name = `token endpoint ${url.host}`;
    return { name, maxBytes: MAX_TOKEN_REPLY_BYTES, ...this.#connections(url, 1, withoutIdentity(this.#options.tls)) };
  }

  #connections({ origin }: URL, connections: number, tls: TlsOptions | undefined): Pick<Endpoint, 'pool' | 'timeoutMs'> {
    const { timeoutMs, proxyUrl } = this.#options;
    const pool = openPool(origin, { connections, timeoutMs, tls, proxyUrl });
    this.#pools.push(pool);
    return { pool, timeoutMs };
  }
}

/** Why a request failed; one that its caller no longer wants has not, unless it was the caller's time that ran out. */
function requestReason(error: unknown, signal: AbortSignal): FailureReason | undefined {
  if (error instanceof ListingFailure) return error.reason;
  return signal.aborted ? undefined : 'internal';
}
