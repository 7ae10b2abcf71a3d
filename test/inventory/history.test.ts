import { describe, expect, it } from 'vitest';
import { History, type HistoryEntry } from '../../src/inventory/history.ts';
import type { FailureReason } from '../../src/model/failure.ts';

const BUCKET_MS = 6 * 60_000;

function success(atMs: number, changes: Partial<HistoryEntry> = {}): HistoryEntry {
  return {
    atMs,
    refreshes: 1,
    failed: 0,
    outcome: 'succeeded',
    waitedMs: 0,
    durationMs: 250,
    pages: 3,
    resources: 42,
    firing: 2,
    added: 1,
    removed: 0,
    stateChanges: 4,
    ...changes,
  };
}

/** A listing that could not be compared. */
function uncompared(atMs: number): HistoryEntry {
  return success(atMs, {
    outcome: 'incomplete',
    added: undefined,
    removed: undefined,
    stateChanges: undefined,
    isHeld: true,
  });
}

function failure(atMs: number, message = 'no route', reason: FailureReason = 'network'): HistoryEntry {
  return {
    atMs,
    refreshes: 1,
    failed: 1,
    outcome: 'failed',
    waitedMs: 0,
    durationMs: 10,
    failure: { reason, message },
  };
}

function historyOf(entries: Iterable<HistoryEntry>): History {
  const history = new History();
  for (const entry of entries) history.add(entry);
  return history;
}

/** Entries at an interval, the oldest first. */
function* every(
  intervalMs: number,
  count: number,
  entryAt: (atMs: number, index: number) => HistoryEntry = (atMs) => success(atMs),
): Iterable<HistoryEntry> {
  for (let index = 0; index < count; index += 1) yield entryAt(index * intervalMs, index);
}

describe('History', () => {
  it('keeps the last 60 refreshes one by one, and a day before them in buckets of six minutes', () => {
    const history = historyOf(every(5000, 20_004));
    const entries = history.newestFirst();
    expect(history.refreshes).toBe(20_004);
    const latestMs = (20_004 - 1) * 5000;
    expect(entries.slice(0, 60).map(({ atMs, refreshes }) => [atMs, refreshes])).toEqual(
      Array.from({ length: 60 }, (_, age) => [latestMs - age * 5000, 1]),
    );
    const older = entries.slice(60);
    expect(older).toHaveLength(240);
    expect(new Set(older.slice(1).map(({ refreshes }) => refreshes))).toEqual(new Set([72]));
    expect(latestMs - (older.at(-1)?.atMs ?? 0)).toBeGreaterThanOrEqual(239 * BUCKET_MS);
  });

  it('merges the refreshes of a bucket: worst outcome, longest times, latest counts and their extremes, sums of changes', () => {
    const history = historyOf([
      success(0, { durationMs: 900, waitedMs: 3000 }),
      failure(10_000, 'first'),
      failure(20_004, 'second', 'timeout'),
      success(30_000, { outcome: 'incomplete', resources: 40, firing: 1, added: 2, removed: 5, isHeld: true }),
      { atMs: 40_000, refreshes: 1, failed: 0, outcome: 'succeeded', waitedMs: 1000, resources: 41, isHeld: false },
      success(BUCKET_MS),
      ...every(BUCKET_MS, 60, (atMs) => success(atMs + 2 * BUCKET_MS)),
    ]);
    expect(history.newestFirst().at(-1)).toEqual({
      atMs: 40_000,
      firstMs: 0,
      refreshes: 5,
      failed: 2,
      outcome: 'failed',
      failure: { reason: 'timeout', message: 'second' },
      waitedMs: 3000,
      durationMs: 900,
      pages: 3,
      resources: 41,
      firing: 1,
      added: 3,
      removed: 5,
      stateChanges: 8,
      leastResources: 40,
      mostResources: 42,
      leastFiring: 1,
      mostFiring: 2,
      isHeld: false,
    });
    expect(history.newestFirst().at(-2)).toEqual(success(BUCKET_MS));
  });

  it.each([
    ['reaches back further with fewer refreshes', Array.from({ length: 300 }, (_, at) => at * 3_600_000)],
    [
      'keeps the order of refreshes when the wall clock is set back or forward',
      Array(40)
        .fill([0, 86_400_000, -3_600_000, Date.UTC(2100, 0, 1)])
        .flat(),
    ],
  ])('%s', (_what, times: number[]) => {
    const entries = times.map((atMs, resources) => success(atMs, { resources }));
    expect(historyOf(entries).newestFirst()).toEqual(entries.toReversed());
  });

  it('shortens long messages between characters', () => {
    const kept = (message: string) => historyOf([failure(0, message)]).latest()?.failure?.message;
    expect(kept('x'.repeat(200))).toBe('x'.repeat(200));
    expect(kept('x'.repeat(201))).toBe(`${'x'.repeat(199)}…`);
    expect(kept('😀'.repeat(101))).toBe(`${'😀'.repeat(99)}…`);
  });

  it('keeps one copy of a message that is repeated, with its own reason', () => {
    const [third, second, first] = historyOf([
      failure(0, 'again'),
      failure(1, 'again'),
      failure(2, 'again', 'tls'),
    ]).newestFirst();
    expect(second?.failure).toBe(first?.failure);
    expect(third?.failure).toEqual({ reason: 'tls', message: 'again' });
  });

  it('keeps the last 20 outages, each from its first failure to the next success, whatever is merged meanwhile', () => {
    const postponed = (atMs: number) => ({ ...failure(atMs, 'later'), failed: 0, outcome: 'postponed' as const });
    const history = historyOf([
      failure(0, 'a', 'tls'),
      postponed(500),
      failure(1000, 'b', 'auth'),
      failure(2000, 'c', 'tls'),
      success(3456, { outcome: 'incomplete' }),
    ]);
    const ended = { fromMs: 0, toMs: 3456, failed: 3, reasons: ['tls', 'auth'], statuses: [] };
    expect(history.outages).toEqual([ended]);
    for (const entry of every(60_000, 500)) history.add(entry);
    expect(history.outages).toEqual([ended]);
    history.add(failure(4000));
    expect(history.outages.at(-1)).toEqual({
      fromMs: 4000,
      toMs: undefined,
      failed: 1,
      reasons: ['network'],
      statuses: [],
    });
    for (const status of [503, 502, 503])
      history.add({ ...failure(5000), failure: { reason: 'status', message: 'm', status } });
    expect(history.outages.at(-1)).toMatchObject({ reasons: ['network', 'status'], statuses: [503, 502] });
    for (const entry of every(1000, 100, (atMs, at) => (at % 2 === 0 ? failure(atMs) : success(atMs))))
      history.add(entry);
    expect(history.outages).toHaveLength(20);
  });

  it('knows since when listings are incomplete, and have states of unknown meaning, whatever failed meanwhile', () => {
    const history = historyOf([success(1, { outcome: 'incomplete' }), success(2)]);
    expect([history.incompleteSinceMs, history.unknownSinceMs]).toEqual([undefined, undefined]);
    for (const entry of [
      success(3, { outcome: 'incomplete', unknown: 1 }),
      failure(4),
      success(5, { outcome: 'incomplete', unknown: 9 }),
    ])
      history.add(entry);
    expect([history.incompleteSinceMs, history.unknownSinceMs]).toEqual([3, 3]);
    history.add(success(6, { unknown: 9 }));
    expect([history.incompleteSinceMs, history.unknownSinceMs]).toEqual([undefined, 3]);
  });

  it('has the refreshes since a time, the oldest first', () => {
    const history = historyOf(Array.from({ length: 100 }, (_, index) => success(index * BUCKET_MS)));
    const times = history.since(30 * BUCKET_MS).map(({ atMs }) => atMs / BUCKET_MS);
    expect(times).toEqual(Array.from({ length: 70 }, (_, index) => 30 + index));
  });

  it('compares since the latest listing that was not held, but compared with none', () => {
    const compared = { outcome: 'incomplete', removed: 0 } as const;
    const base = (atMs: number) => success(atMs, { added: undefined, removed: undefined });
    const history = historyOf([uncompared(1), failure(2), base(3), success(4, compared), uncompared(5)]);
    expect(history.comparedSinceMs).toBe(3);
    history.add(failure(6));
    expect(history.comparedSinceMs).toBe(3);
    history.add(base(7));
    history.add(success(8));
    expect(history.comparedSinceMs).toBe(7);
  });
});
