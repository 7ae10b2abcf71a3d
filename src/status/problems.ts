import { countText, firstOf, numberText } from '../text/words.ts';
import { type Advice, explain, incompleteAdvice, type TlsSession, throttlingAdvice } from './advice.ts';
import { loadNotes } from './load-notes.ts';
import type { Loss } from './loss.ts';
import {
  failureTone,
  isCritical,
  isOnlyRejecting,
  noDataReason,
  type SnapshotStatus,
  type StationStatus,
  stateOf,
  type UpstreamStatus,
} from './station-status.ts';
import { hasUnknownStates, isManyFiring, isOverloaded } from './thresholds.ts';
import { allUnknownStates, unknownStatesAdvice, unknownStatesText } from './unknown-states.ts';

/** Longer than the scrape intervals in use. */
const LONG_OVERDUE_MS = 5 * 60_000;

/** The urgency, as the severity of the alert on the same problem; states of unknown meaning have their own look on all pages. */
type Tone = 'bad' | 'warning' | 'unknown';

/** The most urgent first. */
const TONES: readonly Tone[] = ['bad', 'warning', 'unknown'];

/** Something that a person should look at: on the status page and in `check --live`. */
export interface FleetProblem {
  readonly kind:
    | 'lost'
    | 'failing'
    | 'overdue'
    | 'firing'
    | 'incomplete'
    | 'rejected'
    | 'configuration'
    | 'web configuration'
    | 'upstream'
    | 'unknown states'
    | 'check';
  /** Unique, and the same while the problem lasts. */
  readonly key: string;
  readonly tone: Tone;
  /** Who is affected, in a few words. */
  readonly who: string;
  readonly stations: readonly AffectedStation[];
  /** That of all stations; undefined: they are of several, or it is not a problem of stations. */
  readonly upstream?: string | undefined;
  /** In a few words, for a headline. */
  readonly problem: string;
  readonly what: string;
  /** What the service or the configuration says, in its own words. */
  readonly said?: readonly string[];
  readonly advice: string;
  /** undefined: unknown. */
  readonly sinceMs?: number | undefined;
}

interface AffectedStation {
  readonly name: string;
  /** What is different from station to station. */
  readonly note?: string;
}

/** Since when which problems have kept an older configuration in force. */
export interface RejectedReload {
  readonly atMs: number;
  readonly problems: readonly string[];
}

export interface ProblemFacts {
  readonly stations: readonly StationStatus[];
  readonly upstreams: readonly UpstreamStatus[];
  readonly rejectedReload?: RejectedReload | undefined;
  readonly rejectedWebReload?: RejectedReload | undefined;
  readonly nowMs: number;
}

/** The most urgent first, in the order of the severities of alerts; equal problems of several stations are one. */
export function currentProblems(facts: ProblemFacts): readonly FleetProblem[] {
  const { stations, upstreams, rejectedReload, rejectedWebReload, nowMs } = facts;
  const failures = failureGroups(facts);
  const isRejecting = ({ snapshot }: StationStatus) => snapshot !== undefined && isOnlyRejecting(snapshot);
  const incomplete = stations.filter(({ snapshot }) => snapshot?.complete === false);
  return byUrgency([
    ...groupsBy(
      stations.filter((station) => station.lossAt(nowMs) !== undefined),
      upstreamKey,
    ).map((group) => lossProblem(group, nowMs)),
    ...failures.map((group) => failureProblem(group, nowMs)),
    ...groupsBy(
      stations.filter(isOverdue),
      (station) => `${failureTone(station, nowMs)} ${overdueProblem(station)}`,
    ).map((group) => overdueGroup(group, nowMs)),
    ...groupsBy(
      stations.filter(({ snapshot }) => snapshot && isManyFiring(snapshot.firing, snapshot.resources)),
      upstreamKey,
    ).map(manyFiringProblem),
    ...groupsBy(
      incomplete.filter((station) => !isRejecting(station)),
      reasonKey,
    ).map(incompleteProblem),
    ...groupsBy(incomplete.filter(isRejecting), upstreamKey).map(rejectingProblem),
    ...reloadProblems('configuration', rejectedReload),
    ...reloadProblems('web configuration', rejectedWebReload),
    ...upstreams.flatMap((upstream) => upstreamProblems(upstream, failures, facts)),
    ...unknownStatesProblems(stations.filter(({ snapshot }) => snapshot && hasUnknownStates(snapshot.unknown))),
  ]);
}

/** The order of equally urgent problems stays. */
export function byUrgency(list: readonly FleetProblem[]): readonly FleetProblem[] {
  return list.toSorted((a, b) => TONES.indexOf(a.tone) - TONES.indexOf(b.tone));
}

/** Who has a problem; `note`: what is different from station to station. */
export function affected<Station extends { readonly name: string; readonly upstream: string }>(
  stations: readonly Station[],
  note?: (station: Station) => string,
): Pick<FleetProblem, 'who' | 'stations' | 'upstream'> {
  const [first] = stations as readonly [Station];
  const upstream = stations.every((station) => station.upstream === first.upstream) ? first.upstream : undefined;
  const count = countText(stations.length, 'station');
  const several = upstream === undefined ? count : `${count} of upstream ${upstream}`;
  return {
    who: stations.length === 1 ? first.name : several,
    stations: stations.map((station) => ({ name: station.name, ...(note && { note: note(station) }) })),
    upstream,
  };
}

/** Stations with the same problem, which usually has one cause and one resolution. */
interface StationGroup<Station> {
  readonly key: string;
  readonly stations: Station[];
}

/** The largest group first. */
export function groupsBy<Station>(
  stations: readonly Station[],
  keyOf: (station: Station) => string,
): readonly StationGroup<Station>[] {
  const groups = new Map<string, StationGroup<Station>>();
  for (const station of stations) {
    const key = keyOf(station);
    const group = groups.get(key) ?? { key, stations: [] };
    group.stations.push(station);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.stations.length - a.stations.length);
}

type StatusGroup = StationGroup<StationStatus>;

function upstreamKey({ upstream }: StationStatus): string {
  return upstream;
}

function reasonKey({ upstream, snapshot }: StationStatus): string {
  return JSON.stringify([upstream, ...new Set(snapshot?.incompleteReasons.map(({ reason }) => reason))]);
}

function snapshotOf({ snapshot }: StationStatus): SnapshotStatus {
  return snapshot as SnapshotStatus;
}

/** Numbers of resources of stations, the largest first, and their sum. */
function counted(stations: readonly StationStatus[], numberOf: (station: StationStatus) => number) {
  const largestFirst = stations.toSorted((a, b) => numberOf(b) - numberOf(a));
  return {
    sum: stations.reduce((sum, station) => sum + numberOf(station), 0),
    who: affected(largestFirst, (station) => numberText(numberOf(station))),
  };
}

/** The earliest of the times that are known. */
function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Many resources of stations are gone. */
function lossProblem({ key, stations }: StatusGroup, nowMs: number): FleetProblem {
  const lossOf = (station: StationStatus) => station.lossAt(nowMs) as Loss;
  const { sum, who } = counted(stations, (station) => lossOf(station).lost);
  const before = counted(stations, (station) => lossOf(station).before).sum;
  const problem = `${numberText(sum)} of ${countText(before, 'resource')} are gone`;
  return {
    kind: 'lost',
    key: `lost ${key}`,
    tone: 'bad',
    ...who,
    problem,
    what: `${problem}. The listings add up.`,
    advice: 'Compare with the console of the service: were they deleted, or did the account lose access to them?',
    sinceMs: Math.min(...stations.map((station) => lossOf(station).sinceMs)),
  };
}

/** What the failure of a station means and what to do; undefined: it does not fail. */
export function explainStation(station: StationStatus, session?: TlsSession): Advice | undefined {
  const { failure, access, snapshot } = station;
  const circumstances = { access, silence: silenceOf(station), session, pageLimit: snapshot?.pageLimit };
  return failure && explain(failure, circumstances);
}

/** Who has not replied, as far as is known; undefined: the service replied to the station before. */
function silenceOf({ isHanging, hasReplied, isUpstreamDown }: StationStatus): 'station' | 'service' | undefined {
  if (!isHanging && hasReplied) return undefined;
  return isUpstreamDown ? 'service' : 'station';
}

interface FailureGroup extends StatusGroup {
  readonly explanation: Advice;
}

/** By upstream, reason and explanation. */
function failureGroups({ stations, upstreams }: ProblemFacts): readonly FailureGroup[] {
  const sessions = new Map(upstreams.map(({ name, session }) => [name, session]));
  const explained = stations.flatMap((station) => {
    const explanation = explainStation(station, sessions.get(station.upstream));
    return explanation ? [{ station, explanation }] : [];
  });
  const keyOf = ({ station: { upstream, failure }, explanation: { short } }: (typeof explained)[number]) =>
    JSON.stringify([upstream, failure?.reason, short]);
  return groupsBy(explained, keyOf).map(({ key, stations: group }) => ({
    key,
    stations: group.map(({ station }) => station),
    // The others may know less: some of them may have been answered before.
    explanation: (group.find(({ station }) => silenceOf(station) === undefined) ?? group[0])?.explanation as Advice,
  }));
}

function failureProblem({ key, stations, explanation }: FailureGroup, nowMs: number): FleetProblem {
  const { short, meaning, advice } = explanation;
  const reason = stations[0]?.failure?.reason;
  const messages = groupsBy(stations, ({ failure }) => `${failure?.message}`);
  const [{ key: message, stations: sameMessage } = { key: '', stations: [] }, ...others] = messages;
  const note =
    others.length === 0
      ? ''
      : ` (${numberText(sameMessage.length)} of ${countText(stations.length, 'station')}; ${countText(others.length, 'other message')})`;
  return {
    kind: 'failing',
    key,
    tone: stations.some((station) => isCritical(station, nowMs)) ? 'bad' : 'warning',
    ...affected(stations),
    problem: short,
    what: `${meaning} ${servedText(stations)}`,
    said: [`${reason}: ${message}${note}`],
    advice,
    sinceMs: earliest(stations.map(({ outage }) => outage?.reasonFromMs)),
  };
}

/** What is served instead of current data. */
function servedText(stations: readonly StationStatus[]): string {
  const missing = stations.filter(({ snapshot }) => snapshot === undefined).length;
  if (stations.every(({ lastSuccessMs }) => lastSuccessMs === undefined)) return 'No refresh has succeeded yet.';
  if (missing === 0) return 'Older data is served.';
  if (missing === stations.length) return 'No data is served: it has expired.';
  return `${numberText(missing)} of them ${missing === 1 ? 'has' : 'have'} no data.`;
}

/** Not failing, but without data or with data that was not refreshed for long. */
function isOverdue(station: StationStatus): boolean {
  const { dueInMs, isRefreshing } = station;
  const state = stateOf(station);
  return state === 'no-data' || (state === 'up' && -dueInMs >= LONG_OVERDUE_MS && !isRefreshing);
}

/** Stations that succeed, but not often enough: those of all upstreams together, because scrapes or the exporter are the cause. */
function overdueGroup({ key, stations }: StatusGroup, nowMs: number): FleetProblem {
  const [longest] = stations.toSorted((a, b) => a.dueInMs - b.dueInMs) as [StationStatus];
  const problem = overdueProblem(longest);
  const data = longest.snapshot === undefined ? 'The data has expired' : 'The data is old';
  return {
    kind: 'overdue',
    key,
    tone: failureTone(longest, nowMs),
    ...affected(stations, noDataReason),
    problem,
    what: stations.length === 1 ? `${data}: ${noDataReason(longest)}.` : `${data}.`,
    advice:
      problem === 'not scraped'
        ? 'Check that Prometheus scrapes this exporter: a scrape refreshes a station that is due.'
        : 'Check the load of the upstream and of the exporter.',
    sinceMs: nowMs + Math.min(longest.dueInMs, 0),
  };
}

/** Before its since; `noDataReason` says for how long. */
function overdueProblem({ refresh, isRefreshing }: StationStatus): 'not scraped' | 'overdue' {
  return refresh === 'scrape' && !isRefreshing ? 'not scraped' : 'overdue';
}

/** Many resources of stations are firing, which usually has one cause. */
function manyFiringProblem({ key, stations }: StatusGroup): FleetProblem {
  const { sum, who } = counted(stations, (station) => snapshotOf(station).firing);
  const all = counted(stations, (station) => snapshotOf(station).resources).sum;
  const problem = `${numberText(sum)} of ${countText(all, 'resource')} are firing`;
  return {
    kind: 'firing',
    key: `firing ${key}`,
    tone: 'bad',
    ...who,
    problem,
    what: `${problem}.`,
    advice: 'Look for a common cause: their types and owners.',
  };
}

function incompleteProblem({ key, stations }: StatusGroup): FleetProblem {
  const [first, ...others] = stations as [StationStatus];
  const { incompleteReasons, pageLimit } = snapshotOf(first);
  const reasonsOf = (station: StationStatus) =>
    firstOf(
      snapshotOf(station).incompleteReasons.map(({ text }) => text),
      MAX_REASONS,
    ).join('; ');
  const advice = new Set(incompleteReasons.map(({ reason }) => incompleteAdvice(reason, pageLimit)));
  return {
    kind: 'incomplete',
    key: `incomplete ${key}`,
    tone: 'warning',
    ...affected(stations, reasonsOf),
    problem: 'listing incomplete',
    what: `Resources may be missing${others.length === 0 ? `: ${reasonsOf(first)}` : ''}.`,
    advice: `${[...advice].join(' ')}${changesWait(stations)}`,
    sinceMs: earliest(stations.map(({ incompleteSinceMs }) => incompleteSinceMs)),
  };
}

/** Each product has a listing of its own. */
const MAX_REASONS = 5;

function changesWait(stations: readonly StationStatus[]): string {
  return stations.some(({ snapshot }) => snapshot?.isHeld) ? ' Changes are not counted meanwhile.' : '';
}

function rejectingProblem({ key, stations }: StatusGroup): FleetProblem {
  const { sum, who } = counted(stations, (station) => snapshotOf(station).rejected);
  return {
    kind: 'rejected',
    key: `rejected ${key}`,
    tone: 'warning',
    ...who,
    problem: `${countText(sum, 'record')} rejected`,
    what: `${countText(sum, 'record has', 'records have')} no usable resource_id, and ${sum === 1 ? 'is' : 'are'} left out.`,
    advice: `${incompleteAdvice('rejected_records')}${changesWait(stations)}`,
    sinceMs: earliest(stations.map(({ incompleteSinceMs }) => incompleteSinceMs)),
  };
}

/** Problems of a file that are shown. */
const MAX_FILE_PROBLEMS = 5;

function reloadProblems(
  kind: 'configuration' | 'web configuration',
  rejected: RejectedReload | undefined,
): readonly FleetProblem[] {
  if (rejected === undefined) return [];
  return [
    {
      kind,
      key: kind,
      tone: 'warning',
      stations: [],
      who: kind,
      problem: 'rejected',
      what: 'The file was rejected: what was in force before remains in use.',
      said: firstOf(rejected.problems, MAX_FILE_PROBLEMS),
      advice:
        kind === 'configuration'
          ? 'Correct the file, and reload it.'
          : 'Correct the file: it is reread automatically. Some changes require a restart.',
      sinceMs: rejected.atMs,
    },
  ];
}

/** Where the service does not limit requests. */
const OVERLOAD_ADVICE = 'Raise cache.ttl, or concurrency and requests_per_second if the service can take more.';

/** Only what the failures do not say. */
function upstreamProblems(
  upstream: UpstreamStatus,
  failures: readonly FailureGroup[],
  { stations, nowMs }: ProblemFacts,
): readonly FleetProblem[] {
  const { name, load } = upstream;
  const limits = stations.flatMap((station) => (station.upstream === name ? (station.snapshot?.pageLimit ?? []) : []));
  const isSaid = failures.some(
    ({ stations: [first] }) => first?.upstream === name && first.failure?.reason === 'rate_limited',
  );
  const notes = loadNotes(upstream, nowMs).filter(
    ({ kind }) => !(kind === 'throttled' && isSaid) && !(kind === 'waiting' && !isOverloaded(load.oldestWaitingMs)),
  );
  const [first] = notes;
  if (first === undefined) return [];
  return [
    {
      kind: 'upstream',
      key: `upstream ${name}`,
      tone: 'warning',
      stations: [],
      who: `upstream ${name}`,
      upstream: name,
      problem: first.brief,
      what: `${notes.map(({ text }) => text).join('; ')}.`,
      advice: notes.some(({ kind }) => kind === 'throttled' || kind === 'held')
        ? throttlingAdvice(limits[0])
        : OVERLOAD_ADVICE,
      sinceMs: first.sinceMs,
    },
  ];
}

/** Of all stations together, because one line of the configuration is the resolution. */
function unknownStatesProblems(unclear: readonly StationStatus[]): readonly FleetProblem[] {
  if (unclear.length === 0) return [];
  const states = allUnknownStates(unclear.map((station) => snapshotOf(station).unknownStates));
  const { sum, who } = counted(unclear, (station) => snapshotOf(station).unknown);
  const problem = `${countText(sum, 'resource')} in states of unknown meaning`;
  return [
    {
      kind: 'unknown states',
      key: 'unknown states',
      tone: 'unknown',
      ...who,
      problem,
      what: `${problem}, neither firing nor inactive: ${unknownStatesText(states)}.`,
      advice: unknownStatesAdvice(states),
      sinceMs: earliest(unclear.map(({ unknownSinceMs }) => unknownSinceMs)),
    },
  ];
}
