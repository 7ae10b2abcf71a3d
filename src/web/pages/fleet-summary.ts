import { noDataReason, type StationStatus, stateOf, type UpstreamStatus } from '../../inventory/station-status.ts';
import { countText, durationText, numberText } from '../../inventory/words.ts';
import { failureGroups, hasOneReason, shortReason } from './failure-groups.ts';

/** The state of all stations in one sentence. */
export interface FleetSummary {
  readonly text: string;
  /** `good` only when every station has current data. */
  readonly tone: 'good' | 'warning' | 'bad' | 'neutral';
}

/** A shorter wait for capacity is usual: all stations of an upstream may be due at once. */
const LONG_WAIT_MS = 60_000;

/** Longer than the scrape intervals in use. */
const LONG_OVERDUE_MS = 5 * 60_000;

/** Causes of failures that are named. */
const MAX_CAUSES = 3;

/** How many stations are fresh, failures, then what makes data old or incomplete. */
export function fleetSummary(stations: readonly StationStatus[], upstreams: readonly UpstreamStatus[]): FleetSummary {
  if (stations.length === 0) return { text: 'No stations are configured on this shard.', tone: 'neutral' };
  const of = (kind: ReturnType<typeof kindOf>) => stations.filter((station) => kindOf(station) === kind);
  const failing = of('failing');
  const incomplete = stations.filter((station) => stateOf(station) === 'up' && station.snapshot?.complete === false);
  const bad = [
    ...failingPhrases(failing),
    ...phrases(of('no-data'), (station) => `without data: ${noDataReason(station)}`),
  ];
  const warnings = [
    ...phrases(of('waiting'), noDataReason),
    ...phrases(of('overdue'), noDataReason),
    ...phrases(incomplete, () => 'with an incomplete listing'),
    ...upstreams.flatMap((upstream) => throttledPhrases(upstream, failing)),
  ];
  const notTried = phrases(of('not-tried'), () => 'not tried yet');
  const lead = `${numberText(of('fresh').length)} of ${countText(stations.length, 'station')} fresh`;
  const text = `${[lead, ...bad, ...warnings, ...notTried].join('; ')}.`;
  if (bad.length > 0) return { text, tone: 'bad' };
  if (warnings.length > 0) return { text, tone: 'warning' };
  return { text, tone: notTried.length > 0 ? 'neutral' : 'good' };
}

/** Each station is of one kind. */
function kindOf(station: StationStatus): Exclude<ReturnType<typeof stateOf>, 'up'> | 'waiting' | 'overdue' | 'fresh' {
  const state = stateOf(station);
  if (state !== 'up') return state;
  if ((station.waitingMs ?? 0) >= LONG_WAIT_MS) return 'waiting';
  return -station.dueInMs >= LONG_OVERDUE_MS && !station.isRefreshing ? 'overdue' : 'fresh';
}

function failingPhrases(failing: readonly StationStatus[]): readonly string[] {
  if (failing.length === 0) return [];
  const groups = failureGroups(failing);
  const withoutData = failing.filter(({ snapshot }) => snapshot === undefined).length;
  const data =
    withoutData === 0 ? '' : `, ${withoutData === failing.length ? '' : `${numberText(withoutData)} `}without data`;
  const causes = groups.slice(0, MAX_CAUSES).map((group) => {
    const { stations, upstream } = group;
    const subject =
      stations.length === 1 ? stations[0]?.name : `${numberText(stations.length)} of upstream ${upstream}`;
    return `${subject} (${hasOneReason(group) ? '' : 'mostly '}${shortReason(group)})`;
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
