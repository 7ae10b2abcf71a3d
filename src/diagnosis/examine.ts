import { endGeneration, type Generation, type LoadedConfig, nextGeneration } from '../generation.ts';
import { type Build, OwnMetrics } from '../metrics/own-metrics.ts';
import { encodeHealth, type StationForm } from '../metrics/station-encoder.ts';
import { Workshop } from '../metrics/workshop.ts';
import type { Shard } from '../station/shard.ts';
import type { StationCache, StationView } from '../station/station-cache.ts';
import { Turns } from '../station/turns.ts';
import type { Answer } from '../upstream/observer.ts';
import type { UpstreamOptions } from '../upstream/options.ts';
import { untilAborted } from '../upstream/until-aborted.ts';
import { upstreamOptions, userAgentOf } from '../wiring.ts';
import { probeConnection, speaksTls } from './connection-probe.ts';
import type { Facts, Size, StationFacts, UpstreamFacts } from './facts.ts';

interface Around {
  readonly build: Build;
  readonly shard: Shard;
  /** Ends it at once. */
  readonly signal: AbortSignal;
}

const PRESSES = 4;

/** Tries a configuration with the very parts that would serve it: each station is refreshed once, within the limits of its upstream. */
export async function examine(loaded: LoadedConfig, { build, shard, signal }: Around): Promise<Facts> {
  const answers = new Map<string | undefined, Answer[]>();
  const turns = new Turns();
  const generation = await nextGeneration(loaded, undefined, {
    own: new OwnMetrics(build, shard, false),
    shard,
    userAgent: userAgentOf(build),
    turns,
    workshop: new Workshop(turns, PRESSES),
    refreshed: () => undefined,
    pageSizeReduced: () => undefined,
    answered: (answer) => answers.set(answer.station, [...(answers.get(answer.station) ?? []), answer]),
  });
  try {
    const upstreams = usedUpstreams(loaded, generation, userAgentOf(build));
    const probes = Promise.all(upstreams.map((options) => probeConnection(options)));
    const views = await untilAborted(Promise.all(Array.from(generation.stations.values(), refreshed)), signal);
    const connections = await untilAborted(probes, signal);
    const facts = upstreams.map(async (options, index): Promise<UpstreamFacts> => {
      const connection = connections[index] as (typeof connections)[number];
      return { options, connection, speaksTls: mayWantTls(options, views) && (await speaksTls(options)) };
    });
    return {
      upstreams: await untilAborted(Promise.all(facts), signal),
      stations: views.map((view) => stationFacts(generation, view, answers.get(view.spec.name) ?? [])),
      total: sizeOf(generation, views),
    };
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
async function refreshed(station: StationCache<StationForm>): Promise<StationView<StationForm>> {
  await station.refresh();
  return station.view();
}

/** A service that expects TLS does not say so in HTTP: it drops the connection, is silent, or complains. */
function mayWantTls({ name, baseUrl }: UpstreamOptions, views: readonly StationView<StationForm>[]): boolean {
  const reasons = views.filter(({ spec }) => spec.upstream === name).map(({ health }) => health.failure?.reason ?? 'none');
  return baseUrl.protocol === 'http:' && reasons.some((reason) => ['network', 'timeout', 'status'].includes(reason));
}

function stationFacts(generation: Generation, view: StationView<StationForm>, answers: readonly Answer[]): StationFacts {
  const { spec, health, served } = view;
  return {
    spec,
    health,
    snapshot: served?.publication.snapshot,
    withheld: served?.form.withheld ?? 0,
    answers,
    ...sizeOf(generation, [view]),
  };
}

function sizeOf({ exposition, encoding }: Generation, views: readonly StationView<StationForm>[]): Size {
  const { plainLength: plainBytes, gzipLength: gzipBytes } = exposition.stations(views, 'text');
  const series = views.reduce((sum, view) => sum + encodeHealth(view, encoding).series + (view.served?.form.series ?? 0), 0);
  return { series, plainBytes, gzipBytes };
}
