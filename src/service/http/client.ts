import { type Clock, systemClock } from '../../model/clock.ts';
import { type FailureReason, ListingFailure } from '../../model/failure.ts';
import type { CachedReply, RefreshContext } from '../../model/listing.ts';
import { delayed, type Schedule } from '../../tasks/until-aborted.ts';
import { type FailedRequest, RequestLimiter } from '../admission/request-limiter.ts';
import { RequestRetries } from '../admission/retry.ts';
import { Authenticator } from '../auth/authenticator.ts';
import type { Signature } from '../auth/scheme.ts';
import { httpDateMs, type Reply, type RequestFailure, replyFailure } from '../request-failure.ts';
import type { RequestObserver } from '../request-observer.ts';
import type { UpstreamOptions } from '../upstream-options.ts';
import { cachedReply } from './cached-reply.ts';
import { type PageBody, pageBody } from './content-coding.ts';
import { BodyBuffer, type EndpointOptions, exchange, isSuccess, RemoteEndpoint } from './exchange.ts';
import { withoutIdentity } from './tls-options.ts';

export interface ClientDependencies {
  readonly clock: Clock;
  readonly random: () => number;
  readonly schedule: Schedule;
  readonly exchange: typeof exchange;
}

export const systemDependencies: ClientDependencies = {
  clock: systemClock,
  random: Math.random,
  schedule: (run, delayMs) => {
    if (delayMs === 0) {
      const immediate = setImmediate(run);
      return () => clearImmediate(immediate);
    }
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
  exchange,
};

const DEFAULT_HEADERS = Object.entries({
  Accept: 'application/json',
  // A cache on the way that obeys it asks the service.
  'Cache-Control': 'no-cache',
  'Content-Type': 'application/json',
}).flat();

const MAX_TOKEN_REPLY_BYTES = 1024 * 1024;

/** The bytes are valid until the returned promise settles. No message may contain one of the secrets. */
type ReadBody<T> = (body: PageBody, secrets?: readonly string[]) => T | Promise<T>;

/** The path of a smaller page at the same offset; undefined when the page cannot be smaller. It is too large, or may be the cause of throttling. */
type SmallerPath = (isTooLarge: boolean) => string | undefined;

/** A page to be fetched, with as many attempts as it takes. */
interface PageRequest<T> {
  path: string;
  readonly context: RefreshContext;
  readonly read: ReadBody<T>;
  readonly smaller: SmallerPath;
  readonly retries: RequestRetries;
  /** How long the next attempt waits. */
  delayMs: number;
  /** Whether the limiter has not admitted it yet. */
  isWaiting: boolean;
  /** Why it waits again. */
  throttling?: RequestFailure | undefined;
  /** The credentials were obtained again after a 401. */
  isRenewed: boolean;
}

interface ReceivedPage {
  readonly body: PageBody;
  /** undefined: it does not come from a cache. */
  readonly cached: CachedReply | undefined;
}

/** The HTTP client of one upstream, shared by all stations on it. */
export class UpstreamClient {
  readonly limiter: RequestLimiter;
  readonly #options: UpstreamOptions;
  readonly #observer: Partial<RequestObserver>;
  readonly #dependencies: ClientDependencies;
  readonly #authenticator: Authenticator;
  readonly #service: RemoteEndpoint;
  readonly #endpoints: RemoteEndpoint[] = [];
  /** Free buffers: never more than requests were in flight at once. */
  readonly #freeBuffers: BodyBuffer[] = [];

  constructor(
    options: UpstreamOptions,
    observer: Partial<RequestObserver>,
    dependencies: Partial<ClientDependencies> = {},
  ) {
    this.#options = options;
    this.#observer = observer;
    this.#dependencies = { ...systemDependencies, ...dependencies };
    const { clock, schedule } = this.#dependencies;
    this.limiter = new RequestLimiter({ ...options, observer, now: clock.elapsedMs, schedule });
    const { baseUrl, concurrency: connections, maxPageBytes: maxBytes, tls } = options;
    this.#service = this.#open(baseUrl.host, baseUrl, { connections, maxBytes, tls });
    const limits = { connections: 1, maxBytes: MAX_TOKEN_REPLY_BYTES, tls: withoutIdentity(tls) };
    const openEndpoint = (name: string, url: URL) => this.#open(name, url, limits);
    this.#authenticator = new Authenticator(options, openEndpoint, this.#dependencies);
  }

  /**
   * GETs a path with query, exactly as given, and resolves with what `read` returns for the body of a 2xx. Reading counts against
   * the concurrency limit, so that replies cannot accumulate faster than they are read. When the service rejects a page as too
   * large, the path from `smaller` is requested instead, if there is one.
   * Rejects with a ListingFailure, or with the signal's reason when that aborts.
   */
  async get<T>(
    path: string,
    context: RefreshContext,
    read: ReadBody<T>,
    smaller: SmallerPath = () => undefined,
  ): Promise<T> {
    const { signal } = context;
    this.#checkPause(context);
    const request: PageRequest<T> = {
      path,
      context,
      read,
      smaller,
      retries: new RequestRetries(this.#options.maxRetries),
      delayMs: 0,
      isWaiting: true,
      isRenewed: false,
    };
    try {
      return await this.#getWithRetries(request);
    } catch (error) {
      if (!signal.aborted) throw error;
      const isTimeout = signal.reason instanceof ListingFailure;
      if (!isTimeout) throw signal.reason;
      this.#checkPause(context);
      const throttling = this.#throttlingOf(request);
      if (throttling) throw throttling;
      throw signal.reason;
    }
  }

  /** Ends the delay after a failed token request: the operator may have corrected its cause. */
  forgetAuthFailure(): void {
    this.#authenticator.forgetFailure();
  }

  /** Requests still in flight fail: callers abort them first. */
  async close(): Promise<void> {
    await Promise.all(this.#endpoints.map((endpoint) => endpoint.destroy()));
  }

  /** Postpones a refresh when the `Retry-After` of a 429 exceeds its timeout, or the time that it has left. */
  #checkPause(context: RefreshContext): void {
    if (this.limiter.throttledBy !== 429) return;
    const nowMs = this.#dependencies.clock.elapsedMs();
    const pauseMs = this.limiter.pausedUntilMs - nowMs;
    const timeLeftMs = Math.min(context.refreshTimeoutMs, context.deadlineMs() - nowMs);
    if (pauseMs <= Math.max(0, timeLeftMs)) return;
    const message = `${this.#service.options.name} accepts no requests for another ${Math.ceil(pauseMs / 1000)} s (Retry-After)`;
    throw new ListingFailure('rate_limited', message, { isPostponed: true, replyStatus: 429 });
  }

  async #getWithRetries<T>(request: PageRequest<T>): Promise<T> {
    const { context } = request;
    for (;;) {
      request.isWaiting = true;
      const prepare = () => {
        request.isWaiting = false;
        request.throttling = undefined;
        return this.#authenticate(request);
      };
      const send = (signature: Signature) => this.#fetch(request, signature);
      const outcome = await this.limiter.run(context, { prepare, send }, request.delayMs);
      if ('value' in outcome) return outcome.value;
      context.signal.throwIfAborted();
      await this.#prepareRetry(request, outcome);
      this.#observer.retried?.();
    }
  }

  /** The failure of a refresh that times out while the request waits because of throttling. */
  #throttlingOf({ isWaiting, throttling }: PageRequest<unknown>): ListingFailure | undefined {
    if (throttling) return throttling;
    if (!isWaiting || !this.limiter.isThrottled) return undefined;
    const { name } = this.#service.options;
    const replyStatus = this.limiter.throttledBy;
    const message = `${name} answers with ${replyStatus} when requests are too many: the refresh did not finish at the rate that it accepts`;
    return new ListingFailure(replyStatus === 503 ? 'status' : 'rate_limited', message, { replyStatus });
  }

  /** Resolves when the request may be sent again; rejects when it is given up. */
  async #prepareRetry(request: PageRequest<unknown>, failed: FailedRequest): Promise<void> {
    const { context, retries } = request;
    const { failure } = failed;
    const { clock, random, schedule } = this.#dependencies;
    request.delayMs = 0;
    if (failure.isExpired) return;
    const times = { nowMs: clock.elapsedMs(), deadlineMs: context.deadlineMs(), random: random() };
    const decision = retries.decide(failed, times);
    if (typeof decision === 'number') {
      if (!retries.keepsSlot) {
        await delayed(decision, context.signal, schedule);
        return;
      }
      request.throttling = failure;
      request.delayMs = decision;
      return;
    }
    if (decision === 'postpone') {
      const { reason, message, details } = failure;
      throw new ListingFailure(reason, message, { cause: failure, isPostponed: true, ...details });
    }
    const smallerPath = decision === 'smaller-page' ? request.smaller(failure.status === 413) : undefined;
    if (smallerPath === undefined) throw failure;
    request.path = smallerPath;
  }

  #authenticate({ path, context }: PageRequest<unknown>): Promise<Signature> {
    const { host } = this.#options.baseUrl;
    const nowMs = this.#dependencies.clock.wallMs();
    return this.#authenticator.authenticate({ host, pathAndQuery: path, nowMs, signal: context.signal });
  }

  /** Sends the request and reads the reply. */
  async #fetch<T>(page: PageRequest<T>, signature: Signature): Promise<T> {
    const buffer = this.#freeBuffers.pop() ?? new BodyBuffer();
    try {
      const { body, cached } = await this.#receive(page, signature, buffer);
      const value = await page.read(body, signature.secrets);
      if (cached) page.context.repliedFromCache(cached);
      return value;
    } finally {
      buffer.clear();
      this.#freeBuffers.push(buffer);
    }
  }

  async #receive(page: PageRequest<unknown>, signature: Signature, buffer: BodyBuffer): Promise<ReceivedPage> {
    const { headers, secrets } = signature;
    const { signal } = page.context;
    const { elapsedMs } = this.#dependencies.clock;
    const request = {
      method: 'GET',
      path: page.path,
      headers: [...DEFAULT_HEADERS, 'User-Agent', this.#options.userAgent, ...headers.flat()],
      acceptsGzip: true,
      secrets,
    } as const;
    const startMs = elapsedMs();
    this.#observer.started?.();
    const end = (reason?: FailureReason) => this.#observer.ended?.((elapsedMs() - startMs) / 1000, reason);
    try {
      const reply = await this.#dependencies.exchange(this.#service, request, signal, buffer);
      if (!isSuccess(reply.status))
        throw this.#renewedAfter(page, signature, this.#replyFailure(reply, secrets, page.path));
      end();
      const cached = cachedReply(reply.headers, secrets);
      return { body: pageBody(reply, this.#service.options), cached: cached && agedBy(cached, elapsedMs() - startMs) };
    } catch (error) {
      end(requestReason(error, signal));
      throw error;
    }
  }

  /** Obtains the credentials again after a 401, once per page. */
  #renewedAfter(page: PageRequest<unknown>, signature: Signature, failure: RequestFailure): RequestFailure {
    if (failure.status !== 401 || page.isRenewed || !this.#authenticator.renew(signature)) return failure;
    page.isRenewed = true;
    return failure.with({ isExpired: true });
  }

  #replyFailure(reply: Reply, secrets: readonly string[], pathAndQuery: string): RequestFailure {
    const [path = ''] = pathAndQuery.split('?');
    const nowMs = this.#dependencies.clock.wallMs();
    const dateMs = httpDateMs(String(reply.headers['date']));
    const mayBeClockSkew = reply.status === 401 && this.#options.auth?.dependsOnClock === true;
    const clockDifferenceMs = mayBeClockSkew && dateMs !== undefined ? nowMs - dateMs : undefined;
    return replyFailure(reply, { endpoint: this.#service.options.name, secrets, nowMs, clockDifferenceMs, path });
  }

  #open(
    name: string,
    { origin }: URL,
    limits: Pick<EndpointOptions, 'connections' | 'maxBytes' | 'tls'>,
  ): RemoteEndpoint {
    const endpoint = new RemoteEndpoint({ ...this.#options, ...limits, name, origin });
    this.#endpoints.push(endpoint);
    return endpoint;
  }
}

/** The cache may have sent the reply, with the age at that time, any time since the request (RFC 9111, 4.2.3). */
function agedBy(reply: CachedReply, sinceMs: number): CachedReply {
  return { ...reply, ageMs: reply.ageMs === undefined ? undefined : reply.ageMs + sinceMs };
}

/** Why a request failed; undefined for one that its caller aborted for another reason than a timeout. */
function requestReason(error: unknown, signal: AbortSignal): FailureReason | undefined {
  if (error instanceof ListingFailure) return error.reason;
  return signal.aborted ? undefined : 'internal';
}
