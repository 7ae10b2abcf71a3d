import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Clock, systemClock } from '../model/clock.ts';
import { FAILURE_REASONS, type FailureReason, RECORD_LIMITS, type RecordLimits } from '../model/failure.ts';
import type { UpstreamLoad } from '../model/upstream-load.ts';
import type { FamilyDescription } from './family.ts';
import { EXPORTER_FAMILIES, UPSTREAM_FAMILIES, WEB_LIMITS } from './own-families.ts';
import { type ExpositionFormat, familiesText } from './text-format.ts';

export interface Build {
  readonly version: string;
  readonly revision: string;
  readonly nodeVersion: string;
}

/** The exporter's own metrics; they outlive configuration reloads. */
export class OwnMetrics {
  readonly #registry = new Registry();
  readonly upstreams = new UpstreamMetrics(this.#registry);
  readonly metrics = createMetrics(this.#registry, EXPORTER_FAMILIES);
  readonly processText: ProcessMetrics;

  constructor(
    build: Build,
    shard: { readonly ordinal: number; readonly total: number },
    processText: ProcessMetrics = async () => '',
  ) {
    this.processText = processText;
    const { version, revision, nodeVersion } = build;
    this.metrics.build_info.set({ version, revision, node_version: nodeVersion }, 1);
    this.metrics.shard_ordinal.set(shard.ordinal);
    this.metrics.total_shards.set(shard.total);
    for (const limit of WEB_LIMITS) this.metrics.web_limits_reached_total.inc({ limit }, 0);
  }

  recordRecords({ total, limits }: { readonly total: number; readonly limits: RecordLimits }): void {
    this.metrics.records.set(total);
    for (const limit of RECORD_LIMITS) this.metrics.records_limit.set({ limit }, limits[limit]);
  }

  recordReload(config: 'main' | 'web', successful: boolean, wallMs: number): void {
    this.metrics.config_last_reload_successful.set({ config }, successful ? 1 : 0);
    if (successful) this.metrics.config_last_reload_success_timestamp_seconds.set({ config }, wallMs / 1000);
  }

  /** Of the scrape before the one that publishes it. */
  recordScrape({ plainLength, gzipLength }: { readonly plainLength: number; readonly gzipLength: number }): void {
    this.metrics.scrape_bytes.set({ encoding: 'identity' }, plainLength);
    this.metrics.scrape_bytes.set({ encoding: 'gzip' }, gzipLength);
  }

  recordTime(wallMs: number): void {
    this.metrics.time_seconds.set(wallMs / 1000);
  }

  async text(format: ExpositionFormat, disabled: ReadonlySet<string>): Promise<string> {
    return familiesText(await this.#registry.getMetricsAsJSON(), format, disabled);
  }
}

/** Listings usually take 0.7 to 6 s; more than 45 s has been observed. */
const DURATION_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Those that the observer of a client increments, by upstream alone. */
const COUNTED = [
  'api_requests_total',
  'api_request_retries_total',
  'api_requests_in_flight',
  'api_requests_waiting',
  'api_requests_throttled_total',
] as const;

class UpstreamMetrics {
  readonly #metrics;
  readonly #configured = new Set<string>();

  constructor(registry: Registry) {
    this.#metrics = createMetrics(registry, UPSTREAM_FAMILIES);
  }

  /** The observer for the client of an upstream. It publishes nothing before the upstream was added, nor after it was removed. */
  observer(upstream: string) {
    const metrics = this.#metrics;
    const isConfigured = () => this.#configured.has(upstream);
    const count = (key: (typeof COUNTED)[number], by = 1) => {
      if (isConfigured()) metrics[key].inc({ upstream }, by);
    };
    const failed = (reason: FailureReason) => {
      if (isConfigured()) metrics.api_request_failures_total.inc({ upstream, reason });
    };
    return {
      waiting: (change: 1 | -1) => count('api_requests_waiting', change),
      started: () => {
        count('api_requests_total');
        count('api_requests_in_flight');
      },
      ended: (seconds: number, reason: FailureReason | undefined) => {
        count('api_requests_in_flight', -1);
        if (isConfigured()) metrics.api_request_duration_seconds.observe({ upstream }, seconds);
        if (reason) failed(reason);
      },
      retried: () => count('api_request_retries_total'),
      throttled: () => count('api_requests_throttled_total'),
      readFailed: failed,
    };
  }

  /** All series start at 0, so that `increase` sees the first failure; those of an upstream that was added before continue. */
  add(upstream: string): void {
    if (this.#configured.has(upstream)) return;
    for (const key of COUNTED) this.#metrics[key].inc({ upstream }, 0);
    this.#metrics.api_request_duration_seconds.zero({ upstream });
    for (const reason of FAILURE_REASONS) this.#metrics.api_request_failures_total.inc({ upstream, reason }, 0);
    this.#configured.add(upstream);
  }

  remove(upstream: string): void {
    this.#configured.delete(upstream);
    const { api_request_failures_total: failures, ...others } = this.#metrics;
    for (const metric of Object.values(others)) metric.remove({ upstream });
    for (const reason of FAILURE_REASONS) failures.remove({ upstream, reason });
  }

  /** Of the client in force, with every scrape: a reload may have replaced the client, and the next one continues with its rate. */
  recordLoad(upstream: string, load: UpstreamLoad): void {
    const { requestsPerSecond, oldestWaitingMs, hangingStations } = load;
    this.#metrics.api_rate_limit.set({ upstream }, requestsPerSecond);
    this.#metrics.oldest_waiting_refresh_seconds.set({ upstream }, oldestWaitingMs / 1000);
    this.#metrics.hanging_stations.set({ upstream }, hangingStations);
  }
}

type Metric<Family extends FamilyDescription> = {
  readonly counter: Counter<Family['labels'][number]>;
  readonly gauge: Gauge<Family['labels'][number]>;
  readonly histogram: Histogram<Family['labels'][number]>;
}[Family['type']];

/** An exposition has them in the order of the families. */
function createMetrics<Families extends Readonly<Record<string, FamilyDescription>>>(
  registry: Registry,
  families: Families,
) {
  const metrics = Object.entries(families).map(([key, { name, help, type, labels }]) => {
    // Only a histogram has buckets.
    const options = { name, help, labelNames: labels, registers: [registry], buckets: DURATION_BUCKETS };
    return [key, new METRIC_TYPES[type](options)];
  });
  return Object.fromEntries(metrics) as { readonly [Key in keyof Families]: Metric<Families[Key]> };
}

const METRIC_TYPES = { counter: Counter, gauge: Gauge, histogram: Histogram };

/** Collecting them reads percentiles, V8 statistics and files of the system, which takes longer than the rest of a warm scrape. */
const MAX_AGE_MS = 1000;

type ProcessMetrics = (format: ExpositionFormat) => Promise<string>;

/** prom-client's process and Node.js metrics, collected at most once a second. */
export function collectProcessMetrics({ elapsedMs }: Pick<Clock, 'elapsedMs'> = systemClock): ProcessMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  let collectedMs = Number.NEGATIVE_INFINITY;
  let latest: ReturnType<typeof registry.getMetricsAsJSON>;
  return async (format) => {
    const nowMs = elapsedMs();
    if (nowMs - collectedMs >= MAX_AGE_MS) {
      collectedMs = nowMs;
      // A copy, because the values of the registry change afterwards.
      latest = registry.getMetricsAsJSON().then((families) => structuredClone(families));
    }
    return familiesText(await latest, format);
  };
}
