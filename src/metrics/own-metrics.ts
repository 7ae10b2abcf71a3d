import { Counter, collectDefaultMetrics, Gauge, Histogram, type MetricConfiguration, Registry } from 'prom-client';
import { type Clock, systemClock } from '../model/clock.ts';
import { FAILURE_REASONS, type FailureReason, RECORD_LIMITS, type RecordLimit } from '../model/failure.ts';
import type { UpstreamLoad } from '../model/upstream-load.ts';
import type { RecordBudget } from '../refresh/record-budget.ts';
import type { Shard } from '../refresh/shard.ts';
import type { FamilyDescription } from './family.ts';
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
  readonly #metrics = createMetrics(this.#registry, [
    'records',
    'recordsLimit',
    'recordLimitsReached',
    'cacheHits',
    'cacheMisses',
    'configReloadSuccessful',
    'configReloadTimestamp',
    'webConfigReloadSuccessful',
    'webConfigReloadTimestamp',
    'webConnections',
    'webLimitsReached',
    'buildInfo',
    'shardOrdinal',
    'totalShards',
    'logLinesDropped',
  ]);
  readonly #process: ProcessMetrics | undefined;
  readonly #droppedLogLines: () => number;

  constructor(build: Build, shard: Shard, process?: ProcessMetrics, droppedLogLines: () => number = () => 0) {
    this.#process = process;
    this.#droppedLogLines = droppedLogLines;
    const { version, revision, nodeVersion } = build;
    this.#metrics.buildInfo.set({ version, revision, node_version: nodeVersion }, 1);
    this.#metrics.shardOrdinal.set(shard.ordinal);
    this.#metrics.totalShards.set(shard.total);
    for (const limit of WEB_LIMITS) this.#metrics.webLimitsReached.inc({ limit }, 0);
    for (const limit of RECORD_LIMITS) this.#metrics.recordLimitsReached.inc({ limit }, 0);
  }

  recordLimitsReached(limit: RecordLimit): void {
    this.#metrics.recordLimitsReached.inc({ limit });
  }

  recordRecords({ total, limits }: Pick<RecordBudget, 'total' | 'limits'>): void {
    this.#metrics.records.set(total);
    for (const limit of RECORD_LIMITS) this.#metrics.recordsLimit.set({ limit }, limits[limit]);
  }

  recordReads(result: 'hit' | 'miss', stations: number): void {
    this.#metrics[result === 'hit' ? 'cacheHits' : 'cacheMisses'].inc(stations);
  }

  recordReload(successful: boolean, wallMs: number, file: 'config' | 'webConfig' = 'config'): void {
    this.#metrics[`${file}ReloadSuccessful`].set(successful ? 1 : 0);
    if (successful) this.#metrics[`${file}ReloadTimestamp`].set(wallMs / 1000);
  }

  recordWebConnections(open: number): void {
    this.#metrics.webConnections.set(open);
  }

  recordWebLimit(limit: WebLimit): void {
    this.#metrics.webLimitsReached.inc({ limit });
  }

  async text(format: ExpositionFormat, disabled: ReadonlySet<string>): Promise<string> {
    this.#metrics.logLinesDropped.reset();
    this.#metrics.logLinesDropped.inc(this.#droppedLogLines());
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

/** Those that the observer of a client increments, by upstream alone. */
const COUNTED = [
  'apiRequests',
  'apiRequestRetries',
  'apiRequestsInFlight',
  'apiRequestsWaiting',
  'apiRequestWait',
  'apiRequestsThrottled',
  'pageSizeReductions',
] as const;

/** Metrics of the requests to each upstream. */
class UpstreamMetrics {
  readonly #metrics;
  /** Configured upstreams; one that is removed and added again is another object, so that late requests of the first do not count. */
  readonly #upstreams = new Map<string, ActiveUpstream>();

  constructor(registry: Registry) {
    this.#metrics = createMetrics(registry, [
      'apiRequests',
      'apiRequestFailures',
      'apiRequestRetries',
      'apiRequestsInFlight',
      'apiRequestsWaiting',
      'apiRequestWait',
      'apiRequestsThrottled',
      'apiRateLimit',
      'refreshesWaiting',
      'oldestWaitingRefresh',
      'hangingStations',
      'pageSizeReductions',
      'apiRequestDuration',
    ]);
  }

  /** The observer for the client of an upstream. It publishes nothing before it is activated, nor after the upstream was removed. */
  observer(upstream: string) {
    const metrics = this.#metrics;
    let active: ActiveUpstream | undefined;
    let rateLimit = Number.POSITIVE_INFINITY;
    const observer = {
      waiting: (change: 1 | -1) => metrics.apiRequestsWaiting.inc({ upstream }, change),
      started: () => {
        metrics.apiRequests.inc({ upstream });
        metrics.apiRequestsInFlight.inc({ upstream });
      },
      ended: (seconds: number, reason: FailureReason | undefined) => {
        metrics.apiRequestsInFlight.dec({ upstream });
        metrics.apiRequestDuration.observe({ upstream }, seconds);
        if (reason) metrics.apiRequestFailures.inc({ upstream, reason });
      },
      retried: () => metrics.apiRequestRetries.inc({ upstream }),
      waited: (seconds: number) => metrics.apiRequestWait.inc({ upstream }, seconds),
      throttled: () => metrics.apiRequestsThrottled.inc({ upstream }),
      pageSizeReduced: () => metrics.pageSizeReductions.inc({ upstream }),
      readFailed: (reason: FailureReason) => metrics.apiRequestFailures.inc({ upstream, reason }),
    };
    return {
      ...onlyWhile(() => active !== undefined && this.#upstreams.get(upstream) === active, observer),
      limited: (requestsPerSecond: number) => {
        rateLimit = requestsPerSecond;
        // A client that was replaced may still end requests.
        if (this.#upstreams.get(upstream)?.limiter === observer) metrics.apiRateLimit.set({ upstream }, rateLimit);
      },
      activate: () => {
        active = this.#upstreams.get(upstream) ?? this.#add(upstream);
        active.limiter = observer;
        metrics.apiRateLimit.set({ upstream }, rateLimit);
      },
    };
  }

  /** All series start at 0, so that `increase` sees the first failure. */
  #add(upstream: string): ActiveUpstream {
    for (const key of COUNTED) this.#metrics[key].inc({ upstream }, 0);
    this.#metrics.apiRequestDuration.zero({ upstream });
    for (const reason of FAILURE_REASONS) this.#metrics.apiRequestFailures.inc({ upstream, reason }, 0);
    const active = {};
    this.#upstreams.set(upstream, active);
    return active;
  }

  /** Removes the series of an upstream that is no longer configured. */
  remove(upstream: string): void {
    this.#upstreams.delete(upstream);
    const { apiRequestFailures, ...others } = this.#metrics;
    for (const metric of Object.values(others)) metric.remove({ upstream });
    for (const reason of FAILURE_REASONS) apiRequestFailures.remove({ upstream, reason });
  }

  recordLoad(upstream: string, { waitingRefreshes, oldestWaitingMs, hangingStations }: QueueLoad): void {
    if (!this.#upstreams.has(upstream)) return;
    this.#metrics.refreshesWaiting.set({ upstream }, waitingRefreshes);
    this.#metrics.oldestWaitingRefresh.set({ upstream }, oldestWaitingMs / 1000);
    this.#metrics.hangingStations.set({ upstream }, hangingStations);
  }
}

type Families = typeof OWN_FAMILIES;

type Metric<Family extends FamilyDescription> = {
  readonly counter: Counter<Family['labels'][number]>;
  readonly gauge: Gauge<Family['labels'][number]>;
  readonly histogram: Histogram<Family['labels'][number]>;
}[Family['type']];

/** Creates the metrics of these families; an exposition has them in this order. */
function createMetrics<const Key extends keyof Families>(registry: Registry, keys: readonly Key[]) {
  const metrics = keys.map((key) => {
    const { name, help, type, labels } = OWN_FAMILIES[key];
    const options = { name, help, labelNames: labels, registers: [registry] };
    return [key, METRIC_TYPES[type](options)] as const;
  });
  return Object.fromEntries(metrics) as { readonly [Each in Key]: Metric<Families[Each]> };
}

type MetricOptions = MetricConfiguration<string>;

const METRIC_TYPES = {
  counter: (options: MetricOptions) => new Counter(options),
  gauge: (options: MetricOptions) => new Gauge(options),
  histogram: (options: MetricOptions) => new Histogram({ ...options, buckets: DURATION_BUCKETS }),
};

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
