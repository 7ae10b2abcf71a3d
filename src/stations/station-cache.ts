import { type Clock, MINUTE_MS, systemClock } from '../model/clock.ts';
import { failureOf, ListingFailure } from '../model/failure.ts';
import type { Health } from '../model/health.ts';
import { EARLY_SHARE } from '../model/station-spec.ts';
import type { Collected, CollectorTypes, MetricsOnly, StationCollector, StationOutput } from './collector.ts';
import { Refresh } from './refresh.ts';

/** What is known of a station by one of its collectors. */
interface CollectorView<T extends CollectorTypes> {
  readonly collector: string;
  readonly health: Health;
  readonly served: StationOutput<T['data']> | undefined;
}

export interface StationView<T extends CollectorTypes> extends CollectorView<T> {
  readonly spec: T['spec'];
  /** Time until the next refresh is due; 0 or less: now. */
  readonly dueInMs: number;
  readonly isRefreshing: boolean;
  /** For how long the refresh has waited for the upstream's capacity; undefined: it does not wait. */
  readonly waitingMs: number | undefined;
  /** Those of its further collectors. */
  readonly further: readonly CollectorView<MetricsOnly>[];
}

export interface StationDependencies<T extends CollectorTypes> {
  readonly collector: StationCollector<T>;
  readonly further?: readonly StationCollector<MetricsOnly>[];
  readonly refreshed?: (view: StationView<T>, attempt: RefreshDetails<T['report']>) => void;
  readonly furtherRefreshed?: (view: StationView<MetricsOnly>) => void;
  /** Called when a refresh ends without a result because of a `Retry-After`. */
  readonly postponed?: (failure: ListingFailure) => void;
  readonly upstream?: StationUpstream;
  readonly clock?: Clock;
}

/** What the cache of a station needs to know of its upstream. */
interface StationUpstream {
  /** Whether a request of the station may be answered before that time, in monotonic milliseconds. */
  mayAnswer(station: string, byMs: number): boolean;
}

/** What the view does not show of the refresh that has just ended. */
export interface RefreshDetails<Report> {
  readonly waitedMs: number;
  /** What the collector reports; undefined of a refresh that failed. */
  readonly report: Report | undefined;
}

/** The times of a refresh, in monotonic milliseconds. */
interface AttemptTimes {
  /** When a scrape or a timer requested it. */
  readonly requestedAt: number;
  /** When the upstream last admitted its first request, of this attempt or of one before. */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** Data is served at least this long after a success, even with ttl and max_stale at 0: the scrape that waited for it needs it. */
const MIN_SERVED_MS = MINUTE_MS;

/**
 * By how many times its duration a refresh comes later than the age of its data demands. With less than two, a refresh that takes all slots
 * stays ahead of those that it has delayed.
 */
const LONG_REFRESH_LATER = 2;

/**
 * Holds a station's last good snapshot; one refresh at a time replaces it. A further collector has a cache of its own: when it fails or
 * hangs, neither the data nor the health of the station changes.
 */
export class StationCache<T extends CollectorTypes> {
  readonly spec: T['spec'];
  /** Whose requests and records they are. */
  readonly id: string;
  readonly further: readonly StationCache<MetricsOnly>[];
  readonly #dependencies: StationDependencies<T>;
  readonly #collector: StationCollector<T>;
  readonly #clock: Clock;
  readonly #upstream: StationUpstream;
  readonly #closed = new AbortController();
  #health: Health;
  /** The times of the latest attempt; before the first one, when the station was created. */
  #latest: AttemptTimes;
  /** A postponed refresh is not attempted again before. */
  #notBefore = Number.NEGATIVE_INFINITY;
  #current: { readonly refresh: Refresh; readonly ended: Promise<void> } | undefined;
  #wasAttempted = false;
  /** The data of the latest success; until the first one, that of the station before a reload. */
  #lastGood: StationOutput<T['data']> | undefined;
  /** Whether that lists the same service. */
  #isOfService = true;
  /** When the first refresh after the latest success failed; undefined: none has. */
  #failingSince: number | undefined;
  /** When a refresh last ended or was postponed, or the station was reloaded. */
  #triedAt: number;

  constructor(spec: T['spec'], dependencies: StationDependencies<T>, id = spec.name) {
    const { collector, further = [], refreshed, postponed, furtherRefreshed, ...shared } = dependencies;
    const furtherDependencies = { ...shared, ...(furtherRefreshed && { refreshed: furtherRefreshed }) };
    this.spec = spec;
    this.id = id;
    this.further = further.map(
      (other) => new StationCache(spec, { ...furtherDependencies, collector: other }, `${id}\n${other.name}`),
    );
    this.#dependencies = dependencies;
    this.#collector = collector;
    this.#clock = dependencies.clock ?? systemClock;
    this.#upstream = dependencies.upstream ?? { mayAnswer: () => true };
    this.#health = {
      addedMs: this.#clock.wallMs(),
      lastAttemptMs: undefined,
      lastSuccessMs: undefined,
      durationMs: undefined,
      failure: undefined,
      firstMessage: undefined,
    };
    const createdAt = this.#clock.elapsedMs();
    this.#triedAt = createdAt;
    this.#latest = { requestedAt: createdAt, startedAt: createdAt, endedAt: createdAt };
  }

  get wasAttempted(): boolean {
    return this.#wasAttempted;
  }

  get isRefreshing(): boolean {
    return this.#current !== undefined;
  }

  get isFailing(): boolean {
    return this.#health.failure !== undefined;
  }

  /** How long the last refresh took, from its first request; 0: there was none. */
  get lastDurationMs(): number {
    return this.#health.durationMs ?? 0;
  }

  /** How long until the station is due; 0 or less: now. */
  dueInMs(): number {
    return Math.max(this.#dueAt(), this.#notBefore) - this.#clock.elapsedMs();
  }

  /** Starts or joins a refresh when one is due; undefined when the cached snapshot is young enough. */
  refreshIfDue(): Promise<void> | undefined {
    const nowMs = this.#clock.elapsedMs();
    if (this.#closed.signal.aborted || nowMs < this.#notBefore) return undefined;
    const { refresh, ttlMs } = this.spec.cache;
    const earlyMs = this.#health.failure ? 0 : EARLY_SHARE * ttlMs;
    const isOld = nowMs >= this.#dueAt() - earlyMs;
    const isDue = !this.wasAttempted || (refresh === 'scrape' && isOld);
    return isDue ? this.refresh() : undefined;
  }

  view(): StationView<T> {
    return {
      collector: this.#collector.name,
      spec: this.spec,
      health: this.#health,
      dueInMs: this.dueInMs(),
      isRefreshing: this.isRefreshing,
      waitingMs: this.#current?.refresh.waitingMs(),
      served: this.#isServable() ? this.#lastGood : undefined,
      further: this.further.map((cache) => cache.view()),
    };
  }

  /** One refresh at a time, shared by all who wait for it. Never rejects. */
  refresh(): Promise<void> {
    if (this.#current) return this.#current.ended;
    const refresh = new Refresh(this.spec, {
      station: this.id,
      signal: this.#closed.signal,
      outdatedAtMs: this.#outdatedAt(),
      clock: this.#clock,
    });
    const ended = this.#run(refresh).finally(() => {
      this.#current = undefined;
    });
    this.#current = { refresh, ended };
    return ended;
  }

  /** Whether the refresh in progress ends before that time, if it waits and runs as long as the last one did, which may have failed. */
  mayEnd(byMs: number): boolean {
    const refresh = this.#current?.refresh;
    if (!refresh) return true;
    const { requestedAt, endedAt } = this.#latest;
    const isWaiting = refresh.startedAt === undefined;
    const endsAt = isWaiting ? refresh.requestedAt + endedAt - requestedAt : refresh.startedAt + this.lastDurationMs;
    return endsAt <= byMs && this.#upstream.mayAnswer(this.id, byMs);
  }

  /**
   * Takes the place of the station's cache before a reload: shows its health until the first own refresh has ended, and serves its data, as
   * it was encoded, until the first own success. The refresh is due at once, and the stations with the oldest data are refreshed first.
   */
  replace(predecessor: StationCache<T>, isSameService: boolean): void {
    for (const cache of this.further) {
      const former = predecessor.further.find(({ id }) => id === cache.id);
      if (former) cache.replace(former, isSameService);
    }
    this.#health = predecessor.#health;
    this.#latest = predecessor.#latest;
    this.#failingSince = predecessor.#failingSince;
    if (predecessor.#isExpired()) this.#triedAt = predecessor.#triedAt;
    if (!predecessor.#lastGood) return;
    // Its data may be that of its own predecessor, before the service changed.
    this.#isOfService = isSameService && predecessor.#isOfService;
    this.#lastGood = predecessor.#lastGood;
    this.#collector.adopt(this.#lastGood.data, this.#isOfService);
  }

  /** Aborts a running refresh; later scrapes start none. */
  close(): void {
    this.#closed.abort(new Error('the station was closed'));
    for (const cache of this.further) cache.close();
  }

  /** When the next refresh is due: ttl counts from the request for a refresh, error_ttl from its end. */
  #dueAt(): number {
    const { requestedAt, endedAt } = this.#latest;
    if (!this.wasAttempted) return requestedAt;
    const { ttlMs, errorTtlMs } = this.spec.cache;
    return this.#health.failure ? endedAt + errorTtlMs : requestedAt + ttlMs;
  }

  /**
   * The station with the oldest data is first: however long stations have queued before, their data is of the same age then. One that failed
   * waits for those that were attempted less recently: otherwise those that fail would be the only ones to be refreshed.
   */
  #outdatedAt(): number {
    const ttlMs = this.wasAttempted ? this.spec.cache.ttlMs : 0;
    return this.#latest.startedAt + ttlMs + LONG_REFRESH_LATER * this.lastDurationMs;
  }

  #isServable(): boolean {
    return this.#lastGood !== undefined && !this.#isExpired();
  }

  /**
   * Data expires max_stale after refreshes began to fail, or after the last one if no other is requested. It gets older while a refresh waits
   * for the upstream or is postponed, but does not expire.
   */
  #isExpired(): boolean {
    const { ttlMs, maxStaleMs } = this.spec.cache;
    const nowMs = this.#clock.elapsedMs();
    if (this.#failingSince !== undefined) return nowMs - this.#failingSince >= maxStaleMs;
    const untilMs = this.#current?.refresh.requestedAt ?? nowMs;
    return untilMs - this.#triedAt > Math.max(maxStaleMs, ttlMs, MIN_SERVED_MS);
  }

  async #run(refresh: Refresh): Promise<void> {
    const { signal } = this.#closed;
    let collected: Collected<T> | undefined;
    let failure: Health['failure'];
    try {
      collected = await refresh.run((context) => this.#collector.collect(context));
    } catch (error) {
      if (signal.aborted) return;
      const isUp = this.#failingSince === undefined && this.#isServable();
      if (error instanceof ListingFailure && error.isPostponed && isUp) {
        this.#postpone(error);
        return;
      }
      failure = failureOf(error);
    }
    if (signal.aborted) return;
    if (collected) this.#replaceData(collected);
    else this.#failingSince ??= this.#failingFrom();
    this.#conclude(refresh, failure, collected?.report);
  }

  #replaceData({ served, commit }: Collected<T>): void {
    commit();
    this.#lastGood = served;
    this.#isOfService = true;
    this.#failingSince = undefined;
  }

  /** Data that had expired before does not come back. */
  #failingFrom(): number {
    return this.#isExpired() ? Number.NEGATIVE_INFINITY : this.#clock.elapsedMs();
  }

  #conclude(refresh: Refresh, failure: Health['failure'], report?: T['report']): void {
    this.#wasAttempted = true;
    const endedAt = this.#clock.elapsedMs();
    this.#triedAt = endedAt;
    const { requestedAt, startedAt = requestedAt } = refresh;
    this.#latest = { requestedAt, startedAt: refresh.startedAt ?? this.#latest.startedAt, endedAt };
    const lastAttemptMs = this.#clock.wallMs();
    const cached = failure ? this.#health.cached : refresh.cached();
    const lastSuccessMs = failure ? this.#health.lastSuccessMs : lastAttemptMs - (cached?.ageMs ?? 0);
    const { failure: before, firstMessage } = this.#health;
    const isRepeated = before?.reason === failure?.reason && before?.status === failure?.status;
    this.#health = {
      ...this.#health,
      lastAttemptMs,
      lastSuccessMs,
      cached,
      durationMs: endedAt - startedAt,
      failure,
      firstMessage: isRepeated ? firstMessage : failure?.message,
    };
    this.#dependencies.refreshed?.(this.view(), { waitedMs: startedAt - requestedAt, report });
  }

  /** `Retry-After` exceeds the time that a refresh has: the next one waits in the upstream's queue. */
  #postpone(failure: ListingFailure): void {
    this.#triedAt = this.#clock.elapsedMs();
    this.#notBefore = this.#triedAt + this.spec.cache.errorTtlMs;
    this.#dependencies.postponed?.(failure);
  }
}
