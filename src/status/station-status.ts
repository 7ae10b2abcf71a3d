import { earliest } from '../model/clock.ts';
import type { FailureFacts, UpstreamAccess } from '../model/failure.ts';
import type { Health } from '../model/health.ts';
import { getOrCreate } from '../model/sums.ts';
import type { UpstreamLoad } from '../model/upstream-load.ts';
import { type AggregateGroup, type Aggregates, sumIfKnown } from '../resources/aggregates.ts';
import type { StationChanges } from '../resources/changes.ts';
import type { ResourceData } from '../resources/collector.ts';
import { resourceLabel } from '../resources/fields.ts';
import type { ResourceSets } from '../resources/last-known.ts';
import type { LinkTemplate } from '../resources/links.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import { knowsAlertable, type ResourceSpec } from '../resources/spec.ts';
import type { Kind } from '../stations/collector.ts';
import type { StationView } from '../stations/station-cache.ts';
import { yieldToEventLoop } from '../tasks/yield-to-event-loop.ts';
import { countText, durationText } from '../text/words.ts';
import type { Capacity } from './capacity.ts';
import type { EndedRefresh, RefreshFacts } from './latest-refreshes.ts';
import type { Loss } from './loss.ts';
import { isStale } from './thresholds.ts';
import type { UnknownState } from './unknown-states.ts';

/** State of a station as people see it. */
export interface StationStatus
  extends Omit<Health, 'failure' | 'addedMs' | 'firstMessage'>,
    RefreshFacts,
    Pick<StationView<Kind>, 'dueInMs' | 'isRefreshing' | 'waitingMs'> {
  readonly name: string;
  readonly upstream: string;
  readonly telemetryStation: string;
  /** undefined: not tried yet. */
  readonly up: boolean | undefined;
  readonly failure: FailureFacts | undefined;
  /** Of its upstream. */
  readonly access: UpstreamAccess;
  /** The service has replied to one of its requests, as far as is known. */
  readonly hasReplied: boolean;
  /** The latest request got no reply: the station is limited to one probing request at a time. */
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
  readonly isHeld: boolean;
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
  const { complete, incompleteReasons, rejected, isHeld } = snapshot;
  if (complete) return [];
  return [
    isOnlyRejecting(snapshot)
      ? `${countText(rejected, 'record')} rejected: no usable resource_id`
      : `listing incomplete: ${incompleteReasons.map(({ text }) => text).join('; ')}`,
    ...(isHeld ? [CHURN_WAITING] : []),
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

/** Resources by what is known of their alert rules, without exempt ones and, with `alertability`, without those that are not alertable. */
export interface Coverage {
  /** Sum of their alert rules; undefined: the service reports no numbers of rules. */
  readonly alertRules: number | undefined;
  readonly withRules: number;
  readonly withoutRules: number;
  /** The number of rules is unknown, or with `alertability` whether the resource is alertable. */
  readonly unknownCoverage: number;
}

/** The least and the largest number of resources that may have alert rules, and that of all; undefined: it is known of no resource. */
export function coveredRange({
  withRules,
  withoutRules,
  unknownCoverage,
}: Coverage): { readonly covered: readonly [least: number, most: number]; readonly all: number } | undefined {
  const known = withRules + withoutRules;
  if (known === 0) return undefined;
  return { covered: [withRules, withRules + unknownCoverage], all: known + unknownCoverage };
}

/** The least share of resources with alert rules that is possible; undefined: it is known of no resource. */
export function leastCoverage(coverage: Coverage): number | undefined {
  const range = coveredRange(coverage);
  return range && range.covered[0] / range.all;
}

/** The share of resources with alert rules; undefined while it is unknown of any, and without resources. */
export function coverageShare(coverage: Coverage): number | undefined {
  return coverage.unknownCoverage === 0 ? leastCoverage(coverage) : undefined;
}

/** Coverage, and of how many resources and rejected records; undefined is unknown. */
export interface CountedCoverage extends Coverage {
  readonly resources?: number;
  readonly rejected?: number;
}

/** Why there is no share. */
export function noShareReason({ alertRules, unknownCoverage, resources, rejected = 0 }: CountedCoverage): string {
  if (unknownCoverage === 0 && resources === 0 && rejected === 0) return 'no resources';
  if (unknownCoverage === 0) return resources === 0 ? 'no data' : 'all listed resources are exempt';
  return alertRules === undefined
    ? 'alert rules are not reported'
    : `unknown for ${countText(unknownCoverage, 'resource')}`;
}

/** Counted as the dashboards and alerts do, by what the states mean. */
export interface Totals extends Coverage {
  readonly resources: number;
  readonly firing: number;
  readonly pending: number;
  /** Resources in a state of unknown meaning, or without a state. */
  readonly unknown: number;
  /** Resources that can have alerts and are not exempt; undefined: unknown for all of them, as without `alertability` and exemptions. */
  readonly alertable: number | undefined;
  /** Of those without alert rules: the ones of unknown age, the overdue ones, and when the oldest was created, in Unix seconds. */
  readonly unknownAge: number;
  readonly overdue: number | undefined;
  readonly oldestUncovered: number | undefined;
}

export function totalsOf(groups: Iterable<AggregateGroup>, isAlertableKnown: boolean): Totals {
  const totals = sumOfTotals(Array.from(groups, (group) => totalsOfGroup(group, isAlertableKnown)));
  return totals.resources === 0 && isAlertableKnown ? { ...totals, alertable: 0 } : totals;
}

function totalsOfGroup({ states, alertable, ...rules }: AggregateGroup, isAlertableKnown: boolean): Totals {
  const counts = { firing: 0, pending: 0, unknown: 0, inactive: 0 };
  for (const [alertState, ofState] of states) for (const count of ofState.values()) counts[alertState] += count;
  const { inactive, ...others } = counts;
  const { alertRules, withRules, withoutRules, unknownCoverage, unknownAge, overdue, oldestUncovered } = rules;
  return {
    resources: inactive + others.firing + others.pending + others.unknown,
    ...others,
    alertable: isAlertableKnown ? alertable : undefined,
    alertRules,
    withRules,
    withoutRules,
    unknownCoverage,
    unknownAge,
    overdue,
    oldestUncovered,
  };
}

/** Of none, all counts are 0 and the rest is unknown. */
export function sumOfTotals(all: readonly Totals[]): Totals {
  const sumOf = (count: Exclude<keyof Totals, 'alertable' | 'alertRules' | 'overdue' | 'oldestUncovered'>) =>
    all.reduce((sum, totals) => sum + totals[count], 0);
  const sumOfKnown = (count: 'alertable' | 'alertRules' | 'overdue') =>
    all.reduce<number | undefined>((sum, totals) => sumIfKnown(sum, totals[count]), undefined);
  return {
    resources: sumOf('resources'),
    firing: sumOf('firing'),
    pending: sumOf('pending'),
    unknown: sumOf('unknown'),
    alertable: sumOfKnown('alertable'),
    alertRules: sumOfKnown('alertRules'),
    withRules: sumOf('withRules'),
    withoutRules: sumOf('withoutRules'),
    unknownCoverage: sumOf('unknownCoverage'),
    unknownAge: sumOf('unknownAge'),
    overdue: sumOfKnown('overdue'),
    oldestUncovered: earliest(all.map(({ oldestUncovered }) => oldestUncovered)),
  };
}

/** The resources with a value of a label of `resource_labels`, or of a type, of all stations with data; '' is the value of those without one. */
export interface OwnerCount extends Totals {
  readonly label: string;
  readonly value: string;
}

interface CountedStation {
  /** With which it was listed. */
  readonly spec: Pick<ResourceSpec, 'alertability' | 'resourceLabels'>;
  readonly aggregates: Pick<Aggregates, 'groups'>;
}

/** A pause after each station would take longer than the count. */
const STATIONS_WITHOUT_PAUSE = 100;

/** Among the labels of resources, these stand for their types and stations. */
export const TYPE_LABEL = 'resource_type';
export const STATION_LABEL = 'station';

/** By label and, if requested, by type, the most frequent value first. A station that was listed without a label does not count for it. */
export async function countOwners(
  stations: readonly CountedStation[],
  labels: readonly string[],
  types?: 'with types',
): Promise<readonly OwnerCount[]> {
  const owners = [...labels, ...(types ? [TYPE_LABEL] : [])].map((label) => ({
    label,
    values: new Map<string, Totals[]>(),
  }));
  for (const [at, { spec, aggregates }] of stations.entries()) {
    const listed = owners.filter(({ label }) => label === TYPE_LABEL || spec.resourceLabels.names.includes(label));
    for (const group of aggregates.groups) {
      const totals = totalsOfGroup(group, knowsAlertable(spec));
      for (const { label, values } of listed) {
        const value = label === TYPE_LABEL ? group.type : resourceLabel(group, label);
        getOrCreate(values, value, () => []).push(totals);
      }
    }
    if (at % STATIONS_WITHOUT_PAUSE === 0) await yieldToEventLoop();
  }
  return owners.flatMap(({ label, values }) =>
    Array.from(values, ([value, totals]) => ({ label, value, ...sumOfTotals(totals) })).sort(
      (a, b) => b.resources - a.resources,
    ),
  );
}

/** What is known of the resources of an owner, a type or a station. */
export interface CoverageRow extends Pick<OwnerCount, 'label' | 'value'> {
  /** undefined: a station without data. */
  readonly counts: Totals | undefined;
}

/** By label, the most overdue resources first, then the most that are not covered; stations without data last. */
export function coverageRows(owners: readonly OwnerCount[], stations: readonly StationStatus[]): CoverageRow[] {
  const rows: CoverageRow[] = [
    ...owners.map((counts) => ({ label: counts.label, value: counts.value, counts })),
    ...stations.map(({ name, snapshot }) => ({ label: STATION_LABEL, value: name, counts: knownCounts(snapshot) })),
  ];
  const numberOf = ({ counts }: CoverageRow, by: 'overdue' | 'withoutRules') => counts?.[by] ?? -1;
  const compare = (a: CoverageRow, b: CoverageRow) =>
    numberOf(b, 'overdue') - numberOf(a, 'overdue') || numberOf(b, 'withoutRules') - numberOf(a, 'withoutRules');
  const labels = [...new Set(rows.map(({ label }) => label))];
  return labels.flatMap((name) => rows.filter(({ label }) => label === name).sort(compare));
}
