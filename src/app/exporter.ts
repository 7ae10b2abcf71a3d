import type { LoadedConfig, LoadResult } from '../config/load.ts';
import { formatProblems } from '../config/problem.ts';
import { renderConfig } from '../config/resolve.ts';
import type { OwnMetrics } from '../exposition/own-metrics.ts';
import type { ExpositionFormat } from '../exposition/text-format.ts';
import type { LogFields } from '../journal/logger.ts';
import { rareWarning } from '../journal/rare-warning.ts';
import type { Deadline } from '../model/clock.ts';
import type { RejectedReload } from '../problems/problems.ts';
import { type RemovedStations, removedAfter } from '../problems/removed-stations.ts';
import { type Selection, searchStations } from '../query/selection.ts';
import { countOwners } from '../status/owners.ts';
import { type ScrapeSize, scrapeSize } from '../status/scrape-size.ts';
import { untilAborted } from '../tasks/until-aborted.ts';
import { namesText } from '../text/words.ts';
import type { ExporterPort, WebObserver } from '../web/port.ts';
import {
  endGeneration,
  type Generation,
  idsOf,
  nextGeneration,
  recordLimits,
  type ServicesOptions,
  type SharedServices,
  sharedServices,
  startGeneration,
} from './composition.ts';
import { stationDetail, statusesOf, upstreamStatuses } from './status.ts';

export interface ExporterOptions extends ServicesOptions {
  readonly load: () => Promise<LoadResult>;
}

/** Compression is a small part of a refresh: more threads would compete with the event loop for the CPU. */
const EXPORTER_COMPRESSORS = 2;

const MAX_UNREADY_MS = 60_000;

/** A limit of the web server that is reached once is often reached thousands of times. */
const LIMIT_LOG_MS = 60_000;

/** The running exporter without its web server: holds the configuration in force and reloads it. The port has the types of its methods. */
export class Exporter implements ExporterPort {
  readonly #options: ExporterOptions;
  readonly #services: SharedServices;
  readonly #initial: LoadedConfig;
  #current: Generation | undefined;
  readonly #closed = new AbortController();
  readonly #elapsedMs: () => number;
  readonly #createdMs: number;
  #wasReady = false;
  readonly #rejected: { main?: RejectedReload | undefined; web?: RejectedReload | undefined } = {};
  #removed: RemovedStations | undefined;
  #scrapeSize: ScrapeSize | undefined;
  #configuration: string | undefined;
  #loadedMs = 0;
  #setStarted = () => {};
  /** Resolves once the stations exist; until then only `ready` and `webObserver` can be used. */
  readonly started = new Promise<void>((resolve) => {
    this.#setStarted = resolve;
  });

  constructor(loaded: LoadedConfig, options: ExporterOptions) {
    this.#options = options;
    this.#initial = loaded;
    this.#elapsedMs = options.elapsedMs ?? (() => performance.now());
    this.#createdMs = this.#elapsedMs();
    const peersOf = (upstream: string) =>
      [...(this.#current?.stations.values() ?? [])].filter(({ spec }) => spec.upstream === upstream);
    this.#services = sharedServices(loaded, { ...options, peersOf }, EXPORTER_COMPRESSORS);
  }

  async start(): Promise<void> {
    await this.#replaceGeneration(this.#initial);
    this.recordReload('web', []);
    this.#setStarted();
  }

  get #generation(): Generation {
    if (!this.#current) throw new Error('the exporter has not started');
    return this.#current;
  }

  async scrape(format: ExpositionFormat, station: string | undefined, deadline: Deadline) {
    const { fleet, exposition } = this.#generation;
    const views = await fleet.read(deadline, station);
    if (station !== undefined) return exposition.probeBody(views, Date.now(), format);
    const own = this.#ownMetrics();
    const body = await exposition.fullBody(views, own, format);
    this.#scrapeSize = scrapeSize(body, views);
    own.recordScrape(body);
    return body;
  }

  scrapeSize() {
    return this.#scrapeSize;
  }

  async scrapeOwn(format: ExpositionFormat) {
    const { fleet, exposition } = this.#generation;
    return exposition.ownBody(fleet.views(), this.#ownMetrics(), format);
  }

  /** With the load of the clients in force: a reload may have replaced them while a scrape waited. */
  #ownMetrics(): OwnMetrics {
    const { own, records } = this.#services;
    for (const [name, { limiter }] of this.#generation.upstreams) own.upstreams.recordLoad(name, limiter.load());
    own.recordRecords(records);
    own.recordTime(Date.now());
    return own;
  }

  get isSharded() {
    return this.#options.shard.total > 1;
  }

  specs() {
    return Array.from(this.#generation.stations.values(), ({ spec }) => spec);
  }

  has(name: string) {
    return this.#generation.stations.has(name);
  }

  stations() {
    return statusesOf(this.#generation);
  }

  upstreams() {
    return upstreamStatuses(this.#generation);
  }

  owners(station?: string, types?: 'with types') {
    const views = this.#generation.fleet.views().filter(({ spec }) => station === undefined || spec.name === station);
    const stations = views.flatMap(({ served }) => (served ? [served.data] : []));
    return countOwners(stations, views[0]?.spec.resourceLabels.names ?? [], types);
  }

  station(name: string) {
    return stationDetail(this.#generation, name, this.#services.changes);
  }

  changes(name: string) {
    return this.#services.changes.of(name);
  }

  search(selection: Selection, sort: string, signal: AbortSignal) {
    const stations = this.#generation.fleet.views().map(({ spec, served }) => ({
      name: spec.name,
      alertability: served?.data.spec.alertability ?? false,
      parts: served?.data.snapshot.parts,
    }));
    return searchStations(stations, selection, sort, signal);
  }

  /** Stays true once it is: stations added by a reload do not make the exporter unready. */
  ready() {
    if (this.#wasReady || this.#current === undefined) return this.#wasReady;
    const hasWaitedLong = this.#elapsedMs() - this.#createdMs >= MAX_UNREADY_MS;
    const areTried = this.#current.fleet.views().every(({ health }) => health.lastAttemptMs !== undefined);
    this.#wasReady = hasWaitedLong || areTried;
    return this.#wasReady;
  }

  /** Rendered once per generation: a large configuration takes a hundred milliseconds. */
  configuration() {
    this.#configuration ??= renderConfig(this.#generation.loaded.config);
    return this.#configuration;
  }

  configurationFile() {
    return { file: this.#generation.loaded.file, loadedMs: this.#loadedMs };
  }

  rejectedReload() {
    return this.#rejected.main;
  }

  rejectedWebReload() {
    return this.#rejected.web;
  }

  removedStations() {
    return this.#removed;
  }

  /** The problems of the configuration, or none. One reload runs and at most one waits, which serves all who request it meanwhile. */
  readonly reload = coalesced(() => this.#reload());

  webObserver(): WebObserver {
    const warn = rareWarning(this.#options.log, 'limit of the web server reached', LIMIT_LOG_MS);
    return {
      limitReached: (limit, client) => {
        this.#services.own.metrics.web_limits_reached_total.inc({ limit });
        warn(limit, { limit, client });
      },
    };
  }

  /** `isInternal`: the problem is a bug of the exporter. */
  recordReload(config: 'main' | 'web', problems: readonly string[], isInternal = false): void {
    const nowMs = Date.now();
    const isRejected = problems.length > 0;
    this.#services.own.recordReload(config, !isRejected, nowMs);
    const { atMs = nowMs } = this.#rejected[config] ?? {};
    this.#rejected[config] = isRejected ? { atMs, problems, ...(isInternal && { isInternal }) } : undefined;
  }

  /** Does not wait for reloads: a running one is abandoned. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#services.lines.writeAll();
    if (this.#current) await endGeneration(this.#current, undefined);
  }

  async #reload(): Promise<readonly string[]> {
    const { signal } = this.#closed;
    const { log, load } = this.#options;
    try {
      signal.throwIfAborted();
      await untilAborted(this.started, signal);
      const result = await untilAborted(load(), signal);
      if (result.ok) {
        await this.#replaceGeneration(result);
        return [];
      }
      const problems = formatProblems(result.problems);
      this.recordReload('main', problems);
      for (const problem of problems) log.error('configuration reload failed', { problem });
      return problems;
    } catch (error) {
      if (signal.aborted) return ['the exporter is shutting down'];
      this.recordReload('main', ['internal error (exporter bug), which the log shows'], true);
      throw error;
    }
  }

  #replaceGeneration(loaded: LoadedConfig): Promise<void> {
    const old = this.#current;
    const { signal } = this.#closed;
    const swap = (next: Generation) => {
      signal.throwIfAborted();
      for (const name of next.upstreams.keys()) this.#services.own.upstreams.add(name);
      startGeneration(next, old);
      this.#current = next;
      this.#configuration = undefined;
      this.#loadedMs = Date.now();
      this.recordReload('main', []);
      for (const warning of loaded.warnings) this.#options.log.warn('configuration warning', { warning });
      return old && this.#retire(old, next);
    };
    return nextGeneration(loaded, old, this.#services, swap, signal);
  }

  #retire(old: Generation, next: Generation): Promise<void> {
    const { own, records, changes, lines } = this.#services;
    const names = new Set(next.stations.keys());
    records.limits = recordLimits(next.loaded.config, next.stations.size);
    records.retainStations(new Set([...next.stations.values()].flatMap(idsOf)));
    for (const name of old.upstreams.keys()) if (!next.upstreams.has(name)) own.upstreams.remove(name);
    changes.retainStations(names, next.loaded.config.limits);
    lines.writeAll();
    this.#logReload(old.stations, next.stations);
    return endGeneration(old, next);
  }

  #logReload(old: Generation['stations'], next: Generation['stations']): void {
    const { log } = this.#options;
    const added = [...next.keys()].filter((name) => !old.has(name));
    const removed = [...old.keys()].filter((name) => !next.has(name));
    const changed = [...next].flatMap(([name, station]) => (old.has(name) && old.get(name) !== station ? name : []));
    log.info('configuration reloaded', {
      stations: next.size,
      ...namedFields('added', added),
      ...namedFields('removed', removed),
      ...namedFields('changed', changed),
    });
    const nowMs = Date.now();
    this.#removed = removedAfter(this.#removed, [...old.keys()], next, nowMs);
    if (this.#removed?.atMs === nowMs)
      log.warn('many stations removed by the reload, their alerts will end', {
        ...namedFields('removed', removed),
        before: old.size,
      });
  }
}

/** How many stations, and the first names. */
function namedFields(what: 'added' | 'removed' | 'changed', names: readonly string[]): LogFields {
  return {
    [what]: names.length,
    ...(names.length > 0 && { [`${what}_stations`]: namesText(names) }),
  };
}

/** Runs the work once at a time. Calls while it runs share one further run, which starts when it ends. */
function coalesced<T>(work: () => Promise<T>): () => Promise<T> {
  let latest: Promise<unknown> = Promise.resolve();
  let waiting: Promise<T> | undefined;
  const run = () => {
    waiting = undefined;
    return work();
  };
  return () => {
    waiting ??= latest.then(run, run);
    latest = waiting;
    return waiting;
  };
}
