import type { FailureReason } from '../model/failure.ts';
import type { StationSpec } from '../model/station-spec.ts';
import type { UpstreamLoad } from '../model/upstream-load.ts';
import type { Aggregates } from '../refresh/aggregates.ts';
import type { Snapshot } from '../refresh/snapshot.ts';
import type { Health, StationView } from '../refresh/station-cache.ts';
import type { Capacity } from './capacity.ts';
import type { StationChanges } from './changes.ts';
import type { HistoryEntry, Outage } from './history.ts';
import type { LinkTemplate } from './links.ts';
import type { Coverage, Totals } from './totals.ts';
import { countText, durationText } from './words.ts';

/** State of a station as people see it. */
export interface StationStatus
  extends Omit<Health, 'failure'>,
    Pick<StationView<unknown>, 'dueInMs' | 'isRefreshing' | 'waitingMs'> {
  readonly name: string;
  readonly upstream: string;
  readonly telemetryStation: string;
  /** undefined: not tried yet. */
  readonly up: boolean | undefined;
  readonly failure: { readonly reason: FailureReason; readonly message: string } | undefined;
  /** The latest request got no reply: the station is limited to one probing request at a time. */
  readonly isHanging: boolean;
  /** What triggers a due refresh: a scrape or the background timer. */
  readonly refresh: 'scrape' | 'background';
  /** undefined: no snapshot is served. */
  readonly snapshot: SnapshotStatus | undefined;
  /** The latest ones, the oldest first. */
  readonly outages: readonly Outage[];
}

/** Without reasons why it may miss resources, it is complete. The rejected records have no usable resource_id. */
type SnapshotStatus = Totals & Pick<Snapshot, 'complete' | 'incompleteReasons' | 'rejected' | 'pages'>;

/** An upstream with its load. */
export interface UpstreamStatus {
  readonly name: string;
  readonly load: UpstreamLoad;
  /** undefined: too little is known. */
  readonly capacity: Capacity | undefined;
}

/** A station with its snapshot, what happened to it, and the load of its upstream. */
export interface StationDetail {
  readonly spec: StationSpec;
  readonly upstream: UpstreamStatus;
  readonly status: StationStatus;
  readonly served: ServedSnapshot | undefined;
  /** The refreshes, the latest first. */
  readonly history: readonly HistoryEntry[];
  readonly changes: StationChanges;
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

/** The coverage, or the explanation why it is unknown. */
export function coverageOf({ snapshot }: Pick<StationStatus, 'snapshot'>): Coverage | string {
  if (snapshot === undefined) return 'no data';
  if (snapshot.withoutRules === undefined) return 'alert rules are not reported';
  return snapshot.coverage ?? 'no resource can have alerts';
}
