import { BUCKET_MS, type HistoryEntry } from '../../inventory/history.ts';
import type { StationStatus } from '../../inventory/station-status.ts';
import { countText, durationText, numberText } from '../../inventory/words.ts';
import { changesPath, historyPath } from '../routes.ts';
import { type Html, html, momentText, unknown } from './html.ts';
import { downloads } from './table.ts';

/** Refreshes in the list: at once, and after opening it. */
const SHOWN = 20;
const MORE = 40;

interface HistoryOptions {
  readonly status: Pick<StationStatus, 'name' | 'waitingMs'>;
  readonly ttlMs: number;
  readonly nowMs: number;
}

/** What happened to a station in the last hours: as a timeline, as lines and as a list. `history`: the latest first. */
export function historySection(history: readonly HistoryEntry[], options: HistoryOptions): Html {
  return html`<section id="history" aria-labelledby="history-title">
<h2 id="history-title">History</h2>
${history.length === 0 ? html`<p>No refresh has ended yet.</p>` : historyContent(history, options)}
</section>
`;
}

function historyContent(history: readonly HistoryEntry[], { status, ttlMs, nowMs }: HistoryOptions): Html {
  const timeline = timelineOf(history, { nowMs, ttlMs, waitingMs: status.waitingMs ?? 0 });
  const path = historyPath(status.name);
  return html`${timelineFigure(timeline)}
${periodList(timeline)}
<div class="sparks">
${sparkline('resources', 'Resources', timeline, ({ resources }) => resources, numberText)}
${sparkline('firing', 'Firing resources', timeline, ({ firing }) => firing, numberText, 0)}
${sparkline('duration', 'Refresh duration', timeline, ({ durationMs }) => durationMs, durationText, 0)}
</div>
<h3 id="refreshes-title">Recent refreshes</h3>
${refreshTable(history.slice(0, SHOWN), status.name, nowMs, 'refreshes')}
${more(history.slice(SHOWN, SHOWN + MORE), (further) => refreshTable(further, status.name, nowMs, 'more-refreshes'))}${path === undefined ? [] : downloads(`../${path}?format=`)}`;
}

/**
 * The states of a time, from the least to the most notable: a cell shows the most notable one. Besides the outcome of the latest refresh,
 * `none`: there was none when one was expected, `waiting`: because of the upstream's capacity.
 * Heights differ too, for those who do not distinguish the colours.
 */
const STATES = [
  { state: 'none', height: 4 },
  { state: 'succeeded', height: 4 },
  { state: 'waiting', height: 6 },
  { state: 'incomplete', height: 7 },
  { state: 'postponed', height: 7 },
  { state: 'failed', height: 10 },
] as const;

type TimelineState = (typeof STATES)[number]['state'];

/** A time with one state. */
interface Span {
  readonly state: TimelineState;
  readonly fromMs: number;
  toMs: number;
  /** The refreshes that determine it. */
  readonly entries: HistoryEntry[];
}

/** The refreshes of the last hours, in cells of equal length. */
interface Timeline {
  readonly fromMs: number;
  readonly toMs: number;
  /** In chronological order. */
  readonly entries: readonly HistoryEntry[];
  /** Without gaps from the first entry to the end; one for each entry. */
  readonly spans: readonly Span[];
  /** Whether there was no refresh before. */
  readonly isBeginning: boolean;
}

/** Also the width of the graphics, in units of their view box. */
const CELLS = 240;

const HOUR_MS = 3_600_000;

/** Lengths of the timeline in hours. */
const LENGTHS = [1, 3, 6, 12, 24];

interface TimelineOptions {
  readonly nowMs: number;
  /** How often the station is refreshed. */
  readonly ttlMs: number;
  /** For how long a refresh has been waiting. */
  readonly waitingMs: number;
}

/** The shortest usual length that shows all refreshes, at most a day. Entries with times in the future, where the clock was set back, are left out. */
function timelineOf(history: readonly HistoryEntry[], { nowMs, ttlMs, waitingMs }: TimelineOptions): Timeline {
  // Refreshes of the same time keep their order.
  const past = history
    .filter(({ atMs }) => atMs <= nowMs)
    .reverse()
    .sort((a, b) => a.atMs - b.atMs);
  const ageMs = nowMs - (past[0]?.atMs ?? nowMs);
  const lengthMs = HOUR_MS * (LENGTHS.find((hours) => ageMs < hours * HOUR_MS) ?? 24);
  const fromMs = nowMs - lengthMs;
  const entries = past.filter(({ atMs }) => atMs >= fromMs);
  // A refresh takes its time, and scrapes are not exact: the next one is not missing at once.
  const validMs = Math.max(1.5 * ttlMs, (2 * lengthMs) / CELLS);
  const spans = spansOf(entries, { fromMs, toMs: nowMs, validMs, waitingMs });
  return { fromMs, toMs: nowMs, entries, spans, isBeginning: entries.length === past.length };
}

interface SpanOptions extends Pick<Timeline, 'fromMs' | 'toMs'> {
  /** For how long a refresh determines the state. */
  readonly validMs: number;
  readonly waitingMs: number;
}

function spansOf(entries: readonly HistoryEntry[], { fromMs, toMs, validMs, waitingMs }: SpanOptions): readonly Span[] {
  const [first] = entries;
  if (first === undefined) return [];
  const spans: Span[] = [];
  let reachedMs = Math.max(startOf(first), fromMs);
  const add = (state: TimelineState, untilMs: number, entry?: HistoryEntry) => {
    if (untilMs <= reachedMs && entry === undefined) return;
    spans.push({ state, fromMs: reachedMs, toMs: Math.max(reachedMs, untilMs), entries: entry ? [entry] : [] });
    reachedMs = Math.max(reachedMs, untilMs);
  };
  for (const [index, entry] of entries.entries()) {
    add('none', startOf(entry) - entry.waitedMs);
    add('waiting', startOf(entry));
    const next = entries[index + 1];
    const nextMs = next ? startOf(next) - next.waitedMs : toMs - waitingMs;
    add(entry.outcome, Math.max(entry.atMs, Math.min(nextMs, entry.atMs + validMs)), entry);
  }
  add('none', toMs - waitingMs);
  add('waiting', toMs);
  return spans;
}

function startOf({ atMs, durationMs = 0, refreshes }: HistoryEntry): number {
  return refreshes > 1 ? Math.floor(atMs / BUCKET_MS) * BUCKET_MS : atMs - durationMs;
}

/** Neighbouring spans of the same state together. */
function periodsOf(spans: readonly Span[]): readonly Span[] {
  const periods: Span[] = [];
  for (const span of spans) {
    const last = periods.at(-1);
    if (last?.state === span.state) {
      last.toMs = span.toMs;
      last.entries.push(...span.entries);
    } else periods.push({ ...span, entries: [...span.entries] });
  }
  return periods;
}

/** For each cell what `choose` makes of the spans in it; undefined: before the first refresh. */
function cellsOf<T>(
  { fromMs, toMs, spans }: Timeline,
  choose: (before: T | undefined, span: Span) => T | undefined,
): readonly (T | undefined)[] {
  const cellMs = (toMs - fromMs) / CELLS;
  const cells = new Array<T | undefined>(CELLS).fill(undefined);
  for (const span of spans) {
    const first = Math.min(Math.floor((span.fromMs - fromMs) / cellMs), CELLS - 1);
    const end = Math.max(Math.ceil((span.toMs - fromMs) / cellMs), first + 1);
    for (let cell = first; cell < end; cell += 1) cells[cell] = choose(cells[cell], span);
  }
  return cells;
}

/** The rank of the most notable state of each cell. */
function cellRanks(timeline: Timeline): readonly (number | undefined)[] {
  return cellsOf<number>(timeline, (rank = 0, span) =>
    Math.max(
      rank,
      STATES.findIndex(({ state }) => state === span.state),
    ),
  );
}

function timelineFigure(timeline: Timeline): Html {
  const { fromMs, toMs } = timeline;
  const ranks = cellRanks(timeline);
  const bars: Html[] = [];
  for (let from = 0, to = 1; from < CELLS; from = to, to += 1) {
    const rank = ranks[from];
    while (to < CELLS && ranks[to] === rank) to += 1;
    const look = STATES[rank ?? -1];
    if (look)
      bars.push(
        html`<rect class="${look.state}" x="${from}" width="${to - from}" y="${10 - look.height}" height="${look.height}"/>`,
      );
  }
  const ticks = [0, 0.25, 0.5, 0.75].map((part) => html`<span>${timeText(fromMs + part * (toMs - fromMs))}</span>`);
  const legend = STATES.map(({ state }) => html`<li class="${state}">${state === 'none' ? 'no refresh' : state}</li>`);
  return html`<figure class="timeline">
<figcaption id="timeline-text">${summary(timeline)}</figcaption>
<svg role="img" aria-labelledby="timeline-text" viewBox="0 0 ${CELLS} 10" preserveAspectRatio="none">${bars}</svg>
<div class="axis" aria-hidden="true">${ticks}<span>now (UTC)</span></div>
<ul class="legend" aria-label="Legend">${legend}</ul>
</figure>`;
}

function summary({ fromMs, toMs, entries, isBeginning }: Timeline): Html {
  const others = (['incomplete', 'postponed'] as const).filter((outcome) =>
    entries.some((entry) => entry.outcome === outcome),
  );
  const parts = [
    countText(total(entries, 'refreshes'), 'refresh', 'refreshes'),
    total(entries, 'failed') === 0 ? 'none failed' : `${failedText(entries)} (${reasonsOf(entries)})`,
    ...others.map((outcome) => `some ${outcome}`),
  ];
  const [first] = entries;
  const beginning = isBeginning && first ? html` The history begins ${momentText(first.atMs, toMs)}.` : [];
  return html`Last ${(toMs - fromMs) / HOUR_MS} h: ${parts.join(', ')}.${beginning}`;
}

function total(entries: readonly HistoryEntry[], key: 'refreshes' | 'failed'): number {
  return entries.reduce((sum, entry) => sum + entry[key], 0);
}

function failedText(entries: readonly HistoryEntry[]): string {
  return `${numberText(total(entries, 'failed'))} failed`;
}

function reasonsOf(entries: readonly HistoryEntry[]): string {
  const reasons = entries.flatMap(({ outcome, failure }) => (outcome === 'failed' && failure ? [failure.reason] : []));
  return [...new Set(reasons)].join(', ');
}

/** Periods in the list without opening it. */
const SHOWN_PERIODS = 5;
const MORE_PERIODS = 45;

/** Everything but success, the latest first. */
function periodList({ spans, toMs, fromMs }: Timeline): Html {
  const cellMs = (toMs - fromMs) / CELLS;
  const notable = periodsOf(spans)
    .filter(({ state, entries, ...span }) =>
      entries.length === 0 ? span.toMs - span.fromMs >= cellMs : state !== 'succeeded',
    )
    .reverse();
  const list = (some: readonly Span[]) => html`<ul class="periods">
${some.map((span) => periodItem(span, toMs))}</ul>
`;
  if (notable.length === 0) return html``;
  return html`${list(notable.slice(0, SHOWN_PERIODS))}${more(notable.slice(SHOWN_PERIODS, SHOWN_PERIODS + MORE_PERIODS), list)}`;
}

function periodItem({ state, fromMs, toMs, entries }: Span, nowMs: number): Html {
  const end = toMs === nowMs ? 'now' : html`${dayText(toMs, fromMs)}${timeText(toMs)}`;
  const words = state === 'failed' ? `${failedText(entries)}: ${reasonsOf(entries)}` : PERIOD_WORDS[state];
  return html`<li>${dayText(fromMs, nowMs)}${timeText(fromMs)}–${end} <span class="quiet">(${durationText(toMs - fromMs)})</span> <span class="outcome ${state}">${words}</span></li>\n`;
}

const PERIOD_WORDS: Readonly<Record<Exclude<TimelineState, 'failed'>, string>> = {
  none: 'no refresh',
  succeeded: 'succeeded',
  waiting: 'waiting for the capacity of the upstream',
  incomplete: 'listing not verified complete',
  postponed: 'refresh postponed by Retry-After',
};

const SPARK_HEIGHT = 30;

function sparkline(
  id: string,
  title: string,
  timeline: Timeline,
  number: (entry: HistoryEntry) => number | undefined,
  text: (value: number) => string,
  floor = Number.POSITIVE_INFINITY,
): Html {
  const values = timeline.entries.flatMap((entry) => number(entry) ?? []);
  if (values.length === 0)
    return html`<figure class="spark"><figcaption>${title}: ${unknown('no refresh has succeeded')}</figcaption></figure>`;
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const bottom = Math.min(floor, least);
  const y = (value: number) =>
    Math.round((most === bottom ? 0.5 : 1 - (value - bottom) / (most - bottom)) * (SPARK_HEIGHT - 2) * 10) / 10 + 1;
  const cells = cellsOf<number>(timeline, (before, { entries: [entry] }) => (entry && number(entry)) ?? before);
  const path = cells.map((value, cell) => {
    if (value === undefined) return '';
    return `${cells[cell - 1] === undefined ? `M${cell} ${y(value)}` : `V${y(value)}`}H${cell + 1}`;
  });
  return html`<figure class="spark">
<figcaption id="spark-${id}">${title}: <strong>${text(Number(values.at(-1)))}</strong> <span class="quiet">min ${text(least)}, max ${text(most)}</span></figcaption>
<svg role="img" aria-labelledby="spark-${id}" viewBox="0 0 ${CELLS} ${SPARK_HEIGHT}" preserveAspectRatio="none"><path d="${path.join('')}" vector-effect="non-scaling-stroke"/></svg>
</figure>`;
}

function refreshTable(entries: readonly HistoryEntry[], station: string, nowMs: number, id: string): Html {
  return html`<table id="${id}" class="cards history">
<thead>
<tr><th scope="col">Ended (UTC)</th><th scope="col">Outcome</th><th scope="col" class="number">Duration</th><th scope="col" class="number">Pages</th><th scope="col" class="number">Resources</th><th scope="col" class="number">Firing</th><th scope="col">Changes</th></tr>
</thead>
<tbody>
${entries.map((entry) => refreshRow(entry, station, nowMs))}</tbody>
</table>`;
}

function refreshRow(entry: HistoryEntry, station: string, nowMs: number): Html {
  const { atMs, durationMs, waitedMs, pages, resources, firing, failure } = entry;
  const number = (label: string, value: number | undefined, text = numberText) =>
    html`<td class="number" data-label="${label}"><span>${value === undefined ? unknown('not known') : text(value)}${label === 'Duration' && waitedMs > 0 ? html` <span class="sub">waited ${durationText(waitedMs)}</span>` : []}</span></td>`;
  const said = failure ? html` <span class="sub said"><code>${failure.reason}</code>: ${failure.message}</span>` : [];
  return html`<tr>
<th scope="row">${dayText(atMs, nowMs)}${timeText(atMs, 'seconds')}</th>
<td data-label="Outcome"><span><span class="outcome ${entry.outcome}">${outcomeText(entry)}</span>${said}</span></td>
${number('Duration', durationMs, durationText)}
${number('Pages', pages)}
${number('Resources', resources)}
${number('Firing', firing)}
<td data-label="Changes"><span>${changesText(entry, station)}</span></td>
</tr>
`;
}

function outcomeText({ outcome, refreshes, failed }: HistoryEntry): string {
  if (refreshes === 1) return outcome;
  return outcome === 'failed'
    ? `${numberText(failed)} of ${numberText(refreshes)} failed`
    : `${numberText(refreshes)} refreshes, ${outcome}`;
}

/** A link to these changes. */
function changesText(entry: HistoryEntry, station: string): Html {
  const { added, removed, stateChanges, rulesChanges, atMs, refreshes } = entry;
  const changes = Object.entries({ added, removed, 'changed state': stateChanges, 'changed rules': rulesChanges });
  if (changes.every(([, count]) => count === undefined)) return unknown('not known');
  const texts = changes.flatMap(([what, count]) => (count ? [`${numberText(count)} ${what}`] : []));
  if (texts.length === 0) return html`none`;
  const since = new Date(refreshes > 1 ? startOf(entry) : atMs).toISOString();
  const path = changesPath(station, { since, until: new Date(atMs).toISOString() });
  return path === undefined ? html`${texts.join(', ')}` : html`<a href="../${path}">${texts.join(', ')}</a>`;
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

/** `02 Jan `, if it is another day than that of `otherMs`. */
function dayText(atMs: number, otherMs: number): string {
  const [day, other] = [atMs, otherMs].map((ms) => new Date(ms).toUTCString().slice(5, 16));
  return day === other ? '' : `${day?.slice(0, 6)} `;
}
