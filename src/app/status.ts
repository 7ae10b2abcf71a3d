import { capacityOf } from '../inventory/capacity.ts';
import type { ChangeLog } from '../inventory/changes.ts';
import { History } from '../inventory/history.ts';
import { type StationDetail, type StationStatus, totalsOf, type UpstreamStatus } from '../inventory/station-status.ts';
import { unknownStatesOf } from '../inventory/unknown-states.ts';
import type { EncodedSnapshot } from '../metrics/station-encoder.ts';
import { knowsAlertable } from '../model/station-spec.ts';
import type { UpstreamLoad } from '../model/upstream-load.ts';
import { repeatedListings } from '../refresh/snapshot.ts';
import type { StationView } from '../refresh/station-cache.ts';
import type { Generation, Upstream } from './generation.ts';

type StatusView = StationView<EncodedSnapshot>;

/** Maps a station to its status on the web pages. */
export function stationStatus({ upstreams, journals }: Generation, view: StatusView): StationStatus {
  const { spec, health, served, ...refresh } = view;
  const history = journals.get(spec.name)?.history ?? new History();
  const snapshot = served?.publication.snapshot;
  return {
    name: spec.name,
    upstream: spec.upstream,
    telemetryStation: spec.path.telemetry_station,
    ...health,
    up: health.lastAttemptMs === undefined ? undefined : health.failure === undefined,
    ...refresh,
    isHanging: upstreams.get(spec.upstream)?.limiter.isHanging(spec.name) ?? false,
    refresh: spec.cache.refresh,
    ttlMs: spec.cache.ttlMs,
    maxStaleMs: spec.cache.maxStaleMs,
    snapshot: served &&
      snapshot && {
        ...totalsOf(served.encoded.aggregates.groups, knowsAlertable(served.publication.spec)),
        unknownStates: unknownStatesOf(served.encoded.aggregates.groups),
        addsUp: snapshot.addsUp,
        complete: snapshot.complete,
        incompleteReasons: snapshot.incompleteReasons,
        rejected: snapshot.rejected,
        pages: snapshot.pages,
      },
    outages: history.outages,
    incompleteSinceMs: history.incompleteSinceMs,
    unknownSinceMs: history.unknownSinceMs,
    comparedSinceMs: history.comparedSinceMs,
    refreshesSince: (fromMs) => history.since(fromMs),
  };
}

/** undefined: no station has this name. */
export function stationDetail(generation: Generation, name: string, changes: ChangeLog): StationDetail | undefined {
  const views = generation.fleet.views();
  const view = views.find(({ spec }) => spec.name === name);
  if (view === undefined) return undefined;
  const { spec, served } = view;
  return {
    spec,
    upstream: upstreamStatus(spec.upstream, generation.upstreams.get(spec.upstream) as Upstream, views),
    status: stationStatus(generation, view),
    served: served && {
      snapshot: served.publication.snapshot,
      aggregates: served.encoded.aggregates,
      withheld: served.encoded.withheld,
    },
    history: generation.journals.get(name)?.history.newestFirst() ?? [],
    changes: changes.of(name),
    links: generation.loaded.config.links,
  };
}

/** `views`: of all stations. */
export function upstreamStatuses({ upstreams }: Generation, views: readonly StatusView[]): readonly UpstreamStatus[] {
  return Array.from(upstreams, ([name, upstream]) => upstreamStatus(name, upstream, views));
}

/** `views`: at least of the stations of the upstream. */
export function upstreamStatus(
  name: string,
  { limiter, concurrency }: Upstream,
  views: readonly StatusView[],
): UpstreamStatus {
  const load = limiter.load();
  const stations = views
    .filter(({ spec }) => spec.upstream === name)
    .map(({ spec, served }) => served && repeatedListings(spec, served.publication.snapshot));
  return { name, load, capacity: capacityOf(stations, concurrency, load) };
}

/**
 * Whether each station was attempted. One that waits for an upstream that throttles, holds or hangs counts as attempted: the exporter would
 * otherwise never be ready.
 */
export function areAttempted({ fleet, upstreams }: Generation): boolean {
  const limited = new Set([...upstreams].filter(([, { limiter }]) => isLimited(limiter.load())).map(([name]) => name));
  return fleet
    .views()
    .every(
      ({ spec, health, isRefreshing }) =>
        health.lastAttemptMs !== undefined || (isRefreshing && limited.has(spec.upstream)),
    );
}

function isLimited({ holdMs, recentThrottled, hangingStations }: UpstreamLoad): boolean {
  return holdMs > 0 || recentThrottled > 0 || hangingStations > 0;
}
