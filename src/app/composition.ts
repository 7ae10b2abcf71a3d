import { isDeepStrictEqual } from 'node:util';
import { getHeapStatistics } from 'node:v8';
import { COLLECTED_FAMILIES, stationCollectors } from '../collectors/collectors.ts';
import type { LoadedConfig } from '../config/load.ts';
import { resolveStations } from '../config/resolve.ts';
import { Exposition } from '../exposition/exposition.ts';
import { type Build, collectProcessMetrics, OwnMetrics } from '../exposition/own-metrics.ts';
import { CompressorPool } from '../exposition/segment.ts';
import { oncePer, rareWarning } from '../journal/rare-warning.ts';
import { SharedLines, type SharedLinesOptions } from '../journal/shared-lines.ts';
import { type JournalOptions, REPEAT_MS, StationJournal } from '../journal/station-journal.ts';
import { HOUR_MS } from '../model/clock.ts';
import type { RecordLimits, UpstreamAccess } from '../model/failure.ts';
import { ChangeLog } from '../resources/changes.ts';
import type { Resources } from '../resources/collector.ts';
import { InternedTexts } from '../resources/interned-texts.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import type { RequestLimiter } from '../service/admission/request-limiter.ts';
import { SCHEME_NAMES } from '../service/auth/schemes.ts';
import { UpstreamClient } from '../service/http/client.ts';
import type { ListingObserver, RequestObserver } from '../service/request-observer.ts';
import { stationSource } from '../service/station-source.ts';
import { upstreamAccess } from '../service/upstream-access.ts';
import { type UpstreamOptions, upstreamOptions } from '../service/upstream-options.ts';
import { Fleet } from '../stations/fleet.ts';
import { RecordBudget } from '../stations/record-budget.ts';
import { isOnShard, type Shard } from '../stations/shard.ts';
import { StationCache } from '../stations/station-cache.ts';
import { SerialQueue } from '../tasks/serial-queue.ts';
import { yieldToEventLoop } from '../tasks/yield-to-event-loop.ts';

export interface ServicesOptions
  extends Omit<JournalOptions, 'changes' | 'lines' | 'statesDue'>,
    Pick<SharedLinesOptions, 'peersOf'> {
  readonly build: Build;
  readonly shard: Shard;
  readonly processMetrics?: boolean;
  readonly observer?: Partial<Pick<ListingObserver, 'pageReceived'>>;
}

/** Services that outlive configuration reloads. */
export type SharedServices = Readonly<ReturnType<typeof sharedServices>>;

export function sharedServices({ config }: LoadedConfig, options: ServicesOptions, compressors: number) {
  const { build, shard, processMetrics } = options;
  const own = new OwnMetrics(build, shard, processMetrics ? collectProcessMetrics() : undefined);
  return {
    ...options,
    own,
    replies: new SerialQueue(),
    compressors: new CompressorPool(compressors),
    records: new RecordBudget(recordLimits(config, stationsOf(config, shard).length)),
    changes: new ChangeLog(config.limits),
    lines: new SharedLines(options),
    statesDue: oncePer(REPEAT_MS),
  };
}

/** Everything that is built from one configuration. */
export interface Generation {
  readonly loaded: LoadedConfig;
  readonly exposition: Exposition;
  readonly fleet: Fleet<Resources>;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly stations: ReadonlyMap<string, StationCache<Resources>>;
  readonly journals: ReadonlyMap<string, StationJournal>;
}

export interface Upstream {
  /** As configured: parsed secrets do not reveal their text to a comparison. */
  readonly raw: Readonly<Record<string, unknown>>;
  readonly options: UpstreamOptions;
  readonly access: UpstreamAccess;
  readonly client: UpstreamClient;
  readonly limiter: RequestLimiter;
  readonly texts: InternedTexts;
  /** The page sizes that stations have reduced since the latest reload, by their names. */
  readonly reducedPageSizes: Map<string, number>;
}

/**
 * Builds a generation while the old one keeps serving; unchanged upstreams and stations are reused. Changes nothing of the old one, so
 * that it keeps working when this fails. `swap` is called with the finished generation; what it returns is the result. The signal aborts
 * the build.
 */
export async function nextGeneration<Result>(
  loaded: LoadedConfig,
  old: Generation | undefined,
  services: SharedServices,
  swap: (next: Generation) => Result | Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const upstreams = connectUpstreams(loaded, old, services);
  try {
    const connected = await connectStations({ loaded, upstreams }, old, services, signal);
    const fleet = new Fleet(connected.stations.values());
    const exposition = new Exposition(COLLECTED_FAMILIES, new Set(loaded.config.metrics.disabled));
    return swap({ loaded, exposition, fleet, upstreams, ...connected });
  } catch (error) {
    await closeUpstreams(upstreams, old?.upstreams);
    throw error;
  }
}

/** Puts changed stations in the place of their predecessors, and refreshes them and new ones at once. */
export function startGeneration(next: Generation, old: Generation | undefined): void {
  for (const [name, upstream] of next.upstreams) {
    const former = old?.upstreams.get(name);
    if (!isSameService(former, upstream)) continue;
    if (former === upstream) {
      upstream.client.forgetAuthFailure();
      upstream.reducedPageSizes.clear();
    } else upstream.limiter.takeOver(former.limiter);
  }
  for (const [name, station] of next.stations) {
    const predecessor = old?.stations.get(name);
    if (predecessor === undefined || predecessor === station) continue;
    const upstream = next.upstreams.get(station.spec.upstream) as Upstream;
    station.replace(predecessor, isSameService(old?.upstreams.get(predecessor.spec.upstream), upstream));
  }
  void next.fleet.start();
}

/** Closes what the next generation, if any, does not reuse; its upstreams forget the stations that they no longer have. */
export async function endGeneration(old: Generation, next: Generation | undefined): Promise<void> {
  old.fleet.stop();
  for (const [name, station] of old.stations) if (next?.stations.get(name) !== station) station.close();
  const stations = [...(next?.stations.values() ?? [])];
  for (const [name, { limiter }] of next?.upstreams ?? [])
    limiter.stations.retainStations(
      new Set(stations.flatMap((station) => (station.spec.upstream === name ? idsOf(station) : []))),
    );
  await closeUpstreams(old.upstreams, next?.upstreams);
}

type Upstreams = Generation['upstreams'];

async function closeUpstreams(upstreams: Upstreams, reused: Upstreams | undefined): Promise<void> {
  const unused = [...upstreams].filter(([name, upstream]) => reused?.get(name) !== upstream);
  await Promise.all(unused.map(([, { client }]) => client.close()));
}

/** Under which names admission and limits know a station and its further collectors. */
export function idsOf({ id, further }: StationCache<Resources>): readonly string[] {
  return [id, ...further.map((cache) => cache.id)];
}

export function stationsOf(config: LoadedConfig['config'], shard: Shard): readonly ResourceSpec[] {
  return resolveStations(config).filter(({ name }) => isOnShard(name, shard));
}

/** Built in one event-loop iteration: other events wait for them. */
const BUILT_TOGETHER = 100;

async function connectStations(
  { loaded, upstreams }: Pick<Generation, 'loaded' | 'upstreams'>,
  old: Generation | undefined,
  services: SharedServices,
  signal: AbortSignal | undefined,
) {
  const stations = new Map<string, StationCache<Resources>>();
  const journals = new Map<string, StationJournal>();
  for (const spec of stationsOf(loaded.config, services.shard)) {
    if (stations.size % BUILT_TOGETHER === 0) await yieldToEventLoop();
    signal?.throwIfAborted();
    const upstream = upstreams.get(spec.upstream) as Upstream;
    const journal = old?.journals.get(spec.name) ?? new StationJournal(spec.name, services);
    journals.set(spec.name, journal);
    const known = old?.stations.get(spec.name);
    const isUnchanged = upstream === old?.upstreams.get(spec.upstream) && isDeepStrictEqual(known?.spec, spec);
    stations.set(spec.name, known && isUnchanged ? known : newStation(spec, upstream, journal, services));
  }
  return { stations, journals };
}

function newStation(
  spec: ResourceSpec,
  upstream: Upstream,
  journal: StationJournal,
  services: SharedServices,
): StationCache<Resources> {
  const { client, options, texts, reducedPageSizes } = upstream;
  const { own, records, replies, compressors } = services;
  const observer: Partial<ListingObserver> = {
    ...services.observer,
    readFailed: own.upstreams.observer(spec.upstream).readFailed,
    pageSizeReduced: (_context, pageSize) => journal.pageSizeReduced(pageSize),
  };
  /** A bug of the journal is no failure of the station. */
  const journaled = (write: () => void) => {
    try {
      write();
    } catch (error) {
      services.log.error('internal error (exporter bug)', { station: spec.name, error });
    }
  };
  const newSource = () => stationSource(spec.path, { client, options, replies, reducedPageSizes, records, observer });
  return new StationCache<Resources>(spec, {
    ...stationCollectors(spec, { newSource, texts, compressors }),
    upstream: upstream.limiter,
    refreshed: (...attempt) => journaled(() => journal.refreshed(...attempt)),
    furtherRefreshed: (view) => journaled(() => journal.furtherRefreshed(view)),
    postponed: (failure) => journaled(() => journal.postponed(failure)),
  });
}

function connectUpstreams(
  loaded: LoadedConfig,
  old: Generation | undefined,
  services: SharedServices,
): Map<string, Upstream> {
  const upstreams = new Map<string, Upstream>();
  const { upstreams: given } = loaded.raw as { readonly upstreams: Readonly<Record<string, Upstream['raw']>> };
  for (const [name, config] of Object.entries(loaded.config.upstreams)) {
    const raw = given[name] as Upstream['raw'];
    const known = old?.upstreams.get(name);
    if (known && isDeepStrictEqual(known.raw, raw)) {
      upstreams.set(name, known);
      continue;
    }
    const options = upstreamOptions(name, config, `telemetry-station-exporter/${services.build.version}`);
    const client = new UpstreamClient(options, requestObserver(name, services));
    const access = upstreamAccess(options);
    const { limiter } = client;
    const texts = new InternedTexts();
    upstreams.set(name, { raw, options, access, client, limiter, texts, reducedPageSizes: new Map() });
  }
  return upstreams;
}

function requestObserver(upstream: string, { own, log }: SharedServices): Partial<RequestObserver> {
  const metrics = own.upstreams.observer(upstream);
  const warn = rareWarning(log, 'upstream throttles requests', HOUR_MS);
  return {
    ...metrics,
    throttled: (status) => {
      metrics.throttled();
      warn('throttled', { upstream, status });
    },
  };
}

/** The same limits of the service apply to the same URL and credentials, whatever else changed. */
function isSameService(old: Upstream | undefined, next: Upstream): old is Upstream {
  const keys = ['base_url', 'http_headers', ...SCHEME_NAMES];
  return old !== undefined && keys.every((key) => isDeepStrictEqual(old.raw[key], next.raw[key]));
}

const KIB = 1024;

/** The program itself, and the young generation of the heap. */
const RESERVED_HEAP_BYTES = 96 * KIB * KIB;

/** The latest refreshes of a station take 40 KiB; the rest is for what else is kept of it, such as numbers by type and state. */
const HEAP_BYTES_PER_STATION = 96 * KIB;

/** A record takes 400 to 530 bytes of the heap, and of a station that changes completely up to three generations are in memory at once. */
const HEAP_BYTES_PER_RECORD = 1.5 * KIB;

const MIN_RECORDS = 1000;

export function recordLimits(
  { limits }: Pick<LoadedConfig['config'], 'limits'>,
  stations: number,
  heapBytes = getHeapStatistics().heap_size_limit,
): RecordLimits {
  const freeBytes = heapBytes - RESERVED_HEAP_BYTES - stations * HEAP_BYTES_PER_STATION;
  const records = limits.records ?? Math.max(MIN_RECORDS, Math.floor(freeBytes / HEAP_BYTES_PER_RECORD));
  // One station must not take everything.
  return { records, records_per_station: limits.records_per_station ?? Math.ceil(records * 0.75) };
}
