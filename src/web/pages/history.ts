import { firstMsOf, type HistoryEntry, type Outage } from '../../inventory/history.ts';
import { NOTABLE_WAIT_MS, type StationDetail, type StationStatus } from '../../inventory/station-status.ts';
import { countText, durationText, firstOf, numberText } from '../../inventory/words.ts';
import { HOUR_MS } from '../../model/clock.ts';
import { stationOf } from '../data.ts';
import { changesPath, stationPath } from '../routes.ts';
import { statusText } from './error-page.ts';
import { dayText, type Html, html, momentText, more, timeText, unknown } from './html.ts';
import { LIVE_CONTROLS, LIVE_NOTICES, type PageHandler, sendPage } from './layout.ts';
import { stateBadge, stateNote, trail } from './station-parts.ts';
import { downloads } from './table.ts';

/** Refreshes that the history page shows without opening the list. */
const SHOWN = 60;

/** Outages in the list without opening it. */
const SHOWN_OUTAGES = 5;

type StationHistory = Pick<StationDetail, 'history' | 'status'> & { readonly nowMs: number };

/** What happened to a station in the last hours, as a timeline and as lines. */
export function historySection(station: StationHistory): Html {
  const { history, status, nowMs } = station;
  const timeline = timelineOf(station);
  const outages = status.outages.map((outage) => html`<li>${outageText(outage, nowMs)}</li>\n`).reverse();
  const list = (some: readonly Html[]) => html`<ul class="outages">\n${some}</ul>\n`;
  const last = status.snapshot === undefined ? 'last known' : '';
  const content = html`${timelineFigure(timeline)}
${outages.length === 0 ? [] : html`<h3>Outages</h3>\n${list(outages.slice(0, SHOWN_OUTAGES))}`}${more(outages.length - SHOWN_OUTAGES, list(outages.slice(SHOWN_OUTAGES)))}
<div class="sparks">
${sparkline('resources', 'Resources', timeline, (of) => [of.leastResources, of.mostResources, of.resources], numberText, { floor: 0.9, last })}
${sparkline('firing', 'Firing resources', timeline, (of) => [of.leastFiring, of.mostFiring, of.firing], numberText, { last })}
${sparkline('duration', 'Refresh duration', timeline, ({ durationMs }) => [durationMs], durationText)}
</div>`;
  return html`<section id="history" aria-labelledby="history-title">
<h2 id="history-title">History</h2>
${history.length === 0 ? html`<p>No refresh has ended yet.</p>` : content}
</section>
`;
}

/** Refreshes on the page of the station. */
const LATEST = 5;

/** The latest refreshes, with a link to the others; empty without any. */
export function latestRefreshesSection({ history, status, nowMs }: StationHistory): Html {
  if (history.length === 0) return html``;
  return html`<section aria-labelledby="refreshes-title">
<h2 id="refreshes-title">Recent refreshes <a href="../${stationPath(status.name, '/history')}">all refreshes</a></h2>
${refreshTable(history.slice(0, LATEST), status.name, nowMs, 'refreshes', '../')}
</section>`;
}

const HISTORY_ROOT = '../../';

/** What happened to a station in the last day: its outages, its numbers, and its refreshes one by one. */
export const historyPage: PageHandler = (exporter, options) => (request, response) => {
  const { spec, history, status } = stationOf(exporter, request);
  const nowMs = options.now();
  const station = { history, status, nowMs };
  const content = html`${trail(HISTORY_ROOT, 'History', spec.name)}
<h1>History of ${spec.name}</h1>
<div class="headline">
<p id="state">${stateBadge(status, nowMs)} ${stateNote(status)}</p>
${LIVE_CONTROLS}
</div>
${LIVE_NOTICES}
${historySection(station)}
${refreshesSection(station)}`;
  sendPage(response, { title: `History · ${spec.name}`, root: HISTORY_ROOT, content, isLive: true }, options);
};

/** All refreshes that are kept, the latest first; empty without any. */
export function refreshesSection({ history, status, nowMs }: StationHistory): Html {
  if (history.length === 0) return html``;
  const table = (entries: readonly HistoryEntry[], id: string) =>
    refreshTable(entries, status.name, nowMs, id, HISTORY_ROOT);
  const further = history.slice(SHOWN);
  return html`<section aria-labelledby="refreshes-title">
<h2 id="refreshes-title">Refreshes</h2>
<p class="quiet">The latest 60 one by one; the older ones of a day are summed up by six minutes.</p>
${table(history.slice(0, SHOWN), 'refreshes')}
${more(further.length, table(further, 'more-refreshes'))}${downloads('?format=')}
</section>
`;
}

/** `02:35–02:45 UTC (10 min) 3 failed: timeout`; an outage that has ended has the same text for ever. */
function outageText({ fromMs, toMs, failed, reasons, statuses }: Outage, nowMs: number): Html {
  const causes = reasons.flatMap((reason) =>
    reason === 'status' && statuses.length > 0 ? statuses.map(statusText) : reason,
  );
  const end = toMs === undefined ? html` UTC–now` : html`–${dayText(toMs, fromMs)}${timeText(toMs)} UTC`;
  const length = durationText(Math.max((toMs ?? nowMs) - fromMs, 0));
  return html`${dayText(fromMs, nowMs)}${timeText(fromMs)}${end} <span class="quiet">(${length})</span> <span class="outcome failed">${numberText(failed)} failed: ${causes.join(', ')}</span>`;
}

/**
 * The heights of the states of a time, from the least to the most notable: a cell shows the most notable one. Besides the outcome of the
 * latest refresh, `none`: there was none when one was expected, `waiting`: because of the upstream's capacity.
 * They differ for those who do not distinguish the colours.
 */
const HEIGHTS = { none: 4, succeeded: 4, waiting: 6, incomplete: 7, postponed: 8, failed: 10 };

const ENTRY_STATES = Object.keys(HEIGHTS) as (keyof typeof HEIGHTS)[];

/** A time in a state, and the refresh that determines it. */
interface Span {
  readonly state: keyof typeof HEIGHTS;
  readonly fromMs: number;
  readonly toMs: number;
  readonly entry?: HistoryEntry;
}

/** The refreshes of the last hours. */
interface Timeline {
  readonly fromMs: number;
  readonly toMs: number;
  /** The entries in chronological order. */
  readonly entries: readonly HistoryEntry[];
  /** The spans in each part of the time, of equal length; none before the first refresh. */
  readonly cells: readonly (readonly Span[])[];
  /** Whether there was no refresh before. */
  readonly isBeginning: boolean;
}

/** Also the width of the graphics, in units of their view box. */
const CELLS = 240;

/** Lengths of the timeline in hours. */
const LENGTHS = [1, 3, 6, 12, 24];

/** The shortest usual length that shows all refreshes, at most a day. Entries with times in the future, where the clock was set back, are left out. */
function timelineOf(station: StationHistory): Timeline {
  const { history, nowMs } = station;
  // Refreshes of the same time keep their order.
  const past = history
    .filter(({ atMs }) => atMs <= nowMs)
    .reverse()
    .sort((a, b) => a.atMs - b.atMs);
  const ageMs = past[0] ? nowMs - firstMsOf(past[0]) : 0;
  const lengthMs = HOUR_MS * (LENGTHS.find((hours) => ageMs < hours * HOUR_MS) ?? 24);
  const fromMs = nowMs - lengthMs;
  const entries = past.filter(({ atMs }) => atMs >= fromMs);
  const cellMs = lengthMs / CELLS;
  const spans = spansOf(entries, cellMs, station.status, nowMs);
  const cells = Array.from({ length: CELLS }, (_, at) => {
    const startMs = fromMs + at * cellMs;
    return spans.filter((span) => span.fromMs < startMs + cellMs && span.toMs > startMs);
  });
  return { fromMs, toMs: nowMs, entries, cells, isBeginning: entries.length === past.length };
}

/** A refresh determines the time until it is old or the next one begins to wait. */
function spansOf(
  entries: readonly HistoryEntry[],
  cellMs: number,
  status: StationStatus,
  nowMs: number,
): readonly Span[] {
  const validMs = validMsOf(status, cellMs);
  const firstStartMs = entries[0] ? startMsOf(entries[0]) : nowMs;
  const spans: Span[] = [{ state: 'none', fromMs: firstStartMs, toMs: nowMs }];
  let previousMs = firstStartMs;
  for (const [at, entry] of entries.entries()) {
    const startMs = startMsOf(entry);
    const next = entries[at + 1];
    const nextWaitMs = next ? waitStartMsOf(next) : nowMs - notableMs(status.waitingMs);
    // At least a millisecond, so that it has a cell.
    const fromMs = Math.min(Math.max(startMs, previousMs), nowMs - 1);
    const oldMs = Math.min(nextWaitMs, entry.atMs + validMs);
    const toMs = Math.max(entry.atMs, oldMs, fromMs + 1);
    spans.push({ state: 'waiting', fromMs: Math.max(waitStartMsOf(entry), previousMs), toMs: startMs });
    spans.push({ state: entry.outcome, fromMs, toMs, entry });
    previousMs = entry.atMs;
  }
  const waitingSinceMs = nowMs - notableMs(status.waitingMs);
  spans.push({ state: 'waiting', fromMs: Math.max(waitingSinceMs, previousMs), toMs: nowMs });
  return spans.filter(({ fromMs, toMs }) => fromMs < toMs);
}

/** A refresh takes its time, and scrapes are not exact: the next one is not missing at once. */
function validMsOf({ ttlMs }: StationStatus, cellMs: number): number {
  return Math.max(1.5 * ttlMs, 2 * cellMs);
}

function notableMs(waitedMs = 0): number {
  return waitedMs < NOTABLE_WAIT_MS ? 0 : waitedMs;
}

/** When the refresh began to wait for the capacity of its upstream; when it started, if it did not wait long. */
function waitStartMsOf(entry: HistoryEntry): number {
  return startMsOf(entry) - notableMs(entry.waitedMs);
}

function startMsOf(entry: HistoryEntry): number {
  return firstMsOf(entry) - (entry.durationMs ?? 0);
}

/** Minutes of an hour: also the width of the graphic, in units of its view box. */
const STRIP_CELLS = 60;

/** The last hour of a station as a narrow timeline, with a link to its history. */
export function hourStrip(status: StationStatus, nowMs: number): Html {
  const cellMs = HOUR_MS / STRIP_CELLS;
  const fromMs = nowMs - HOUR_MS;
  // A refresh before the hour may determine its first minutes.
  const entries = status.refreshesSince(fromMs - validMsOf(status, cellMs)).filter(({ atMs }) => atMs <= nowMs);
  const states: (keyof typeof HEIGHTS | undefined)[] = Array(STRIP_CELLS).fill(undefined);
  for (const span of spansOf(entries, cellMs, status, nowMs)) {
    const end = Math.min(Math.ceil((span.toMs - fromMs) / cellMs), STRIP_CELLS);
    for (let cell = Math.max(0, Math.floor((span.fromMs - fromMs) / cellMs)); cell < end; cell += 1) {
      const state = states[cell];
      if (state === undefined || ENTRY_STATES.indexOf(state) < ENTRY_STATES.indexOf(span.state))
        states[cell] = span.state;
    }
  }
  const graphic = html`<svg class="strip" role="img" viewBox="0 0 ${STRIP_CELLS} 10" preserveAspectRatio="none"><title>${stripText(status, entries, fromMs, nowMs)}</title>${statePaths(states)}</svg>`;
  return html`<a href="./${stationPath(status.name)}#history">${graphic}</a>`;
}

/** `Last hour: 60 refreshes, 4 failed (status): 12:40–12:44 UTC`. */
function stripText(
  { outages }: StationStatus,
  entries: readonly HistoryEntry[],
  fromMs: number,
  nowMs: number,
): string {
  const within = entries.filter(({ atMs }) => atMs >= fromMs);
  const utc = (ms: number) => new Date(ms).toISOString().slice(11, 16);
  const times = outages
    .filter(({ toMs = nowMs }) => toMs >= fromMs)
    .map((outage) => `${utc(outage.fromMs)}–${outage.toMs === undefined ? 'now' : utc(outage.toMs)}`);
  const list = times.length === 0 ? '' : `: ${firstOf(times, SHOWN_OUTAGES).join(', ')} UTC`;
  return `Last hour: ${refreshesText(within)}${list}`;
}

type CellState = keyof typeof HEIGHTS | undefined;

/** Adjacent cells of the same state. */
interface CellRun {
  readonly state: keyof typeof HEIGHTS;
  readonly from: number;
  /** The first cell after them. */
  readonly to: number;
}

/** Cells without a state are in no run. */
function runsOf(states: readonly CellState[]): readonly CellRun[] {
  const runs: CellRun[] = [];
  let from = 0;
  for (let to = 1; to <= states.length; to += 1) {
    const state = states[from];
    if (to < states.length && states[to] === state) continue;
    if (state !== undefined) runs.push({ state, from, to });
    from = to;
  }
  return runs;
}

/** One path per state, which is short also where states alternate. */
function statePaths(states: readonly CellState[]): readonly Html[] {
  const runs = runsOf(states);
  return ENTRY_STATES.flatMap((state) => {
    const height = HEIGHTS[state];
    const own = runs.filter((run) => run.state === state);
    const path = own.map(({ from, to }) => `M${from} ${10 - height}h${to - from}v${height}H${from}z`).join('');
    return path === '' ? [] : html`<path class="${state}" d="${path}"/>`;
  });
}

function timelineFigure(timeline: Timeline): Html {
  const { fromMs, toMs, cells } = timeline;
  const states = cells.map((cell) => ENTRY_STATES.findLast((state) => cell.some((span) => span.state === state)));
  const bars = runsOf(states).map(({ state, from, to }) => {
    const height = HEIGHTS[state];
    return html`<rect class="${state}" x="${from}" width="${to - from}" y="${10 - height}" height="${height}"/>`;
  });
  const ticks = [0, 0.25, 0.5, 0.75].map((part) => html`<span>${timeText(fromMs + part * (toMs - fromMs))}</span>`);
  const legend = ENTRY_STATES.map(
    (state) => html`<li class="${state}">${state === 'none' ? 'no refresh' : state}</li>`,
  );
  return html`<figure class="timeline">
<figcaption id="timeline-text">${timelineSummary(timeline)}</figcaption>
<svg role="img" aria-labelledby="timeline-text" viewBox="0 0 ${CELLS} 10" preserveAspectRatio="none">${bars}</svg>
<div class="axis" aria-hidden="true">${ticks}<span>now (UTC)</span></div>
<ul class="legend" aria-label="Legend">${legend}</ul>
</figure>`;
}

function timelineSummary({ fromMs, toMs, entries, isBeginning }: Timeline): Html {
  const [first] = entries;
  const beginning = isBeginning && first ? html` The history begins ${momentText(firstMsOf(first), toMs)}.` : [];
  return html`Last ${(toMs - fromMs) / HOUR_MS} h: ${refreshesText(entries)}.${beginning}`;
}

/** The status where that is the reason. */
function causeOf({ reason, status }: NonNullable<HistoryEntry['failure']>): string {
  return reason === 'status' && status !== undefined ? statusText(status) : reason;
}

/** `60 refreshes, 4 failed (503 Service Unavailable), some incomplete`. */
function refreshesText(entries: readonly HistoryEntry[]): string {
  const sum = (key: 'refreshes' | 'failed') => entries.reduce((total, entry) => total + entry[key], 0);
  const reasons = entries.flatMap(({ outcome, failure }) => (outcome === 'failed' && failure ? causeOf(failure) : []));
  const others = (['incomplete', 'postponed'] as const).filter((outcome) =>
    entries.some((entry) => entry.outcome === outcome),
  );
  const parts = [
    countText(sum('refreshes'), 'refresh', 'refreshes'),
    sum('failed') === 0 ? 'none failed' : `${numberText(sum('failed'))} failed (${[...new Set(reasons)].join(', ')})`,
    ...others.map((outcome) => `some ${outcome}`),
  ];
  return parts.join(', ');
}

const SPARK_HEIGHT = 30;

interface SparklineOptions {
  /** The bottom of the line at most, as a share of its top, so that small changes of a large number look small. */
  readonly floor?: number;
  /** The words before the latest number, where it is no longer served. */
  readonly last?: string;
}

/** `numbers`: the latest last. */
function sparkline(
  id: string,
  title: string,
  { entries, cells }: Timeline,
  numbers: (entry: HistoryEntry) => readonly (number | undefined)[],
  text: (value: number) => string,
  { floor = 0, last = '' }: SparklineOptions = {},
): Html {
  const valuesOf = (some: readonly HistoryEntry[]) => some.flatMap(numbers).filter((value) => value !== undefined);
  const values = valuesOf(entries);
  if (values.length === 0)
    return html`<figure class="spark"><figcaption>${title}: ${unknown('no refresh has succeeded')}</figcaption></figure>`;
  const least = Math.min(...values);
  const most = Math.max(...values);
  const y = verticalScale(Math.min(floor * most, least), most);
  const shown = cells.map((cell) => valuesOf(cell.flatMap(({ entry }) => entry ?? [])).at(-1));
  const path = shown.map((value, cell) => {
    if (value === undefined) return '';
    const isContinued = shown[cell - 1] !== undefined;
    const start = isContinued ? `V${y(value)}` : `M${cell} ${y(value)}`;
    return `${start}H${cell + 1}`;
  });
  return html`<figure class="spark">
<figcaption id="spark-${id}">${title}: ${last === '' ? '' : `${last} `}<strong>${text(Number(values.at(-1)))}</strong> <span class="quiet">min ${text(least)}, max ${text(most)}</span></figcaption>
<svg role="img" aria-labelledby="spark-${id}" viewBox="0 0 ${CELLS} ${SPARK_HEIGHT}" preserveAspectRatio="none"><path d="${path.join('')}" vector-effect="non-scaling-stroke"/></svg>
</figure>`;
}

/** Where a value is drawn, from the top, to a tenth; a margin of 1 leaves room for the width of the line. A constant is in the middle. */
function verticalScale(bottom: number, top: number): (value: number) => number {
  const drawnHeight = SPARK_HEIGHT - 2;
  return (value) => {
    const shareFromTop = top === bottom ? 0.5 : (top - value) / (top - bottom);
    return 1 + Math.round(10 * shareFromTop * drawnHeight) / 10;
  };
}

/** `root`: relative path from the page to the root. */
function refreshTable(
  entries: readonly HistoryEntry[],
  station: string,
  nowMs: number,
  id: string,
  root: string,
): Html {
  return html`<table id="${id}" class="cards history">
<thead>
<tr><th scope="col">Ended (UTC)</th><th scope="col">Outcome</th><th scope="col" class="number">Duration</th><th scope="col" class="number">Pages</th><th scope="col" class="number">Resources</th><th scope="col" class="number">Firing</th><th scope="col">Changes</th></tr>
</thead>
<tbody>
${entries.map((entry) => refreshRow(entry, station, nowMs, root))}</tbody>
</table>`;
}

/** Those in states of unknown meaning may be firing too. Of several refreshes it is their largest number. */
function firingText(firing: number, { unknown = 0, refreshes }: HistoryEntry): Html | string {
  if (unknown === 0) return numberText(firing);
  const most = refreshes > 1 ? 'up to ' : '';
  return html`${numberText(firing)} <span class="sub no">${most}${numberText(unknown)} unknown</span>`;
}

function refreshRow(entry: HistoryEntry, station: string, nowMs: number, root: string): Html {
  const { atMs, durationMs, waitedMs, pages, resources, firing, failure } = entry;
  const number = (label: string, value: number | undefined, text: (value: number) => Html | string = numberText) => {
    const shown = value === undefined ? unknown('not known') : text(value);
    return html`<td class="number" data-label="${label}"><span>${shown}</span></td>`;
  };
  const waited = notableMs(waitedMs) > 0 ? html` <span class="sub">waited ${durationText(waitedMs)}</span>` : [];
  const said = failure ? html` <span class="sub said"><code>${failure.reason}</code>: ${failure.message}</span>` : [];
  return html`<tr>
<th scope="row">${dayText(atMs, nowMs)}${timeText(atMs, 'seconds')}</th>
<td data-label="Outcome"><span><span class="outcome ${entry.outcome}">${outcomeText(entry)}</span>${said}</span></td>
${number('Duration', durationMs, (value) => html`${durationText(value)}${waited}`)}
${number('Pages', pages)}
${number('Resources', resources)}
${number('Firing', firing, (value) => firingText(value, entry))}
<td data-label="Changes"><span>${changesText(entry, station, root)}</span></td>
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
function changesText(entry: HistoryEntry, station: string, root: string): Html {
  const { added, removed, stateChanges, rulesChanges, atMs } = entry;
  const changes = Object.entries({ added, removed, 'changed state': stateChanges, 'changed rules': rulesChanges });
  if (changes.every(([, count]) => count === undefined)) return unknown('not known');
  const texts = changes.flatMap(([what, count]) => (count ? [`${numberText(count)} ${what}`] : []));
  if (texts.length === 0) return html`none`;
  const since = new Date(firstMsOf(entry)).toISOString();
  const path = changesPath(station, { since, until: new Date(atMs).toISOString() });
  return html`<a href="${root}${path}">${texts.join(', ')}</a>`;
}
