import { describe, expect, it } from 'vitest';
import type { HistoryEntry } from '../../src/inventory/history.ts';
import { recentChanges } from '../../src/inventory/recent-changes.ts';

const entry = (atMs: number, changes: Partial<HistoryEntry> = {}): HistoryEntry => ({
  atMs,
  refreshes: 1,
  failed: 0,
  outcome: 'succeeded',
  waitedMs: 0,
  ...changes,
});

const compared = (
  atMs: number,
  resources: number,
  added: number,
  removed: number,
  changes: Partial<HistoryEntry> = {},
) => entry(atMs, { resources, added, removed, ...changes });

describe('recentChanges', () => {
  it('counts no removal by a listing that was not compared', () => {
    const entries = [compared(1, 400, 0, 0), entry(2, { resources: 3, outcome: 'incomplete' })];
    const none = { added: 0, removed: 0, sinceMs: undefined, loss: undefined };
    expect(recentChanges(entries, 1)).toEqual({ ...none, knownSinceMs: undefined });
  });

  it('sums up what was added and removed, since the first of it', () => {
    const entries = [compared(1, 10, 0, 0), compared(3, 12, 2, 0, { firstMs: 2 }), entry(4), compared(5, 12, 1, 1)];
    expect(recentChanges(entries, 1)).toEqual({ added: 3, removed: 1, sinceMs: 2, knownSinceMs: 1, loss: undefined });
  });

  it('has a loss when more than a fifth is gone, since it began', () => {
    const before = [compared(1, 400, 3, 0), compared(2, 398, 0, 2)];
    expect(recentChanges([...before, compared(3, 318, 0, 80)], 0).loss).toBeUndefined();
    expect(recentChanges([...before, compared(3, 317, 0, 81), compared(4, 317, 0, 0)], 0).loss).toEqual({
      lost: 83,
      before: 400,
      sinceMs: 2,
    });
  });

  it('has no loss while as many were added again, and one if they were added before', () => {
    const [added, removed] = [compared(1, 20, 10, 0), compared(2, 10, 0, 10)];
    expect(recentChanges([removed, compared(3, 20, 10, 0)], 0).loss).toBeUndefined();
    expect(recentChanges([added, removed], 0).loss).toEqual({ lost: 10, before: 20, sinceMs: 2 });
  });

  it('knows no loss from before a reload with other filters, and none while nothing was compared since', () => {
    const before = [compared(1, 20, 0, 0), compared(2, 15, 0, 5)];
    expect(recentChanges([...before, compared(5, 10, 0, 0)], 4)).toMatchObject({ removed: 0, loss: undefined });
    expect(recentChanges(before, undefined)).toMatchObject({ removed: 0, loss: undefined });
  });

  it('does not take resources whose records are rejected for lost ones', () => {
    const rejecting = entry(2, { resources: 5, outcome: 'incomplete', added: 0, removed: 2 });
    expect(recentChanges([compared(1, 20, 0, 0), rejecting], 0)).toMatchObject({ removed: 0, loss: undefined });
  });

  it('knows of no changes before the first complete listing', () => {
    expect(recentChanges([], undefined).knownSinceMs).toBeUndefined();
    expect(recentChanges([entry(7)], 7).knownSinceMs).toBe(7);
  });
});
