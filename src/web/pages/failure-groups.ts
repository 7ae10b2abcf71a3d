import { queryText } from '../../inventory/parameters.ts';
import type { StationStatus } from '../../inventory/station-status.ts';
import { countText, numberText } from '../../inventory/words.ts';
import { FAILURE_ADVICE, failureAdvice } from '../../model/failure.ts';
import { type Html, html, rowId } from './html.ts';
import { stationLink, successText } from './station-parts.ts';

/** Stations of one upstream that fail for the same reason: usually one problem, with one resolution. */
export interface FailureGroup {
  readonly upstream: string;
  readonly reason: Failure['reason'];
  /** In a few words. */
  readonly short: string;
  readonly stations: StationStatus[];
  /** How many stations have each message. */
  readonly messages: Map<string, number>;
}

type Failure = NonNullable<StationStatus['failure']>;

/** The largest group first. */
export function failureGroups(stations: readonly StationStatus[]): readonly FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const station of stations) {
    const { upstream, failure } = station;
    if (failure === undefined) continue;
    const { reason, message } = failure;
    const short = shortReason(failure);
    const key = JSON.stringify([upstream, reason, short]);
    const group = groups.get(key) ?? { upstream, reason, short, stations: [], messages: new Map<string, number>() };
    group.stations.push(station);
    group.messages.set(message, (group.messages.get(message) ?? 0) + 1);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.stations.length - a.stations.length);
}

/** A few words for a failure: the status if the service returned one. */
export function shortReason({ reason, message }: Failure): string {
  const [status] = /\b[1-5]\d\d(?: [A-Z][A-Za-z'-]*)+/.exec(message) ?? [];
  return reason === 'status' && status !== undefined ? status : FAILURE_ADVICE[reason].short;
}

/** Groups that the page shows; the table has all stations. */
const MAX_GROUPS = 20;

/** What fails, why and what to do, once per upstream and reason; empty when nothing fails. */
export function failureSection(groups: readonly FailureGroup[], nowMs: number): Html {
  if (groups.length === 0) return html``;
  const more = groups.slice(MAX_GROUPS);
  const stations = more.reduce((sum, group) => sum + group.stations.length, 0);
  return html`<section aria-labelledby="failures-heading">
<h2 id="failures-heading">Failures</h2>
${groups.slice(0, MAX_GROUPS).map((group) => failureBox(group, nowMs))}${
  more.length === 0
    ? []
    : html`<p>${countText(more.length, 'more cause')}, with ${countText(stations, 'station')}: see the table.</p>`
}</section>`;
}

function failureBox({ upstream, reason, short, stations, messages }: FailureGroup, nowMs: number): Html {
  const [[message, count] = ['', 0], ...others] = [...messages].sort(([, a], [, b]) => b - a);
  const { meaning, advice } = failureAdvice({ reason, message });
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
