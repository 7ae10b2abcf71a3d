import { describe, expect, it } from 'vitest';
import { CAPACITY_GUIDE } from '../../../src/inventory/capacity.ts';
import { upstreamNotes } from '../../../src/web/pages/upstream-load.ts';
import { NOW_MS, UPSTREAM } from '../fake-station.ts';
import { parseHtml } from '../html-parser.ts';

function notesOf(load: Partial<typeof UPSTREAM.load>, capacity = UPSTREAM.capacity): string[] {
  return upstreamNotes({ load: { ...UPSTREAM.load, ...load }, capacity }, NOW_MS).map(
    ({ text }) => parseHtml(text).text,
  );
}

const capacityFor = (neededPerSecond: number) => ({ neededPerSecond, possiblePerSecond: 8, unknownStations: 0 });

describe('upstreamNotes', () => {
  it('are empty while no limit is reached', () => {
    expect(notesOf({})).toEqual([]);
    expect(notesOf({ requestsPerSecond: 5 }, capacityFor(8))).toEqual([]);
    expect(notesOf({ waitingRefreshes: 3, oldestWaitingMs: 999 })).toEqual([]);
  });

  it('show how many requests were throttled, and the rate', () => {
    expect(notesOf({ recentThrottled: 36, requestsPerSecond: 4.2 })).toEqual([
      'throttled (429): 36 of 180 requests in 5 min, now 4.2 requests/s',
    ]);
    expect(notesOf({ recentThrottled: 1, recentRequests: 1, requestsPerSecond: 123.4 })).toEqual([
      'throttled (429): 1 of 1 request in 5 min, now 123 requests/s',
    ]);
    expect(notesOf({ recentThrottled: 3 })).toEqual([
      'throttled (429): 3 of 180 requests in 5 min, now without a rate limit',
    ]);
  });

  it('show until when the service requested a pause', () => {
    expect(notesOf({ holdMs: 61_000 })).toEqual(['service requested a pause until 03:06:01 UTC (Retry-After)']);
  });

  it('show how many refreshes wait', () => {
    expect(notesOf({ waitingRefreshes: 12, oldestWaitingMs: 180_000 })).toEqual([
      '12 refreshes waiting for capacity, the first for 3 min',
    ]);
    expect(notesOf({ waitingRefreshes: 1, oldestWaitingMs: 1000 })).toEqual([
      '1 refresh waiting for capacity, the first for 1 s',
    ]);
  });

  it('show how many stations hang', () => {
    expect(notesOf({ hangingStations: 3 })).toEqual(['3 stations hang (one probing request at a time)']);
    expect(notesOf({ hangingStations: 1 })).toEqual(['1 station hangs (one probing request at a time)']);
  });

  it('compare the requests with the capacity when it does not suffice, and link to the guide', () => {
    const notes = upstreamNotes({ load: { ...UPSTREAM.load, hangingStations: 1 }, capacity: capacityFor(16) }, NOW_MS);
    expect(notes.map(({ text }) => parseHtml(text).text)).toEqual([
      '1 station hangs (one probing request at a time)',
      'Refreshing once per ttl needs 16 requests/s, and 8 are possible: 200 % of the capacity, so data gets older than ttl. What to do',
    ]);
    expect(notes.at(-1)?.text).toContain(`href="${CAPACITY_GUIDE}" rel="noreferrer"`);
  });
});
