import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { UpstreamLoad } from '../station/capacity.ts';
import { FAILURE_REASONS, type FailureReason } from '../station/failure.ts';
import { RECORD_LIMITS, type RecordBudget, type RecordLimit } from '../station/record-budget.ts';
import type { Shard } from '../station/shard.ts';
import { OWN_FAMILIES } from './own-families.ts';
import type { ProcessMetrics } from './process-metrics.ts';
import { type ExpositionFormat, familyHeader, familyText, labelPairs, sampleValue } from './text-format.ts';
import { WEB_LIMITS, type WebLimit } from './web-families.ts';

export interface Build {
  readonly version: string;
  readonly revision: string;
  readonly nodeVersion: string;
}

/** Listings usually take 0.7 to 6 s; more than 45 s has been observed. */
const DURATION_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The number of series of a station. */
interface StationSeries {
  readonly name: string;
  readonly series: number;
  readonly withheld: number;
}

interface ActiveUpstream {
  /** The observer of the latest client, whose rate limit is published. */
  limiter: object | undefined;
}

const SERIES_FAMILIES = [
  { family: OWN_FAMILIES.series, count: ({ series }: StationSeries) => series },
  { family: OWN_FAMILIES.seriesWithheld, count: ({ withheld }: StationSeries) => withheld },
];

type QueueLoad = Pick<UpstreamLoad, 'waitingRefreshes' | 'oldestWaitingMs' | 'hangingStations'>;

/** The exporter's own metrics; they outlive configuration reloads. */
export class OwnMetrics {
  readonly #registry = new Registry();
  readonly #process: ProcessMetrics | undefined;
  readonly #requests = this.#counter(OWN_FAMILIES.apiRequests);
  readonly #failures = this.#counter(OWN_FAMILIES.apiRequestFailures);
  readonly #retries = this.#counter(OWN_FAMILIES.apiRequestRetries);
  readonly #inFlight = this.#gauge(OWN_FAMILIES.apiRequestsInFlight);
  readonly #waiting = this.#gauge(OWN_FAMILIES.apiRequestsWaiting);
  readonly #waitSeconds = this.#counter(OWN_FAMILIES.apiRequestWait);
  readonly #throttled = this.#counter(OWN_FAMILIES.apiRequestsThrottled);
  readonly #rateLimit = this.#gauge(OWN_FAMILIES.apiRateLimit);
  readonly #refreshesWaiting = this.#gauge(OWN_FAMILIES.refreshesWaiting);
  readonly #oldestWaiting = this.#gauge(OWN_FAMILIES.oldestWaitingRefresh);
  readonly #hangingStations = this.#gauge(OWN_FAMILIES.hangingStations);
  readonly #pageSizeReductions = this.#counter(OWN_FAMILIES.pageSizeReductions);
  readonly #records = this.#gauge(OWN_FAMILIES.records);
  readonly #recordsLimit = this.#gauge(OWN_FAMILIES.recordsLimit);
  readonly #recordLimitsReached = this.#counter(OWN_FAMILIES.recordLimitsReached);
  readonly #hits = this.#counter(OWN_FAMILIES.cacheHits);
  readonly #misses = this.#counter(OWN_FAMILIES.cacheMisses);
  readonly #reloadSuccessful = this.#gauge(OWN_FAMILIES.configReloadSuccessful);
  readonly #reloadTimestamp = this.#gauge(OWN_FAMILIES.configReloadTimestamp);
  readonly #webReloadSuccessful = this.#gauge(OWN_FAMILIES.webConfigReloadSuccessful);
  readonly #webReloadTimestamp = this.#gauge(OWN_FAMILIES.webConfigReloadTimestamp);
  readonly #webConnections = this.#gauge(OWN_FAMILIES.webConnections);
  readonly #webLimitsReached = this.#counter(OWN_FAMILIES.webLimitsReached);
  readonly #duration = new Histogram({
    ...metricOptions(OWN_FAMILIES.apiRequestDuration),
    buckets: DURATION_BUCKETS,
    registers: [this.#registry],
  });
  /** Configured upstreams; one that is removed and added again is another object, so that late requests of the first do not count. */
  readonly #upstreams = new Map<string, ActiveUpstream>();
  #series: readonly StationSeries[] = [];
  /** Grows with the number of stations, so it is encoded once per change instead of once per scrape. */
  readonly #seriesTexts = new Map<ExpositionFormat, string>();

  constructor(build: Build, shard: Shard, process?: ProcessMetrics, droppedLogLines: () => number = () => 0) {
    this.#process = process;
    const { version, revision, nodeVersion } = build;
    this.#gauge(OWN_FAMILIES.buildInfo).set({ version, revision, node_version: nodeVersion }, 1);
    this.#gauge(OWN_FAMILIES.shardOrdinal).set(shard.ordinal);
    this.#gauge(OWN_FAMILIES.totalShards).set(shard.total);
    new Counter({
      ...metricOptions(OWN_FAMILIES.logLinesDropped),
      registers: [this.#registry],
      collect() {
        this.reset();
        this.inc(droppedLogLines());
      },
    });
    for (const limit of WEB_LIMITS) this.#webLimitsReached.inc({ limit }, 0);
    for (const limit of RECORD_LIMITS) this.#recordLimitsReached.inc({ limit }, 0);
  }

  /** The observer for the client of an upstream. It publishes nothing before it is activated, nor after the upstream was removed. */
  upstreamObserver(upstream: string) {
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
      unreadable: () => this.#failures.inc({ upstream, reason: 'body' }),
    };
    return {
      ...onlyWhile(() => active !== undefined && this.#upstreams.get(upstream) === active, observer),
      limited: (requestsPerSecond: number) => {
        rateLimit = requestsPerSecond;
        // A client that was replaced may still end requests.
        if (this.#upstreams.get(upstream)?.limiter === observer) this.#rateLimit.set({ upstream }, rateLimit);
      },
      activate: () => {
        active = this.#upstreams.get(upstream) ?? this.#addUpstream(upstream);
        active.limiter = observer;
        this.#rateLimit.set({ upstream }, rateLimit);
      },
    };
  }

  /** All series start at 0, so that `increase` sees the first failure. */
  #addUpstream(upstream: string): ActiveUpstream {
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
  removeUpstream(upstream: string): void {
    this.#upstreams.delete(upstream);
    for (const metric of [this.#requests, this.#retries, this.#inFlight, this.#waiting, this.#waitSeconds, this.#throttled])
      metric.remove({ upstream });
    for (const metric of [this.#rateLimit, this.#refreshesWaiting, this.#oldestWaiting, this.#hangingStations]) metric.remove({ upstream });
    for (const metric of [this.#pageSizeReductions, this.#duration]) metric.remove({ upstream });
    for (const reason of FAILURE_REASONS) this.#failures.remove({ upstream, reason });
  }

  recordLoad(upstream: string, { waitingRefreshes, oldestWaitingMs, hangingStations }: QueueLoad): void {
    if (!this.#upstreams.has(upstream)) return;
    this.#refreshesWaiting.set({ upstream }, waitingRefreshes);
    this.#oldestWaiting.set({ upstream }, oldestWaitingMs / 1000);
    this.#hangingStations.set({ upstream }, hangingStations);
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

  recordSeries(stations: readonly StationSeries[]): void {
    this.#series = stations;
    this.#seriesTexts.clear();
  }

  async text(format: ExpositionFormat, disabled: ReadonlySet<string>): Promise<string> {
    const families = await this.#registry.getMetricsAsJSON();
    const texts = families.filter(({ name }) => !disabled.has(name)).map((family) => familyText(family, format));
    return texts.join('') + this.#seriesText(format, disabled) + ((await this.#process?.text(format)) ?? '');
  }

  #seriesText(format: ExpositionFormat, disabled: ReadonlySet<string>): string {
    const cached = this.#seriesTexts.get(format);
    if (cached !== undefined) return cached;
    const text = SERIES_FAMILIES.filter(({ family }) => !disabled.has(family.name))
      .map(({ family, count }) => {
        const lines = this.#series.map(
          (station) => `${family.name}{${labelPairs(family.labels, [station.name])}} ${sampleValue(count(station))}\n`,
        );
        return familyHeader(family, format) + lines.join('');
      })
      .join('');
    this.#seriesTexts.set(format, text);
    return text;
  }

  #gauge<Label extends string>(family: { name: string; help: string; labels: readonly Label[] }): Gauge<Label> {
    return new Gauge<Label>({ ...metricOptions(family), registers: [this.#registry] });
  }

  #counter<Label extends string>(family: { name: string; help: string; labels: readonly Label[] }): Counter<Label> {
    return new Counter<Label>({ ...metricOptions(family), registers: [this.#registry] });
  }
}

function metricOptions<Label extends string>({ name, help, labels }: { name: string; help: string; labels: readonly Label[] }) {
  return { name, help, labelNames: labels };
}

/** The same functions, which do nothing while the condition does not hold. */
function onlyWhile<Functions extends Record<string, (...args: never[]) => unknown>>(
  condition: () => boolean,
  functions: Functions,
): Functions {
  const guarded = Object.entries(functions).map(([name, run]) => [name, (...args: never[]) => (condition() ? run(...args) : undefined)]);
  return Object.fromEntries(guarded) as Functions;
}
