import { STATION_STATES, type StationStatus, stateOf } from '../../status/station-status.ts';
import { countText, numberText } from '../../text/words.ts';
import type { AttentionItem } from './attention-items.ts';
import { type Html, html, more, rowId, sinceText } from './html.ts';

/** Items that are shown without opening the list; on the page of a station its resources follow. */
const SHOWN_ITEMS = { shown: 8, hidden: 2 };

/** What a page says of stations in one line. */
interface Headline {
  readonly text: Html;
  readonly tone: AttentionItem['tone'] | 'good' | 'neutral';
}

/**
 * The state of all stations in one line: how many are up, which fail, and the most urgent problem with its since.
 * The tone is `good` only when every station has current and complete data, whose states all have a meaning.
 */
export function headline(
  stations: readonly StationStatus[],
  [worst]: readonly AttentionItem[],
  { isSharded, nowMs }: { readonly isSharded: boolean; readonly nowMs: number },
): Headline {
  if (stations.length === 0)
    return { text: html`No stations are configured${isSharded ? ' on this shard' : ''}`, tone: 'neutral' };
  const of = (state: ReturnType<typeof stateOf>) => stations.filter((station) => stateOf(station) === state);
  const untried = of('not-tried').length === 0 ? '' : `, ${numberText(of('not-tried').length)} not tried yet`;
  const lead = `${numberText(of('up').length)} of ${countText(stations.length, 'station')} up${untried}`;
  if (worst === undefined) return { text: html`${lead}`, tone: untried === '' ? 'good' : 'neutral' };
  const failing = failingText(of('failing'), worst);
  return { text: html`${lead}${failing}; ${worst.who}: ${problemText(worst, nowMs)}`, tone: worst.tone };
}

function problemText({ problem, sinceMs }: AttentionItem, nowMs: number): Html {
  return sinceMs === undefined ? html`${problem}` : html`${problem} ${sinceText(sinceMs, nowMs)}`;
}

/** Failing stations that a headline names; of more it has the number. */
const MAX_NAMED_IN_HEADLINE = 3;

/** ` (failing: a, b)`; empty if the problem that follows names them all. */
function failingText(failing: readonly StationStatus[], { stations }: AttentionItem): string {
  if (failing.every(({ name }) => stations.includes(name))) return '';
  return failing.length > MAX_NAMED_IN_HEADLINE
    ? ` (${numberText(failing.length)} failing)`
    : ` (failing: ${failing.map(({ name }) => name).join(', ')})`;
}

/** The state of one station in one line, with its worst problem. */
export function stationHeadline(status: StationStatus, items: readonly AttentionItem[], nowMs: number): Headline {
  const state = stateOf(status);
  const words = STATION_STATES[state];
  // Problems of its upstream are not its own.
  const worst = items.find(({ stations }) => stations.includes(status.name));
  if (worst === undefined) return { text: html`${words}`, tone: state === 'up' ? 'good' : 'neutral' };
  return { text: html`${words}; ${problemText(worst, nowMs)}`, tone: worst.tone };
}

/** The list of the page; empty without items. `subjects`: hidden on the page of a station, which is who is affected. */
export function attentionSection(
  items: readonly AttentionItem[],
  nowMs: number,
  subjects: 'shown' | 'hidden' = 'shown',
): Html {
  if (items.length === 0) return html``;
  const max = SHOWN_ITEMS[subjects];
  const list = (some: readonly AttentionItem[]) =>
    html`<ul class="attention">\n${some.map((item) => attentionRow(item, nowMs, subjects))}</ul>\n`;
  return html`<section id="attention" aria-labelledby="attention-title">
<h2 id="attention-title">Needs attention <span class="quiet">${numberText(items.length)}</span></h2>
${list(items.slice(0, max))}${more(items.length - max, list(items.slice(max)))}</section>`;
}

function attentionRow(
  { key, tone, subject, what, said, advice, see, sinceMs }: AttentionItem,
  nowMs: number,
  subjects: 'shown' | 'hidden',
): Html {
  const since = sinceMs === undefined ? [] : html`<p class="since">${sinceText(sinceMs, nowMs, 'with length')}</p>\n`;
  const who = subjects === 'shown' ? html`<p class="subject">${subject}</p>\n` : [];
  return html`<li id="${rowId(`attention ${key}`)}" class="${tone}">
${who}${since}<div class="what"><p>${what}</p>
${adviceText(advice, see)}
${said === undefined ? [] : html`<p class="said">${said}</p>\n`}</div>
</li>
`;
}

/** What to do: the first sentence is the strongest line of its problem. `see`: where to see more. */
export function adviceText(advice: string, see?: Html): Html {
  const [first = '', ...rest] = advice.split(/(?<=[.?!]) (?=[A-Z])/);
  const further: Html[] = [];
  if (rest.length > 0) further.push(html` ${rest.join(' ')}`);
  if (see) further.push(html` ${see}.`);
  return html`<p class="advice">What to do: <strong>${first}</strong>${further}</p>`;
}
