import {
  dataProblems,
  noDataReason,
  type StationStatus,
  stateOf,
  type UpstreamStatus,
} from '../../inventory/station-status.ts';
import { countText, durationText, firstOf, numberText } from '../../inventory/words.ts';
import type { FailureGroup } from './failure-groups.ts';

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
export function fleetSummary(
  stations: readonly StationStatus[],
  upstreams: readonly UpstreamStatus[],
  groups: readonly FailureGroup[],
) {
  if (stations.length === 0) return { text: 'No stations are configured on this shard.', tone: 'neutral' };
  const of = (state: ReturnType<typeof stateOf>) => stations.filter((station) => stateOf(station) === state);
  const up = of('up');
  const isWaiting = ({ waitingMs = 0 }: StationStatus) => waitingMs >= LONG_WAIT_MS;
  const isOverdue = ({ dueInMs, isRefreshing }: StationStatus) => -dueInMs >= LONG_OVERDUE_MS && !isRefreshing;
  const lacking = stations.filter((station) => dataProblems(station).length > 0);
  const bad = [
    ...failingPhrases(groups),
    ...phrases(of('no-data'), (station) => `without data: ${noDataReason(station)}`),
  ];
  const warnings = [
    ...phrases(lacking, (station) => `may be missing resources: ${lackText(station, lacking)}`),
    ...phrases(up.filter(isWaiting), noDataReason),
    ...phrases(up.filter(isOverdue), noDataReason),
    ...upstreams.flatMap((upstream) => throttledPhrases(upstream, groups)),
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

function failingPhrases(groups: readonly FailureGroup[]): readonly string[] {
  if (groups.length === 0) return [];
  const failing = groups.flatMap(({ stations }) => stations);
  const withoutData = failing.filter(({ snapshot }) => snapshot === undefined).length;
  const some = withoutData === failing.length ? '' : `${numberText(withoutData)} `;
  const causes = groups.map(({ stations, upstream, short }) => {
    const several = `${numberText(stations.length)} of upstream ${upstream}`;
    return `${stations.length === 1 ? stations[0]?.name : several} (${short})`;
  });
  const named = firstOf(causes, MAX_CAUSES, (more) => countText(more, 'more cause'));
  return [
    `${numberText(failing.length)} failing${withoutData === 0 ? '' : `, ${some}without data`}: ${named.join(', ')}`,
  ];
}

/** The name of the only station or the number of stations, and the text of the one with the longest delay. */
function phrases(stations: readonly StationStatus[], text: (longest: StationStatus) => string): readonly string[] {
  const delayOf = ({ waitingMs, dueInMs }: StationStatus) => waitingMs ?? -dueInMs;
  const [longest, ...others] = stations.toSorted((a, b) => delayOf(b) - delayOf(a));
  if (longest === undefined) return [];
  return [`${others.length === 0 ? longest.name : numberText(stations.length)} ${text(longest)}`];
}

/** Only what the failures do not say. */
function throttledPhrases({ name, load }: UpstreamStatus, groups: readonly FailureGroup[]): readonly string[] {
  const { recentThrottled, holdMs } = load;
  if (recentThrottled === 0 && holdMs <= 0) return [];
  if (groups.some(({ upstream, reason }) => upstream === name && reason === 'rate_limited')) return [];
  return [`upstream ${name} throttled (429)${holdMs > 0 ? `, next requests in ${durationText(holdMs)}` : ''}`];
}
