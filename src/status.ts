import type { Aggregates } from './metrics/aggregates.ts';
import type { StationForm } from './metrics/station-encoder.ts';
import type { StationView } from './station/station-cache.ts';
import type { StationDetail, StationStatus } from './web/port.ts';

/** A station as the web shows it. */
export function statusOf({ spec, health, served, dueInMs, isRefreshing }: StationView<StationForm>): StationStatus {
  const snapshot = served?.publication.snapshot;
  return {
    name: spec.name,
    upstream: spec.upstream,
    telemetryStation: spec.path.telemetryStation,
    up: health.lastAttemptMs === undefined ? undefined : health.failure === undefined,
    failure: health.failure,
    lastSuccessMs: health.lastSuccessMs,
    lastAttemptMs: health.lastAttemptMs,
    durationMs: health.durationMs,
    dueInMs,
    isRefreshing,
    refresh: spec.cache.refresh,
    snapshot: served &&
      snapshot && {
        resources: snapshot.size,
        complete: snapshot.complete,
        pages: snapshot.pages,
        ...watch(served.form.aggregates, spec.alertability),
      },
  };
}

export function detailOf(view: StationView<StationForm>): StationDetail {
  const { spec, served } = view;
  return {
    spec,
    status: statusOf(view),
    served: served && { snapshot: served.publication.snapshot, aggregates: served.form.aggregates, withheld: served.form.withheld },
  };
}

function watch({ groups }: Aggregates, alertability: boolean): { alertable: number | undefined; withoutRules: number | undefined } {
  let alertable = 0;
  let withoutRules: number | undefined;
  for (const group of groups) {
    alertable += group.alertable;
    if (group.unwatched !== undefined) withoutRules = (withoutRules ?? 0) + group.unwatched;
  }
  return { alertable: alertability ? alertable : undefined, withoutRules };
}
