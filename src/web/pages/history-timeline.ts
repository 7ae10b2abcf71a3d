import { type HistoryEntry, MINUTE_MS } from '../../inventory/history.ts';
import type { FailureReason } from '../../model/failure.ts';

/** From the least to the most notable: a cell shows the most notable of its states. */
const STATES = ['none', 'succeeded', 'waiting', 'incomplete', 'postponed', 'failed'] as const;

/** The outcome of the latest refresh; `none`: there was none when one was expected, `waiting`: because of the upstream's capacity. */
export type TimelineState = (typeof STATES)[number];

/** A time with one state. */
export interface Period {
  readonly state: TimelineState;
  readonly fromMs: number;
  readonly toMs: number;
  readonly refreshes: number;
  readonly failed: number;
  readonly reasons: ReadonlySet<FailureReason>;
}

/** A part of a period that one entry determines. */
interface Span extends Pick<Period, 'state' | 'fromMs' | 'toMs'> {
  readonly entry?: HistoryEntry;
}

/** The refreshes of the last hours, in cells of equal length. */
export interface Timeline {
  readonly fromMs: number;
  readonly toMs: number;
  /** In chronological order. */
  readonly entries: readonly HistoryEntry[];
  readonly periods: readonly Period[];
  /** undefined: before the first refresh. */
  readonly cells: readonly (TimelineState | undefined)[];
  /** Whether there was no refresh before. */
  readonly isBeginning: boolean;
  /** A number of the entries in each cell. */
  readonly values: (number: (entry: HistoryEntry) => number | undefined) => readonly (number | undefined)[];
}

/** Also the width of the graphics, in units of their view box. */
export const CELLS = 240;

export const HOUR_MS = 3_600_000;
const LENGTHS_MS = [1, 3, 6, 12, 24].map((hours) => hours * HOUR_MS);
const DAY_MS = 24 * HOUR_MS;

interface TimelineOptions {
  readonly nowMs: number;
  /** How often the station is refreshed. */
  readonly ttlMs: number;
  /** For how long a refresh has been waiting. */
  readonly waitingMs: number;
}

/** The shortest usual length that shows all refreshes, at most a day. Entries with times in the future, where the clock was set back, are left out. */
export function timelineOf(history: readonly HistoryEntry[], { nowMs, ttlMs, waitingMs }: TimelineOptions): Timeline {
  // Refreshes of the same second keep their order.
  const past = history
    .filter(({ atMs }) => atMs <= nowMs)
    .reverse()
    .sort((a, b) => a.atMs - b.atMs);
  const oldestMs = past[0]?.atMs ?? nowMs;
  const lengthMs = LENGTHS_MS.find((length) => nowMs - length < oldestMs) ?? DAY_MS;
  const fromMs = nowMs - lengthMs;
  const cellMs = lengthMs / CELLS;
  const entries = past.filter(({ atMs }) => atMs >= fromMs);
  // A refresh takes its time, and scrapes are not exact: the next one is not missing at once.
  const validMs = Math.max(1.5 * ttlMs, 2 * cellMs);
  const spans = spansOf(entries, { fromMs, toMs: nowMs, validMs, waitingMs });
  const range = (span: Span): readonly [first: number, last: number] => {
    const first = Math.floor((span.fromMs - fromMs) / cellMs);
    return [
      Math.min(first, CELLS - 1),
      Math.min(Math.max(Math.ceil((span.toMs - fromMs) / cellMs) - 1, first), CELLS - 1),
    ];
  };
  const values = (number: (entry: HistoryEntry) => number | undefined) => {
    const cells = new Array<number | undefined>(CELLS).fill(undefined);
    for (const span of spans) {
      const value = span.entry && number(span.entry);
      const [first, last] = range(span);
      if (value !== undefined) cells.fill(value, first, last + 1);
    }
    return cells;
  };
  const ranks = new Array<number>(CELLS).fill(-1);
  for (const span of spans) {
    const [first, last] = range(span);
    for (let cell = first; cell <= last; cell += 1)
      ranks[cell] = Math.max(Number(ranks[cell]), STATES.indexOf(span.state));
  }
  const cells = ranks.map((rank) => STATES[rank]);
  return {
    fromMs,
    toMs: nowMs,
    entries,
    periods: periodsOf(spans),
    cells,
    isBeginning: entries.length === past.length,
    values,
  };
}

interface SpanOptions extends Pick<Timeline, 'fromMs' | 'toMs'> {
  /** For how long a refresh determines the state. */
  readonly validMs: number;
  readonly waitingMs: number;
}

/** Without gaps from the first entry to the end. */
function spansOf(entries: readonly HistoryEntry[], { fromMs, toMs, validMs, waitingMs }: SpanOptions): readonly Span[] {
  const spans: Span[] = [];
  let reachedMs: number | undefined;
  const pause = (untilMs: number, waitedMs: number) => {
    if (reachedMs === undefined || untilMs <= reachedMs) return;
    const waitingFromMs = Math.max(untilMs - waitedMs, reachedMs);
    if (waitingFromMs > reachedMs) spans.push({ state: 'none', fromMs: reachedMs, toMs: waitingFromMs });
    if (waitingFromMs < untilMs) spans.push({ state: 'waiting', fromMs: waitingFromMs, toMs: untilMs });
    reachedMs = untilMs;
  };
  for (const [index, entry] of entries.entries()) {
    pause(startOf(entry), entry.waitedMs);
    const next = entries[index + 1];
    const nextMs = next ? startOf(next) - next.waitedMs : toMs - waitingMs;
    const span = {
      fromMs: reachedMs ?? Math.max(startOf(entry), fromMs),
      toMs: Math.max(entry.atMs, Math.min(nextMs, entry.atMs + validMs)),
    };
    reachedMs = Math.max(span.fromMs, span.toMs);
    spans.push({ state: entry.outcome, fromMs: span.fromMs, toMs: reachedMs, entry });
  }
  pause(toMs, waitingMs);
  return spans;
}

/** The history merges the refreshes of a minute. */
function startOf({ atMs, durationMs = 0, refreshes }: HistoryEntry): number {
  return refreshes > 1 ? Math.floor(atMs / MINUTE_MS) * MINUTE_MS : atMs - durationMs;
}

function periodsOf(spans: readonly Span[]): readonly Period[] {
  const periods: Period[] = [];
  for (const { state, fromMs, toMs, entry } of spans) {
    const last = periods.at(-1);
    const isSame = last?.state === state;
    const { reason } = entry?.failure ?? {};
    const period = {
      state,
      fromMs: isSame ? last.fromMs : fromMs,
      toMs,
      refreshes: (isSame ? last.refreshes : 0) + (entry?.refreshes ?? 0),
      failed: (isSame ? last.failed : 0) + (entry?.failed ?? 0),
      reasons: new Set([...(isSame ? last.reasons : []), ...(reason === undefined ? [] : [reason])]),
    };
    if (isSame) periods[periods.length - 1] = period;
    else periods.push(period);
  }
  return periods;
}
