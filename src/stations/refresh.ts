import { setMaxListeners } from 'node:events';
import type { Clock } from '../model/clock.ts';
import { ListingFailure } from '../model/failure.ts';
import type { CachedReply, RefreshContext } from '../model/listing.ts';
import type { StationSpec } from '../model/station-spec.ts';

interface RefreshOptions {
  /** As in RefreshContext. */
  readonly station: string;
  /** Ends the refresh early; it rejects with this signal's reason then. */
  readonly signal: AbortSignal;
  /** As in RefreshContext, in monotonic milliseconds. */
  readonly outdatedAtMs: number;
  readonly clock: Clock;
}

/** Created once: without a reason, each abort creates an error with a stack. */
const ENDED = new Error('the refresh has ended');

/** One refresh of a station, from its request to its end. */
export class Refresh implements RefreshContext {
  readonly station: string;
  readonly refreshTimeoutMs: number;
  readonly outdatedAtMs: number;
  readonly requestedAt: number;
  readonly #options: RefreshOptions;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  #startedAt: number | undefined;
  /** How long requests have waited for admission since then, while none was in flight. */
  #waitedMs = 0;
  #waitingSince: number | undefined;
  /** Runs while requests are in flight, and on when all wait: what they waited is added to it when it ends. */
  #timer: NodeJS.Timeout | undefined;
  /** The oldest reply from a cache, and the time of its content: Infinity if the cache does not say. */
  #cached: { readonly header: string; readonly contentAt: number } | undefined;

  constructor({ refreshTimeoutMs }: StationSpec, options: RefreshOptions) {
    this.station = options.station;
    this.refreshTimeoutMs = refreshTimeoutMs;
    this.outdatedAtMs = options.outdatedAtMs;
    this.#options = options;
    this.#clock = options.clock;
    this.requestedAt = this.#clock.elapsedMs();
    // Every request of the refresh listens to it.
    setMaxListeners(0, this.#controller.signal);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** When the upstream admitted its first request; undefined: it waits for that. */
  get startedAt(): number | undefined {
    return this.#startedAt;
  }

  /** For how long it has waited for the upstream's capacity; undefined: it does not wait. */
  waitingMs(): number | undefined {
    return this.#startedAt === undefined ? this.#clock.elapsedMs() - this.requestedAt : undefined;
  }

  started(): void {
    const nowMs = this.#clock.elapsedMs();
    this.#startedAt ??= nowMs;
    this.#waitedMs = this.#waitedUntil(nowMs);
    this.#waitingSince = undefined;
    if (this.#timer === undefined) this.#countTimeout(this.deadlineMs() - nowMs);
  }

  waiting(): void {
    if (this.#startedAt !== undefined) this.#waitingSince ??= this.#clock.elapsedMs();
  }

  repliedFromCache({ ageMs, header }: CachedReply): void {
    const contentAt = ageMs === undefined ? Number.POSITIVE_INFINITY : this.#clock.elapsedMs() - ageMs;
    if (this.#cached === undefined || contentAt < this.#cached.contentAt) this.#cached = { header, contentAt };
  }

  /** The oldest reply from a cache, with its age by now; undefined: there was none. */
  cached(): CachedReply | undefined {
    if (this.#cached === undefined) return undefined;
    const { header, contentAt } = this.#cached;
    const ageMs = Number.isFinite(contentAt) ? this.#clock.elapsedMs() - contentAt : undefined;
    return { header, ageMs };
  }

  deadlineMs(): number {
    if (this.#startedAt === undefined) return Number.POSITIVE_INFINITY;
    return this.#startedAt + this.refreshTimeoutMs + this.#waitedUntil(this.#clock.elapsedMs());
  }

  /** Collects within the station's refresh timeout, which counts from the admission of the first request, without waiting for that of others. */
  async run<Collected>(collect: (context: RefreshContext) => Promise<Collected>): Promise<Collected> {
    const { signal } = this.#options;
    const abort = () => this.#controller.abort(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      return await collect(this);
    } finally {
      clearTimeout(this.#timer);
      signal.removeEventListener('abort', abort);
      // When one listing fails, the requests of the others are cancelled.
      this.#controller.abort(ENDED);
    }
  }

  /** For how long it has waited for admission since its first request. */
  #waitedUntil(nowMs: number): number {
    return this.#waitedMs + nowMs - (this.#waitingSince ?? nowMs);
  }

  #countTimeout(leftMs: number): void {
    const before = this.#waitedMs;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const isWaiting = this.#waitingSince !== undefined;
      const addedMs = this.#waitedMs - before;
      if (addedMs > 0 && !isWaiting) this.#countTimeout(addedMs);
      else if (!isWaiting) this.#timeOut();
    }, leftMs);
  }

  #timeOut(): void {
    const limit = `refresh_timeout (${this.refreshTimeoutMs / 1000} s)`;
    this.#controller.abort(new ListingFailure('timeout', `the refresh did not finish within ${limit}`));
  }
}
