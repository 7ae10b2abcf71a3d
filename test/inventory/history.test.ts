import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { History, type HistoryEntry } from '../../src/inventory/history.ts';
import { FAILURE_REASONS } from '../../src/model/failure.ts';
import { heldByBuffers } from '../held-by-buffers.ts';

const START_MS = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;

function success(atMs: number, changes: Partial<HistoryEntry> = {}): HistoryEntry {
  return {
    ...{ atMs, refreshes: 1, failed: 0, outcome: 'succeeded', waitedMs: 0, durationMs: 250 },
    ...{ pages: 3, resources: 42, firing: 2, added: 1, removed: 0, stateChanges: 4 },
    ...changes,
  };
}

function failure(
  atMs: number,
  message = 'no route',
  reason: (typeof FAILURE_REASONS)[number] = 'network',
): HistoryEntry {
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
  for (let index = 0; index < count; index += 1) yield entryAt(START_MS + index * intervalMs, index);
}

describe('History', () => {
  it('is empty before the first refresh', () => {
    const history = new History();
    expect([history.newestFirst(), history.latest(), history.refreshes]).toEqual([[], undefined, 0]);
  });

  it('returns every number, outcome, reason and message as it was added, the latest first', () => {
    const entries = [
      success(START_MS),
      success(START_MS, { outcome: 'incomplete', resources: 0xffff_fffe, waitedMs: 65_535_000, durationMs: 0 }),
      { atMs: START_MS + 1000, refreshes: 1, failed: 0, outcome: 'succeeded', waitedMs: 0 } as const,
      ...FAILURE_REASONS.map((reason) => failure(START_MS + 2000, `failed: ${reason} 训练 <b>`, reason)),
      { ...failure(START_MS, 'later', 'rate_limited'), failed: 0, outcome: 'postponed' as const },
    ];
    const history = historyOf(entries);
    expect(history.newestFirst()).toEqual(entries.toReversed());
    expect(history.latest()).toEqual(entries.at(-1));
    expect(history.refreshes).toBe(entries.length);
  });

  it('keeps a day of refreshes once per minute one by one', () => {
    const entries = [
      ...every(MINUTE_MS, 1440, (atMs, index) =>
        index % 7 === 0 ? failure(atMs) : success(atMs, { resources: index }),
      ),
    ];
    expect(historyOf(entries).newestFirst()).toEqual(entries.toReversed());
  });

  it('keeps a day of refreshes once per five seconds, the older ones by minute', () => {
    const history = historyOf(
      every(5000, 20_004, (atMs, index) => (index % 24 === 5 ? failure(atMs, 'lost') : success(atMs))),
    );
    const entries = history.newestFirst();
    const latestMs = START_MS + (20_004 - 1) * 5000;
    expect(entries.slice(0, 60).map(({ atMs, refreshes }) => [atMs, refreshes])).toEqual(
      Array.from({ length: 60 }, (_, age) => [latestMs - age * 5000, 1]),
    );
    const older = entries.slice(60);
    expect(older).toHaveLength(1440);
    expect(new Set(older.map(({ refreshes }) => refreshes))).toEqual(new Set([12]));
    expect(latestMs - (older.at(-1)?.atMs ?? 0)).toBeGreaterThanOrEqual(24 * 60 * MINUTE_MS);
    // Every other minute has one failure.
    expect(
      older.filter(
        ({ outcome, failed, failure }) => outcome === 'failed' && failed === 1 && failure?.message === 'lost',
      ),
    ).toHaveLength(720);
    expect(older.filter(({ outcome, failed }) => outcome === 'succeeded' && failed === 0)).toHaveLength(720);
  });

  it('merges the refreshes of a minute: worst outcome, longest times, latest counts, sums of changes', () => {
    const history = historyOf([
      success(START_MS, { durationMs: 900, waitedMs: 3000 }),
      failure(START_MS + 10_000, 'first'),
      failure(START_MS + 20_004, 'second', 'timeout'),
      success(START_MS + 30_000, { outcome: 'incomplete', resources: 40, added: 2, removed: 5 }),
      { atMs: START_MS + 40_000, refreshes: 1, failed: 0, outcome: 'succeeded', waitedMs: 1000, resources: 41 },
      success(START_MS + MINUTE_MS),
      ...every(MINUTE_MS, 60, (atMs) => success(atMs + 2 * MINUTE_MS)),
    ]);
    expect(history.newestFirst().at(-1)).toEqual({
      ...{
        atMs: START_MS + 40_000,
        refreshes: 5,
        failed: 2,
        outcome: 'failed',
        failure: { reason: 'timeout', message: 'second' },
      },
      ...{ waitedMs: 3000, durationMs: 900, pages: 3, resources: 41, firing: 2, added: 3, removed: 5, stateChanges: 8 },
    });
    expect(history.newestFirst().at(-2)).toEqual(success(START_MS + MINUTE_MS));
  });

  it('counts every refresh of a minute, however many there are', () => {
    const history = historyOf(every(10, 6000, (atMs, index) => (index % 2 === 0 ? success(atMs) : failure(atMs))));
    const total = (key: 'refreshes' | 'failed') => history.newestFirst().reduce((sum, entry) => sum + entry[key], 0);
    expect([total('refreshes'), total('failed'), history.refreshes]).toEqual([6000, 3000, 6000]);
  });

  it('keeps the order of refreshes when the wall clock is set back or forward', () => {
    const times = [START_MS, START_MS + 86_400_000, START_MS - 3_600_000, 0, START_MS + 1000, Date.UTC(2100, 0, 1)];
    const entries = Array.from({ length: 200 }, (_, index) =>
      success(times[index % times.length] ?? 0, { resources: index }),
    );
    expect(historyOf(entries).newestFirst()).toEqual(entries.toReversed());
  });

  it('shortens long messages, and forgets the oldest messages but not their reasons', () => {
    const history = historyOf(
      every(MINUTE_MS, 1000, (atMs, index) => failure(atMs, `${index} ${'x'.repeat(10_000)}`, 'body')),
    );
    const entries = history.newestFirst();
    expect(entries).toHaveLength(1000);
    expect(new Set(entries.map((entry) => entry.failure?.reason))).toEqual(new Set(['body']));
    const messages = entries.map((entry) => entry.failure?.message ?? '');
    expect(messages[0]).toBe(`999 ${'x'.repeat(395)}…`);
    const kept = messages.filter((message) => message !== '');
    expect(messages.slice(0, kept.length)).toEqual(kept);
    expect(kept).toHaveLength(6);
  });

  it('shortens a message between characters', () => {
    expect(historyOf([failure(START_MS, '😀'.repeat(201))]).latest()?.failure?.message).toBe(`${'😀'.repeat(199)}…`);
  });

  it('forgets the message that was not used for the longest time first', () => {
    const history = historyOf(
      every(MINUTE_MS, 200, (atMs, index) => failure(atMs, index % 2 === 0 ? 'again and again' : `once: ${index}`)),
    );
    const messages = history.newestFirst().map((entry) => entry.failure?.message);
    expect(messages.filter((message) => message === 'again and again')).toHaveLength(100);
    expect(messages.filter((message) => message?.startsWith('once'))).toHaveLength(23);
    expect(messages.filter((message) => message === '')).toHaveLength(77);
  });

  it('never attributes a message to a refresh that did not have it', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 500 })), {
      maxLength: 400,
    });
    fc.assert(
      fc.property(steps, (messages) => {
        const history = historyOf(
          messages.map(([number, length], index) =>
            failure(START_MS + index * MINUTE_MS, `${number}:${'y'.repeat(length)}`),
          ),
        );
        for (const [age, { failure: kept }] of history.newestFirst().entries()) {
          const [number] = messages.at(-1 - age) ?? [];
          if (kept?.message !== '') expect(kept?.message).toMatch(new RegExp(`^${number}:`));
        }
        expect(history.latest()?.failure?.message ?? '').toHaveLength(
          messages.length === 0 ? 0 : Math.min(400, `${messages.at(-1)?.[0]}:`.length + (messages.at(-1)?.[1] ?? 0)),
        );
      }),
    );
  });

  it('takes at most 64 KB for a day, whatever the service sends', () => {
    const stations = 40;
    const entries = [
      ...every(MINUTE_MS, 1500),
      ...every(MINUTE_MS, 50, (atMs, index) => failure(atMs, `${index} ${'训'.repeat(90)}`)),
    ];
    const beforeBytes = heldByBuffers();
    const histories = Array.from({ length: stations }, () => new History());
    for (const history of histories) history.add(success(START_MS));
    // Stations take their memory as they need it.
    expect((heldByBuffers() - beforeBytes) / stations).toBeLessThan(1024);
    for (const history of histories) for (const entry of entries) history.add(entry);
    const bufferBytes = (heldByBuffers() - beforeBytes) / stations;
    const kept = histories[0]?.newestFirst() ?? [];
    const messages = new Set(kept.map((entry) => entry.failure?.message ?? ''));
    const messageBytes = [...messages].reduce((bytes, message) => bytes + MESSAGE_BYTES + 2 * message.length, 0);
    expect(kept).toHaveLength(1500);
    expect(messages.size).toBeGreaterThan(20);
    expect(bufferBytes + messageBytes).toBeLessThan(64 * 1024);
  });
});

/** Beside its characters: a string and two entries of maps. */
const MESSAGE_BYTES = 80;
