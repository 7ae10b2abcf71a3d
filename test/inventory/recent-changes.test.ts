import { describe, expect, it } from 'vitest';
import type { HistoryEntry } from '../../src/inventory/history.ts';
import { recentChanges } from '../../src/inventory/recent-changes.ts';
import type { StationStatus } from '../../src/inventory/station-status.ts';
import { SNAPSHOT, STATION } from '../web/fake-station.ts';

const entry = (atMs: number, changes: Partial<HistoryEntry> = {}): HistoryEntry => ({
  atMs,
  refreshes: 1,
  failed: 0,
  outcome: 'succeeded',
  waitedMs: 0,
  ...changes,
});

const compared = (atMs: number, added: number, removed: number, changes: Partial<HistoryEntry> = {}) =>
  entry(atMs, { added, removed, ...changes });

/** At the minute 70: refreshes of the first ten minutes are more than an hour ago. */
const NOW_MS = 70 * 60_000;

const changesOf = (entries: readonly HistoryEntry[], status: Partial<StationStatus> = {}) => {
  const refreshesSince = (fromMs: number) => entries.filter(({ atMs }) => atMs >= fromMs);
  return recentChanges({ ...STATION, comparedSinceMs: 1, refreshesSince, ...status }, NOW_MS);
};

const minute = (count: number) => count * 60_000;

describe('recentChanges', () => {
  it('sums up what the refreshes of the last hour found, since the first of it', () => {
    const entries = [
      compared(minute(9), 7, 7),
      compared(minute(20), 0, 0),
      compared(minute(31), 2, 0, { firstMs: minute(30), refreshes: 2, failed: 1, outcome: 'failed' }),
      entry(minute(40)),
      compared(minute(50), 1, 1),
    ];
    expect(changesOf(entries)).toEqual({
      added: 3,
      removed: 1,
      sinceMs: minute(30),
      knownSinceMs: 1,
      loss: undefined,
    });
  });

  it('has the changes that were found before a reload, and knows all since then', () => {
    const entries = [compared(minute(50), 0, 32), entry(minute(61)), compared(minute(62), 0, 0)];
    expect(changesOf(entries, { comparedSinceMs: minute(61) })).toMatchObject({
      removed: 32,
      sinceMs: minute(50),
      knownSinceMs: minute(50),
    });
  });

  it.each<[what: string, status: Partial<StationStatus>]>([
    ['while refreshes fail', { up: false }],
    ['when the data has expired', { snapshot: undefined }],
    ['while listings cannot be compared', { snapshot: { ...SNAPSHOT, isHeld: true } }],
    ['before the first listing that can be compared', { comparedSinceMs: undefined }],
  ])('does not know the present changes %s', (_what, status) => {
    expect(changesOf([compared(minute(50), 0, 0)]).knownSinceMs).toBe(1);
    expect(changesOf([compared(minute(50), 0, 0)], status).knownSinceMs).toBeUndefined();
  });

  it('has the loss of the station', () => {
    const loss = { lost: 5, before: 9, sinceMs: 1 };
    const lossAt = (nowMs: number) => (nowMs === NOW_MS ? loss : undefined);
    expect(changesOf([], { lossAt }).loss).toBe(loss);
  });
});
