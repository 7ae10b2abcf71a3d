import { setImmediate as nextIteration } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { LoadedConfig } from '../config/load.ts';
import { resolveStations } from '../config/resolve.ts';
import { AUTH_SCHEMES } from '../config/upstream-schema.ts';
import { History, type Outage } from '../inventory/history.ts';
import { Exposition } from '../metrics/exposition.ts';
import type { OwnMetrics } from '../metrics/own-metrics.ts';
import type { CompressorPool } from '../metrics/segment.ts';
import { type EncodedSnapshot, StationEncoder } from '../metrics/station-encoder.ts';
import type { ListingFailure } from '../model/failure.ts';
import type { ListingContext, StationSource } from '../model/listing.ts';
import type { StationSpec } from '../model/station-spec.ts';
import type { TaskQueue } from '../model/task-queue.ts';
import { Fleet } from '../refresh/fleet.ts';
import type { RecordBudget } from '../refresh/record-budget.ts';
import { isOnShard, type Shard } from '../refresh/shard.ts';
import {
  type EndedAttempt,
  type Health,
  StationCache,
  type StationDependencies,
  type StationView,
} from '../refresh/station-cache.ts';
import { UpstreamClient } from '../upstream/http/client.ts';
import type { ListedPage, ListingObserver, RequestObserver } from '../upstream/http/observer.ts';
import { InternedTexts } from '../upstream/protocol/record.ts';
import { stationSource } from '../upstream/station-source.ts';
import type { ThrottleObserver } from './event-log.ts';
import { postponedEntry, refreshEntry } from './status.ts';
import { upstreamOptions } from './wiring.ts';

/** Services that outlive configuration reloads. */
export interface SharedServices {
  readonly own: OwnMetrics;
  readonly shard: Shard;
  readonly userAgent: string;
  /** For refreshes. */
  readonly tasks: TaskQueue;
  /** For scrapes and pages, which do not wait for refreshes. */
  readonly responseTasks: TaskQueue;
  readonly compressors: CompressorPool;
  readonly records: RecordBudget;
  readonly refreshed: (view: StationView<EncodedSnapshot>, attempt: EndedAttempt, outages: readonly Outage[]) => void;
  readonly postponed?: (spec: StationSpec, failure: ListingFailure) => void;
  /** Logs how an upstream throttles. */
  readonly throttleLog?: (upstream: string) => ThrottleObserver;
  readonly pageSizeReduced: (station: string | undefined, pageSize: number) => void;
  /** Observes the requests of all upstreams, for `check --live`. */
  readonly observer?: Pick<RequestObserver, 'retried'> &
    Required<Pick<RequestObserver, 'replied'>> &
    Pick<ListingObserver, 'pageReceived'>;
}

/** Everything that is built from one configuration. */
export interface Generation {
  readonly loaded: LoadedConfig;
  readonly exposition: Exposition;
  readonly fleet: Fleet<EncodedSnapshot>;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly stations: ReadonlyMap<string, StationCache<EncodedSnapshot>>;
  /** By station. A name keeps its history whatever else of the station changes. */
  readonly histories: ReadonlyMap<string, History>;
}

export interface Upstream {
  readonly url: string;
  readonly concurrency: number;
  readonly client: UpstreamClient;
  /** Creates one source per station: a source caches the pages it has read. */
  readonly newSource: () => StationSource;
  /** Publishes the metrics of the client. */
  readonly activate: () => void;
}

interface BuildOptions {
  /** Aborts the build. */
  readonly signal?: AbortSignal;
  /** Called with the finished generation, at a moment when no station of the old one has newer data. */
  readonly swap?: (next: Generation) => void;
}

/**
 * Builds a generation while the old one keeps serving; unchanged upstreams and stations are reused. Changes nothing of the old one, so
 * that it keeps working when this fails.
 */
export async function nextGeneration(
  loaded: LoadedConfig,
  old: Generation | undefined,
  services: SharedServices,
  { signal, swap }: BuildOptions = {},
): Promise<Generation> {
  const upstreams = connectUpstreams(loaded, old, services);
  const resumes: (() => void)[] = [];
  try {
    const { stations, histories, takeovers } = await connectStations({ loaded, upstreams }, old, services, signal);
    await takeOver(takeovers, stations, signal);
    // A refresh that ended meanwhile is taken over again, or counters that were already scraped would decrease. No further one
    // ends before the swap, or the takeover of busy stations would not end either.
    resumes.push(...takeovers.map(({ known }) => known.pause()));
    await takeOver(takeovers.filter(isOutdated), stations, signal);
    const fleet = new Fleet(stations.values(), (result, count) => services.own.recordReads(result, count));
    const exposition = new Exposition(new Set(loaded.config.metrics.disabled), services.responseTasks);
    const next = { loaded, exposition, fleet, upstreams, stations, histories };
    swap?.(next);
    return next;
  } catch (error) {
    await closeUpstreams(upstreams, old?.upstreams);
    throw error;
  } finally {
    for (const resume of resumes) resume();
  }
}

/** Refreshes stations that are new or whose upstream changed, so that a wrong credential is reported at once. */
export function startGeneration(next: Generation, old: Generation | undefined): void {
  const isChanged = (upstream: string) => old?.upstreams.get(upstream) !== next.upstreams.get(upstream);
  for (const [name, upstream] of next.upstreams) {
    const former = old?.upstreams.get(name);
    if (former === upstream) {
      upstream.client.forgetAuthFailure();
      continue;
    }
    if (old && former && isSameService(old.loaded, next.loaded, name)) upstream.client.takeOver(former.client);
    upstream.activate();
  }
  void next.fleet.start(({ upstream }) => isChanged(upstream));
}

/** Closes what the next generation, if any, does not reuse; its upstreams forget the stations that they no longer have. */
export async function endGeneration(old: Generation, next: Generation | undefined): Promise<void> {
  old.fleet.stop();
  for (const [name, station] of old.stations) if (next?.stations.get(name) !== station) station.close();
  for (const [name, { client }] of next?.upstreams ?? []) {
    const stations = Array.from(next?.stations.values() ?? [], ({ spec }) => spec).filter(
      ({ upstream }) => upstream === name,
    );
    client.retainStations(new Set(stations.map((spec) => spec.name)));
  }
  await closeUpstreams(old.upstreams, next?.upstreams);
}

type Upstreams = Generation['upstreams'];

async function closeUpstreams(upstreams: Upstreams, reused: Upstreams | undefined): Promise<void> {
  const unused = [...upstreams].filter(([name, upstream]) => reused?.get(name) !== upstream);
  await Promise.all(unused.map(([, { client }]) => client.close()));
}

/** A station that continues with the data of its predecessor. */
interface Takeover {
  readonly known: StationCache<EncodedSnapshot>;
  readonly spec: StationSpec;
  readonly dependencies: StationDependencies<EncodedSnapshot>;
  /** The state of the predecessor when its data was taken over. */
  health?: Health;
}

/** Every refresh replaces the health. */
function isOutdated({ known, health }: Takeover): boolean {
  return known.view().health !== health;
}

async function takeOver(
  takeovers: readonly Takeover[],
  stations: Map<string, StationCache<EncodedSnapshot>>,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const takeover of takeovers) {
    signal?.throwIfAborted();
    const { known, spec, dependencies } = takeover;
    takeover.health = known.view().health;
    stations.set(spec.name, await known.successor(spec, dependencies));
  }
}

/** Built in one event-loop iteration: other events wait for them. */
const BUILT_TOGETHER = 100;

/** The stations in the order of the configuration; those to be taken over are still the old ones. */
async function connectStations(
  { loaded, upstreams }: Pick<Generation, 'loaded' | 'upstreams'>,
  old: Generation | undefined,
  services: SharedServices,
  signal: AbortSignal | undefined,
) {
  const stations = new Map<string, StationCache<EncodedSnapshot>>();
  const histories = new Map<string, History>();
  const takeovers: Takeover[] = [];
  for (const spec of resolveStations(loaded.config).filter(({ name }) => isOnShard(name, services.shard))) {
    if (stations.size % BUILT_TOGETHER === 0) await nextIteration();
    signal?.throwIfAborted();
    const upstream = upstreams.get(spec.upstream) as Upstream;
    const encoder = new StationEncoder(spec, services.compressors);
    const history = old?.histories.get(spec.name) ?? new History();
    histories.set(spec.name, history);
    const dependencies: StationDependencies<EncodedSnapshot> = {
      source: upstream.newSource(),
      tasks: services.tasks,
      heldMs: () => upstream.client.heldMs(),
      encode: (publication) => encoder.encode(publication),
      refreshed: (view, attempt) => {
        history.add(refreshEntry(view, attempt));
        services.refreshed(view, attempt, history.outages);
      },
      postponed: (spec, failure) => {
        history.add(postponedEntry(failure, Date.now()));
        services.postponed?.(spec, failure);
      },
    };
    const known = old?.stations.get(spec.name);
    const before = old?.upstreams.get(spec.upstream);
    // The snapshot stays valid while the same data is requested from the same service, whatever else changed.
    const isReusable =
      known && isDeepStrictEqual(requestedData(known.spec), requestedData(spec)) && before?.url === upstream.url;
    stations.set(spec.name, isReusable ? known : new StationCache(spec, dependencies));
    const isUnchanged = upstream === before && isDeepStrictEqual(known?.spec, spec);
    if (isReusable && !isUnchanged) takeovers.push({ known, spec, dependencies });
  }
  return { stations, histories, takeovers };
}

/** The settings that determine the data of a station. */
function requestedData({ upstream, path, filters, products, alertability }: StationSpec) {
  return { upstream, path, filters, products, alertability };
}

function connectUpstreams(
  loaded: LoadedConfig,
  old: Generation | undefined,
  services: SharedServices,
): Map<string, Upstream> {
  const upstreams = new Map<string, Upstream>();
  for (const [name, config] of Object.entries(loaded.config.upstreams)) {
    const known = old?.upstreams.get(name);
    // Compares the raw configuration, because parsed secrets do not reveal their text to a comparison.
    if (old && known && isDeepStrictEqual(rawUpstream(old.loaded, name), rawUpstream(loaded, name))) {
      upstreams.set(name, known);
      continue;
    }
    const options = upstreamOptions(name, config, services.userAgent);
    const observer = services.own.upstreams.observer(name);
    const throttleLog = services.throttleLog?.(name);
    const client = new UpstreamClient(options, {
      ...observer,
      retried: () => {
        observer.retried();
        services.observer?.retried();
      },
      replied: (reply) => services.observer?.replied(reply),
      throttled: (status) => {
        observer.throttled();
        throttleLog?.throttled(status);
      },
      limited: (requestsPerSecond) => {
        observer.limited(requestsPerSecond);
        throttleLog?.limited(requestsPerSecond);
      },
    });
    const listingObserver = {
      readFailed: observer.readFailed,
      pageReceived: (page: ListedPage) => services.observer?.pageReceived(page),
      pageSizeReduced: ({ station }: ListingContext, pageSize: number) => {
        observer.pageSizeReduced();
        services.pageSizeReduced(station, pageSize);
      },
    };
    const shared = { records: services.records, texts: new InternedTexts() };
    const newSource = () =>
      stationSource((...page) => client.get(...page), options, services.tasks, listingObserver, shared);
    upstreams.set(name, {
      url: config.base_url.href,
      concurrency: options.concurrency,
      client,
      newSource,
      activate: observer.activate,
    });
  }
  return upstreams;
}

/** The same limits of the service apply to the same URL and credentials, whatever else changed. */
function isSameService(old: LoadedConfig, next: LoadedConfig, name: string): boolean {
  return ['base_url', 'http_headers', ...AUTH_SCHEMES].every((key) =>
    isDeepStrictEqual(rawUpstream(old, name)?.[key], rawUpstream(next, name)?.[key]),
  );
}

function rawUpstream({ raw }: LoadedConfig, name: string): Readonly<Record<string, unknown>> | undefined {
  const { upstreams } = raw as { readonly upstreams: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
  return upstreams[name];
}
