import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Clock, systemClock } from '../model/clock.ts';
import { FAILURE_REASONS, type FailureReason, RECORD_LIMITS, type RecordLimit } from '../model/failure.ts';
import type { UpstreamLoad } from '../model/upstream-load.ts';
import type { RecordBudget } from '../refresh/record-budget.ts';
import type { Shard } from '../refresh/shard.ts';
import { OWN_FAMILIES, WEB_LIMITS, type WebLimit } from './own-families.ts';
import { type ExpositionFormat, familyText } from './text-format.ts';

export interface Build {
  readonly version: string;
  readonly revision: string;
  readonly nodeVersion: string;
}

/** The exporter's own metrics; they outlive configuration reloads. */
export class OwnMetrics {
  readonly #registry = new Registry();
  /** Metrics of the clients of all upstreams. */
  readonly upstreams = new UpstreamMetrics(this.#registry);
  readonly #process: ProcessMetrics | undefined;
  readonly #records = gauge(this.#registry, OWN_FAMILIES.records);
  readonly #recordsLimit = gauge(this.#registry, OWN_FAMILIES.recordsLimit);
  readonly #recordLimitsReached = counter(this.#registry, OWN_FAMILIES.recordLimitsReached);
  readonly #hits = counter(this.#registry, OWN_FAMILIES.cacheHits);
  readonly #misses = counter(this.#registry, OWN_FAMILIES.cacheMisses);
  readonly #reloadSuccessful = gauge(this.#registry, OWN_FAMILIES.configReloadSuccessful);
  readonly #reloadTimestamp = gauge(this.#registry, OWN_FAMILIES.configReloadTimestamp);
  readonly #webReloadSuccessful = gauge(this.#registry, OWN_FAMILIES.webConfigReloadSuccessful);
  readonly #webReloadTimestamp = gauge(this.#registry, OWN_FAMILIES.webConfigReloadTimestamp);
  readonly #webConnections = gauge(this.#registry, OWN_FAMILIES.webConnections);
  readonly #webLimitsReached = counter(this.#registry, OWN_FAMILIES.webLimitsReached);

  constructor(build: Build, shard: Shard, process?: ProcessMetrics, droppedLogLines: () => number = () => 0) {
    this.#process = process;
    const { version, revision, nodeVersion } = build;
    gauge(this.#registry, OWN_FAMILIES.buildInfo).set({ version, revision, node_version: nodeVersion }, 1);
    gauge(this.#registry, OWN_FAMILIES.shardOrdinal).set(shard.ordinal);
    gauge(this.#registry, OWN_FAMILIES.totalShards).set(shard.total);
    new Counter({
      ...metricOptions(this.#registry, OWN_FAMILIES.logLinesDropped),
      collect() {
        this.reset();
        this.inc(droppedLogLines());
      },
    });
    for (const limit of WEB_LIMITS) this.#webLimitsReached.inc({ limit }, 0);
    for (const limit of RECORD_LIMITS) this.#recordLimitsReached.inc({ limit }, 0);
  }

  recordLimitsReached(limit: RecordLimit): void {
    this.#recordLimitsReached.inc({ limit });
  }

  recordRecords({ total, limits }: Pick<RecordBudget, 'total' | 'limits'>): void {
    this.#records.set(total);
    for (const limit of RECORD_LIMITS) this.#recordsLimit.set({ limit }, limits[limit]);
  }

  recordReads(result: 'hit' | 'miss', stations: number): void {
    (result === 'hit' ? this.#hits : this.#misses).inc(stations);
  }

  recordReload(successful: boolean, wallMs: number): void {
    this.#reloadSuccessful.set(successful ? 1 : 0);
    if (successful) this.#reloadTimestamp.set(wallMs / 1000);
  }

  recordWebReload(successful: boolean, wallMs: number): void {
    this.#webReloadSuccessful.set(successful ? 1 : 0);
    if (successful) this.#webReloadTimestamp.set(wallMs / 1000);
  }

  recordWebConnections(open: number): void {
    this.#webConnections.set(open);
  }

  recordWebLimit(limit: WebLimit): void {
    this.#webLimitsReached.inc({ limit });
  }

  async text(format: ExpositionFormat, disabled: ReadonlySet<string>): Promise<string> {
    const families = await this.#registry.getMetricsAsJSON();
    const texts = families.filter(({ name }) => !disabled.has(name)).map((family) => familyText(family, format));
    return texts.join('');
  }

  async processText(format: ExpositionFormat): Promise<string> {
    return (await this.#process?.text(format)) ?? '';
  }
}

/** Listings usually take 0.7 to 6 s; more than 45 s has been observed. */
const DURATION_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

interface ActiveUpstream {
  /** The observer of the latest client, whose rate limit is published. */
  limiter?: object;
}

type QueueLoad = Pick<UpstreamLoad, 'waitingRefreshes' | 'oldestWaitingMs' | 'hangingStations'>;

/** Metrics of the requests to each upstream. */
class UpstreamMetrics {
  readonly #metrics: ReturnType<typeof upstreamMetrics>;
  /** Configured upstreams; one that is removed and added again is another object, so that late requests of the first do not count. */
  readonly #upstreams = new Map<string, ActiveUpstream>();

  constructor(registry: Registry) {
    this.#metrics = upstreamMetrics(registry);
  }

  /** The observer for the client of an upstream. It publishes nothing before it is activated, nor after the upstream was removed. */
  observer(upstream: string) {
    const metrics = this.#metrics;
    let active: ActiveUpstream | undefined;
    let rateLimit = Number.POSITIVE_INFINITY;
    const observer = {
      waiting: (change: 1 | -1) => metrics.waiting.inc({ upstream }, change),
      started: () => {
        metrics.requests.inc({ upstream });
        metrics.inFlight.inc({ upstream });
      },
      ended: (seconds: number, reason: FailureReason | undefined) => {
        metrics.inFlight.dec({ upstream });
        metrics.duration.observe({ upstream }, seconds);
        if (reason) metrics.failures.inc({ upstream, reason });
      },
      retried: () => metrics.retries.inc({ upstream }),
      waited: (seconds: number) => metrics.waitSeconds.inc({ upstream }, seconds),
      throttled: () => metrics.throttled.inc({ upstream }),
      pageSizeReduced: () => metrics.pageSizeReductions.inc({ upstream }),
      readFailed: (reason: FailureReason) => metrics.failures.inc({ upstream, reason }),
    };
    return {
      ...onlyWhile(() => active !== undefined && this.#upstreams.get(upstream) === active, observer),
      limited: (requestsPerSecond: number) => {
        rateLimit = requestsPerSecond;
        // A client that was replaced may still end requests.
        if (this.#upstreams.get(upstream)?.limiter === observer) metrics.rateLimit.set({ upstream }, rateLimit);
      },
      activate: () => {
        active = this.#upstreams.get(upstream) ?? this.#add(upstream);
        active.limiter = observer;
        metrics.rateLimit.set({ upstream }, rateLimit);
      },
    };
  }

  /** All series start at 0, so that `increase` sees the first failure. */
  #add(upstream: string): ActiveUpstream {
    const { requests, retries, inFlight, waiting, waitSeconds, throttled, pageSizeReductions } = this.#metrics;
    for (const metric of [requests, retries, inFlight, waiting, waitSeconds, throttled, pageSizeReductions])
      metric.inc({ upstream }, 0);
    this.#metrics.duration.zero({ upstream });
    for (const reason of FAILURE_REASONS) this.#metrics.failures.inc({ upstream, reason }, 0);
    const active = {};
    this.#upstreams.set(upstream, active);
    return active;
  }

  /** Removes the series of an upstream that is no longer configured. */
  remove(upstream: string): void {
    this.#upstreams.delete(upstream);
    const { failures, ...others } = this.#metrics;
    for (const metric of Object.values(others)) metric.remove({ upstream });
    for (const reason of FAILURE_REASONS) failures.remove({ upstream, reason });
  }

  recordLoad(upstream: string, { waitingRefreshes, oldestWaitingMs, hangingStations }: QueueLoad): void {
    if (!this.#upstreams.has(upstream)) return;
    this.#metrics.refreshesWaiting.set({ upstream }, waitingRefreshes);
    this.#metrics.oldestWaiting.set({ upstream }, oldestWaitingMs / 1000);
    this.#metrics.hangingStations.set({ upstream }, hangingStations);
  }
}

function upstreamMetrics(registry: Registry) {
  return {
    requests: counter(registry, OWN_FAMILIES.apiRequests),
    failures: counter(registry, OWN_FAMILIES.apiRequestFailures),
    retries: counter(registry, OWN_FAMILIES.apiRequestRetries),
    inFlight: gauge(registry, OWN_FAMILIES.apiRequestsInFlight),
    waiting: gauge(registry, OWN_FAMILIES.apiRequestsWaiting),
    waitSeconds: counter(registry, OWN_FAMILIES.apiRequestWait),
    throttled: counter(registry, OWN_FAMILIES.apiRequestsThrottled),
    rateLimit: gauge(registry, OWN_FAMILIES.apiRateLimit),
    refreshesWaiting: gauge(registry, OWN_FAMILIES.refreshesWaiting),
    oldestWaiting: gauge(registry, OWN_FAMILIES.oldestWaitingRefresh),
    hangingStations: gauge(registry, OWN_FAMILIES.hangingStations),
    pageSizeReductions: counter(registry, OWN_FAMILIES.pageSizeReductions),
    duration: new Histogram({
      ...metricOptions(registry, OWN_FAMILIES.apiRequestDuration),
      buckets: DURATION_BUCKETS,
    }),
  };
}

type Family<Label extends string> = { readonly name: string; readonly help: string; readonly labels: readonly Label[] };

function gauge<Label extends string>(registry: Registry, family: Family<Label>): Gauge<Label> {
  return new Gauge<Label>(metricOptions(registry, family));
}

function counter<Label extends string>(registry: Registry, family: Family<Label>): Counter<Label> {
  return new Counter<Label>(metricOptions(registry, family));
}

function metricOptions<Label extends string>(registry: Registry, { name, help, labels }: Family<Label>) {
  return { name, help, labelNames: labels, registers: [registry] };
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

/** Collecting them reads percentiles, V8 statistics and files of the system, which takes longer than the rest of a warm scrape. */
const MAX_AGE_MS = 1000;

type Texts = Readonly<Record<ExpositionFormat, string>>;

/** prom-client's process and Node.js metrics, collected at most once a second. */
export class ProcessMetrics {
  readonly #registry = new Registry();
  readonly #elapsedMs: () => number;
  #latest: { readonly atMs: number; readonly texts: Promise<Texts> } | undefined;

  constructor({ elapsedMs }: Pick<Clock, 'elapsedMs'> = systemClock) {
    this.#elapsedMs = elapsedMs;
    collectDefaultMetrics({ register: this.#registry });
  }

  async text(format: ExpositionFormat): Promise<string> {
    const nowMs = this.#elapsedMs();
    if (this.#latest === undefined || nowMs - this.#latest.atMs >= MAX_AGE_MS)
      this.#latest = { atMs: nowMs, texts: this.#collect() };
    return (await this.#latest.texts)[format];
  }

  /** Both formats at once, because the values of the registry change afterwards. */
  async #collect(): Promise<Texts> {
    const families = await this.#registry.getMetricsAsJSON();
    const text = (format: ExpositionFormat) => families.map((family) => familyText(family, format)).join('');
    return { text: text('text'), openmetrics: text('openmetrics') };
  }
}
