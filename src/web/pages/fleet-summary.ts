import { queryText } from '../../inventory/parameters.ts';
import {
  dataProblems,
  noDataReason,
  type StationStatus,
  stateOf,
  type UpstreamStatus,
} from '../../inventory/station-status.ts';
import { allUnknownStates, unknownStatesText } from '../../inventory/unknown-states.ts';
import { countText, durationText, firstOf, numberText } from '../../inventory/words.ts';
import { failureAdvice } from '../../model/failure.ts';
import { statusText } from './error-page.ts';
import { type Html, html, rowId } from './html.ts';
import { stationLink, successText } from './station-parts.ts';

/** A shorter wait for capacity is usual: all stations of an upstream may be due at once. */
const LONG_WAIT_MS = 60_000;

/** Longer than the scrape intervals in use. */
const LONG_OVERDUE_MS = 5 * 60_000;

/** Causes of failures that the summary names. */
const MAX_NAMED_CAUSES = 3;

/** Stations that are named. */
const MAX_NAMED_STATIONS = 5;

/**
 * The state of all stations in one sentence: how many are up, failures, then what makes data old or incomplete.
 * The tone is `good` only when every station has current and complete data, whose states all have a meaning.
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
  const unclear = stations.filter(({ snapshot }) => snapshot?.unknown);
  const unknown = allUnknownStates(unclear.map(({ snapshot }) => snapshot?.unknownStates ?? []));
  const bad = [
    ...failingPhrases(groups),
    ...phrases(of('no-data'), (station) => `without data: ${noDataReason(station)}`),
  ];
  const warnings = [
    ...phrases(lacking, (station) => `may be missing resources: ${lackText(station, lacking)}`),
    ...phrases(unclear, () => `with states of unknown meaning: ${unknownStatesText(unknown)}`),
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
  return firstOf(named, MAX_NAMED_STATIONS).join(', ');
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
  const named = firstOf(causes, MAX_NAMED_CAUSES, (more) => countText(more, 'more cause'));
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
  return [`upstream ${name} throttled${holdMs > 0 ? `, next requests in ${durationText(holdMs)}` : ''}`];
}

/** Stations of one upstream that fail for the same reason: usually one problem, with one resolution. */
interface FailureGroup {
  readonly upstream: string;
  readonly reason: ShownFailure['reason'];
  /** In a few words. */
  readonly short: string;
  readonly status: number | undefined;
  readonly stations: StationStatus[];
  /** How many stations have each message. */
  readonly messages: Map<string, number>;
}

type ShownFailure = NonNullable<StationStatus['failure']>;

/** The largest group first. */
export function failureGroups(stations: readonly StationStatus[]): readonly FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const station of stations) {
    const { upstream, failure } = station;
    if (failure === undefined) continue;
    const { reason, message, status } = failure;
    const short = shortReason(failure);
    const key = JSON.stringify([upstream, reason, short]);
    const messages = new Map<string, number>();
    const group = groups.get(key) ?? { upstream, reason, short, status, stations: [], messages };
    group.stations.push(station);
    group.messages.set(message, (group.messages.get(message) ?? 0) + 1);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.stations.length - a.stations.length);
}

/** A few words for a failure: the status if the service returned one. */
export function shortReason(failure: ShownFailure): string {
  const { reason, status } = failure;
  if (reason !== 'status' || status === undefined) return failureAdvice(failure).short;
  return statusText(status);
}

/** Groups that the page shows; the table has all stations. */
const MAX_SHOWN_GROUPS = 20;

/** What fails, why and what to do, once per upstream and reason; empty when nothing fails. */
export function failureSection(groups: readonly FailureGroup[], nowMs: number): Html {
  if (groups.length === 0) return html``;
  const more = groups.slice(MAX_SHOWN_GROUPS);
  const stations = more.reduce((sum, group) => sum + group.stations.length, 0);
  return html`<section aria-labelledby="failures-heading">
<h2 id="failures-heading">Failures</h2>
${groups.slice(0, MAX_SHOWN_GROUPS).map((group) => failureBox(group, nowMs))}${
  more.length === 0
    ? []
    : html`<p>${countText(more.length, 'more cause')}, with ${countText(stations, 'station')}: see the table.</p>`
}</section>`;
}

function failureBox({ upstream, reason, short, status, stations, messages }: FailureGroup, nowMs: number): Html {
  const [[message, count] = ['', 0], ...others] = [...messages].sort(([, a], [, b]) => b - a);
  const { meaning, advice } = failureAdvice({ reason, status });
  const [only] = stations;
  const subject =
    stations.length === 1 && only
      ? html`${stationLink(only.name)} <span class="quiet">of upstream ${upstream}</span>`
      : html`<a href="${queryText({ state: 'failing', upstream, filter: short })}#stations">${countText(stations.length, 'station')}</a> of upstream ${upstream}`;
  const note = html` <span class="quiet">(${numberText(count)} of ${countText(stations.length, 'station')}; ${countText(others.length, 'other message')})</span>`;
  return html`<div class="failure-note" id="${rowId(`${upstream} ${reason} ${short}`)}">
<p><strong>${subject}: ${meaning}</strong> ${sinceText(stations, nowMs)}</p>
<p class="said"><code>${reason}</code>: ${message}${others.length === 0 ? [] : note}</p>
<p>What to do: ${advice}</p>
</div>
`;
}

function sinceText(stations: readonly StationStatus[], nowMs: number): Html {
  const [latest] = stations.flatMap(({ lastSuccessMs }) => lastSuccessMs ?? []).sort((a, b) => b - a);
  const withoutData = stations.filter(({ snapshot }) => snapshot === undefined).length;
  const some = `${numberText(withoutData)} of them ${withoutData === 1 ? 'has' : 'have'} no data.`;
  const served = withoutData === 0 ? 'Older data is served.' : some;
  return html`${successText(latest, nowMs)} ${withoutData === stations.length ? 'No data is served.' : served}`;
}
