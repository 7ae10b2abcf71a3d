import { endGeneration, type Generation, nextGeneration } from '../app/generation.ts';
import { upstreamStatuses } from '../app/status.ts';
import { recordLimits, upstreamOptions, userAgentOf } from '../app/wiring.ts';
import type { LoadedConfig } from '../config/load.ts';
import { probeConnection, speaksTls } from '../diagnosis/connection-probe.ts';
import type { ExpositionSize, Facts, Failure, StationFacts, UpstreamFacts } from '../diagnosis/facts.ts';
import type { UpstreamStatus } from '../inventory/station-status.ts';
import { encodeHealth } from '../metrics/exposition.ts';
import { type Build, OwnMetrics } from '../metrics/own-metrics.ts';
import { CompressorPool } from '../metrics/segment.ts';
import type { EncodedSnapshot } from '../metrics/station-encoder.ts';
import { TaskQueue } from '../model/task-queue.ts';
import { untilAborted } from '../model/until-aborted.ts';
import type { UpstreamOptions } from '../model/upstream-options.ts';
import { RecordBudget } from '../refresh/record-budget.ts';
import type { Shard } from '../refresh/shard.ts';
import type { StationCache, StationView } from '../refresh/station-cache.ts';
import type { ReplyInfo } from '../upstream/http/observer.ts';

interface CheckOptions {
  readonly build: Build;
  readonly shard: Shard;
  /** Aborts the check. */
  readonly signal: AbortSignal;
}

const COMPRESSORS = 4;

/** Refreshes every station of the shard once, with the same components and limits as the running exporter. */
export async function checkStations(loaded: LoadedConfig, { build, shard, signal }: CheckOptions): Promise<Facts> {
  const replies = new Map<string | undefined, ReplyInfo[]>();
  const pageSizes = new Map<string | undefined, number>();
  const tasks = new TaskQueue();
  const generation = await nextGeneration(loaded, undefined, {
    own: new OwnMetrics(build, shard),
    shard,
    userAgent: userAgentOf(build),
    tasks,
    responseTasks: tasks,
    compressors: new CompressorPool(tasks, COMPRESSORS),
    records: new RecordBudget(recordLimits(loaded.config)),
    refreshed: () => undefined,
    pageSizeReduced: (station, pageSize) => pageSizes.set(station, pageSize),
    replied: (reply) => {
      const earlier = replies.get(reply.station);
      if (earlier) earlier.push(reply);
      else replies.set(reply.station, [reply]);
    },
  });
  try {
    const upstreams = usedUpstreams(loaded, generation, userAgentOf(build));
    const probes = upstreams.map(async (options) => ({ options, connection: await probeConnection(options) }));
    const views = await untilAborted(Promise.all(Array.from(generation.stations.values(), refreshedView)), signal);
    const stations: StationFacts[] = [];
    for (const view of views) {
      const { name, upstream } = view.spec;
      const isHanging = generation.upstreams.get(upstream)?.client.isHanging(name) === true;
      const requests = { replies: replies.get(name) ?? [], reducedPageSize: pageSizes.get(name), isHanging };
      stations.push({ ...refreshFacts(view), ...(await expositionSize(generation, [view])), ...requests });
    }
    const statuses = new Map(upstreamStatuses(generation.upstreams, views).map((status) => [status.name, status]));
    const facts = probes.map(async (probe): Promise<UpstreamFacts> => {
      const { options, connection } = await probe;
      const { load, capacity } = statuses.get(options.name) as UpstreamStatus;
      return { options, connection, speaksTls: await speaksTls(options, stations), load, capacity };
    });
    return {
      upstreams: await untilAborted(Promise.all(facts), signal),
      stations,
      total: await expositionSize(generation, views),
    };
  } finally {
    await endGeneration(generation, undefined);
  }
}

/** In the order of the configuration, without those that no station of the shard uses. */
function usedUpstreams(
  { config }: LoadedConfig,
  { stations }: Generation,
  userAgent: string,
): readonly UpstreamOptions[] {
  const used = new Set(Array.from(stations.values(), ({ spec }) => spec.upstream));
  return Object.entries(config.upstreams)
    .filter(([name]) => used.has(name))
    .map(([name, upstream]) => upstreamOptions(name, upstream, userAgent));
}

/** Taken right after the refresh: with a ttl of 0 the snapshot is not kept. */
async function refreshedView(station: StationCache<EncodedSnapshot>): Promise<StationView<EncodedSnapshot>> {
  await station.refresh();
  return station.view();
}

function refreshFacts({
  spec,
  health,
  served,
}: StationView<EncodedSnapshot>): Pick<StationFacts, 'spec' | 'durationMs' | 'result'> {
  return {
    spec,
    durationMs: Number(health.durationMs),
    // A completed first refresh leaves either a snapshot or a failure.
    result: served
      ? { snapshot: served.publication.snapshot, withheld: served.encoded.withheld }
      : (health.failure as Failure),
  };
}

async function expositionSize(
  { exposition }: Generation,
  views: readonly StationView<EncodedSnapshot>[],
): Promise<ExpositionSize> {
  const { plainLength: plainBytes, gzipLength: gzipBytes } = await exposition.stationBody(views, 'text');
  const series = [...encodeHealth(views).series, ...views.map(({ served }) => served?.encoded.series ?? 0)];
  return { series: series.reduce((sum, count) => sum + count, 0), plainBytes, gzipBytes };
}
