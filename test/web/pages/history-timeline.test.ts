import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HistoryEntry } from '../../../src/inventory/history.ts';
import { CELLS, timelineOf } from '../../../src/web/pages/history-timeline.ts';

const NOW_MS = Date.UTC(2026, 0, 2, 12);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function entryAt(agoMs: number, changes: Partial<HistoryEntry> = {}): HistoryEntry {
  return {
    atMs: NOW_MS - agoMs,
    refreshes: 1,
    failed: 0,
    outcome: 'succeeded',
    waitedMs: 0,
    durationMs: 0,
    ...changes,
  };
}

function failureAt(agoMs: number, reason: NonNullable<HistoryEntry['failure']>['reason'] = 'timeout'): HistoryEntry {
  return entryAt(agoMs, { outcome: 'failed', failed: 1, failure: { reason, message: 'm' } });
}

/** One per minute, the latest first, from `agoMs` on. */
function minutes(count: number, entry = entryAt, agoMs = 0): HistoryEntry[] {
  return Array.from({ length: count }, (_, index) => entry(agoMs + index * MINUTE_MS));
}

const timeline = (history: readonly HistoryEntry[], options: { ttlMs?: number; waitingMs?: number } = {}) =>
  timelineOf(history, { nowMs: NOW_MS, ttlMs: MINUTE_MS, waitingMs: 0, ...options });

/** Runs of equal cells with their number. */
function runs(history: readonly HistoryEntry[], options = {}): string[] {
  const found: { state: string; cells: number }[] = [];
  for (const cell of timeline(history, options).cells) {
    const last = found.at(-1);
    if (last && last.state === String(cell)) last.cells += 1;
    else found.push({ state: String(cell), cells: 1 });
  }
  return found.map(({ state, cells }) => `${cells} ${state}`);
}

/** State and minutes of each period. */
const periods = (history: readonly HistoryEntry[], options = {}) =>
  timeline(history, options).periods.map(({ state, fromMs, toMs }) => `${state} ${(toMs - fromMs) / MINUTE_MS}`);

describe('timelineOf', () => {
  it('has no cell without a refresh', () => {
    expect(runs([])).toEqual([`${CELLS} undefined`]);
  });

  it.each([
    [10 * MINUTE_MS, 1],
    [HOUR_MS, 3],
    [5 * HOUR_MS, 6],
    [23 * HOUR_MS, 24],
    [40 * HOUR_MS, 24],
  ])('shows a history of %i ms in a length of %i hours', (agoMs, hours) => {
    const { fromMs, toMs, isBeginning } = timeline([entryAt(0), entryAt(agoMs)]);
    expect([toMs - fromMs, isBeginning]).toEqual([hours * HOUR_MS, agoMs < 24 * HOUR_MS]);
  });

  it('shows a day of successful refreshes as one period', () => {
    const { periods: whole, cells } = timeline(minutes(1441));
    expect(whole).toMatchObject([{ state: 'succeeded', refreshes: 1441, failed: 0 }]);
    expect(new Set(cells)).toEqual(new Set(['succeeded']));
  });

  it('shows a failure among successes of the same cell', () => {
    const history = minutes(1441).with(720, failureAt(720 * MINUTE_MS));
    expect(runs(history)).toEqual(['120 succeeded', '1 failed', '119 succeeded']);
  });

  it('joins failures without a success in between, with all reasons', () => {
    const history = [
      ...minutes(30),
      ...minutes(10, (ago) => failureAt(ago, ago % (2 * MINUTE_MS) === 0 ? 'auth' : 'tls'), 30 * MINUTE_MS),
    ];
    const [failing] = timeline(history).periods;
    expect(failing).toMatchObject({ state: 'failed', refreshes: 10, failed: 10 });
    expect(failing?.reasons).toEqual(new Set(['auth', 'tls']));
  });

  it('shows where refreshes are missing, and that nothing is known before the first one', () => {
    const history = [...minutes(10), ...minutes(5, entryAt, 40 * MINUTE_MS)];
    expect(periods(history)).toEqual(['succeeded 5.5', 'none 29.5', 'succeeded 9']);
    expect(runs(history)).toEqual(['64 undefined', '22 succeeded', '118 none', '36 succeeded']);
  });

  it('shows that refreshes have been missing until now', () => {
    expect(periods([entryAt(30 * MINUTE_MS)])).toEqual(['succeeded 1.5', 'none 28.5']);
  });

  it('expects no refresh before the ttl', () => {
    expect(periods([entryAt(0), entryAt(5 * HOUR_MS)], { ttlMs: 4 * HOUR_MS })).toEqual(['succeeded 300']);
  });

  it('shows how long a refresh waited for capacity, and that one waits now', () => {
    const history = [entryAt(10 * MINUTE_MS, { waitedMs: 15 * MINUTE_MS }), entryAt(26 * MINUTE_MS)];
    expect(periods(history, { waitingMs: 8 * MINUTE_MS })).toEqual([
      'succeeded 1',
      'waiting 15',
      'succeeded 1.5',
      'none 0.5',
      'waiting 8',
    ]);
  });

  it('leaves out times in the future and sorts the others, where the wall clock was set', () => {
    const history = [
      entryAt(0),
      entryAt(10 * MINUTE_MS),
      failureAt(5 * MINUTE_MS),
      failureAt(-HOUR_MS),
      entryAt(30 * HOUR_MS),
    ];
    const shown = timeline(history);
    expect(shown.entries.map(({ atMs }) => (NOW_MS - atMs) / MINUTE_MS)).toEqual([10, 5, 0]);
    expect(shown.periods.every(({ fromMs, toMs }) => fromMs <= toMs)).toBe(true);
    expect(shown.isBeginning).toBe(false);
  });

  it('keeps the order of refreshes that ended in the same second', () => {
    const history = [entryAt(0, { resources: 1 }), failureAt(0), entryAt(0, { resources: 3 })];
    expect(timeline(history).entries).toEqual(history.toReversed());
    expect(
      timeline(history)
        .values(({ resources }) => resources)
        .at(-1),
    ).toBe(1);
  });

  it('has the latest number of each cell, and none where there is no refresh', () => {
    const history = [
      entryAt(0, { resources: 5 }),
      entryAt(30 * MINUTE_MS, { resources: 3 }),
      failureAt(31 * MINUTE_MS),
    ];
    const values = timeline(history).values(({ resources }) => resources);
    expect([values.length, values.at(-1), values[120], values[115], values.at(-2)]).toEqual([
      CELLS,
      5,
      3,
      undefined,
      undefined,
    ]);
  });

  it('covers the time from the first refresh until now without gaps, whatever the entries are', () => {
    const ms = fc.integer({ min: -HOUR_MS, max: 30 * HOUR_MS });
    const entry = fc.record({
      agoMs: ms,
      durationMs: ms.map(Math.abs),
      waitedMs: ms.map(Math.abs),
      refreshes: fc.integer({ min: 1, max: 255 }),
    });
    fc.assert(
      fc.property(fc.array(entry), ms.map(Math.abs), ms.map(Math.abs), (entries, ttlMs, waitingMs) => {
        const shown = timeline(
          entries.map(({ agoMs, ...rest }) => entryAt(agoMs, rest)),
          { ttlMs, waitingMs },
        );
        const [first] = shown.periods;
        expect(shown.periods.map(({ fromMs }) => fromMs)).toEqual([
          ...(first ? [first.fromMs] : []),
          ...shown.periods.slice(0, -1).map(({ toMs }) => toMs),
        ]);
        expect(
          shown.periods.every(({ fromMs, toMs }) => fromMs <= toMs && fromMs >= shown.fromMs && toMs <= NOW_MS),
        ).toBe(true);
        expect(shown.cells).toHaveLength(CELLS);
        expect(shown.cells.slice(shown.cells.findIndex((cell) => cell !== undefined)).includes(undefined)).toBe(
          shown.entries.length === 0,
        );
      }),
    );
  });
});
