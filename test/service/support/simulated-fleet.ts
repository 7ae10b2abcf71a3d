import { onTestFinished, vi } from 'vitest';
import { randomFrom } from '../../../lab/simulator/random.ts';
import { HOUR_MS } from '../../../src/model/clock.ts';
import type { FailureReason, FailureSummary } from '../../../src/model/failure.ts';
import type { Listing, RefreshContext, StationSource } from '../../../src/model/listing.ts';
import type { Resources } from '../../../src/resources/collector.ts';
import type { Resource } from '../../../src/resources/fields.ts';
import type { RequestLimiter } from '../../../src/service/admission/request-limiter.ts';
import { UpstreamClient } from '../../../src/service/http/client.ts';
import { stationSource } from '../../../src/service/station-source.ts';
import { Fleet } from '../../../src/stations/fleet.ts';
import { StationCache, type StationView } from '../../../src/stations/station-cache.ts';
import { SerialQueue } from '../../../src/tasks/serial-queue.ts';
import { collectorOf, listingOf, sourceWith, specOf } from '../../stations/fixtures.ts';
import { CLIENT_OPTIONS } from './client.ts';
import { type SimulatedPage, SimulatedUpstream, type UpstreamModel } from './simulated-upstream.ts';
import { settled, VirtualClock } from './virtual-clock.ts';

/** A Prometheus server. */
export interface Scraper {
  /** All stations at once, or each one at its own time within the interval. */
  readonly path: '/metrics' | '/probe';
  /** When it scrapes first. */
  readonly offsetMs: number;
}

/** What a service lists of a station, in pages with content. */
interface ListedStations {
  readonly pageSize: number;
  readonly records: (station: string, nowMs: number) => number;
}

export interface FleetModel {
  readonly stations: number;
  /** Of each station, without content; or what is listed. */
  readonly pages: number | ((station: string) => number) | ListedStations;
  readonly ttlMs?: number;
  readonly refreshTimeoutMs?: number;
  readonly concurrency?: number;
  readonly requestsPerSecond?: number;
  readonly refresh?: 'scrape' | 'background';
  /** Their interval is ttl. */
  readonly scrapers?: readonly Scraper[];
  readonly seed?: number;
}

const BASE_URL = new URL('http://service.invalid');

const LISTING_PATH = /\/telemetryStations\/([^/]+)\/resources\?/;

/** Reading a page takes some turns of the event loop, and the pages of eight slots are read one after another. */
const READING_TURNS = 60;

const ONE_SCRAPER: readonly Scraper[] = [{ path: '/metrics', offsetMs: 5000 }];

const TIMEOUT_MS = 10_000;

/** A scrape timeout of ten seconds without the default offset. */
const SCRAPE_DEADLINE_MS = 9500;

/** Prometheus does not scrape to the millisecond. */
const SCRAPE_JITTER_MS = 20;

/** `Fleet` starts so many refreshes in one event-loop iteration. */
const STARTED_TOGETHER = 32;

interface Success {
  readonly requestedMs: number;
  readonly startMs: number;
  readonly endMs: number;
}

class SimulatedStation {
  readonly name: string;
  readonly successes: Success[] = [];
  readonly failures: { readonly reason: FailureReason; readonly status: number | undefined; readonly endMs: number }[] =
    [];

  constructor(name: string) {
    this.name = name;
  }

  /** The age of its data at that time, counted from the start of the refresh that brought them; Infinity: none. */
  ageMs(atMs: number): number {
    return atMs - (this.successes.findLast(({ endMs }) => endMs <= atMs)?.startMs ?? Number.NEGATIVE_INFINITY);
  }

  /** The greatest age of its data in that time: at its end, and before each refresh that replaced them. */
  maxAgeMs(fromMs: number, untilMs: number): number {
    const starts = [Number.NEGATIVE_INFINITY, ...this.successes.map(({ startMs }) => startMs)];
    const ends = [...this.successes.map(({ endMs }) => endMs), Number.POSITIVE_INFINITY];
    const agesMs = ends.map((endMs, index) => Math.min(endMs, untilMs) - (starts[index] as number));
    return Math.max(
      ...agesMs.filter((_, index) => (ends[index - 1] ?? 0) <= untilMs && (ends[index] as number) >= fromMs),
    );
  }
}

/** What a scrape returned. */
interface Scrape {
  readonly startMs: number;
  readonly endMs: number;
  /** The age of the data of each station in it; Infinity: none. */
  readonly agesMs: readonly number[];
  /** Why each station is down; undefined: it is up. */
  readonly failures: readonly (FailureSummary | undefined)[];
}

/** Stations as the exporter refreshes them, behind its client, on a service and a clock that are simulated. */
export class SimulatedFleet {
  readonly clock = new VirtualClock();
  readonly upstream: SimulatedUpstream;
  readonly stations: readonly SimulatedStation[];
  readonly scrapes: Scrape[] = [];
  readonly #model: Required<FleetModel>;
  readonly #random: () => number;
  #client: UpstreamClient;
  #caches: readonly StationCache<Resources>[];
  #fleet: Fleet<Resources>;
  readonly #stationsByName: ReadonlyMap<string, SimulatedStation>;

  constructor(model: FleetModel, upstream: UpstreamModel) {
    this.#model = {
      ttlMs: 60_000,
      refreshTimeoutMs: 120_000,
      concurrency: 8,
      requestsPerSecond: 0,
      refresh: 'scrape',
      scrapers: ONE_SCRAPER,
      seed: 1,
      ...model,
    };
    const { seed, scrapers } = this.#model;
    this.#random = randomFrom(seed);
    // The jitter of background refreshes.
    vi.spyOn(Math, 'random').mockImplementation(randomFrom(seed + 2));
    this.clock.replaceTimers();
    if (typeof model.pages === 'object') this.clock.turns = READING_TURNS;
    this.upstream = new SimulatedUpstream(upstream, this.clock, randomFrom(seed + 1));
    this.stations = Array.from({ length: model.stations }, (_, index) => new SimulatedStation(`station-${index}`));
    this.#stationsByName = new Map(this.stations.map((station) => [station.name, station]));
    this.#client = this.#newClient();
    this.#caches = this.stations.map((station) => this.#cacheOf(station));
    this.#fleet = this.#startedFleet();
    for (const scraper of scrapers) this.#addScraper(scraper);
  }

  get limiter(): RequestLimiter {
    return this.#client.limiter;
  }

  runUntil(untilMs: number): Promise<void> {
    return this.clock.runUntil(untilMs);
  }

  /** The exporter ends and starts again without what it knew. */
  restart(): void {
    this.#fleet.stop();
    for (const cache of this.#caches) cache.close();
    void this.#client.close();
    for (const { successes } of this.stations) successes.length = 0;
    this.#client = this.#newClient();
    this.#caches = this.stations.map((station) => this.#cacheOf(station));
    this.#fleet = this.#startedFleet();
  }

  views(): StationView<Resources>[] {
    return this.#fleet.views();
  }

  /** Refreshes the first stations at once, so many of them, although they are not due. */
  refreshTogether(count: number): void {
    for (const cache of this.#caches.slice(0, count)) void cache.refresh();
  }

  /** How many refreshes failed, by reason and status. */
  failures(stations: readonly SimulatedStation[] = this.stations): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { reason, status } of stations.flatMap(({ failures }) => failures)) {
      const name = [reason, status].filter((part) => part !== undefined).join(' ');
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }

  maxAgeMs(fromMs: number, untilMs: number, stations: readonly SimulatedStation[] = this.stations): number {
    return Math.max(...stations.map((station) => station.maxAgeMs(fromMs, untilMs)));
  }

  /** When the last of these stations had its first success after that time. */
  allRefreshedMs(fromMs: number, stations: readonly SimulatedStation[] = this.stations): number {
    const firsts = stations.map(
      ({ successes }) => successes.find(({ endMs }) => endMs > fromMs)?.endMs ?? Number.POSITIVE_INFINITY,
    );
    return Math.max(...firsts);
  }

  /** How many refreshes of a station ended per ttl in that time, on average. */
  refreshesPerTtl(fromMs: number, untilMs: number): number {
    const isWithin = ({ endMs }: Success) => endMs >= fromMs && endMs < untilMs;
    const refreshes = this.stations.reduce((sum, { successes }) => sum + successes.filter(isWithin).length, 0);
    return (refreshes * this.#model.ttlMs) / (this.stations.length * (untilMs - fromMs));
  }

  #newClient(): UpstreamClient {
    const { now, schedule } = this.clock;
    const options = {
      ...CLIENT_OPTIONS,
      baseUrl: BASE_URL,
      timeoutMs: TIMEOUT_MS,
      maxRetries: 2,
      concurrency: this.#model.concurrency,
      requestsPerSecond: this.#model.requestsPerSecond,
    };
    const client = new UpstreamClient(
      options,
      {},
      {
        clock: { wallMs: now, elapsedMs: now },
        random: this.#random,
        schedule,
        exchange: (_endpoint, { path }, signal) => {
          const [, station = path.slice(1)] = LISTING_PATH.exec(path) ?? [];
          return this.upstream.request(station, TIMEOUT_MS, signal, this.#pageOf(station, path));
        },
      },
    );
    onTestFinished(() => client.close());
    return client;
  }

  #startedFleet(): Fleet<Resources> {
    const fleet = new Fleet(this.#caches);
    this.clock.schedule(() => {
      void fleet.start();
      return this.#untilRequested();
    }, 0);
    return fleet;
  }

  #cacheOf(station: SimulatedStation): StationCache<Resources> {
    const { ttlMs, refreshTimeoutMs, refresh } = this.#model;
    const { now } = this.clock;
    const { name } = station;
    const cache = { ...specOf().cache, maxStaleMs: 6 * HOUR_MS, ttlMs, refresh };
    const spec = specOf({ name, cache, refreshTimeoutMs });
    const clock = { wallMs: now, elapsedMs: now };
    const source = this.#sourceOf(name);
    return new StationCache<Resources>(spec, {
      collector: collectorOf(spec, { source, encode: async () => name, clock }),
      clock,
      upstream: this.limiter,
      refreshed: ({ health: { failure, durationMs = 0 } }, { waitedMs }) => {
        const endMs = now();
        const startMs = endMs - durationMs;
        if (failure) station.failures.push({ reason: failure.reason, status: failure.status, endMs });
        else station.successes.push({ requestedMs: startMs - waitedMs, startMs, endMs });
      },
    });
  }

  #sourceOf(name: string): StationSource {
    const { pages, concurrency } = this.#model;
    if (typeof pages !== 'object') return sourceWith((_filters, context) => this.#list(context, pages));
    const path = { subscription: 's', resource_group: 'g', zone: 'z', telemetry_station: name };
    const options = { baseUrl: BASE_URL, listStyle: 'repeat', pageSize: pages.pageSize, concurrency } as const;
    const shared = { replies: new SerialQueue(), reducedPageSizes: new Map() };
    return stationSource(path, { client: this.#client, options, ...shared });
  }

  #pageOf(station: string, path: string): SimulatedPage | undefined {
    const { pages } = this.#model;
    if (typeof pages !== 'object') return undefined;
    const parameters = new URLSearchParams(path.slice(path.indexOf('?')));
    const [offset, size] = [Number(parameters.get('page.offset')), Number(parameters.get('page.size'))];
    const total = pages.records(station, this.clock.now());
    const ids = Array.from({ length: Math.max(0, Math.min(size, total - offset)) }, (_, at) => `r${offset + at}`);
    // A gateway leaves out empty lists.
    const resources = ids.length === 0 ? undefined : ids.map((resource_id) => ({ resource_id }));
    return { size, body: () => Buffer.from(JSON.stringify({ resources, page: { offset, size, total } })) };
  }

  /** The first page, then the others side by side. */
  async #list(context: RefreshContext, pages: number | ((station: string) => number)): Promise<Listing<Resource>> {
    const { concurrency } = this.#model;
    const fetchPage = () => this.#client.get(`/${context.station}`, context, () => undefined);
    await fetchPage();
    let left = (typeof pages === 'number' ? pages : pages(context.station)) - 1;
    const fetchOthers = async () => {
      while (left > 0) {
        left -= 1;
        await fetchPage();
      }
    };
    await Promise.all(Array.from({ length: Math.min(left, concurrency) }, fetchOthers));
    return LISTING;
  }

  #addScraper({ path, offsetMs }: Scraper): void {
    if (path === '/metrics') this.#scrapeAt(offsetMs);
    else for (const { name } of this.stations) this.#scrapeAt(offsetMs + this.#random() * this.#model.ttlMs, name);
  }

  /** Scrapes at this time, and then at the interval. */
  #scrapeAt(atMs: number, name?: string): void {
    const jitterMs = SCRAPE_JITTER_MS * this.#random();
    this.clock.schedule(
      () => {
        this.#scrapeAt(atMs + this.#model.ttlMs, name);
        void this.#scrape(name);
        return name === undefined ? this.#untilRequested() : undefined;
      },
      atMs + jitterMs - this.clock.now(),
    );
  }

  async #scrape(name: string | undefined): Promise<void> {
    const startMs = this.clock.now();
    const deadline = new AbortController();
    const cancel = this.clock.schedule(() => deadline.abort(), SCRAPE_DEADLINE_MS);
    const views = await this.#fleet.read({ atMs: startMs + SCRAPE_DEADLINE_MS, signal: deadline.signal }, name);
    cancel();
    const endMs = this.clock.now();
    const agesMs = views.map(({ spec }) => this.#stationsByName.get(spec.name)?.ageMs(endMs) ?? Number.NaN);
    this.scrapes.push({ startMs, endMs, agesMs, failures: views.map(({ health }) => health.failure) });
  }

  /** The time stands still until the refreshes of all stations have been requested. */
  async #untilRequested(): Promise<void> {
    for (let started = 0; started < this.stations.length; started += STARTED_TOGETHER) await settled();
  }
}

const LISTING = listingOf<Resource>([]);
