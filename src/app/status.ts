import type { ChangeLog } from '../resources/changes.ts';
import type { Resources } from '../resources/collector.ts';
import { knowsAlertable } from '../resources/spec.ts';
import type { StationView } from '../stations/station-cache.ts';
import { capacityOf } from '../status/capacity.ts';
import { LatestRefreshes } from '../status/latest-refreshes.ts';
import type { StationDetail, StationStatus, UpstreamStatus } from '../status/station-status.ts';
import { totalsOf } from '../status/totals.ts';
import { unknownStatesOf } from '../status/unknown-states.ts';
import type { Generation, Upstream } from './composition.ts';

type StatusView = StationView<Resources>;

function isUp({ health }: StatusView): boolean {
  return health.lastAttemptMs !== undefined && health.failure === undefined;
}

/** `views`: of all stations. */
export function statusesOf(generation: Generation, views = generation.fleet.views()): readonly StationStatus[] {
  const answering = new Set(views.filter(isUp).map(({ spec }) => spec.upstream));
  return views.map((view) => stationStatus(generation, view, !answering.has(view.spec.upstream)));
}

function stationStatus(generation: Generation, view: StatusView, isUpstreamDown: boolean): StationStatus {
  const { upstreams, journals } = generation;
  const { spec, health, served, collector, further, ...refresh } = view;
  const { access, limiter } = upstreams.get(spec.upstream) as Upstream;
  const journal = journals.get(spec.name);
  const snapshot = served?.data.snapshot;
  return {
    name: spec.name,
    upstream: spec.upstream,
    telemetryStation: spec.path.telemetry_station,
    ...health,
    up: health.lastAttemptMs === undefined ? undefined : health.failure === undefined,
    ...refresh,
    access,
    hasReplied: health.lastSuccessMs !== undefined || limiter.stations.hasReplied(spec.name),
    isHanging: limiter.stations.isHanging(spec.name),
    isUpstreamDown,
    refresh: spec.cache.refresh,
    snapshot: served &&
      snapshot && {
        ...totalsOf(served.data.aggregates.groups, knowsAlertable(served.data.spec)),
        sets: served.data.lastKnown.sets,
        unknownStates: unknownStatesOf(served.data.aggregates.groups),
        addsUp: snapshot.addsUp,
        complete: snapshot.complete,
        incompleteReasons: snapshot.incompleteReasons,
        rejected: snapshot.rejected,
        pages: snapshot.pages,
        pageLimit: snapshot.pageLimit,
        absentFields: snapshot.absentFields,
        reportedZeros: served.data.aggregates.reportedZeros,
        isIncomparable: served.data.comparison.result === 'incomparable',
      },
    isBeforeReload: served !== undefined && served.data.spec !== spec,
    ...(journal?.refreshes ?? new LatestRefreshes()).history,
    lossAt: (nowMs) => served && journal?.refreshes.lossAt(nowMs),
  };
}

export function stationDetail(generation: Generation, name: string, changes: ChangeLog): StationDetail | undefined {
  const views = generation.fleet.views();
  const view = views.find(({ spec }) => spec.name === name);
  if (view === undefined) return undefined;
  const { spec, served } = view;
  const isUpstreamDown = !views.some((other) => other.spec.upstream === spec.upstream && isUp(other));
  return {
    spec,
    upstream: upstreamStatus(spec.upstream, generation.upstreams.get(spec.upstream) as Upstream, views),
    status: stationStatus(generation, view, isUpstreamDown),
    served: served?.data,
    refreshes: generation.journals.get(name)?.refreshes.newestFirst() ?? [],
    changes: changes.of(name),
    links: generation.loaded.config.links,
  };
}

export function upstreamStatuses({ upstreams, fleet }: Generation): readonly UpstreamStatus[] {
  const views = fleet.views();
  return Array.from(upstreams, ([name, upstream]) => upstreamStatus(name, upstream, views));
}

/** `views`: at least of the stations of the upstream. */
export function upstreamStatus(
  name: string,
  { limiter, options }: Upstream,
  views: readonly StatusView[],
): UpstreamStatus {
  const load = limiter.load();
  const stations = views
    .filter(({ spec }) => spec.upstream === name)
    .map(
      ({ served, further }) =>
        served && [served, ...further.map((other) => other.served)].flatMap((one) => one?.repeated ?? []),
    );
  return { name, load, capacity: capacityOf(stations, options.concurrency, load) };
}
