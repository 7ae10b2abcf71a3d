import { type Churn, churnAfter, NO_CHURN } from './churn.ts';
import { type Clock, systemClock } from './clock.ts';
import { type FailureReason, ListingFailure } from './failure.ts';
import type { StationSource } from './listing.ts';
import { type Snapshot, SnapshotReader, takeSnapshot } from './snapshot.ts';
import type { StationSpec } from './station-spec.ts';

/** The outcome of the latest refreshes. */
export interface Health {
  /** undefined: never attempted. */
  readonly lastAttemptMs: number | undefined;
  readonly lastSuccessMs: number | undefined;
  readonly durationMs: number | undefined;
  /** Of the latest attempt. */
  readonly failure: { readonly reason: FailureReason; readonly message: string; readonly error: unknown } | undefined;
}

/** A snapshot with the counters that belong to it. */
export interface Publication {
  readonly spec: StationSpec;
  readonly snapshot: Snapshot;
  readonly churn: Churn;
}

/** A station's state at one point in time; `encoded` is the publication as scrapes serve it. */
export interface StationView<Encoded> {
  readonly spec: StationSpec;
  readonly health: Health;
  /** Time until the next refresh is due; 0 or less: now. */
  readonly dueInMs: number;
  readonly isRefreshing: boolean;
  readonly served: { readonly publication: Publication; readonly encoded: Encoded } | undefined;
}

export interface StationDependencies<Encoded> {
  readonly source: StationSource;
  /** Encodes a publication for scrapes: once per snapshot, as part of the refresh. */
  readonly encode: (publication: Publication) => Promise<Encoded>;
  /** Called after every attempt. */
  readonly refreshed?: (view: StationView<Encoded>) => void;
  readonly clock?: Clock;
}

/** A new snapshot is served at least this long, even with ttl and max_stale at 0: the scrape that waited for it needs it. */
const MIN_SERVED_MS = 1000;

/** A scrape interval equal to ttl refreshes on every scrape, although scrapes arrive some milliseconds early or late. */
const MAX_SLACK_MS = 100;

/** Holds a station's last good snapshot; one refresh at a time replaces it. */
export class StationCache<Encoded> {
  readonly spec: StationSpec;
  readonly #dependencies: StationDependencies<Encoded>;
  readonly #reader: SnapshotReader;
  readonly #clock: Clock;
  readonly #closed = new AbortController();
  #health: Health = { lastAttemptMs: undefined, lastSuccessMs: undefined, durationMs: undefined, failure: undefined };
  #startedAt = 0;
  #endedAt = 0;
  #held: { publication: Publication; encoded: Encoded; takenAt: number } | undefined;
  #lastComplete: Snapshot | undefined;
  #churn: Churn = NO_CHURN;
  #refresh: Promise<void> | undefined;

  constructor(spec: StationSpec, dependencies: StationDependencies<Encoded>) {
    this.spec = spec;
    this.#dependencies = dependencies;
    this.#reader = new SnapshotReader(spec, dependencies.source);
    this.#clock = dependencies.clock ?? systemClock;
  }

  get wasAttempted(): boolean {
    return this.#health.lastAttemptMs !== undefined;
  }

  /** Time until the next refresh is due; 0 or less: now. */
  dueInMs(): number {
    if (!this.wasAttempted) return 0;
    const { ttlMs, errorTtlMs } = this.spec.cache;
    // Data is as old as the start of its refresh; the pause after a failure begins when the refresh ends.
    const dueAt = this.#health.failure ? this.#endedAt + errorTtlMs : this.#startedAt + ttlMs;
    return dueAt - this.#clock.elapsedMs();
  }

  /** Starts or joins a refresh when one is due; undefined when the cached snapshot is young enough. */
  refreshIfDue(): Promise<void> | undefined {
    return this.#isDue() ? this.refresh() : undefined;
  }

  view(): StationView<Encoded> {
    return {
      spec: this.spec,
      health: this.#health,
      dueInMs: this.dueInMs(),
      isRefreshing: this.#refresh !== undefined,
      served: this.#isServable() ? this.#held : undefined,
    };
  }

  /** Starts a refresh, or joins the running one. Never rejects. */
  refresh(): Promise<void> {
    this.#refresh ??= this.#attempt().finally(() => {
      this.#refresh = undefined;
    });
    return this.#refresh;
  }

  /** A cache for a changed spec or encoding of the same data: takes the state over and encodes the snapshot again. */
  async successor(spec: StationSpec, dependencies: StationDependencies<Encoded>): Promise<StationCache<Encoded>> {
    const next = new StationCache(spec, dependencies);
    const held = this.#held;
    if (held) {
      const publication = { ...held.publication, spec };
      next.#held = { ...held, publication, encoded: await dependencies.encode(publication) };
    }
    next.#health = this.#health;
    next.#startedAt = this.#startedAt;
    next.#endedAt = this.#endedAt;
    next.#lastComplete = this.#lastComplete;
    next.#churn = this.#churn;
    return next;
  }

  /** Aborts a running refresh; later scrapes start none. */
  close(): void {
    this.#closed.abort(new Error('the station was closed'));
  }

  #isDue(): boolean {
    if (this.#closed.signal.aborted) return false;
    const { refresh, ttlMs } = this.spec.cache;
    const slackMs = this.#health.failure ? 0 : Math.min(MAX_SLACK_MS, ttlMs / 100);
    return !this.wasAttempted || (refresh === 'scrape' && this.dueInMs() <= slackMs);
  }

  #isServable(): boolean {
    if (!this.#held) return false;
    const ageMs = this.#clock.elapsedMs() - this.#held.takenAt;
    const { ttlMs, maxStaleMs } = this.spec.cache;
    return ageMs <= maxStaleMs || (ageMs < Math.max(ttlMs, MIN_SERVED_MS) && !this.#health.failure);
  }

  async #attempt(): Promise<void> {
    const startedAt = this.#clock.elapsedMs();
    try {
      const snapshot = await takeSnapshot(this.#reader, this.spec, this.#closed.signal, this.#clock);
      const churn = snapshot.complete ? churnAfter(this.#churn, this.#lastComplete, snapshot) : this.#churn;
      const served = await this.#encode({ spec: this.spec, snapshot, churn });
      if (this.#closed.signal.aborted) return;
      this.#held = { ...served, takenAt: this.#clock.elapsedMs() };
      this.#churn = churn;
      if (snapshot.complete) this.#lastComplete = snapshot;
      this.#conclude(startedAt, undefined);
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      this.#conclude(startedAt, failureOf(error));
    }
  }

  /** An unchanged snapshot keeps its encoding. */
  async #encode(publication: Publication): Promise<{ publication: Publication; encoded: Encoded }> {
    const { snapshot, churn } = this.#held?.publication ?? {};
    if (this.#held && snapshot === publication.snapshot && churn === publication.churn) return this.#held;
    return { publication, encoded: await this.#dependencies.encode(publication) };
  }

  #conclude(startedAt: number, failure: Health['failure']): void {
    this.#startedAt = startedAt;
    this.#endedAt = this.#clock.elapsedMs();
    const lastAttemptMs = this.#clock.wallMs();
    const lastSuccessMs = failure ? this.#health.lastSuccessMs : lastAttemptMs;
    this.#health = { lastAttemptMs, lastSuccessMs, durationMs: this.#endedAt - startedAt, failure };
    this.#dependencies.refreshed?.(this.view());
  }
}

function failureOf(error: unknown): NonNullable<Health['failure']> {
  const reason = error instanceof ListingFailure ? error.reason : 'internal';
  return { reason, message: error instanceof Error ? error.message : String(error), error };
}
