import { capacityOf, type StationWork } from '../inventory/capacity.ts';
import type { HistoryEntry, Outage } from '../inventory/history.ts';
import {
  coverageIn,
  FIRING,
  type StationDetail,
  type StationStatus,
  type UpstreamStatus,
} from '../inventory/station-status.ts';
import type { EncodedSnapshot } from '../metrics/station-encoder.ts';
import type { ListingFailure } from '../model/failure.ts';
import type { UpstreamLoad } from '../model/upstream-load.ts';
import type { Aggregates } from '../refresh/aggregates.ts';
import type { EndedAttempt, StationView } from '../refresh/station-cache.ts';
import type { UpstreamClient } from '../upstream/http/client.ts';

type View = StationView<EncodedSnapshot>;

interface UpstreamState {
  readonly concurrency: number;
  readonly client: Pick<UpstreamClient, 'load' | 'isHanging'>;
}

/** Maps a station to its status on the web pages. */
export function stationStatus(
  view: View,
  { client }: Pick<UpstreamState, 'client'>,
  outages: readonly Outage[] = [],
): StationStatus {
  const { spec, health, served, dueInMs, isRefreshing, waitingMs } = view;
  const snapshot = served?.publication.snapshot;
  return {
    name: spec.name,
    upstream: spec.upstream,
    telemetryStation: spec.path.telemetry_station,
    up: health.lastAttemptMs === undefined ? undefined : health.failure === undefined,
    failure: health.failure,
    lastSuccessMs: health.lastSuccessMs,
    lastAttemptMs: health.lastAttemptMs,
    durationMs: health.durationMs,
    dueInMs,
    isRefreshing,
    waitingMs,
    isHanging: client.isHanging(spec.name),
    refresh: spec.cache.refresh,
    snapshot: served &&
      snapshot && {
        resources: snapshot.size,
        complete: snapshot.complete,
        incompleteReasons: snapshot.incompleteReasons,
        rejected: snapshot.rejected,
        pages: snapshot.pages,
        firing: stateCount(served.encoded.aggregates, FIRING),
        pending: stateCount(served.encoded.aggregates, /pending/i),
        ...alertCounts(served.encoded.aggregates, spec.alertability),
        coverage: coverageIn([...served.encoded.aggregates.groups], spec.alertability),
      },
    outages,
  };
}

/** `views`: of all stations. */
export function stationDetail(
  view: View,
  upstream: UpstreamState,
  views: readonly View[],
  outages: readonly Outage[] = [],
): Omit<StationDetail, 'links'> {
  const { spec, served } = view;
  return {
    spec,
    upstream: upstreamStatus(
      spec.upstream,
      upstream,
      views.filter((other) => other.spec.upstream === spec.upstream),
    ),
    status: stationStatus(view, upstream, outages),
    served: served && {
      snapshot: served.publication.snapshot,
      aggregates: served.encoded.aggregates,
      withheld: served.encoded.withheld,
    },
  };
}

export function upstreamStatuses(
  upstreams: ReadonlyMap<string, UpstreamState>,
  views: readonly View[],
): readonly UpstreamStatus[] {
  const byUpstream = new Map<string, View[]>(Array.from(upstreams.keys(), (name) => [name, []]));
  for (const view of views) byUpstream.get(view.spec.upstream)?.push(view);
  return Array.from(upstreams, ([name, upstream]) => upstreamStatus(name, upstream, byUpstream.get(name) ?? []));
}

/** `views`: of all stations of the upstream. */
function upstreamStatus(name: string, { client, concurrency }: UpstreamState, views: readonly View[]): UpstreamStatus {
  const load = client.load();
  return { name, load, capacity: capacityOf(views.map(stationWork), concurrency, load) };
}

function stationWork({ spec, served }: View): StationWork {
  return { ttlMs: spec.cache.ttlMs, requests: served?.publication.snapshot.pages };
}

function alertCounts(
  { groups }: Aggregates,
  alertability: boolean,
): { alertable: number | undefined; withoutRules: number | undefined } {
  let alertable = 0;
  let withoutRules: number | undefined;
  for (const group of groups) {
    alertable += group.alertable;
    if (group.withoutRules !== undefined) withoutRules = (withoutRules ?? 0) + group.withoutRules;
  }
  return { alertable: alertability ? alertable : undefined, withoutRules };
}

/** Whether each station was tried; one that waits for an upstream that throttles, holds or hangs would otherwise keep the exporter unready for ever. */
export function wereTried(views: readonly View[], upstreams: ReadonlyMap<string, UpstreamState>): boolean {
  const impeded = new Set([...upstreams].filter(([, { client }]) => isImpeded(client.load())).map(([name]) => name));
  return views.every(
    ({ spec, health, isRefreshing }) =>
      health.lastAttemptMs !== undefined || (isRefreshing && impeded.has(spec.upstream)),
  );
}

function isImpeded({ holdMs, recentThrottled, hangingStations }: UpstreamLoad): boolean {
  return holdMs > 0 || recentThrottled > 0 || hangingStations > 0;
}

/** A refresh as the history of its station keeps it. */
export function refreshEntry({ health, served }: View, { waitedMs, changes }: EndedAttempt): HistoryEntry {
  const { lastAttemptMs = 0, durationMs = 0, failure } = health;
  const common = { atMs: lastAttemptMs, durationMs, waitedMs, refreshes: 1 };
  if (failure) return { ...common, failed: 1, outcome: 'failed', failure };
  const snapshot = served?.publication.snapshot;
  const counts = served &&
    snapshot && {
      pages: snapshot.pages,
      resources: snapshot.size,
      firing: stateCount(served.encoded.aggregates, FIRING),
    };
  // Without their list, of which the change log has its own bound.
  const { list, total, ...changed } = changes ?? {};
  return { ...common, failed: 0, outcome: snapshot?.complete ? 'succeeded' : 'incomplete', ...counts, ...changed };
}

export function postponedEntry({ reason, message }: ListingFailure, atMs: number): HistoryEntry {
  return { atMs, waitedMs: 0, refreshes: 1, failed: 0, outcome: 'postponed', failure: { reason, message } };
}

/** Counted as the dashboards and alerts do, by the published state. */
function stateCount({ groups }: Aggregates, word: RegExp): number {
  let sum = 0;
  for (const { states } of groups) for (const [state, count] of states) if (word.test(state)) sum += count;
  return sum;
}
