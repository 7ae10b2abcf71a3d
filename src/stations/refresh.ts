import { setMaxListeners } from 'node:events';
import type { Clock } from '../model/clock.ts';
import { ListingFailure } from '../model/failure.ts';
import type { CachedReply, ListingContext } from '../model/listing.ts';
import type { StationSpec } from '../model/station-spec.ts';

interface RefreshOptions {
  /** Ends the refresh early; it rejects with this signal's reason then. */
  readonly signal: AbortSignal;
  /** As in ListingContext, in monotonic milliseconds. */
  readonly outdatedAtMs: number;
  readonly started: () => void;
  readonly clock: Clock;
}

/** Created once: without a reason, each abort creates an error with a stack. */
const ENDED = new Error('the refresh has ended');

/** One refresh of a station, from its request to its end. */
export class Refresh implements ListingContext {
  readonly station: string;
  readonly refreshTimeoutMs: number;
  readonly outdatedAtMs: number;
  readonly requestedAt: number;
  readonly #options: RefreshOptions;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  #startedAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The oldest reply from a cache, and the time of its content: Infinity if the cache does not say. */
  #cached: { readonly header: string; readonly contentAt: number } | undefined;

  constructor(spec: StationSpec, options: RefreshOptions) {
    this.station = spec.name;
    this.refreshTimeoutMs = spec.refreshTimeoutMs;
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
    this.#startedAt = this.#clock.elapsedMs();
    this.#timer = setTimeout(() => this.#timeOut(), this.refreshTimeoutMs);
    this.#options.started();
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
    return this.#startedAt === undefined ? Number.POSITIVE_INFINITY : this.#startedAt + this.refreshTimeoutMs;
  }

  /** Collects within the station's refresh timeout, which counts from the admission of the first request. */
  async run<Collected>(collect: (context: ListingContext) => Promise<Collected>): Promise<Collected> {
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

  #timeOut(): void {
    const limit = `refresh_timeout (${this.refreshTimeoutMs / 1000} s)`;
    this.#controller.abort(new ListingFailure('timeout', `the refresh did not finish within ${limit}`));
  }
}
