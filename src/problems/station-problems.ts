import { earliest } from '../model/clock.ts';
import { getOrCreate } from '../model/sums.ts';
import { FIELDS } from '../resources/fields.ts';
import type { Loss } from '../status/loss.ts';
import {
  failureTone,
  noDataReason,
  type SnapshotStatus,
  type StationStatus,
  stateOf,
} from '../status/station-status.ts';
import { hasManyUnknownStates, hasUnknownStates, isManyFiring, lacksMany } from '../status/thresholds.ts';
import { allUnknownStates, unknownStatesAdvice, unknownStatesText } from '../status/unknown-states.ts';
import { countText, firstOf, numberText } from '../text/words.ts';
import { explain, incompleteAdvice } from './advice.ts';
import type { Advice } from './failure-rules.ts';
import { affected, type FleetProblem } from './problem.ts';

/** From here on, data that was not refreshed is a problem: scrape intervals in use are shorter. */
export const LONG_OVERDUE_MS = 5 * 60_000;

type Description = Omit<FleetProblem, 'category' | 'key'>;

interface StationProblem {
  readonly category: FleetProblem['category'];
  readonly isAffected: (station: StationStatus, nowMs: number) => boolean;
  /** Affected stations with equal values are one problem. */
  readonly sharedBy: (station: StationStatus) => readonly (string | undefined)[];
  readonly describe: (stations: readonly StationStatus[], nowMs: number) => Description;
}

/** Equally urgent ones in this order. */
const STATION_PROBLEMS: readonly StationProblem[] = [
  {
    category: 'lost',
    isAffected: (station, nowMs) => station.lossAt(nowMs) !== undefined,
    sharedBy: ({ upstream }) => [upstream],
    describe: describeLoss,
  },
  {
    category: 'failing',
    isAffected: ({ failure }) => failure !== undefined,
    sharedBy: (station) => [station.upstream, station.failure?.reason, explainStation(station)?.short],
    describe: describeFailure,
  },
  {
    category: 'overdue',
    isAffected: isOverdue,
    // Those of all upstreams together, because scrapes or the exporter are the cause.
    sharedBy: (station) => [overdueProblem(station), stateOf(station)],
    describe: describeOverdue,
  },
  {
    category: 'firing',
    isAffected: ({ snapshot }) => snapshot !== undefined && isManyFiring(snapshot.sets),
    sharedBy: ({ upstream }) => [upstream],
    describe: describeFiring,
  },
  {
    category: 'incomplete',
    isAffected: ({ snapshot }) => snapshot?.complete === false,
    sharedBy: ({ upstream, snapshot }) => [
      upstream,
      ...new Set(snapshot?.incompleteReasons.map(({ reason }) => reason)),
    ],
    describe: describeIncomplete,
  },
  {
    category: 'unknown states',
    isAffected: ({ snapshot }) => snapshot !== undefined && hasUnknownStates(snapshot.unknown),
    // Those of all stations together, because one line of the configuration is the resolution.
    sharedBy: () => [],
    describe: describeUnknown,
  },
  {
    category: 'absent fields',
    isAffected: ({ snapshot }) => snapshot !== undefined && snapshot.reportedZeros === 0 && withoutCount(snapshot) > 0,
    // One key of the upstream is the resolution.
    sharedBy: ({ upstream }) => [upstream],
    describe: describeAbsent,
  },
];

/** Stations that have the same problem share it. */
export function problemsOfStations(stations: readonly StationStatus[], nowMs: number): readonly FleetProblem[] {
  return STATION_PROBLEMS.flatMap((problem) => sharedProblems(problem, stations, nowMs));
}

function sharedProblems(
  { category, isAffected, sharedBy, describe }: StationProblem,
  stations: readonly StationStatus[],
  nowMs: number,
): readonly FleetProblem[] {
  const affectedOnes = stations.filter((station) => isAffected(station, nowMs));
  const groups = groupsBy(affectedOnes, (station) => JSON.stringify(sharedBy(station)));
  return groups.map((group) => ({ category, key: `${category} ${group.key}`, ...describe(group.stations, nowMs) }));
}

/** Stations with the same problem, which usually has one cause and one resolution; the largest group first. */
function groupsBy<Station>(stations: readonly Station[], keyOf: (station: Station) => string) {
  const groups = new Map<string, Station[]>();
  for (const station of stations) getOrCreate(groups, keyOf(station), () => []).push(station);
  return Array.from(groups, ([key, group]) => ({ key, stations: group })).sort(
    (a, b) => b.stations.length - a.stations.length,
  );
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

/** Many resources of stations are gone. */
function describeLoss(stations: readonly StationStatus[], nowMs: number): Description {
  const lossOf = (station: StationStatus) => station.lossAt(nowMs) as Loss;
  const { sum, who } = counted(stations, (station) => lossOf(station).lost);
  const before = counted(stations, (station) => lossOf(station).before).sum;
  const problem = `${numberText(sum)} of ${countText(before, 'resource')} are gone`;
  return {
    tone: 'bad',
    ...who,
    problem,
    what: `${problem}. The listings add up.`,
    advice: 'Compare with the console of the service: were they deleted, or did the account lose access to them?',
    sinceMs: earliest(stations.map((station) => lossOf(station).sinceMs)),
  };
}

/** What the failure of a station means and what to do; undefined: it does not fail. */
export function explainStation(station: StationStatus): Advice | undefined {
  const { failure, access, lastSuccessMs, isBeforeReload } = station;
  const hasListed = lastSuccessMs !== undefined && !isBeforeReload;
  return failure && explain(failure, { access, silence: silenceOf(station), hasListed });
}

/** Who has not replied, as far as is known; undefined: the service replied to the station before. */
function silenceOf({ isHanging, hasReplied, isUpstreamDown }: StationStatus): 'station' | 'service' | undefined {
  if (!isHanging && hasReplied) return undefined;
  return isUpstreamDown ? 'service' : 'station';
}

function describeFailure(stations: readonly StationStatus[], nowMs: number): Description {
  const [first] = stations as readonly [StationStatus];
  // The others may know less: some of them may have been answered before.
  const informed = stations.find((station) => silenceOf(station) === undefined) ?? first;
  const { short, meaning, advice } = explainStation(informed) as Advice;
  const messages = groupsBy(stations, ({ failure }) => `${failure?.reason}: ${failure?.message}`);
  return {
    tone: failureTone(stations, nowMs),
    ...affected(stations),
    problem: short,
    what: `${meaning} ${servedText(stations)}`,
    quotes: firstOf(
      messages.map(({ key }) => key),
      MAX_MESSAGES,
      (more) => countText(more, 'other message'),
    ),
    advice,
    sinceMs: earliest(stations.map(({ failureStreak }) => failureStreak?.reasonFromMs)),
  };
}

/** Different messages of failing stations that are shown, the most frequent first. */
const MAX_MESSAGES = 2;

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

/** Stations that succeed, but not often enough. */
function describeOverdue(stations: readonly StationStatus[], nowMs: number): Description {
  const [longest] = stations.toSorted((a, b) => a.dueInMs - b.dueInMs) as [StationStatus];
  const problem = overdueProblem(longest);
  const data = longest.snapshot === undefined ? 'The data has expired' : 'The data is old';
  return {
    tone: failureTone(stations, nowMs),
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

/** Without a duration, because the time since when it lasts follows: `noDataReason` has both in one text. */
function overdueProblem({ refresh, isRefreshing }: StationStatus): 'not scraped' | 'overdue' {
  return refresh === 'scrape' && !isRefreshing ? 'not scraped' : 'overdue';
}

/** Many resources, which usually have one cause. */
function describeFiring(stations: readonly StationStatus[]): Description {
  const { sum, who } = counted(stations, (station) => snapshotOf(station).sets.firing);
  const all = counted(stations, (station) => snapshotOf(station).sets.all).sum;
  const listed = counted(stations, (station) => snapshotOf(station).firing).sum;
  const problem = `${numberText(sum)} of ${countText(all, 'resource')} are firing`;
  return {
    tone: 'bad',
    ...who,
    problem,
    what: `${problem}${sum > listed ? `, ${numberText(sum - listed)} of them as last known` : ''}.`,
    advice: 'Look for a common cause: their types and owners.',
  };
}

function describeIncomplete(stations: readonly StationStatus[]): Description {
  const [first, ...others] = stations as [StationStatus];
  const { incompleteReasons, pageLimit } = snapshotOf(first);
  const reasonsOf = (station: StationStatus) =>
    firstOf(
      snapshotOf(station).incompleteReasons.map(({ text }) => text),
      MAX_REASONS,
    ).join('; ');
  const advice = new Set(incompleteReasons.map(({ reason }) => incompleteAdvice(reason, pageLimit)));
  const isIncomparable = stations.some((station) => snapshotOf(station).isIncomparable);
  return {
    tone: stations.some((station) => lacksMany(snapshotOf(station).sets)) ? 'bad' : 'warning',
    ...affected(stations, reasonsOf),
    problem: 'listing incomplete',
    what: `Resources may be missing${others.length === 0 ? `: ${reasonsOf(first)}` : ''}.`,
    advice: `${[...advice].join(' ')}${isIncomparable ? ' Changes are not counted meanwhile.' : ''}`,
    sinceMs: earliest(stations.map(({ incompleteSinceMs }) => incompleteSinceMs)),
  };
}

/** Each product has a listing of its own. */
const MAX_REASONS = 5;

function describeUnknown(stations: readonly StationStatus[]): Description {
  const states = allUnknownStates(stations.map((station) => snapshotOf(station).unknownStates));
  const { sum, who } = counted(stations, (station) => snapshotOf(station).unknown);
  const problem = `${countText(sum, 'resource')} in states of unknown meaning`;
  return {
    tone: stations.some((station) => hasManyUnknownStates(snapshotOf(station).sets)) ? 'bad' : 'unknown',
    ...who,
    problem,
    what: `${problem}, neither firing, pending nor inactive: ${unknownStatesText(states)}.`,
    advice: unknownStatesAdvice(states),
    sinceMs: earliest(stations.map(({ unknownSinceMs }) => unknownSinceMs)),
  };
}

const { wire: RULES_FIELD } = FIELDS.alertRules;

/** Records that lack the number of alert rules. */
function withoutCount({ absentFields }: SnapshotStatus): number {
  return absentFields[RULES_FIELD] ?? 0;
}

/** No station has a resource whose number of alert rules is 0. */
function describeAbsent(stations: readonly StationStatus[]): Description {
  const { sum, who } = counted(stations, (station) => withoutCount(snapshotOf(station)));
  const all = counted(stations, (station) => snapshotOf(station).resources).sum;
  const problem = `${numberText(sum)} of ${countText(all, 'record')} have no ${RULES_FIELD}`;
  return {
    tone: 'unknown',
    ...who,
    problem,
    what: `${problem}, and none has 0: the service may leave zeros out.`,
    advice: `If the console of the service shows these resources without alert rules, set absent_fields: { ${RULES_FIELD}: 0 } in the upstream ${who.upstream}. Otherwise whether they are covered by alert rules stays unknown.`,
  };
}
