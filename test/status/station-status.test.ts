import { describe, expect, it } from 'vitest';
import { nextRefreshText, stateOf } from '../../src/status/station-status.ts';
import { STATION } from '../web/fake-station.ts';

describe('stateOf', () => {
  it.each([
    [true, 'up'],
    [false, 'failing'],
    [undefined, 'not-tried'],
  ] as const)('maps up %s to %s', (up, state) => {
    expect(stateOf({ ...STATION, up })).toBe(state);
  });

  it('is never up without data', () => {
    expect(stateOf({ up: true, snapshot: undefined })).toBe('no-data');
    expect(stateOf({ up: false, snapshot: undefined })).toBe('failing');
  });
});

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
