import { Counter, collectDefaultMetrics, Registry } from 'prom-client';
import { type Clock, systemClock } from '../model/clock.ts';
import { RECORD_LIMITS, type RecordLimit } from '../model/failure.ts';
import type { RecordBudget } from '../refresh/record-budget.ts';
import type { Shard } from '../refresh/shard.ts';
import { OWN_FAMILIES } from './own-families.ts';
import { type ExpositionFormat, familyHeader, familyText, labelPairs, sampleValue } from './text-format.ts';
import { counter, gauge, metricOptions, UpstreamMetrics } from './upstream-metrics.ts';
import { WEB_LIMITS, type WebLimit } from './web-families.ts';

export interface Build {
  readonly version: string;
  readonly revision: string;
  readonly nodeVersion: string;
}

/** The number of series of a station. */
interface StationSeries {
  readonly name: string;
  readonly series: number;
  readonly withheld: number;
}

const SERIES_FAMILIES = [
  { family: OWN_FAMILIES.series, count: ({ series }: StationSeries) => series },
  { family: OWN_FAMILIES.seriesWithheld, count: ({ withheld }: StationSeries) => withheld },
];

/** The exporter's own metrics; they outlive configuration reloads. */
export class OwnMetrics {
  readonly #registry = new Registry();
  /** Of the clients of all upstreams. */
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
  #series: readonly StationSeries[] = [];
  /** Grows with the number of stations, so it is encoded once per change instead of once per scrape. */
  readonly #seriesTexts = new Map<ExpositionFormat, string>();

  constructor(build: Build, shard: Shard, process?: ProcessMetrics, droppedLogLines: () => number = () => 0) {
    this.#process = process;
    const { version, revision, nodeVersion } = build;
    gauge(this.#registry, OWN_FAMILIES.buildInfo).set({ version, revision, node_version: nodeVersion }, 1);
    gauge(this.#registry, OWN_FAMILIES.shardOrdinal).set(shard.ordinal);
    gauge(this.#registry, OWN_FAMILIES.totalShards).set(shard.total);
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
