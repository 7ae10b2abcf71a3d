import type { FailureReason } from '../model/failure.ts';
import type { StationSpec } from '../model/station-spec.ts';
import type { UpstreamLoad } from '../model/upstream-load.ts';
import type { AggregateGroup, Aggregates } from '../refresh/aggregates.ts';
import type { Snapshot } from '../refresh/snapshot.ts';
import type { Capacity } from './capacity.ts';
import type { Outage } from './history.ts';
import type { LinkTemplate } from './links.ts';
import { countText, durationText } from './words.ts';

/** State of a station as people see it. */
export interface StationStatus {
  readonly name: string;
  readonly upstream: string;
  readonly telemetryStation: string;
  /** undefined: not tried yet. */
  readonly up: boolean | undefined;
  readonly failure: { readonly reason: FailureReason; readonly message: string } | undefined;
  readonly lastSuccessMs: number | undefined;
  readonly lastAttemptMs: number | undefined;
  /** Duration of the latest attempt. */
  readonly durationMs: number | undefined;
  /** Time until the next refresh is due; 0 or less: due now. */
  readonly dueInMs: number;
  readonly isRefreshing: boolean;
  /** For how long the refresh has waited for the upstream's capacity; undefined: it does not wait. */
  readonly waitingMs: number | undefined;
  /** The latest request got no reply: the station is limited to one probing request at a time. */
  readonly isHanging: boolean;
  /** What triggers a due refresh: a scrape or the background timer. */
  readonly refresh: 'scrape' | 'background';
  /** undefined: no snapshot is served. */
  readonly snapshot: SnapshotStatus | undefined;
  /** The latest ones, the oldest first. */
  readonly outages: readonly Outage[];
}

/** Aggregates of a snapshot. */
interface SnapshotStatus {
  readonly resources: number;
  readonly complete: boolean;
  /** Why it may miss resources; empty if it is complete. */
  readonly incompleteReasons: readonly string[];
  /** Records without a usable resource_id, which it misses. */
  readonly rejected: number;
  readonly pages: number;
  /** Resources in a state whose name contains this word, as the dashboards and alerts count them. */
  readonly firing: number;
  readonly pending: number;
  /** Resources that can have alerts; undefined: `alertability` is not enabled. */
  readonly alertable: number | undefined;
  /** Resources without alert rules, with `alertability` only alertable ones; undefined: the service reported no counts. */
  readonly withoutRules: number | undefined;
  /** undefined: there is no resource that it could be the share of. */
  readonly coverage: Coverage | undefined;
}

/** An upstream with its load. */
export interface UpstreamStatus {
  readonly name: string;
  readonly load: UpstreamLoad;
  /** undefined: too little is known. */
  readonly capacity: Capacity | undefined;
}

/** A station with its snapshot and the load of its upstream. */
export interface StationDetail {
  readonly spec: StationSpec;
  readonly upstream: UpstreamStatus;
  readonly status: StationStatus;
  readonly served: ServedSnapshot | undefined;
  /** As configured. */
  readonly links: readonly LinkTemplate[];
}

interface ServedSnapshot {
  readonly snapshot: Snapshot;
  readonly aggregates: Pick<Aggregates, 'groups' | 'typeLabels'>;
  /** Per-resource series withheld by `metrics.max_resources`. */
  readonly withheld: number;
}

/** Labels of the station states, by the key used in style sheet and script. */
export const STATION_STATES = { failing: 'failing', 'no-data': 'no data', 'not-tried': 'not tried', up: 'up' } as const;

type StationState = keyof typeof STATION_STATES;

/** A station without data is never up, even if its latest refresh succeeded. */
export function stateOf({ up, snapshot }: Pick<StationStatus, 'up' | 'snapshot'>): StationState {
  if (up === undefined) return 'not-tried';
  if (!up) return 'failing';
  return snapshot === undefined ? 'no-data' : 'up';
}

export type RefreshStatus = Pick<StationStatus, 'isRefreshing' | 'waitingMs' | 'refresh' | 'dueInMs'>;

/** Why the last successful snapshot was not replaced in time. A scrape refreshes a due station, so there was none since then. */
export function noDataReason(status: RefreshStatus): string {
  const { isRefreshing, refresh, dueInMs } = status;
  if (isRefreshing) return nextRefreshText(status);
  const overdue = durationText(Math.max(-dueInMs, 0));
  return refresh === 'scrape' ? `not scraped for ${overdue}` : `overdue by ${overdue}`;
}

/** A shorter wait is usual: all stations of an upstream may be due at once. */
export const NOTABLE_WAIT_MS = 1000;

export function nextRefreshText({ isRefreshing, waitingMs = 0, refresh, dueInMs }: RefreshStatus): string {
  if (waitingMs >= NOTABLE_WAIT_MS) return `waiting for capacity for ${durationText(waitingMs)}`;
  if (isRefreshing) return 'refreshing now';
  if (dueInMs <= 0) return refresh === 'scrape' ? 'on the next scrape' : 'due now';
  const delay = durationText(Math.max(dueInMs, 1000));
  return refresh === 'scrape' ? `on the first scrape after ${delay}` : `in ${delay}`;
}

/** What data lacks, in words; empty if it is complete. */
export function dataProblems({ snapshot }: Pick<StationStatus, 'snapshot'>): readonly string[] {
  if (snapshot === undefined) return [];
  const { complete, incompleteReasons, rejected } = snapshot;
  const reasons = incompleteReasons.length > 0 ? incompleteReasons : ['it is not verified complete'];
  return [
    ...(complete ? [] : [`listing incomplete: ${reasons.join('; ')}`]),
    ...(rejected === 0 ? [] : [`${countText(rejected, 'record')} rejected: no usable resource_id`]),
  ];
}

/** Resources that can have alerts, all of them without `alertability`, and those of them with at least one alert rule. */
export interface Coverage {
  readonly alertable: number;
  readonly withRules: number;
}

/** The states of firing resources, as the dashboards and alerts have them. */
export const FIRING = /firing/i;

/** The types for which a number of alert rules is reported. */
export function reportedTypes(groups: readonly AggregateGroup[]): ReadonlySet<string> {
  return new Set(groups.filter(({ withoutRules }) => withoutRules !== undefined).map(({ type }) => type));
}

/** As the recording rule: without the types for which the station reports no number of alert rules. */
export function coverageIn(
  groups: readonly AggregateGroup[],
  alertability: boolean,
  reported = reportedTypes(groups),
): Coverage | undefined {
  const sum = { alertable: 0, withRules: 0 };
  for (const { type, alertable, states, withoutRules = 0 } of groups) {
    if (!reported.has(type)) continue;
    const total = alertability ? alertable : [...states.values()].reduce((resources, count) => resources + count, 0);
    sum.alertable += total;
    sum.withRules += total - withoutRules;
  }
  return sum.alertable === 0 ? undefined : sum;
}

/** The coverage, or the explanation why it is unknown. */
export function coverageOf({ snapshot }: Pick<StationStatus, 'snapshot'>): Coverage | string {
  if (snapshot === undefined) return 'no data';
  if (snapshot.withoutRules === undefined) return 'alert rules are not reported';
  return snapshot.coverage ?? 'no resource can have alerts';
}
