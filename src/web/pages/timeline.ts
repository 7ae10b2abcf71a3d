import { firstMsOf, type HistoryEntry } from '../../inventory/history.ts';
import { NOTABLE_WAIT_MS, type StationDetail, type StationStatus } from '../../inventory/station-status.ts';
import { countText, durationText, firstOf, numberText } from '../../inventory/words.ts';
import { HOUR_MS } from '../../model/clock.ts';
import { stationPath } from '../routes.ts';
import { statusText } from './error-page.ts';
import { type Html, html, momentText, timeText, unknown } from './html.ts';

/** A station with its refreshes, the latest first. */
export type StationHistory = Pick<StationDetail, 'history' | 'status'> & { readonly nowMs: number };

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
  /** From the first refresh until now. */
  readonly spans: readonly Span[];
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
  const spans = spansOf(entries, lengthMs / CELLS, station.status, nowMs);
  return { fromMs, toMs: nowMs, entries, spans, isBeginning: entries.length === past.length };
}

/** The first cell of a span, and the first after it. */
function cellsOf(span: Span, fromMs: number, cellMs: number): readonly [from: number, to: number] {
  const from = Math.floor((span.fromMs - fromMs) / cellMs);
  return [Math.max(0, from), Math.ceil((span.toMs - fromMs) / cellMs)];
}

/** The most notable state of each cell; undefined before the first refresh. */
function cellStates(spans: readonly Span[], fromMs: number, cellMs: number, cells: number): readonly CellState[] {
  const states: CellState[] = Array(cells).fill(undefined);
  for (const span of spans) {
    const [from, to] = cellsOf(span, fromMs, cellMs);
    for (let cell = from; cell < Math.min(to, cells); cell += 1) {
      const state = states[cell];
      if (state === undefined || ENTRY_STATES.indexOf(state) < ENTRY_STATES.indexOf(span.state))
        states[cell] = span.state;
    }
  }
  return states;
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

/** How long a refresh waited, if that is worth mentioning. */
export function notableMs(waitedMs = 0): number {
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
  const states = cellStates(spansOf(entries, cellMs, status, nowMs), fromMs, cellMs, STRIP_CELLS);
  const graphic = html`<svg class="strip" role="img" viewBox="0 0 ${STRIP_CELLS} 10" preserveAspectRatio="none"><title>${stripText(status, entries, fromMs, nowMs)}</title>${statePaths(states)}</svg>`;
  return html`<a href="./${stationPath(status.name)}#history">${graphic}</a>`;
}

/** Outages that a text names. */
const MAX_NAMED_OUTAGES = 5;

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
  const list = times.length === 0 ? '' : `: ${firstOf(times, MAX_NAMED_OUTAGES).join(', ')} UTC`;
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

/** The refreshes of the last hours by outcome. */
export function timelineFigure(station: StationHistory): Html {
  const timeline = timelineOf(station);
  const { fromMs, toMs, spans } = timeline;
  const states = cellStates(spans, fromMs, (toMs - fromMs) / CELLS, CELLS);
  const ticks = [0, 0.25, 0.5, 0.75].map((part) => html`<span>${timeText(fromMs + part * (toMs - fromMs))}</span>`);
  const legend = ENTRY_STATES.map(
    (state) => html`<li class="${state}">${state === 'none' ? 'no refresh' : state}</li>`,
  );
  return html`<figure class="timeline">
<figcaption id="timeline-text">${timelineSummary(timeline)}</figcaption>
<svg role="img" aria-labelledby="timeline-text" viewBox="0 0 ${CELLS} 10" preserveAspectRatio="none">${statePaths(states)}</svg>
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

/** How the number of resources, that of firing ones and the duration of refreshes changed; empty without any refresh. */
export function numbersSection(station: StationHistory): Html {
  if (station.history.length === 0) return html``;
  const timeline = timelineOf(station);
  const last = station.status.snapshot === undefined ? 'last known ' : '';
  return html`<div class="sparks">
${sparkline('resources', 'Resources', timeline, (of) => [of.leastResources, of.mostResources, of.resources], numberText, { floor: 0.9, last })}
${sparkline('firing', 'Firing resources', timeline, (of) => [of.leastFiring, of.mostFiring, of.firing], numberText, { last })}
${sparkline('duration', 'Refresh duration', timeline, ({ durationMs }) => [durationMs], durationText)}
</div>`;
}

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
  { fromMs, toMs, entries, spans }: Timeline,
  numbers: (entry: HistoryEntry) => readonly (number | undefined)[],
  text: (value: number) => string,
  { floor = 0, last = '' }: SparklineOptions = {},
): Html {
  const valuesOf = (entry: HistoryEntry) => numbers(entry).filter((value) => value !== undefined);
  const values = entries.flatMap(valuesOf);
  if (values.length === 0)
    return html`<figure class="spark"><figcaption>${title}: ${unknown('no refresh has succeeded')}</figcaption></figure>`;
  const least = Math.min(...values);
  const most = Math.max(...values);
  const y = verticalScale(Math.min(floor * most, least), most);
  let path = '';
  let drawnTo = -1;
  for (const span of spans) {
    const value = span.entry && valuesOf(span.entry).at(-1);
    if (value === undefined) continue;
    const [from, to] = cellsOf(span, fromMs, (toMs - fromMs) / CELLS);
    path += from <= drawnTo ? `V${y(value)}` : `M${from} ${y(value)}`;
    path += `H${to}`;
    drawnTo = to;
  }
  return html`<figure class="spark">
<figcaption id="spark-${id}">${title}: ${last}<strong>${text(Number(values.at(-1)))}</strong> <span class="quiet">min ${text(least)}, max ${text(most)}</span></figcaption>
<svg role="img" aria-labelledby="spark-${id}" viewBox="0 0 ${CELLS} ${SPARK_HEIGHT}" preserveAspectRatio="none"><path d="${path}" vector-effect="non-scaling-stroke"/></svg>
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
