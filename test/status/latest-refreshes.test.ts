import { describe, expect, it } from 'vitest';
import type { FailureReason } from '../../src/model/failure.ts';
import { type EndedRefresh, LatestRefreshes } from '../../src/status/latest-refreshes.ts';
import { success } from './ended-refresh.ts';

const MINUTE_MS = 60_000;

/** A listing that was compared with none. */
function uncompared(atMs: number, isIncomparable: boolean): EndedRefresh {
  const { added, removed, stateChanges, ...others } = success(atMs, { outcome: 'incomplete', isIncomparable });
  return others;
}

function failure(atMs: number, message = 'no route', reason: FailureReason = 'network', status?: number): EndedRefresh {
  const details = { reason, message, ...(status !== undefined && { status }) };
  return { atMs, outcome: 'failed', waitedMs: 0, durationMs: 10, failure: details };
}

function latestOf(refreshes: Iterable<EndedRefresh>): LatestRefreshes {
  const latest = new LatestRefreshes();
  for (const refresh of refreshes) latest.add(refresh);
  return latest;
}

describe('LatestRefreshes', () => {
  it('keeps the last 60 refreshes in the order in which they ended, also when the wall clock is set back or forward', () => {
    const times = Array(25)
      .fill([0, 86_400_000, -3_600_000, Date.UTC(2100, 0, 1)])
      .flat() as number[];
    const all = times.map((atMs, resources) => success(atMs, { resources }));
    const latest = latestOf(all);
    expect(latest.newestFirst()).toEqual(all.slice(-60).reverse());
    expect(latest.latest()).toEqual(all.at(-1));
  });

  it('shortens long messages', () => {
    const kept = (message: string) => latestOf([failure(0, message)]).latest()?.failure?.message;
    expect(kept('x'.repeat(200))).toBe('x'.repeat(200));
    expect(kept('x'.repeat(201))).toBe(`${'x'.repeat(199)}…`);
  });

  it('keeps one copy of a message that is repeated, with its own reason', () => {
    const [third, second, first] = latestOf([
      failure(0, 'again'),
      failure(1, 'again'),
      failure(2, 'again', 'tls'),
    ]).newestFirst();
    expect(second?.failure).toBe(first?.failure);
    expect(third?.failure).toEqual({ reason: 'tls', message: 'again' });
  });

  it('knows since when refreshes have failed, and for the present reason, also beyond those that are kept', () => {
    const postponed = (atMs: number) => ({ ...failure(atMs, 'later', 'rate_limited'), outcome: 'postponed' as const });
    const latest = latestOf([success(0), postponed(1)]);
    expect(latest.history.failureStreak).toBeUndefined();
    for (let atMs = 2; atMs <= 100; atMs += 1) latest.add(failure(atMs, `${atMs}`, 'tls'));
    latest.add(postponed(101));
    expect(latest.history.failureStreak).toMatchObject({ fromMs: 2, failed: 99, reason: 'tls', reasonFromMs: 2 });
    for (const [at, status] of [503, 502, 502].entries()) latest.add(failure(200 + at, 'm', 'status', status));
    expect(latest.history.failureStreak).toEqual({
      fromMs: 2,
      failed: 102,
      reason: 'status',
      status: 502,
      reasonFromMs: 201,
    });
    // Only of the reason `status` it distinguishes causes.
    for (const [at, status] of [429, 503].entries()) latest.add(failure(300 + at, 'm', 'rate_limited', status));
    expect(latest.history.failureStreak).toMatchObject({ reason: 'rate_limited', reasonFromMs: 300 });
    latest.add(success(400, { outcome: 'incomplete' }));
    expect(latest.history.failureStreak).toBeUndefined();
  });

  it('has what was added and removed in the last hour, also by refreshes that are no longer kept', () => {
    const latest = latestOf([
      success(0, { added: 5 }),
      success(MINUTE_MS, { added: 0, removed: 7 }),
      success(2 * MINUTE_MS, { added: 0 }),
      uncompared(3 * MINUTE_MS, true),
    ]);
    for (let at = 0; at < 100; at += 1) latest.add(success(4 * MINUTE_MS + at, { added: 0 }));
    latest.add(success(61 * MINUTE_MS, { added: 2, removed: 1 }));
    expect(latest.history.numberChanges).toEqual([
      { atMs: MINUTE_MS, added: 0, removed: 7 },
      { atMs: 61 * MINUTE_MS, added: 2, removed: 1 },
    ]);
  });

  it('knows since when listings are incomplete, and have states of unknown meaning, whatever failed meanwhile', () => {
    const latest = latestOf([success(1, { outcome: 'incomplete' }), success(2)]);
    expect([latest.history.incompleteSinceMs, latest.history.unknownSinceMs]).toEqual([undefined, undefined]);
    for (const refresh of [
      success(3, { outcome: 'incomplete', unknown: 1 }),
      failure(4),
      success(5, { outcome: 'incomplete', unknown: 9 }),
    ])
      latest.add(refresh);
    expect([latest.history.incompleteSinceMs, latest.history.unknownSinceMs]).toEqual([3, 3]);
    latest.add(success(6, { unknown: 9 }));
    expect([latest.history.incompleteSinceMs, latest.history.unknownSinceMs]).toEqual([undefined, 3]);
  });

  it('compares since the first listing that was not held, with a gap when a later one is compared with none', () => {
    const compared = { outcome: 'incomplete', removed: 0 } as const;
    const latest = latestOf([
      uncompared(1, true),
      failure(2),
      uncompared(3, false),
      success(4, compared),
      uncompared(5, true),
    ]);
    latest.add(failure(6));
    expect(latest.history).toMatchObject({ comparedSinceMs: 3, gapEndMs: undefined });
    latest.add(uncompared(7, false));
    latest.add(success(8));
    expect(latest.history).toMatchObject({ comparedSinceMs: 3, gapEndMs: 7 });
  });
});
