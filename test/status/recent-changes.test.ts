import { describe, expect, it } from 'vitest';
import type { ResourceNumberChange } from '../../src/status/latest-refreshes.ts';
import { recentChanges } from '../../src/status/recent-changes.ts';
import type { StationStatus } from '../../src/status/station-status.ts';
import { SNAPSHOT, STATION } from '../web/fake-station.ts';

const changed = (atMs: number, added: number, removed: number): ResourceNumberChange => ({ atMs, added, removed });

/** At the minute 70: refreshes of the first ten minutes are more than an hour ago. */
const NOW_MS = 70 * 60_000;

const changesOf = (numberChanges: readonly ResourceNumberChange[], status: Partial<StationStatus> = {}) =>
  recentChanges({ ...STATION, comparedSinceMs: 1, numberChanges, ...status }, NOW_MS);

const minute = (count: number) => count * 60_000;

describe('recentChanges', () => {
  it('sums up what the refreshes of the last hour found, since the first of it', () => {
    expect(changesOf([changed(minute(9), 7, 7), changed(minute(30), 2, 0), changed(minute(50), 1, 1)])).toEqual({
      added: 3,
      removed: 1,
      sinceMs: minute(30),
      knownSinceMs: 1,
      loss: undefined,
    });
  });

  it('has the changes that were found before a reload, and knows all since then', () => {
    expect(changesOf([changed(minute(50), 0, 32)], { comparedSinceMs: minute(61) })).toMatchObject({
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
    expect(changesOf([]).knownSinceMs).toBe(1);
    expect(changesOf([], status).knownSinceMs).toBeUndefined();
  });

  it('has the loss of the station', () => {
    const loss = { lost: 5, before: 9, sinceMs: 1 };
    const lossAt = (nowMs: number) => (nowMs === NOW_MS ? loss : undefined);
    expect(changesOf([], { lossAt }).loss).toBe(loss);
  });
});
