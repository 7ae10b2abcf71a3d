import type { HistoryEntry } from '../../inventory/history.ts';
import type { StationStatus } from '../../inventory/station-status.ts';
import { countText, durationText, numberText } from '../../inventory/words.ts';
import { historyPath, refreshPath } from '../routes.ts';
import { CELLS, HOUR_MS, type Period, type Timeline, type TimelineState, timelineOf } from './history-timeline.ts';
import { type Html, html, momentText, unknown } from './html.ts';
import type { PageOptions } from './layout.ts';

/** Refreshes in the list: at once, and after opening it. */
const SHOWN = 20;
const MORE = 40;

interface HistoryOptions {
  readonly status: Pick<StationStatus, 'name' | 'waitingMs'>;
  readonly ttlMs: number;
  readonly nowMs: number;
}

/** What happened to a station in the last hours: as a timeline, as lines and as a list. `history`: the latest first. */
export function historySection(history: readonly HistoryEntry[], { status, ttlMs, nowMs }: HistoryOptions): Html {
  return html`<section id="history" aria-labelledby="history-title">
<h2 id="history-title">History</h2>
${history.length === 0 ? html`<p>No refresh has ended yet.</p>` : historyContent(history, { status, ttlMs, nowMs })}
</section>
`;
}

/** A button for a refresh; the page that follows has the same query. */
export function refreshForm(
  name: string,
  query: string,
  { enableLifecycle }: Pick<PageOptions, 'enableLifecycle'>,
): Html {
  const path = refreshPath(name);
  if (!enableLifecycle || path === undefined) return html``;
  return html`<form id="refresh" class="controls" method="post" action="../${path}${query}"><button type="submit">Refresh now</button></form>`;
}

function historyContent(history: readonly HistoryEntry[], { status, ttlMs, nowMs }: HistoryOptions): Html {
  const timeline = timelineOf(history, { nowMs, ttlMs, waitingMs: status.waitingMs ?? 0 });
  const path = historyPath(status.name);
  const downloads =
    path === undefined
      ? []
      : html`<p>All ${countText(history.length, 'entry', 'entries')}: <a href="../${path}?format=json">JSON</a>, <a href="../${path}?format=csv">CSV</a></p>`;
  return html`${timelineFigure(timeline)}
${periodList(timeline)}
<div class="sparks">
${sparkline('resources', 'Resources', timeline, ({ resources }) => resources, numberText)}
${sparkline('firing', 'Firing resources', timeline, ({ firing }) => firing, numberText, 0)}
${sparkline('duration', 'Refresh duration', timeline, ({ durationMs }) => durationMs, durationText, 0)}
</div>
<h3 id="refreshes-title">Recent refreshes</h3>
${refreshTable(history.slice(0, SHOWN), nowMs, 'refreshes')}
${more(history.slice(SHOWN, SHOWN + MORE), (further) => refreshTable(further, nowMs, 'more-refreshes'))}${downloads}`;
}

/** Heights differ too, for those who do not distinguish the colours. */
const HEIGHTS: Readonly<Record<TimelineState, number>> = {
  none: 4,
  succeeded: 4,
  waiting: 6,
  incomplete: 7,
  postponed: 7,
  failed: 10,
};

const LEGEND = [
  'succeeded',
  'incomplete',
  'postponed',
  'waiting',
  'failed',
  'none',
] as const satisfies readonly TimelineState[];

function timelineFigure(timeline: Timeline): Html {
  const { fromMs, toMs, cells } = timeline;
  const bars: Html[] = [];
  for (let from = 0, to = 1; from < CELLS; from = to, to += 1) {
    const state = cells[from];
    while (to < CELLS && cells[to] === state) to += 1;
    if (state === undefined) continue;
    const height = HEIGHTS[state];
    bars.push(html`<rect class="${state}" x="${from}" width="${to - from}" y="${10 - height}" height="${height}"/>`);
  }
  const ticks = [0, 0.25, 0.5, 0.75].map((part) => html`<span>${timeText(fromMs + part * (toMs - fromMs))}</span>`);
  return html`<figure class="timeline">
<figcaption id="timeline-text">${summary(timeline)}</figcaption>
<svg role="img" aria-labelledby="timeline-text" viewBox="0 0 ${CELLS} 10" preserveAspectRatio="none">${bars}</svg>
<div class="axis" aria-hidden="true">${ticks}<span>now (UTC)</span></div>
<ul class="legend" aria-label="Legend">${LEGEND.map((state) => html`<li class="${state}">${state === 'none' ? 'no refresh' : state}</li>`)}</ul>
</figure>`;
}

function summary({ fromMs, toMs, entries, isBeginning }: Timeline): Html {
  const sum = (key: 'refreshes' | 'failed') => entries.reduce((total, entry) => total + entry[key], 0);
  const failed = sum('failed');
  const reasons = new Set(
    entries.flatMap((entry) => (entry.outcome === 'failed' && entry.failure ? [entry.failure.reason] : [])),
  );
  // Of the refreshes of a minute only the worst outcome is known.
  const bound = entries.some(({ refreshes }) => refreshes > 1) ? 'at least ' : '';
  const parts = [
    countText(sum('refreshes'), 'refresh', 'refreshes'),
    failed === 0 ? 'none failed' : `${numberText(failed)} failed (${[...reasons].join(', ')})`,
    ...(['incomplete', 'postponed'] as const).flatMap((outcome) => {
      const count = entries.filter((entry) => entry.outcome === outcome).length;
      return count === 0 ? [] : [`${bound}${numberText(count)} ${outcome}`];
    }),
  ];
  const [first] = entries;
  const beginning = isBeginning && first ? html` The history begins ${momentText(first.atMs, toMs)}.` : [];
  return html`Last ${(toMs - fromMs) / HOUR_MS} h: ${parts.join(', ')}.${beginning}`;
}

/** Periods in the list without opening it. */
const SHOWN_PERIODS = 5;
const MORE_PERIODS = 45;

/** Everything but success, the latest first. */
function periodList({ periods, toMs, fromMs }: Timeline): Html {
  const cellMs = (toMs - fromMs) / CELLS;
  const isNotable = ({ state, ...period }: Period) =>
    state !== 'succeeded' && ((state !== 'none' && state !== 'waiting') || period.toMs - period.fromMs >= cellMs);
  const notable = periods.filter(isNotable).reverse();
  const item = (period: Period) => {
    const { fromMs: from, toMs: to } = period;
    const end = to === toMs ? 'now' : html`${dayText(to, from)}${timeText(to)}`;
    return html`<li>${dayText(from, toMs)}${timeText(from)}–${end} <span class="quiet">(${durationText(to - from)})</span> ${periodText(period)}</li>\n`;
  };
  const list = (some: readonly Period[]) => html`<ul class="periods">
${some.map(item)}</ul>
`;
  if (notable.length === 0) return html``;
  return html`${list(notable.slice(0, SHOWN_PERIODS))}${more(notable.slice(SHOWN_PERIODS, SHOWN_PERIODS + MORE_PERIODS), list)}`;
}

function periodText({ state, refreshes, failed, reasons }: Period): Html {
  switch (state) {
    case 'failed':
      return html`<span class="outcome failed">${failed === refreshes ? countText(failed, 'refresh', 'refreshes') : `${numberText(failed)} of ${countText(refreshes, 'refresh', 'refreshes')}`} failed: ${[...reasons].join(', ')}</span>`;
    case 'incomplete':
      return html`<span class="outcome incomplete">listing not verified complete</span>`;
    case 'postponed':
      return html`<span class="outcome postponed">refresh postponed by <code>Retry-After</code></span>`;
    case 'waiting':
      return html`<span class="outcome waiting">waiting for the capacity of the upstream</span>`;
    default:
      return html`<span class="outcome none">no refresh</span>`;
  }
}

const SPARK_HEIGHT = 30;

function sparkline(
  id: string,
  title: string,
  timeline: Timeline,
  number: (entry: HistoryEntry) => number | undefined,
  text: (value: number) => string,
  floor?: number,
): Html {
  const values = timeline.entries.flatMap((entry) => number(entry) ?? []);
  if (values.length === 0)
    return html`<figure class="spark"><figcaption>${title}: ${unknown('no refresh has succeeded')}</figcaption></figure>`;
  const [least, most] = values.reduce(([min, max], value) => [Math.min(min, value), Math.max(max, value)], [
    Infinity,
    -Infinity,
  ] as const);
  const bottom = Math.min(floor ?? least, least);
  const y = (value: number) =>
    Math.round((most === bottom ? 0.5 : 1 - (value - bottom) / (most - bottom)) * (SPARK_HEIGHT - 2) * 10) / 10 + 1;
  let path = '';
  let before: number | undefined;
  for (const [cell, value] of timeline.values(number).entries()) {
    if (value !== undefined)
      path +=
        before === undefined
          ? `M${cell} ${y(value)}H${cell + 1}`
          : `${value === before ? '' : `V${y(value)}`}H${cell + 1}`;
    before = value;
  }
  return html`<figure class="spark">
<figcaption id="spark-${id}">${title}: <strong>${text(Number(values.at(-1)))}</strong> <span class="quiet">min ${text(least)}, max ${text(most)}</span></figcaption>
<svg role="img" aria-labelledby="spark-${id}" viewBox="0 0 ${CELLS} ${SPARK_HEIGHT}" preserveAspectRatio="none"><path d="${path}" vector-effect="non-scaling-stroke"/></svg>
</figure>`;
}

function refreshTable(entries: readonly HistoryEntry[], nowMs: number, id: string): Html {
  return html`<table id="${id}" class="cards rows history">
<thead>
<tr><th scope="col">Ended (UTC)</th><th scope="col">Outcome</th><th scope="col" class="number">Duration</th><th scope="col" class="number">Pages</th><th scope="col" class="number">Resources</th><th scope="col" class="number">Firing</th><th scope="col">Changes</th></tr>
</thead>
<tbody>
${entries.map((entry) => refreshRow(entry, nowMs))}</tbody>
</table>`;
}

function refreshRow(entry: HistoryEntry, nowMs: number): Html {
  const { atMs, durationMs, waitedMs, pages, resources, firing, failure } = entry;
  const count = (label: string, value: number | undefined) =>
    html`<td class="number" data-label="${label}">${value === undefined ? unknown('not known') : numberText(value)}</td>`;
  const said =
    failure === undefined
      ? []
      : html` <span class="sub said"><code>${failure.reason}</code>${failure.message === '' ? [] : html`: ${failure.message}`}</span>`;
  const waited = waitedMs === 0 ? [] : html` <span class="sub">waited ${durationText(waitedMs)}</span>`;
  return html`<tr>
<th scope="row">${dayText(atMs, nowMs)}${timeText(atMs, 'seconds')}</th>
<td data-label="Outcome"><span><span class="outcome ${entry.outcome}">${outcomeText(entry)}</span>${said}</span></td>
<td class="number" data-label="Duration"><span>${durationMs === undefined ? unknown('not known') : durationText(durationMs)}${waited}</span></td>
${count('Pages', pages)}
${count('Resources', resources)}
${count('Firing', firing)}
<td data-label="Changes">${changesText(entry)}</td>
</tr>
`;
}

function outcomeText({ outcome, refreshes, failed }: HistoryEntry): string {
  if (refreshes === 1) return outcome;
  return outcome === 'failed'
    ? `${numberText(failed)} of ${numberText(refreshes)} failed`
    : `${numberText(refreshes)} refreshes, ${outcome}`;
}

function changesText({ added, removed, stateChanges }: HistoryEntry): Html {
  if (added === undefined || removed === undefined || stateChanges === undefined) return unknown('not known');
  const parts = [
    [added, 'added'],
    [removed, 'removed'],
    [stateChanges, 'changed state'],
  ] as const;
  const texts = parts.flatMap(([count, what]) => (count === 0 ? [] : [`${numberText(count)} ${what}`]));
  return html`${texts.length === 0 ? 'none' : texts.join(', ')}`;
}

function more<T>(further: readonly T[], render: (further: readonly T[]) => Html): Html {
  return further.length === 0
    ? html``
    : html`<details><summary>${numberText(further.length)} more</summary>${render(further)}</details>\n`;
}

/** In UTC. */
function timeText(atMs: number, precision: 'minutes' | 'seconds' = 'minutes'): Html {
  const iso = new Date(atMs).toISOString();
  return html`<time datetime="${iso}" title="${iso}">${iso.slice(11, precision === 'minutes' ? 16 : 19)}</time>`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The day, if it is another one than that of `otherMs`. */
function dayText(atMs: number, otherMs: number): string {
  const date = new Date(atMs);
  const isSameDay = date.toISOString().slice(0, 10) === new Date(otherMs).toISOString().slice(0, 10);
  return isSameDay ? '' : `${MONTHS[date.getUTCMonth()]} ${date.getUTCDate()}, `;
}
