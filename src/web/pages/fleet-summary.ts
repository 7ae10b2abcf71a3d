import {
  dataProblems,
  noDataReason,
  type StationStatus,
  stateOf,
  type UpstreamStatus,
} from '../../inventory/station-status.ts';
import { countText, durationText, firstOf, numberText } from '../../inventory/words.ts';
import { failureGroups } from './failure-groups.ts';

/** A shorter wait for capacity is usual: all stations of an upstream may be due at once. */
const LONG_WAIT_MS = 60_000;

/** Longer than the scrape intervals in use. */
const LONG_OVERDUE_MS = 5 * 60_000;

/** Causes of failures that are named. */
const MAX_CAUSES = 3;

/** Stations that are named. */
const MAX_NAMED = 5;

/**
 * The state of all stations in one sentence: how many are up, failures, then what makes data old or incomplete.
 * The tone is `good` only when every station has current and complete data.
 */
export function fleetSummary(stations: readonly StationStatus[], upstreams: readonly UpstreamStatus[]) {
  if (stations.length === 0) return { text: 'No stations are configured on this shard.', tone: 'neutral' };
  const of = (state: ReturnType<typeof stateOf>) => stations.filter((station) => stateOf(station) === state);
  const up = of('up');
  const isWaiting = ({ waitingMs = 0 }: StationStatus) => waitingMs >= LONG_WAIT_MS;
  const isOverdue = ({ dueInMs, isRefreshing }: StationStatus) => -dueInMs >= LONG_OVERDUE_MS && !isRefreshing;
  const lacking = stations.filter((station) => dataProblems(station).length > 0);
  const failing = of('failing');
  const bad = [
    ...failingPhrases(failing),
    ...phrases(of('no-data'), (station) => `without data: ${noDataReason(station)}`),
  ];
  const warnings = [
    ...phrases(lacking, (station) => `may be missing resources: ${lackText(station, lacking)}`),
    ...phrases(up.filter(isWaiting), noDataReason),
    ...phrases(up.filter(isOverdue), noDataReason),
    ...upstreams.flatMap((upstream) => throttledPhrases(upstream, failing)),
  ];
  const notTried = phrases(of('not-tried'), () => 'not tried yet');
  const lead = `${numberText(up.length)} of ${countText(stations.length, 'station')} up`;
  const text = `${[lead, ...bad, ...warnings, ...notTried].join('; ')}.`;
  if (bad.length > 0) return { text, tone: 'bad' };
  if (warnings.length > 0) return { text, tone: 'warning' };
  return { text, tone: notTried.length > 0 ? 'neutral' : 'good' };
}

/** The problems of the only station; of several, each with its own in short. */
function lackText(only: StationStatus, lacking: readonly StationStatus[]): string {
  if (lacking.length === 1) return dataProblems(only).join('; ');
  const brief = (station: StationStatus) => dataProblems(station).map((problem) => problem.split(':', 1)[0]);
  const named = lacking.map((station) => `${station.name} (${brief(station).join(', ')})`);
  return firstOf(named, MAX_NAMED).join(', ');
}

function failingPhrases(failing: readonly StationStatus[]): readonly string[] {
  if (failing.length === 0) return [];
  const groups = failureGroups(failing);
  const withoutData = failing.filter(({ snapshot }) => snapshot === undefined).length;
  const data =
    withoutData === 0 ? '' : `, ${withoutData === failing.length ? '' : `${numberText(withoutData)} `}without data`;
  const causes = groups.slice(0, MAX_CAUSES).map(({ stations, upstream, short }) => {
    const subject =
      stations.length === 1 ? stations[0]?.name : `${numberText(stations.length)} of upstream ${upstream}`;
    return `${subject} (${short})`;
  });
  const more = groups.length > MAX_CAUSES ? [countText(groups.length - MAX_CAUSES, 'more cause')] : [];
  return [`${numberText(failing.length)} failing${data}: ${[...causes, ...more].join(', ')}`];
}

/** The name of the only station or the number of stations, and the text of the one with the longest delay. */
function phrases(stations: readonly StationStatus[], text: (longest: StationStatus) => string): readonly string[] {
  const delayOf = ({ waitingMs, dueInMs }: StationStatus) => waitingMs ?? -dueInMs;
  const [longest, ...others] = stations.toSorted((a, b) => delayOf(b) - delayOf(a));
  if (longest === undefined) return [];
  return [`${others.length === 0 ? longest.name : numberText(stations.length)} ${text(longest)}`];
}

/** Only what the failures do not say. */
function throttledPhrases({ name, load }: UpstreamStatus, failing: readonly StationStatus[]): readonly string[] {
  if (load.recentThrottled === 0 && load.holdMs <= 0) return [];
  if (failing.some(({ upstream, failure }) => upstream === name && failure?.reason === 'rate_limited')) return [];
  return [
    `upstream ${name} throttled (429)${load.holdMs > 0 ? `, next requests in ${durationText(load.holdMs)}` : ''}`,
  ];
}
