import { describe, expect, it } from 'vitest';
import { forecastCapacity, type StationWork } from '../../../src/inventory/capacity.ts';
import { upstreamNotes } from '../../../src/web/pages/upstream-load.ts';
import { NOW_MS, UPSTREAM } from '../fake-station.ts';
import { parseHtml } from '../html-parser.ts';

function notesOf(load: Partial<typeof UPSTREAM.load>, forecast = UPSTREAM.forecast): string[] {
  return upstreamNotes({ load: { ...UPSTREAM.load, ...load }, forecast }, NOW_MS).map(
    ({ text }) => parseHtml(text).text,
  );
}

function forecastOf(requests: number, latencyMs: number) {
  const listed = { requests, furtherRequests: 0, listings: 1, records: 100 * requests };
  const work: StationWork = { name: '<prod>', ttlMs: 60_000, refreshTimeoutMs: 120_000, durationMs: 1000, listed };
  const limits = { concurrency: 8, requestsPerSecond: 0, pageSize: 100 };
  return forecastCapacity([work], limits, { typicalLatencyMs: latencyMs, requestsPerSecond: Number.POSITIVE_INFINITY });
}

describe('upstreamNotes', () => {
  it('are empty while no limit is reached', () => {
    expect(notesOf({})).toEqual([]);
    expect(notesOf({ requestsPerSecond: 5 }, forecastOf(10, 67))).toEqual([]);
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

  it('show the forecast when the capacity does not suffice, and a refresh close to its timeout', () => {
    expect(notesOf({ hangingStations: 1 }, forecastOf(960, 1000))).toEqual([
      '1 station hangs (one probing request at a time)',
      '960 requests every 60 s take 120 s with concurrency 8 at 1,000 ms: data will be about 120 s old. Raise concurrency to 16, or ttl to 120 s, or page_size to 200, or use 2 shards.',
      'A refresh of station <prod> takes about 120 s, close to its refresh_timeout of 120 s. Raise refresh_timeout to 180 s, or concurrency, or narrow the station with filters.',
    ]);
  });
});
