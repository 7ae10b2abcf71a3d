import type { LoadResult } from './config/load.ts';
import { formatProblem } from './config/problem.ts';
import { renderConfig } from './config/render.ts';
import { endGeneration, type Generation, type LoadedConfig, nextGeneration, type Surroundings, startGeneration } from './generation.ts';
import type { Logger } from './logger.ts';
import type { Body } from './metrics/body.ts';
import type { ExpositionFormat } from './metrics/encoding.ts';
import { type Build, OwnMetrics } from './metrics/own-metrics.ts';
import { resourceLines, type StationForm } from './metrics/station-encoder.ts';
import { Workshop } from './metrics/workshop.ts';
import type { Resource } from './station/resource.ts';
import { type Order, type Selection, selectResources } from './station/selection.ts';
import type { Shard } from './station/shard.ts';
import type { Snapshot } from './station/snapshot.ts';
import type { StationSpec } from './station/spec.ts';
import type { StationView } from './station/station-cache.ts';
import { Turns } from './station/turns.ts';
import { detailOf, statusOf } from './status.ts';
import type { ExporterPort, StationDetail, StationStatus } from './web/port.ts';
import { userAgentOf } from './wiring.ts';

export interface ExporterOptions {
  /** Reads the configuration as it is now. */
  readonly load: () => Promise<LoadResult>;
  readonly build: Build;
  readonly shard: Shard;
  readonly log: Logger;
  /** Whether to publish the metrics of the process and of Node as well. */
  readonly processMetrics: boolean;
}

/** Compressing is a fraction of the work: more threads at it would only take the core away from the one that serves. */
const PRESSES = 2;

/** A running exporter without its web server: one configuration in force, and the way to the next. */
export class Exporter implements ExporterPort {
  readonly #options: ExporterOptions;
  readonly #around: Surroundings;
  #generation: Generation;
  #reloading: Promise<unknown> = Promise.resolve();
  #wasReady = false;

  private constructor(options: ExporterOptions, around: Surroundings, generation: Generation) {
    this.#options = options;
    this.#around = around;
    this.#generation = generation;
  }

  /** Begins with a first refresh of every station, which it does not wait for. */
  static async start(loaded: LoadedConfig, options: ExporterOptions): Promise<Exporter> {
    const { build, shard, log, processMetrics } = options;
    const turns = new Turns();
    const around = {
      own: new OwnMetrics(build, shard, processMetrics),
      shard,
      userAgent: userAgentOf(build),
      turns,
      workshop: new Workshop(turns, PRESSES),
      refreshed: (view: StationView<StationForm>) => logRefresh(log, view),
      pageSizeReduced: (station: string | undefined, pageSize: number) =>
        log.warn('the service found a page too large, this refresh goes on with smaller ones', { station, page_size: pageSize }),
    };
    const exporter = new Exporter(options, around, await nextGeneration(loaded, undefined, around));
    around.own.reloaded(true, Date.now());
    startGeneration(exporter.#generation, undefined);
    return exporter;
  }

  async scrape(format: ExpositionFormat, station: string | undefined, signal: AbortSignal): Promise<Body> {
    const { fleet, exposition } = this.#generation;
    const views = await fleet.read(signal, station);
    return station === undefined ? exposition.everything(views, this.#around.own, format) : exposition.stations(views, format);
  }

  names(): readonly string[] {
    return [...this.#generation.stations.keys()];
  }

  stations(): readonly StationStatus[] {
    return this.#generation.fleet.views().map(statusOf);
  }

  station(name: string): StationDetail | undefined {
    const view = this.#generation.stations.get(name)?.view();
    return view && detailOf(view);
  }

  select(snapshot: Snapshot, selection: Selection, order: Order | undefined): Promise<readonly Resource[]> {
    return selectResources(snapshot.parts, selection, order, this.#around.turns);
  }

  linesOf(spec: StationSpec, resource: Resource): string {
    return resourceLines(spec, resource, this.#generation.encoding);
  }

  /** Once ready it stays so: a station that a reload adds does not take the others out of service. */
  ready(): boolean {
    this.#wasReady ||= this.#generation.fleet.ready();
    return this.#wasReady;
  }

  configuration(): string {
    return renderConfig(this.#generation.loaded.config);
  }

  /** One at a time; each sees the file as it is when its turn comes. */
  reload(): Promise<readonly string[]> {
    const turn = this.#reloading.then(() => this.#reload());
    this.#reloading = turn.catch(() => undefined);
    return turn;
  }

  async close(): Promise<void> {
    await this.#reloading;
    await endGeneration(this.#generation, undefined);
  }

  async #reload(): Promise<readonly string[]> {
    const { log, load } = this.#options;
    const result = await load();
    if (!result.ok) {
      this.#around.own.reloaded(false, Date.now());
      const problems = result.problems.map(formatProblem);
      for (const problem of problems) log.error('the configuration was not reloaded', { problem });
      return problems;
    }
    const old = this.#generation;
    const next = await nextGeneration(result, old, this.#around);
    old.fleet.stop();
    this.#generation = next;
    startGeneration(next, old);
    this.#around.own.reloaded(true, Date.now());
    log.info('the configuration was reloaded', { stations: next.stations.size });
    await endGeneration(old, next);
    for (const name of old.upstreams.keys()) if (!next.upstreams.has(name)) this.#around.own.forget(name);
    return [];
  }
}

function logRefresh(log: Logger, { spec, health, served }: StationView<StationForm>): void {
  const seconds = Math.round(Number(health.durationMs)) / 1000;
  if (health.failure) {
    const { reason, message, error } = health.failure;
    // Only our own bugs come with where they happened: the service's failures are told by their message.
    const stack = reason === 'internal' && error instanceof Error ? error.stack : undefined;
    log.warn('refresh failed', { station: spec.name, reason, error: message, seconds, stack });
    return;
  }
  const snapshot = served?.publication.snapshot;
  const fields = { station: spec.name, resources: snapshot?.size, pages: snapshot?.pages, seconds };
  if (snapshot?.complete) log.debug('refreshed', fields);
  else log.warn('refreshed, but the listing is not proven whole', { ...fields, reported: snapshot?.reportedTotal });
}
