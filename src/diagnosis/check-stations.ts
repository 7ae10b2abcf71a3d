import { endGeneration, type Generation, nextGeneration } from '../app/generation.ts';
import { upstreamOptions, userAgentOf } from '../app/wiring.ts';
import type { LoadedConfig } from '../config/load.ts';
import { CompressorPool } from '../metrics/compressor-pool.ts';
import { type Build, OwnMetrics } from '../metrics/own-metrics.ts';
import { type EncodedSnapshot, encodeHealth } from '../metrics/station-encoder.ts';
import type { Shard } from '../station/shard.ts';
import type { StationCache, StationView } from '../station/station-cache.ts';
import { TaskQueue } from '../station/task-queue.ts';
import { untilAborted } from '../upstream/exchange.ts';
import type { ReplyInfo } from '../upstream/observer.ts';
import type { UpstreamOptions } from '../upstream/options.ts';
import { probeConnection, speaksTls } from './connection-probe.ts';
import type { Facts, Failure, Size, StationFacts, UpstreamFacts } from './facts.ts';

interface Around {
  readonly build: Build;
  readonly shard: Shard;
  /** Ends it at once. */
  readonly signal: AbortSignal;
}

const PRESSES = 4;

/** Tries a configuration with the very parts that would serve it: each station is refreshed once, within the limits of its upstream. */
export async function examine(loaded: LoadedConfig, { build, shard, signal }: Around): Promise<Facts> {
  const answers = new Map<string | undefined, ReplyInfo[]>();
  const pageSizes = new Map<string | undefined, number>();
  const tasks = new TaskQueue();
  const generation = await nextGeneration(loaded, undefined, {
    own: new OwnMetrics(build, shard, false),
    shard,
    userAgent: userAgentOf(build),
    tasks,
    compressors: new CompressorPool(tasks, PRESSES),
    refreshed: () => undefined,
    pageSizeReduced: (station, pageSize) => pageSizes.set(station, pageSize),
    replied: (answer) => {
      const known = answers.get(answer.station);
      if (known) known.push(answer);
      else answers.set(answer.station, [answer]);
    },
  });
  try {
    const upstreams = usedUpstreams(loaded, generation, userAgentOf(build));
    const probes = upstreams.map(async (options) => ({ options, connection: await probeConnection(options) }));
    const views = await untilAborted(Promise.all(Array.from(generation.stations.values(), refreshed)), signal);
    const stations: StationFacts[] = [];
    for (const view of views) {
      const { name } = view.spec;
      const asked = { answers: answers.get(name) ?? [], reducedPageSize: pageSizes.get(name) };
      stations.push({ ...stationFacts(view), ...(await sizeOf(generation, [view])), ...asked });
    }
    const facts = probes.map(async (probe): Promise<UpstreamFacts> => {
      const { options, connection } = await probe;
      return { options, connection, speaksTls: mayWantTls(options, stations) && (await speaksTls(options)) };
    });
    return { upstreams: await untilAborted(Promise.all(facts), signal), stations, total: await sizeOf(generation, views) };
  } finally {
    await endGeneration(generation, undefined);
  }
}

/** In the order of the configuration; one that no station of this shard needs is left alone, as the exporter would. */
function usedUpstreams({ config }: LoadedConfig, { stations }: Generation, userAgent: string): readonly UpstreamOptions[] {
  const used = new Set(Array.from(stations.values(), ({ spec }) => spec.upstream));
  return Object.entries(config.upstreams)
    .filter(([name]) => used.has(name))
    .map(([name, upstream]) => upstreamOptions(name, upstream, userAgent));
}

/** As it is when the refresh has ended: without a ttl it is not kept for long. */
async function refreshed(station: StationCache<EncodedSnapshot>): Promise<StationView<EncodedSnapshot>> {
  await station.refresh();
  return station.view();
}

/** A service that expects TLS cannot say so in HTTP: it drops the connection, is silent, or calls the request a bad one. */
function mayWantTls({ name, baseUrl }: UpstreamOptions, stations: readonly StationFacts[]): boolean {
  const reasons = ['network', 'timeout', 'status'];
  const failed = stations.filter(({ spec, result }) => spec.upstream === name && 'reason' in result && reasons.includes(result.reason));
  return baseUrl.protocol === 'http:' && failed.some(({ answers }) => answers.every(({ status }) => status === 400));
}

function stationFacts({ spec, health, served }: StationView<EncodedSnapshot>): Pick<StationFacts, 'spec' | 'durationMs' | 'result'> {
  return {
    spec,
    durationMs: Number(health.durationMs),
    // A first refresh that has ended left the one or the other.
    result: served ? { snapshot: served.publication.snapshot, withheld: served.encoded.withheld } : (health.failure as Failure),
  };
}

async function sizeOf({ exposition, encoding }: Generation, views: readonly StationView<EncodedSnapshot>[]): Promise<Size> {
  const { plainLength: plainBytes, gzipLength: gzipBytes } = await exposition.stations(views, 'text');
  const series = [...encodeHealth(views, encoding).series, ...views.map(({ served }) => served?.encoded.series ?? 0)];
  return { series: series.reduce((sum, count) => sum + count, 0), plainBytes, gzipBytes };
}
