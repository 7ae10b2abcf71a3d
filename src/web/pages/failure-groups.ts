import { queryText } from '../../inventory/parameters.ts';
import type { StationStatus } from '../../inventory/station-status.ts';
import { countText, numberText } from '../../inventory/words.ts';
import { FAILURE_ADVICE, failureAdvice } from '../../model/failure.ts';
import { type Html, html } from './html.ts';
import { rowId } from './live-page.ts';
import { stationLink, successText } from './station-parts.ts';

/** Stations of one upstream that fail for the same reason: usually one problem, with one resolution. */
export interface FailureGroup {
  readonly upstream: string;
  /** In a few words. */
  readonly short: string;
  readonly stations: readonly StationStatus[];
  /** The most frequent one. */
  readonly failure: Failure;
  /** Number of stations with this message. */
  readonly messageCount: number;
  /** Number of different messages. */
  readonly messages: number;
}

type Failure = NonNullable<StationStatus['failure']>;

/** The largest group first. */
export function failureGroups(stations: readonly StationStatus[]): readonly FailureGroup[] {
  const groups = new Map<string, StationStatus[]>();
  for (const station of stations) {
    const { upstream, failure } = station;
    if (failure === undefined) continue;
    const key = JSON.stringify([upstream, failure.reason, shortReason(failure)]);
    const group = groups.get(key);
    if (group) group.push(station);
    else groups.set(key, [station]);
  }
  return [...groups.values()].map(groupOf).sort((a, b) => b.stations.length - a.stations.length);
}

function groupOf(stations: readonly StationStatus[]): FailureGroup {
  const counts = new Map<string, number>();
  const failures = stations.flatMap(({ failure }) => failure ?? []);
  for (const { message } of failures) counts.set(message, (counts.get(message) ?? 0) + 1);
  const messageCount = Math.max(...counts.values());
  const failure = failures.find(({ message }) => counts.get(message) === messageCount) as Failure;
  const upstream = stations[0]?.upstream ?? '';
  return { upstream, short: shortReason(failure), stations, failure, messageCount, messages: counts.size };
}

/** A few words for a failure: the status if the service returned one. */
export function shortReason({ reason, message }: Failure): string {
  const [status] = /\b[1-5]\d\d(?: [A-Z][A-Za-z'-]*)+/.exec(message) ?? [];
  return reason === 'status' && status !== undefined ? status : FAILURE_ADVICE[reason].short;
}

/** Groups that the page shows; the table has all stations. */
const MAX_GROUPS = 20;

/** What fails, why and what to do, once per upstream and reason; empty when nothing fails. */
export function failureSection(groups: readonly FailureGroup[], nowMs: number): readonly Html[] {
  if (groups.length === 0) return [];
  const more = groups.slice(MAX_GROUPS);
  const stations = more.reduce((sum, group) => sum + group.stations.length, 0);
  return [
    html`<section aria-labelledby="failures-heading">
<h2 id="failures-heading">Failures</h2>
${groups.slice(0, MAX_GROUPS).map((group) => failureBox(group, nowMs))}${
  more.length === 0
    ? []
    : html`<p>${countText(more.length, 'more cause')}, with ${countText(stations, 'station')}: see the table.</p>`
}</section>`,
  ];
}

function failureBox(group: FailureGroup, nowMs: number): Html {
  const { upstream, stations, failure } = group;
  const { meaning, advice } = failureAdvice(failure);
  const [only] = stations;
  const subject =
    stations.length === 1 && only
      ? html`${stationLink(only.name)} <span class="quiet">of upstream ${upstream}</span>`
      : html`<a href="${queryText({ state: 'failing', upstream, filter: group.short })}#stations">${countText(stations.length, 'station')}</a> of upstream ${upstream}`;
  return html`<div class="failure-note" id="${rowId(`${upstream} ${failure.reason} ${group.short}`)}">
<p><strong>${subject}: ${meaning}</strong> ${sinceText(stations, nowMs)}</p>
<p class="said"><code>${failure.reason}</code>: ${failure.message}${messageNote(group)}</p>
<p>What to do: ${advice}</p>
</div>
`;
}

function sinceText(stations: readonly StationStatus[], nowMs: number): Html {
  const [latest] = stations.flatMap(({ lastSuccessMs }) => lastSuccessMs ?? []).sort((a, b) => b - a);
  const success = successText(latest, nowMs);
  const withoutData = stations.filter(({ snapshot }) => snapshot === undefined).length;
  if (withoutData === 0) return html`${success} Older data is served.`;
  return html`${success} ${withoutData === stations.length ? 'No data is served.' : `${numberText(withoutData)} of them ${withoutData === 1 ? 'has' : 'have'} no data.`}`;
}

function messageNote({ stations, messageCount, messages }: FailureGroup): Html {
  if (messages === 1) return html``;
  return html` <span class="quiet">(${numberText(messageCount)} of ${countText(stations.length, 'station')}; ${countText(messages - 1, 'other message')})</span>`;
}
