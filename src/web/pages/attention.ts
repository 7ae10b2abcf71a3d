import type { FleetProblem } from '../../problems/problem.ts';
import { NONE, queryText } from '../../query/parameters.ts';
import type { ObservedRemovals } from '../../resources/changes.ts';
import { resourceLabel } from '../../resources/fields.ts';
import { CAPACITY_GUIDE } from '../../status/capacity.ts';
import { STATION_STATES, type StationStatus, stateOf } from '../../status/station-status.ts';
import { countText, firstOf, numberText } from '../../text/words.ts';
import { changesPath, ROUTES } from '../routes.ts';
import { type Html, html, itemList, more, rowId, sinceText } from './html.ts';
import { stationLink } from './station-parts.ts';

/** Problems that are shown without opening the list; on the page of a station its resources follow. */
const MAX_SHOWN = { station: 2, all: 8 };

/** Stations and owners that are named. */
const MAX_NAMED = 5;

/** What a page says of stations in one line. */
interface Headline {
  readonly text: Html;
  readonly tone: FleetProblem['tone'] | 'good' | 'neutral';
}

/**
 * The state of all stations in one line: how many are up, and the most urgent problem with its since.
 * The tone is `good` only when every station has current and complete data, whose states all have a meaning.
 */
export function headline(
  stations: readonly StationStatus[],
  [worst]: readonly FleetProblem[],
  { isSharded, nowMs }: { readonly isSharded: boolean; readonly nowMs: number },
): Headline {
  if (stations.length === 0)
    return { text: html`No stations are configured${isSharded ? ' on this shard' : ''}`, tone: 'neutral' };
  const of = (state: ReturnType<typeof stateOf>) => stations.filter((station) => stateOf(station) === state);
  const untried = of('not-tried').length === 0 ? '' : `, ${numberText(of('not-tried').length)} not tried yet`;
  const lead = `${numberText(of('up').length)} of ${countText(stations.length, 'station')} up${untried}`;
  if (worst === undefined) return { text: html`${lead}`, tone: untried === '' ? 'good' : 'neutral' };
  return { text: html`${lead}; ${worst.who}: ${problemText(worst, nowMs)}`, tone: worst.tone };
}

function problemText({ problem, sinceMs }: FleetProblem, nowMs: number): Html {
  return sinceMs === undefined ? html`${problem}` : html`${problem} ${sinceText(sinceMs, nowMs)}`;
}

/** The state of one station in one line, with its worst problem. */
export function stationHeadline(status: StationStatus, items: readonly FleetProblem[], nowMs: number): Headline {
  const state = stateOf(status);
  const words = STATION_STATES[state];
  // Problems of its upstream are not its own.
  const worst = items.find(({ stations }) => stations.some(({ name }) => name === status.name));
  if (worst === undefined) return { text: html`${words}`, tone: state === 'up' ? 'good' : 'neutral' };
  return { text: html`${words}; ${problemText(worst, nowMs)}`, tone: worst.tone };
}

/** Where the links of the list lead. */
interface AttentionOptions {
  /** Relative path from the page to the root. */
  readonly root: string;
  readonly nowMs: number;
  /** On the page of a station, who is affected need not be said. */
  readonly isOfStation?: boolean;
  /** Whose resources the refreshes of a station found removed. */
  readonly removalsOf: (station: string) => readonly ObservedRemovals[];
  /** The first label of `resource_labels`. */
  readonly ownerLabel: string | undefined;
}

/** The list of the page; empty without problems. */
export function attentionSection(problems: readonly FleetProblem[], options: AttentionOptions): Html {
  if (problems.length === 0) return html``;
  const max = MAX_SHOWN[options.isOfStation ? 'station' : 'all'];
  const list = (some: readonly FleetProblem[]) =>
    html`<ul class="attention">\n${some.map((problem) => attentionRow(problem, options))}</ul>\n`;
  return html`<section id="attention" aria-labelledby="attention-title">
<h2 id="attention-title">Needs attention <span class="quiet">${numberText(problems.length)}</span></h2>
${list(problems.slice(0, max))}${more(problems.length - max, list(problems.slice(max)))}</section>`;
}

function attentionRow(problem: FleetProblem, options: AttentionOptions): Html {
  const { key, tone, what, quotes, advice, sinceMs } = problem;
  const { root, nowMs, isOfStation } = options;
  const since = sinceMs === undefined ? [] : html`<p class="since">${sinceText(sinceMs, nowMs, 'with length')}</p>\n`;
  const who = isOfStation ? [] : html`<p class="subject">${subjectOf(problem, root)}</p>\n`;
  return html`<li id="${rowId(`attention ${key}`)}" class="${tone}">
${who}${since}<div class="what"><p>${what}${namedStations(problem, root)}</p>
${adviceText(advice, furtherLink(problem, options))}
${quotes === undefined ? [] : html`<p class="said">${quotes.map((line) => html`${line}<br>`)}</p>\n`}</div>
</li>
`;
}

/** Who is affected, with a link to the page or to the stations in the table. */
function subjectOf({ category, who, stations, upstream, problem }: FleetProblem, root: string): Html | string {
  const [first] = stations;
  if (category === 'configuration') return html`<a href="${root}${ROUTES.config.slice(1)}">Configuration</a>`;
  if (category === 'web configuration') return 'Web configuration';
  if (upstream === undefined) return who;
  if (first === undefined)
    return html`<a href="${root}${queryText({ upstream })}#stations">${upstream}</a> <span class="sub">upstream</span>`;
  const words = countText(stations.length, 'station');
  // What the notes of the stations in the table have.
  const filter = category === 'failing' ? problem : category;
  const href = `${root}${queryText({ filter, upstream })}#stations`;
  const several = category === 'failing' || category === 'incomplete' ? html`<a href="${href}">${words}</a>` : words;
  return html`${stations.length === 1 ? stationLink(first.name, root) : several} <span class="sub">${upstream}</span>`;
}

/** ` Stations: a (12), b (3) and 2 more.`: those that differ. */
function namedStations({ stations }: FleetProblem, root: string): Html {
  const noted = stations.flatMap(({ name, note }) =>
    note === undefined ? [] : [html`${stationLink(name, root)} (${note})`],
  );
  return stations.length === 1 || noted.length === 0 ? html`` : html` Stations: ${itemList(noted, MAX_NAMED)}.`;
}

/** Where to see more of a problem. */
function furtherLink(problem: FleetProblem, { root, removalsOf, ownerLabel }: AttentionOptions): Html | undefined {
  const { category, stations, sinceMs } = problem;
  const only = stations.length === 1 ? stations[0]?.name : undefined;
  if (category === 'firing' || category === 'unknown states') {
    const query = { alert_state: category === 'firing' ? 'firing' : 'unknown', station: only };
    return html`<a href="${root}${ROUTES.search.slice(1)}${queryText(query)}">See which</a>`;
  }
  if (category === 'upstream') return html`<a href="${CAPACITY_GUIDE}" rel="noreferrer">More about overload</a>`;
  if (only === undefined) return undefined;
  if (category !== 'lost' || sinceMs === undefined) return undefined;
  const path = changesPath(only, { change: 'removed', since: new Date(sinceMs).toISOString() });
  const removed = removalsOf(only).filter(({ atMs }) => atMs >= sinceMs);
  const owners = removed.flatMap((observed) => observed.owners);
  return html`<a href="${root}${path}">See which</a>${ownersText(ownerLabel, owners)}`;
}

/** `, by team: web 120, data 100`; '' without removed resources or labels. The counts are exact, whatever is kept of the changes. */
export function ownersText(label: string | undefined, owned: ObservedRemovals['owners']): string {
  if (label === undefined || owned.length === 0) return '';
  const counts = new Map<string, number>();
  for (const { labels, total } of owned) {
    const owner = resourceLabel({ labels }, label) || NONE;
    counts.set(owner, (counts.get(owner) ?? 0) + total);
  }
  const named = [...counts].sort(([, a], [, b]) => b - a).map(([value, count]) => `${value} ${numberText(count)}`);
  return `, by ${label}: ${firstOf(named, MAX_NAMED).join(', ')}`;
}

/** What to do: the first sentence is the strongest line of its problem. `see`: where to see more. */
export function adviceText(advice: string, see?: Html): Html {
  const [first = '', ...rest] = advice.split(/(?<=[.?!]) (?=[A-Z])/);
  const further: Html[] = [];
  if (rest.length > 0) further.push(html` ${rest.join(' ')}`);
  if (see) further.push(html` ${see}.`);
  return html`<p class="advice">What to do: <strong>${first}</strong>${further}</p>`;
}
