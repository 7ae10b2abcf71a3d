import { describe, expect, it } from 'vitest';
import { nextRefreshText } from '../../src/status/station-status.ts';

describe('nextRefreshText', () => {
  it.each([
    ['scrape', 12_000, 'on the first scrape after 12 s'],
    ['scrape', 0, 'on the next scrape'],
    ['background', 90_000, 'in 1 min 30 s'],
    ['background', 200, 'in 1 s'],
    ['background', -1, 'due now'],
  ] as const)('for %s due in %d ms is %j', (refresh, dueInMs, text) => {
    expect(nextRefreshText({ refresh, dueInMs, isRefreshing: false, waitingMs: undefined })).toBe(text);
    expect(nextRefreshText({ refresh, dueInMs, isRefreshing: true, waitingMs: undefined })).toBe('refreshing now');
  });

  it('shows a wait for capacity from a second on', () => {
    const refresh = { refresh: 'scrape', dueInMs: -9000, isRefreshing: true } as const;
    expect(nextRefreshText({ ...refresh, waitingMs: 999 })).toBe('refreshing now');
    expect(nextRefreshText({ ...refresh, waitingMs: 1000 })).toBe('has waited 1 s for capacity');
  });
});
