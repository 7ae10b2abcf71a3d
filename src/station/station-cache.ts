import { type Churn, churnAfter, NO_CHURN } from './churn.ts';
import { type Clock, systemClock } from './clock.ts';
import { type FailureReason, ListingFailure } from './failure.ts';
import type { StationSource } from './listing.ts';
import { type Snapshot, SnapshotReader, takeSnapshot } from './snapshot.ts';
import type { StationSpec } from './station-spec.ts';

/** How the latest refreshes went. */
export interface Health {
  /** undefined: never tried. */
  readonly lastAttemptMs: number | undefined;
  readonly lastSuccessMs: number | undefined;
  readonly durationMs: number | undefined;
  /** Of the latest attempt. */
  readonly failure: { readonly reason: FailureReason; readonly message: string; readonly error: unknown } | undefined;
}

/** A snapshot with the counters that it led to. */
export interface Publication {
  readonly spec: StationSpec;
  readonly snapshot: Snapshot;
  readonly churn: Churn;
}

/** What is served of a station at one moment; `encoded` is the publication made ready to be served. */
export interface StationView<Encoded> {
  readonly spec: StationSpec;
  readonly health: Health;
  /** How long until the service may be asked again; 0 or less: now. */
  readonly dueInMs: number;
  readonly isRefreshing: boolean;
  readonly served: { readonly publication: Publication; readonly encoded: Encoded } | undefined;
}

export interface StationDependencies<Encoded> {
  readonly source: StationSource;
  /** Turns a publication into what scrapes serve: once per snapshot, as a part of the refresh. */
  readonly encode: (publication: Publication) => Promise<Encoded>;
  /** Told after every attempt. */
  readonly refreshed?: (view: StationView<Encoded>) => void;
  readonly clock?: Clock;
}

/** Whoever waited for a snapshot gets it, even where none may be kept. */
const JUST_TAKEN_MS = 1000;

const MAX_SLACK_MS = 100;

/** Holds a station's last good snapshot and lets one refresh at a time replace it. */
export class StationCache<Encoded> {
  readonly spec: StationSpec;
  readonly #dependencies: StationDependencies<Encoded>;
  readonly #reader: SnapshotReader;
  readonly #clock: Clock;
  readonly #closed = new AbortController();
  #health: Health = { lastAttemptMs: undefined, lastSuccessMs: undefined, durationMs: undefined, failure: undefined };
  #began = 0;
  #ended = 0;
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

  /** How long until the service may be asked again; 0 or less: now. */
  dueInMs(): number {
    if (!this.wasAttempted) return 0;
    const { ttlMs, errorTtlMs } = this.spec.cache;
    // Data is as old as the question; a failure is to be left alone from its end on.
    const dueAt = this.#health.failure ? this.#ended + errorTtlMs : this.#began + ttlMs;
    return dueAt - this.#clock.elapsedMs();
  }

  /** The refresh that the station's policy asks for now, begun or joined; undefined when what is held will do. */
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

  /** One refresh at a time: who comes while it runs waits for the same one. Never rejects. */
  refresh(): Promise<void> {
    this.#refresh ??= this.#attempt().finally(() => {
      this.#refresh = undefined;
    });
    return this.#refresh;
  }

  /** The same question put in another way or served in another: with all that is known, made ready anew. */
  async successor(spec: StationSpec, dependencies: StationDependencies<Encoded>): Promise<StationCache<Encoded>> {
    const next = new StationCache(spec, dependencies);
    const held = this.#held;
    if (held) {
      const publication = { ...held.publication, spec };
      next.#held = { ...held, publication, encoded: await dependencies.encode(publication) };
    }
    next.#health = this.#health;
    next.#began = this.#began;
    next.#ended = this.#ended;
    next.#lastComplete = this.#lastComplete;
    next.#churn = this.#churn;
    return next;
  }

  /** Ends a refresh under way; the station is not asked again. */
  close(): void {
    this.#closed.abort(new Error('the station was closed'));
  }

  #isDue(): boolean {
    if (this.#closed.signal.aborted) return false;
    const { refresh, ttlMs } = this.spec.cache;
    // A scrape interval as long as ttl asks each time, though scrapes come some milliseconds early or late.
    const slackMs = this.#health.failure ? 0 : Math.min(MAX_SLACK_MS, ttlMs / 100);
    return !this.wasAttempted || (refresh === 'scrape' && this.dueInMs() <= slackMs);
  }

  #isServable(): boolean {
    if (!this.#held) return false;
    const ageMs = this.#clock.elapsedMs() - this.#held.takenAt;
    const { ttlMs, maxStaleMs } = this.spec.cache;
    return ageMs <= maxStaleMs || (ageMs < Math.max(ttlMs, JUST_TAKEN_MS) && !this.#health.failure);
  }

  async #attempt(): Promise<void> {
    const startedAt = this.#clock.elapsedMs();
    try {
      const snapshot = await takeSnapshot(this.#reader, this.spec, this.#closed.signal, this.#clock);
      const churn = snapshot.complete ? churnAfter(this.#churn, this.#lastComplete, snapshot) : this.#churn;
      const served = await this.#ready({ spec: this.spec, snapshot, churn });
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

  /** What is served already is ready. */
  async #ready(publication: Publication): Promise<{ publication: Publication; encoded: Encoded }> {
    const { snapshot, churn } = this.#held?.publication ?? {};
    if (this.#held && snapshot === publication.snapshot && churn === publication.churn) return this.#held;
    return { publication, encoded: await this.#dependencies.encode(publication) };
  }

  #conclude(startedAt: number, failure: Health['failure']): void {
    this.#began = startedAt;
    this.#ended = this.#clock.elapsedMs();
    const lastAttemptMs = this.#clock.wallMs();
    const lastSuccessMs = failure ? this.#health.lastSuccessMs : lastAttemptMs;
    this.#health = { lastAttemptMs, lastSuccessMs, durationMs: this.#ended - startedAt, failure };
    this.#dependencies.refreshed?.(this.view());
  }
}

function failureOf(error: unknown): NonNullable<Health['failure']> {
  const reason = error instanceof ListingFailure ? error.reason : 'internal';
  return { reason, message: error instanceof Error ? error.message : String(error), error };
}
