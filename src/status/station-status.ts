import type { Failure, UpstreamAccess } from '../model/failure.ts';
import type { Health } from '../model/health.ts';
import type { UpstreamLoad } from '../model/upstream-load.ts';
import type { Aggregates } from '../resources/aggregates.ts';
import type { StationChanges } from '../resources/changes.ts';
import type { ResourceData } from '../resources/collector.ts';
import type { ResourceSets } from '../resources/last-known.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import type { CollectorTypes } from '../stations/collector.ts';
import type { StationView } from '../stations/station-cache.ts';
import { countText, durationText } from '../text/words.ts';
import type { Capacity } from './capacity.ts';
import type { EndedRefresh, RefreshHistory } from './latest-refreshes.ts';
import type { Loss } from './loss.ts';
import { isStale } from './thresholds.ts';
import type { Totals } from './totals.ts';
import type { UnknownState } from './unknown-states.ts';

/** State of a station as people see it. */
export interface StationStatus
  extends Omit<Health, 'failure' | 'addedMs' | 'firstMessage'>,
    RefreshHistory,
    Pick<StationView<CollectorTypes>, 'dueInMs' | 'isRefreshing' | 'waitingMs'> {
  readonly name: string;
  readonly upstream: string;
  readonly telemetryStation: string;
  /** undefined: not tried yet. */
  readonly up: boolean | undefined;
  readonly failure: Failure | undefined;
  /** Of its upstream. */
  readonly access: UpstreamAccess;
  /** The service has replied to one of its requests, as far as is known. */
  readonly hasReplied: boolean;
  /** The latest request got no reply: the station is limited to one request at a time. */
  readonly isHanging: boolean;
  /** The latest refreshes of all stations of the upstream failed. */
  readonly isUpstreamDown: boolean;
  /** What triggers a due refresh: a scrape or the background timer. */
  readonly refresh: 'scrape' | 'background';
  /** undefined: no snapshot is served. */
  readonly snapshot: SnapshotStatus | undefined;
  /** A reload changed the station or its upstream, and no refresh has succeeded since: labels, products and alertability are the former ones. */
  readonly isBeforeReload: boolean;
  /** The loss at that time; undefined: not many resources are gone, or there is no data. */
  readonly lossAt: (nowMs: number) => Loss | undefined;
}

export interface SnapshotStatus
  extends Totals,
    Pick<Snapshot, 'addsUp' | 'complete' | 'incompleteReasons' | 'rejected' | 'pages' | 'pageLimit' | 'absentFields'>,
    Pick<Aggregates, 'reportedZeros'> {
  /** As last known, also of resources that the listing does not have. */
  readonly sets: ResourceSets;
  readonly unknownStates: readonly UnknownState[];
  /** Whether the listing cannot be compared with those before, so that changes are not counted. */
  readonly isIncomparable: boolean;
}

/** A link to another tool: URL templates with placeholders such as `{station}`. */
export interface LinkTemplate {
  readonly name: string;
  /** On the page of a station. */
  readonly station?: string | undefined;
  /** On the page of a resource. */
  readonly resource?: string | undefined;
}

/** An upstream with its load. */
export interface UpstreamStatus {
  readonly name: string;
  readonly load: UpstreamLoad;
  /** undefined: too little is known. */
  readonly capacity: Capacity | undefined;
}

/** A station with its snapshot, what happened to it, and the load of its upstream. */
export interface StationDetail {
  readonly spec: ResourceSpec;
  readonly upstream: UpstreamStatus;
  readonly status: StationStatus;
  /** With the spec with which it was listed: before the first success after a reload, not the one in force. */
  readonly served: Pick<ResourceData, 'spec' | 'snapshot' | 'aggregates' | 'withheld' | 'withheldFiring'> | undefined;
  /** The latest ones, the newest first. */
  readonly refreshes: readonly EndedRefresh[];
  readonly changes: StationChanges;
  /** The templates of the configuration. */
  readonly links: readonly LinkTemplate[];
}

/** Says that the data of the last successful refresh is older than it, as a sentence; undefined: no reply came from a cache. */
export function cacheNote({ cached }: Pick<Health, 'cached'>): string | undefined {
  if (cached === undefined) return undefined;
  const age =
    cached.ageMs === undefined
      ? 'which does not say how old they are: counts may lag behind'
      : 'and are that old when they arrive';
  return `The replies come from a cache (${cached.header}), ${age}.`;
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

/** Whether the failure of a station is as urgent as a critical alert: its data is old or unknown, or its whole upstream fails. */
export function isCritical(station: StationStatus, nowMs: number): boolean {
  const { up, snapshot, lastSuccessMs, isUpstreamDown } = station;
  if (snapshot === undefined || lastSuccessMs === undefined || (isUpstreamDown && !up)) return true;
  return isStale(nowMs - lastSuccessMs);
}

/** The tone of failing stations. */
export function failureTone(stations: readonly StationStatus[], nowMs: number): 'bad' | 'warning' {
  return stations.some((station) => isCritical(station, nowMs)) ? 'bad' : 'warning';
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
  if (waitingMs >= NOTABLE_WAIT_MS) return `has waited ${durationText(waitingMs)} for capacity`;
  if (isRefreshing) return 'refreshing now';
  if (dueInMs <= 0) return refresh === 'scrape' ? 'on the next scrape' : 'due now';
  const delay = durationText(Math.max(dueInMs, 1000));
  return refresh === 'scrape' ? `on the first scrape after ${delay}` : `in ${delay}`;
}

/** What data lacks, in words; empty if it is complete. */
export function dataProblems({ snapshot }: Pick<StationStatus, 'snapshot'>): readonly string[] {
  if (snapshot === undefined) return [];
  const { complete, incompleteReasons, rejected, isIncomparable } = snapshot;
  if (complete) return [];
  return [
    isOnlyRejecting(snapshot)
      ? `${countText(rejected, 'record')} rejected: no usable resource_id`
      : `listing incomplete: ${incompleteReasons.map(({ text }) => text).join('; ')}`,
    ...(isIncomparable ? [CHURN_WAITING] : []),
  ];
}

export const CHURN_WAITING = 'changes are not counted until a listing can be compared with an earlier one';

/** The numbers of a snapshot; none where all records are rejected: nothing is known of the resources then. */
export function knownCounts(snapshot: SnapshotStatus | undefined): SnapshotStatus | undefined {
  const isUnknown = snapshot?.resources === 0 && snapshot.rejected > 0;
  return isUnknown ? undefined : snapshot;
}

/** Whether a listing is incomplete for no other reason than its rejected records. */
export function isOnlyRejecting({ addsUp, rejected }: Pick<Snapshot, 'addsUp' | 'rejected'>): boolean {
  return addsUp && rejected > 0;
}
