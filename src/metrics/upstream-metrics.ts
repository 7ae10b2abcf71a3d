import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { FAILURE_REASONS, type FailureReason } from '../model/failure.ts';
import type { UpstreamLoad } from '../model/upstream-load.ts';
import { OWN_FAMILIES } from './own-families.ts';

/** Listings usually take 0.7 to 6 s; more than 45 s has been observed. */
const DURATION_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

interface ActiveUpstream {
  /** The observer of the latest client, whose rate limit is published. */
  limiter: object | undefined;
}

type QueueLoad = Pick<UpstreamLoad, 'waitingRefreshes' | 'oldestWaitingMs' | 'hangingStations'>;

/** Metrics of the requests to each upstream. */
export class UpstreamMetrics {
  readonly #requests;
  readonly #failures;
  readonly #retries;
  readonly #inFlight;
  readonly #waiting;
  readonly #waitSeconds;
  readonly #throttled;
  readonly #rateLimit;
  readonly #refreshesWaiting;
  readonly #oldestWaiting;
  readonly #hangingStations;
  readonly #pageSizeReductions;
  readonly #duration;
  /** Configured upstreams; one that is removed and added again is another object, so that late requests of the first do not count. */
  readonly #upstreams = new Map<string, ActiveUpstream>();

  constructor(registry: Registry) {
    this.#requests = counter(registry, OWN_FAMILIES.apiRequests);
    this.#failures = counter(registry, OWN_FAMILIES.apiRequestFailures);
    this.#retries = counter(registry, OWN_FAMILIES.apiRequestRetries);
    this.#inFlight = gauge(registry, OWN_FAMILIES.apiRequestsInFlight);
    this.#waiting = gauge(registry, OWN_FAMILIES.apiRequestsWaiting);
    this.#waitSeconds = counter(registry, OWN_FAMILIES.apiRequestWait);
    this.#throttled = counter(registry, OWN_FAMILIES.apiRequestsThrottled);
    this.#rateLimit = gauge(registry, OWN_FAMILIES.apiRateLimit);
    this.#refreshesWaiting = gauge(registry, OWN_FAMILIES.refreshesWaiting);
    this.#oldestWaiting = gauge(registry, OWN_FAMILIES.oldestWaitingRefresh);
    this.#hangingStations = gauge(registry, OWN_FAMILIES.hangingStations);
    this.#pageSizeReductions = counter(registry, OWN_FAMILIES.pageSizeReductions);
    this.#duration = new Histogram({
      ...metricOptions(OWN_FAMILIES.apiRequestDuration),
      buckets: DURATION_BUCKETS,
      registers: [registry],
    });
  }

  /** The observer for the client of an upstream. It publishes nothing before it is activated, nor after the upstream was removed. */
  observer(upstream: string) {
    let active: ActiveUpstream | undefined;
    let rateLimit = Number.POSITIVE_INFINITY;
    const observer = {
      waiting: (change: 1 | -1) => this.#waiting.inc({ upstream }, change),
      started: () => {
        this.#requests.inc({ upstream });
        this.#inFlight.inc({ upstream });
      },
      ended: (seconds: number, reason: FailureReason | undefined) => {
        this.#inFlight.dec({ upstream });
        this.#duration.observe({ upstream }, seconds);
        if (reason) this.#failures.inc({ upstream, reason });
      },
      retried: () => this.#retries.inc({ upstream }),
      waited: (seconds: number) => this.#waitSeconds.inc({ upstream }, seconds),
      throttled: () => this.#throttled.inc({ upstream }),
      pageSizeReduced: () => this.#pageSizeReductions.inc({ upstream }),
      readFailed: (reason: FailureReason) => this.#failures.inc({ upstream, reason }),
    };
    return {
      ...onlyWhile(() => active !== undefined && this.#upstreams.get(upstream) === active, observer),
      limited: (requestsPerSecond: number) => {
        rateLimit = requestsPerSecond;
        // A client that was replaced may still end requests.
        if (this.#upstreams.get(upstream)?.limiter === observer) this.#rateLimit.set({ upstream }, rateLimit);
      },
      activate: () => {
        active = this.#upstreams.get(upstream) ?? this.#add(upstream);
        active.limiter = observer;
        this.#rateLimit.set({ upstream }, rateLimit);
      },
    };
  }

  /** All series start at 0, so that `increase` sees the first failure. */
  #add(upstream: string): ActiveUpstream {
    this.#requests.inc({ upstream }, 0);
    this.#retries.inc({ upstream }, 0);
    this.#inFlight.inc({ upstream }, 0);
    this.#waiting.inc({ upstream }, 0);
    this.#waitSeconds.inc({ upstream }, 0);
    this.#throttled.inc({ upstream }, 0);
    this.#pageSizeReductions.inc({ upstream }, 0);
    this.#duration.zero({ upstream });
    for (const reason of FAILURE_REASONS) this.#failures.inc({ upstream, reason }, 0);
    const active = { limiter: undefined };
    this.#upstreams.set(upstream, active);
    return active;
  }

  /** Removes the series of an upstream that is no longer configured. */
  remove(upstream: string): void {
    this.#upstreams.delete(upstream);
    for (const metric of [
      this.#requests,
      this.#retries,
      this.#inFlight,
      this.#waiting,
      this.#waitSeconds,
      this.#throttled,
    ])
      metric.remove({ upstream });
    for (const metric of [this.#rateLimit, this.#refreshesWaiting, this.#oldestWaiting, this.#hangingStations])
      metric.remove({ upstream });
    for (const metric of [this.#pageSizeReductions, this.#duration]) metric.remove({ upstream });
    for (const reason of FAILURE_REASONS) this.#failures.remove({ upstream, reason });
  }

  recordLoad(upstream: string, { waitingRefreshes, oldestWaitingMs, hangingStations }: QueueLoad): void {
    if (!this.#upstreams.has(upstream)) return;
    this.#refreshesWaiting.set({ upstream }, waitingRefreshes);
    this.#oldestWaiting.set({ upstream }, oldestWaitingMs / 1000);
    this.#hangingStations.set({ upstream }, hangingStations);
  }
}

type Family<Label extends string> = { readonly name: string; readonly help: string; readonly labels: readonly Label[] };

export function gauge<Label extends string>(registry: Registry, family: Family<Label>): Gauge<Label> {
  return new Gauge<Label>({ ...metricOptions(family), registers: [registry] });
}

export function counter<Label extends string>(registry: Registry, family: Family<Label>): Counter<Label> {
  return new Counter<Label>({ ...metricOptions(family), registers: [registry] });
}

export function metricOptions<Label extends string>({ name, help, labels }: Family<Label>) {
  return { name, help, labelNames: labels };
}

/** The same functions, which do nothing while the condition does not hold. */
function onlyWhile<Functions extends Record<string, (...args: never[]) => unknown>>(
  condition: () => boolean,
  functions: Functions,
): Functions {
  const guarded = Object.entries(functions).map(([name, run]) => [
    name,
    (...args: never[]) => (condition() ? run(...args) : undefined),
  ]);
  return Object.fromEntries(guarded) as Functions;
}
