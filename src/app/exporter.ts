import type { LoadedConfig, LoadResult } from '../config/load.ts';
import { formatProblems } from '../config/problem.ts';
import { renderConfig } from '../config/resolve.ts';
import { ChangeLog } from '../inventory/changes.ts';
import type { HistoryEntry } from '../inventory/history.ts';
import { countOwners } from '../inventory/owner-counts.ts';
import { type SearchedStation, searchStations } from '../inventory/search.ts';
import { type Order, type Selection, selectResources } from '../inventory/selection.ts';
import type { StationDetail } from '../inventory/station-status.ts';
import { type Build, OwnMetrics, ProcessMetrics } from '../metrics/own-metrics.ts';
import { CompressorPool } from '../metrics/segment.ts';
import { type EncodedSnapshot, resourceLines } from '../metrics/station-encoder.ts';
import type { ExpositionFormat } from '../metrics/text-format.ts';
import type { Resource } from '../model/resource.ts';
import type { StationSpec } from '../model/station-spec.ts';
import { TaskQueue } from '../model/task-queue.ts';
import { untilAborted } from '../model/until-aborted.ts';
import { RecordBudget } from '../refresh/record-budget.ts';
import type { Shard } from '../refresh/shard.ts';
import type { Snapshot } from '../refresh/snapshot.ts';
import type { EndedAttempt, StationView } from '../refresh/station-cache.ts';
import type { WebObserver } from '../web/options.ts';
import type { ExporterPort, RejectedReload } from '../web/port.ts';
import { limitLog, logChanges, RefreshLog, throttleLog } from './event-log.ts';
import {
  endGeneration,
  type Generation,
  nextGeneration,
  type SharedServices,
  startGeneration,
  type Upstream,
} from './generation.ts';
import type { Logger } from './logger.ts';
import { stationDetail, stationStatus, upstreamStatuses, wereTried } from './status.ts';
import { recordLimits, userAgentOf } from './wiring.ts';

export interface ExporterOptions {
  /** Loads the current configuration. */
  readonly load: () => Promise<LoadResult>;
  readonly build: Build;
  readonly shard: Shard;
  readonly log: Logger;
  /** Publish prom-client's process and Node.js metrics. */
  readonly processMetrics: boolean;
  readonly droppedLogLines?: () => number;
  /** Log each change of a resource. */
  readonly logChanges?: boolean;
  /** Monotonic milliseconds. */
  readonly elapsedMs?: () => number;
}

/** Compression is a small part of a refresh: more threads would compete with the event loop for the CPU. */
const COMPRESSORS = 2;

/** The exporter is ready at the latest this long after its start. */
const MAX_UNREADY_MS = 60_000;

/** A reload that takes longer is logged, again and again. */
const SLOW_RELOAD_MS = 10_000;

/** The running exporter without its web server: holds the configuration in force and reloads it. The port has the types of its methods. */
export class Exporter implements ExporterPort {
  readonly #options: ExporterOptions;
  readonly #services: SharedServices;
  readonly #refreshLog: RefreshLog;
  readonly #changes: ChangeLog;
  readonly #initial: LoadedConfig;
  /** undefined: not started yet. */
  #current: Generation | undefined;
  readonly #closed = new AbortController();
  readonly #elapsedMs: () => number;
  readonly #createdMs: number;
  #wasReady = false;
  #rejectedReload: RejectedReload | undefined;
  #rendered: { readonly generation: Generation; readonly text: string } | undefined;
  #setStarted = () => {};
  /** Resolves once the stations exist; until then only `ready` and `webObserver` can be used. */
  readonly started = new Promise<void>((resolve) => {
    this.#setStarted = resolve;
  });

  constructor(loaded: LoadedConfig, options: ExporterOptions) {
    const { build, shard, log, processMetrics, droppedLogLines, elapsedMs = () => performance.now() } = options;
    const tasks = new TaskQueue();
    const own = new OwnMetrics(build, shard, processMetrics ? new ProcessMetrics() : undefined, droppedLogLines);
    const refreshLog = new RefreshLog(log);
    this.#options = options;
    this.#initial = loaded;
    this.#elapsedMs = elapsedMs;
    this.#createdMs = elapsedMs();
    this.#refreshLog = refreshLog;
    this.#changes = new ChangeLog(loaded.config.limits);
    this.#services = {
      own,
      records: new RecordBudget(recordLimits(loaded.config), (limit) => own.recordLimitsReached(limit)),
      shard,
      userAgent: userAgentOf(build),
      tasks,
      responseTasks: new TaskQueue(),
      compressors: new CompressorPool(tasks, COMPRESSORS),
      refreshed: (view, attempt, outages) => {
        refreshLog.refreshed(view, outages);
        this.#recordChanges(view, attempt);
      },
      postponed: (spec, failure) => refreshLog.postponed(spec, failure),
      pageSizeReduced: (station, pageSize) => refreshLog.pageSizeReduced(station, pageSize),
      throttleLog: (upstream) => throttleLog(log, upstream),
    };
  }

  /** Starts the first refresh of every station without waiting for it. */
  async start(): Promise<void> {
    await this.#replaceGeneration(this.#initial);
    this.recordWebReload(true);
    this.#setStarted();
  }

  get #generation(): Generation {
    if (!this.#current) throw new Error('the exporter has not started');
    return this.#current;
  }

  async scrape(format: ExpositionFormat, station: string | undefined, signal: AbortSignal) {
    const { fleet, exposition } = this.#generation;
    const views = await fleet.read(signal, station);
    if (station !== undefined) return exposition.stationBody(views, format);
    return exposition.fullBody(views, this.#ownMetrics(), format);
  }

  async scrapeOwn(format: ExpositionFormat) {
    const { fleet, exposition } = this.#generation;
    return exposition.ownBody(fleet.views(), this.#ownMetrics(), format);
  }

  /** With the load of the clients in force: a reload may have replaced them while a scrape waited. */
  #ownMetrics(): OwnMetrics {
    const { own, records } = this.#services;
    for (const [name, { client }] of this.#generation.upstreams) own.upstreams.recordLoad(name, client.load());
    own.recordRecords(records);
    return own;
  }

  specs() {
    return Array.from(this.#generation.stations.values(), ({ spec }) => spec);
  }

  has(name: string) {
    return this.#generation.stations.has(name);
  }

  stations() {
    const { fleet, upstreams, histories } = this.#generation;
    return fleet
      .views()
      .map((view) =>
        stationStatus(view, upstreams.get(view.spec.upstream) as Upstream, histories.get(view.spec.name)?.outages),
      );
  }

  upstreams() {
    const { fleet, upstreams } = this.#generation;
    return upstreamStatuses(upstreams, fleet.views());
  }

  owners(station?: string) {
    const views = this.#generation.fleet.views().filter(({ spec }) => station === undefined || spec.name === station);
    const stations = views.flatMap(({ spec: { alertability }, served }) =>
      served ? [{ aggregates: served.encoded.aggregates, alertability }] : [],
    );
    return countOwners(stations, views[0]?.spec.resourceLabels.names ?? [], this.#services.responseTasks);
  }

  station(name: string): StationDetail | undefined {
    const { fleet, upstreams, stations, histories, loaded } = this.#generation;
    const view = stations.get(name)?.view();
    if (view === undefined) return undefined;
    const upstream = upstreams.get(view.spec.upstream) as Upstream;
    return {
      ...stationDetail(view, upstream, fleet.views(), histories.get(name)?.outages),
      links: loaded.config.links,
    };
  }

  history(name: string) {
    return this.#generation.histories.get(name)?.newestFirst();
  }

  changes(name: string) {
    return this.#changes.of(name);
  }

  refresh(name: string): Promise<HistoryEntry | undefined> | number | undefined {
    const { stations, histories } = this.#generation;
    const history = histories.get(name);
    const refreshes = history?.refreshes;
    const refresh = stations.get(name)?.refreshNow();
    return typeof refresh === 'object'
      ? refresh.then(() => (history?.refreshes === refreshes ? undefined : history?.latest()))
      : refresh;
  }

  select(snapshot: Snapshot, selection: Selection, order: Order | undefined, signal: AbortSignal) {
    return selectResources(snapshot.parts, selection, order, this.#services.responseTasks, signal);
  }

  search(selection: Selection, order: Order | undefined, signal: AbortSignal) {
    return searchStations(searchedStations(this.#generation), selection, order, this.#services.responseTasks, signal);
  }

  seriesOf(spec: StationSpec, resource: Resource) {
    return resourceLines(spec, resource);
  }

  /** Stays true once it is: stations added by a reload do not make the exporter unready. */
  ready() {
    this.#wasReady ||= this.#current !== undefined && this.#isReady(this.#current);
    return this.#wasReady;
  }

  #isReady({ fleet, upstreams }: Generation): boolean {
    return this.#elapsedMs() - this.#createdMs >= MAX_UNREADY_MS || wereTried(fleet.views(), upstreams);
  }

  /** Rendered once per generation: a large configuration takes a hundred milliseconds. */
  configuration() {
    const generation = this.#generation;
    if (this.#rendered?.generation !== generation)
      this.#rendered = { generation, text: renderConfig(generation.loaded.config) };
    return this.#rendered.text;
  }

  rejectedReload() {
    return this.#rejectedReload;
  }

  /** The problems of the configuration, or none. One reload runs and at most one waits, which serves all who request it meanwhile. */
  readonly reload = coalesced(() => this.#logWhileSlow(this.#reload()));

  /** Counts the connections and the limits that the web server reaches, and logs the latter. */
  webObserver(): WebObserver {
    const logLimit = limitLog(this.#options.log);
    return {
      limitReached: (limit, client) => {
        this.#services.own.recordWebLimit(limit);
        logLimit(limit, client);
      },
      connections: (open) => this.#services.own.recordWebConnections(open),
    };
  }

  recordWebReload(successful: boolean): void {
    this.#services.own.recordReload(successful, Date.now(), 'web_config');
  }

  /** Does not wait for reloads: a running one is abandoned. */
  async close(): Promise<void> {
    this.#closed.abort();
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
      this.#services.own.recordReload(false, Date.now());
      const problems = formatProblems(result.problems);
      this.#rejectedReload = { atMs: Date.now(), problems };
      for (const problem of problems) log.error('configuration reload failed', { problem });
      return problems;
    } catch (error) {
      if (signal.aborted) return ['the exporter is shutting down'];
      this.#services.own.recordReload(false, Date.now());
      throw error;
    }
  }

  async #logWhileSlow<T>(reload: Promise<T>): Promise<T> {
    const startMs = this.#elapsedMs();
    const timer = setInterval(() => {
      const seconds = Math.round((this.#elapsedMs() - startMs) / 1000);
      this.#options.log.warn('configuration reload is still running', { duration_seconds: seconds });
    }, SLOW_RELOAD_MS).unref();
    try {
      return await reload;
    } finally {
      clearInterval(timer);
    }
  }

  async #replaceGeneration(loaded: LoadedConfig): Promise<void> {
    const old = this.#current;
    let ended: Promise<void> | undefined;
    const swap = (next: Generation) => {
      this.#closed.signal.throwIfAborted();
      startGeneration(next, old);
      this.#current = next;
      this.#rejectedReload = undefined;
      this.#services.own.recordReload(true, Date.now());
      for (const warning of loaded.warnings) this.#options.log.warn('configuration warning', { warning });
      if (old) ended = this.#retire(old, next);
    };
    await nextGeneration(loaded, old, this.#services, { signal: this.#closed.signal, swap });
    await ended;
  }

  #recordChanges({ spec: { name }, health }: StationView<EncodedSnapshot>, { changes }: EndedAttempt): void {
    if (changes === undefined) return;
    this.#changes.add(name, Number(health.lastAttemptMs), changes);
    if (this.#options.logChanges) logChanges(this.#options.log, name, changes);
  }

  #retire(old: Generation, next: Generation): Promise<void> {
    const { own, records } = this.#services;
    const names = new Set(next.stations.keys());
    records.limits = recordLimits(next.loaded.config);
    records.retainStations(names);
    for (const name of old.upstreams.keys()) if (!next.upstreams.has(name)) own.upstreams.remove(name);
    this.#refreshLog.retainStations(names);
    this.#changes.retainStations(names, next.loaded.config.limits);
    this.#options.log.info('configuration reloaded', { stations: next.stations.size });
    return endGeneration(old, next);
  }
}

/** Reads the snapshot of a station when the search reaches it, so that a long search holds no others. */
function searchedStations({ stations }: Generation): readonly SearchedStation[] {
  return Array.from(stations, ([name, cache]) => ({ name, parts: cache.view().served?.publication.snapshot.parts }));
}

/** Runs the work once at a time. Calls while it runs share one further run, which starts when it ends. */
function coalesced<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let waiting: Promise<T> | undefined;
  const run = () => {
    waiting = undefined;
    running = work().finally(() => {
      running = undefined;
    });
    return running;
  };
  return () => {
    if (waiting) return waiting;
    if (!running) return run();
    waiting = running.then(run, run);
    return waiting;
  };
}
