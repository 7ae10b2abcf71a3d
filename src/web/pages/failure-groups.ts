import type { StationStatus } from '../../inventory/station-status.ts';
import { countText, numberText } from '../../inventory/words.ts';
import { FAILURE_ADVICE, type FailureReason, failureAdvice } from '../../model/failure.ts';
import { type Html, html, momentText } from './html.ts';
import { rowId } from './live-page.ts';
import { stationLink } from './station-parts.ts';

/** Stations of one upstream that fail for the same reason: usually one problem, with one resolution. */
export interface FailureGroup {
  readonly upstream: string;
  readonly reason: FailureReason;
  readonly stations: readonly StationStatus[];
  /** The most frequent one. */
  readonly message: string;
  /** Number of stations with this message. */
  readonly messageCount: number;
  /** Number of different messages. */
  readonly messages: number;
}

type FailingStation = StationStatus & { readonly failure: NonNullable<StationStatus['failure']> };

/** The largest group first. */
export function failureGroups(stations: readonly StationStatus[]): readonly FailureGroup[] {
  const groups = new Map<string, FailingStation[]>();
  for (const station of stations.filter(isFailing)) {
    const key = JSON.stringify([station.upstream, station.failure.reason]);
    const group = groups.get(key);
    if (group) group.push(station);
    else groups.set(key, [station]);
  }
  return [...groups.values()].map(groupOf).sort((a, b) => b.stations.length - a.stations.length);
}

function isFailing(station: StationStatus): station is FailingStation {
  return station.failure !== undefined;
}

function groupOf(stations: readonly FailingStation[]): FailureGroup {
  const counts = new Map<string, number>();
  for (const { failure } of stations) counts.set(failure.message, (counts.get(failure.message) ?? 0) + 1);
  const [message, messageCount] = [...counts].reduce((most, entry) => (entry[1] > most[1] ? entry : most));
  const { upstream, failure } = stations[0] as FailingStation;
  return { upstream, reason: failure.reason, stations, message, messageCount, messages: counts.size };
}

/** A few words for a failure: the status if the service returned one. */
export function shortReason({ reason, message }: Pick<FailureGroup, 'reason' | 'message'>): string {
  const [status] = /\b[1-5]\d\d(?: [A-Z][A-Za-z'-]*)+/.exec(message) ?? [];
  return reason === 'status' && status !== undefined ? status : FAILURE_ADVICE[reason].short;
}

/** Whether all stations of the group fail with the status of its message: those of reason `status` may have different ones. */
export function hasOneReason(group: FailureGroup): boolean {
  return group.stations.every(({ failure }) => failure && shortReason(failure) === shortReason(group));
}

/** Groups that the page shows; the table has all stations. */
const MAX_GROUPS = 20;

/** Stations that a group lists. */
const MAX_LISTED = 100;

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
  const { upstream, reason, stations, message } = group;
  const { meaning, advice } = hasOneReason(group) ? failureAdvice(group) : FAILURE_ADVICE[reason];
  const [only] = stations;
  const subject =
    stations.length === 1 && only
      ? html`${stationLink(only.name)} <span class="quiet">of upstream ${upstream}</span>`
      : html`${countText(stations.length, 'station')} of upstream ${upstream}`;
  return html`<div class="failure-note" id="${rowId(`${upstream} ${reason}`)}">
<p><strong>${subject}: ${meaning}</strong> ${sinceText(stations, nowMs)}</p>
<p class="said"><code>${reason}</code>: ${message}${messageNote(group)}</p>
<p>What to do: ${advice}</p>
${stations.length === 1 ? [] : stationList(group)}</div>
`;
}

function sinceText(stations: readonly StationStatus[], nowMs: number): Html {
  const latest = Math.max(...stations.map(({ lastSuccessMs = Number.NEGATIVE_INFINITY }) => lastSuccessMs));
  const success =
    latest === Number.NEGATIVE_INFINITY
      ? 'No refresh has succeeded yet.'
      : html`Last success: ${momentText(latest, nowMs)}.`;
  const withoutData = stations.filter(({ snapshot }) => snapshot === undefined).length;
  if (withoutData === 0) return html`${success} Older data is served.`;
  return html`${success} ${withoutData === stations.length ? 'No data is served.' : `${numberText(withoutData)} of them ${withoutData === 1 ? 'has' : 'have'} no data.`}`;
}

function messageNote({ stations, messageCount, messages }: FailureGroup): Html {
  if (messages === 1) return html``;
  return html` <span class="quiet">(${numberText(messageCount)} of ${countText(stations.length, 'station')}; ${countText(messages - 1, 'other message')})</span>`;
}

function stationList(group: FailureGroup): Html {
  const { stations, upstream } = group;
  const items = stations.slice(0, MAX_LISTED).map(({ name }) => html`<li>${stationLink(name)}</li>`);
  const query = new URLSearchParams({
    state: 'failing',
    filter: hasOneReason(group) ? `${upstream} ${shortReason(group)}` : upstream,
  });
  const more =
    stations.length <= MAX_LISTED
      ? []
      : html`<p>${numberText(stations.length - MAX_LISTED)} more: <a href="?${query.toString()}#stations">show all in the table</a></p>`;
  return html`<details><summary>${countText(stations.length, 'station')}</summary><ul class="names">${items}</ul>${more}</details>
`;
}
