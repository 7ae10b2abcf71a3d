import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { FAILURE_REASONS, type FailureReason } from '../station/failure.ts';
import type { Shard } from '../station/shard.ts';
import { OWN_FAMILIES } from './own-families.ts';
import { type ExpositionFormat, familyHeader, labelPairs, sampleValue } from './text-format.ts';

export interface Build {
  readonly version: string;
  readonly revision: string;
  readonly nodeVersion: string;
}

/** Listings of 0.7 to 6 s are normal, above 45 s has been seen. */
const DURATION_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** How much of a station is published. */
interface PublishedStation {
  readonly name: string;
  readonly series: number;
  readonly withheld: number;
}

const PUBLISHED = [
  { family: OWN_FAMILIES.series, amount: ({ series }: PublishedStation) => series },
  { family: OWN_FAMILIES.seriesWithheld, amount: ({ withheld }: PublishedStation) => withheld },
];

/** The exporter's own counters, kept for as long as the process lives. */
export class OwnMetrics {
  readonly #registry = new Registry();
  readonly #requests = this.#counter(OWN_FAMILIES.apiRequests);
  readonly #failures = this.#counter(OWN_FAMILIES.apiRequestFailures);
  readonly #retries = this.#counter(OWN_FAMILIES.apiRequestRetries);
  readonly #inFlight = this.#gauge(OWN_FAMILIES.apiRequestsInFlight);
  readonly #waiting = this.#gauge(OWN_FAMILIES.apiRequestsWaiting);
  readonly #waitSeconds = this.#counter(OWN_FAMILIES.apiRequestWait);
  readonly #throttled = this.#counter(OWN_FAMILIES.apiRequestsThrottled);
  readonly #rateLimit = this.#gauge(OWN_FAMILIES.apiRateLimit);
  readonly #pageSizeReductions = this.#counter(OWN_FAMILIES.pageSizeReductions);
  readonly #hits = this.#counter(OWN_FAMILIES.cacheHits);
  readonly #misses = this.#counter(OWN_FAMILIES.cacheMisses);
  readonly #reloadSuccessful = this.#gauge(OWN_FAMILIES.configReloadSuccessful);
  readonly #reloadTimestamp = this.#gauge(OWN_FAMILIES.configReloadTimestamp);
  readonly #duration = new Histogram({
    ...described(OWN_FAMILIES.apiRequestDuration),
    buckets: DURATION_BUCKETS,
    registers: [this.#registry],
  });
  #published: readonly PublishedStation[] = [];
  /** What grows with the stations is printed once per change, not once per scrape. */
  readonly #publishedTexts = new Map<ExpositionFormat, string>();

  constructor(build: Build, shard: Shard, processMetrics: boolean) {
    const { version, revision, nodeVersion } = build;
    this.#gauge(OWN_FAMILIES.buildInfo).set({ version, revision, node_version: nodeVersion }, 1);
    this.#gauge(OWN_FAMILIES.shardOrdinal).set(shard.ordinal);
    this.#gauge(OWN_FAMILIES.totalShards).set(shard.total);
    if (processMetrics) collectDefaultMetrics({ register: this.#registry });
  }

  /** What a client of the upstream reports to. Every series of it is there from the start, so that the first failure is an increase. */
  upstream(upstream: string) {
    this.#requests.inc({ upstream }, 0);
    this.#retries.inc({ upstream }, 0);
    this.#inFlight.inc({ upstream }, 0);
    this.#waiting.inc({ upstream }, 0);
    this.#waitSeconds.inc({ upstream }, 0);
    this.#throttled.inc({ upstream }, 0);
    this.#rateLimit.set({ upstream }, Number.POSITIVE_INFINITY);
    this.#pageSizeReductions.inc({ upstream }, 0);
    this.#duration.zero({ upstream });
    for (const reason of FAILURE_REASONS) this.#failures.inc({ upstream, reason }, 0);
    return {
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
      limited: (requestsPerSecond: number) => this.#rateLimit.set({ upstream }, requestsPerSecond),
      pageSizeReduced: () => this.#pageSizeReductions.inc({ upstream }),
      unreadable: () => this.#failures.inc({ upstream, reason: 'body' }),
    };
  }

  /** An upstream that is no longer configured. */
  forget(upstream: string): void {
    for (const metric of [this.#requests, this.#retries, this.#inFlight, this.#waiting, this.#waitSeconds, this.#throttled])
      metric.remove({ upstream });
    for (const metric of [this.#rateLimit, this.#pageSizeReductions, this.#duration]) metric.remove({ upstream });
    for (const reason of FAILURE_REASONS) this.#failures.remove({ upstream, reason });
  }

  asked(answer: 'hit' | 'miss', stations: number): void {
    (answer === 'hit' ? this.#hits : this.#misses).inc(stations);
  }

  reloaded(successful: boolean, wallMs: number): void {
    this.#reloadSuccessful.set(successful ? 1 : 0);
    if (successful) this.#reloadTimestamp.set(wallMs / 1000);
  }

  published(stations: readonly PublishedStation[]): void {
    this.#published = stations;
    this.#publishedTexts.clear();
  }

  /** By our own encoder, because prom-client's OpenMetrics output renames the counters of the registry it prints. */
  async text(format: ExpositionFormat, disabled: ReadonlySet<string>): Promise<string> {
    const families = await this.#registry.getMetricsAsJSON();
    const texts = families
      .filter(({ name }) => !disabled.has(name))
      .map((family) => {
        // The type prom-client declares leaves out the names of a histogram's parts.
        const values: readonly { value: number; labels: object; metricName?: string }[] = family.values;
        const lines = values.map(({ value, labels, metricName = family.name }) => {
          const pairs = labelPairs(Object.keys(labels), Object.values(labels).map(String));
          return `${metricName}${pairs === '' ? '' : `{${pairs}}`} ${sampleValue(value)}\n`;
        });
        return familyHeader({ ...family, type: String(family.type) }, format) + lines.join('');
      });
    return texts.join('') + this.#publishedText(format, disabled);
  }

  #publishedText(format: ExpositionFormat, disabled: ReadonlySet<string>): string {
    const known = this.#publishedTexts.get(format);
    if (known !== undefined) return known;
    const text = PUBLISHED.filter(({ family }) => !disabled.has(family.name))
      .map(({ family, amount }) => {
        const lines = this.#published.map((station) => `${family.name}{${labelPairs(family.labels, [station.name])}} ${amount(station)}\n`);
        return familyHeader(family, format) + lines.join('');
      })
      .join('');
    this.#publishedTexts.set(format, text);
    return text;
  }

  #gauge<Label extends string>(family: { name: string; help: string; labels: readonly Label[] }): Gauge<Label> {
    return new Gauge<Label>({ ...described(family), registers: [this.#registry] });
  }

  #counter<Label extends string>(family: { name: string; help: string; labels: readonly Label[] }): Counter<Label> {
    return new Counter<Label>({ ...described(family), registers: [this.#registry] });
  }
}

function described<Label extends string>({ name, help, labels }: { name: string; help: string; labels: readonly Label[] }) {
  return { name, help, labelNames: labels };
}
