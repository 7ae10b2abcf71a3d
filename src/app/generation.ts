import { isDeepStrictEqual } from 'node:util';
import type { LoadedConfig } from '../config/load.ts';
import { resolveStations } from '../config/resolve.ts';
import type { CompressorPool } from '../metrics/compressor-pool.ts';
import { Exposition } from '../metrics/exposition.ts';
import type { OwnMetrics } from '../metrics/own-metrics.ts';
import { type EncodedSnapshot, type EncodingOptions, StationEncoder } from '../metrics/station-encoder.ts';
import { Fleet } from '../station/fleet.ts';
import type { ListingContext, StationSource } from '../station/listing.ts';
import { isOnShard, type Shard } from '../station/shard.ts';
import { StationCache, type StationDependencies, type StationView } from '../station/station-cache.ts';
import type { StationSpec } from '../station/station-spec.ts';
import type { TaskQueue } from '../station/task-queue.ts';
import { UpstreamClient } from '../upstream/client.ts';
import type { ReplyInfo } from '../upstream/observer.ts';
import { stationSource } from '../upstream/station-source.ts';
import { encodingOptions, upstreamOptions } from './wiring.ts';

/** What outlives a change of the configuration. */
export interface SharedServices {
  readonly own: OwnMetrics;
  readonly shard: Shard;
  readonly userAgent: string;
  readonly tasks: TaskQueue;
  readonly compressors: CompressorPool;
  readonly refreshed: (view: StationView<EncodedSnapshot>) => void;
  readonly pageSizeReduced: (station: string | undefined, pageSize: number) => void;
  /** Told of every reply of a service. */
  readonly replied?: (answer: ReplyInfo) => void;
}

/** All that one configuration brought about, in force until the next one takes over. */
export interface Generation {
  readonly loaded: LoadedConfig;
  readonly encoding: EncodingOptions;
  readonly exposition: Exposition;
  readonly fleet: Fleet<EncodedSnapshot>;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly stations: ReadonlyMap<string, StationCache<EncodedSnapshot>>;
}

interface Upstream {
  readonly url: string;
  readonly client: UpstreamClient;
  /** For one station each: a source knows the pages that it has read. */
  readonly newSource: () => StationSource;
}

/** Builds the new generation beside the old one and takes over what has not changed; the old one still serves. */
export async function nextGeneration(loaded: LoadedConfig, old: Generation | undefined, services: SharedServices): Promise<Generation> {
  const encoding = encodingOptions(loaded.config);
  const upstreams = connectUpstreams(loaded, old, services);
  const specs = resolveStations(loaded.config).filter(({ name }) => isOnShard(name, services.shard));
  const stations = new Map<string, StationCache<EncodedSnapshot>>();
  for (const spec of specs) {
    const upstream = upstreams.get(spec.upstream) as Upstream;
    const encoder = new StationEncoder(spec, encoding, services.compressors);
    const dependencies: StationDependencies<EncodedSnapshot> = {
      source: upstream.newSource(),
      encode: (publication) => encoder.encode(publication),
      refreshed: services.refreshed,
    };
    const known = old?.stations.get(spec.name);
    const before = old?.upstreams.get(spec.upstream);
    // How a station is asked and served may change: what is known of it holds while question and service are the same.
    const isSame = known && isDeepStrictEqual(questionOf(known.spec), questionOf(spec)) && before?.url === upstream.url;
    if (!isSame) {
      stations.set(spec.name, new StationCache(spec, dependencies));
    } else if (upstream === before && isDeepStrictEqual(known.spec, spec) && isDeepStrictEqual(old?.encoding, encoding)) {
      stations.set(spec.name, known);
    } else {
      // A refresh that ended now would move counters forth, and the takeover back.
      known.close();
      stations.set(spec.name, await known.successor(spec, dependencies));
    }
  }
  const fleet = new Fleet(stations.values(), (answer, count) => services.own.recordReads(answer, count));
  return { loaded, encoding, exposition: new Exposition(encoding), fleet, upstreams, stations };
}

/** Asks for what was never tried; and for all that is reached in a new way, so that a changed credential shows at once what it is worth. */
export function startGeneration(next: Generation, old: Generation | undefined): void {
  next.fleet.start();
  for (const station of next.stations.values()) {
    const { upstream } = station.spec;
    if (next.upstreams.get(upstream) !== old?.upstreams.get(upstream)) void station.refresh();
  }
}

/** Ends what the next generation, if there is one, has not taken over. */
export async function endGeneration(old: Generation, next: Generation | undefined): Promise<void> {
  old.fleet.stop();
  for (const [name, station] of old.stations) if (next?.stations.get(name) !== station) station.close();
  const unused = [...old.upstreams].filter(([name, upstream]) => next?.upstreams.get(name) !== upstream);
  await Promise.all(unused.map(([, { client }]) => client.close()));
}

/** What the data of a station depends on. */
function questionOf({ upstream, path, filters, products, alertability }: StationSpec) {
  return { upstream, path, filters, products, alertability };
}

function connectUpstreams(loaded: LoadedConfig, old: Generation | undefined, services: SharedServices): Map<string, Upstream> {
  const upstreams = new Map<string, Upstream>();
  for (const [name, config] of Object.entries(loaded.config.upstreams)) {
    const known = old?.upstreams.get(name);
    // Compared as written: parsed secrets hide their text, also from a comparison.
    if (old && known && isDeepStrictEqual(writtenUpstream(old.loaded, name), writtenUpstream(loaded, name))) {
      upstreams.set(name, known);
      continue;
    }
    const options = upstreamOptions(name, config, services.userAgent);
    const observer = services.own.upstreamObserver(name);
    const client = new UpstreamClient(options, { ...observer, ...(services.replied && { replied: services.replied }) });
    const told = {
      unreadable: observer.unreadable,
      pageSizeReduced: ({ station }: ListingContext, pageSize: number) => {
        observer.pageSizeReduced();
        services.pageSizeReduced(station, pageSize);
      },
    };
    const newSource = () => stationSource((...page) => client.get(...page), options, services.tasks, told);
    upstreams.set(name, { url: config.base_url.href, client, newSource });
  }
  return upstreams;
}

function writtenUpstream({ raw }: LoadedConfig, name: string): unknown {
  const { upstreams } = raw as { readonly upstreams: Readonly<Record<string, unknown>> };
  return upstreams[name];
}
