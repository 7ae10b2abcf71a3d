import { describe, expect, it } from 'vitest';
import { loadNotes } from '../../src/status/load-notes.ts';
import { NOW_MS, UPSTREAM } from '../web/fake-station.ts';

describe('loadNotes', () => {
  const notesOf = (load: Partial<typeof UPSTREAM.load>, neededPerSecond = 0) => {
    const capacity = { neededPerSecond, possiblePerSecond: 8, roundMs: 120_000, unknownStations: 0 };
    const notes = loadNotes({ ...UPSTREAM, load: { ...UPSTREAM.load, ...load }, capacity }, NOW_MS);
    return notes.map(({ text }) => text).join('\n');
  };

  it.each<[text: string, load: Partial<typeof UPSTREAM.load>]>([
    ['', {}],
    ['', { waitingRefreshes: 3, oldestWaitingMs: 999 }],
    // The limit is above what is needed.
    ['', { recentThrottled: 36, requestsPerSecond: 4.2 }],
    ['service requested a pause until 03:06:01 UTC (Retry-After)', { holdMs: 61_000 }],
    ['12 refreshes waiting for capacity, the first for 3 min', { waitingRefreshes: 12, oldestWaitingMs: 180_000 }],
  ])('is "%s" with %j', (text, load) => {
    expect(notesOf(load)).toBe(text);
  });

  it('compares the requests with the capacity when it does not suffice', () => {
    expect(notesOf({ requestsPerSecond: 5 }, 8)).toBe('');
    expect(notesOf({}, 16)).toBe('8 requests/s are possible, 16 are needed: data gets up to 2 min old');
  });

  it('compares what the service accepts with what is needed while it throttles', () => {
    expect(notesOf({ recentThrottled: 36 }, 16)).toBe(
      'the service accepts 8 requests/s, 16 are needed: data gets up to 2 min old (36 of 180 requests throttled in 5 min)',
    );
  });
});
