import { describe, expect, it } from 'vitest';
import { CAPACITY_GUIDE } from '../../../src/inventory/capacity.ts';
import { html } from '../../../src/web/pages/html.ts';
import { loadList } from '../../../src/web/pages/station-parts.ts';
import { NOW_MS, UPSTREAM } from '../fake-station.ts';
import { shown } from './opened-page.ts';

const listOf = (load: Partial<typeof UPSTREAM.load>, capacity = UPSTREAM.capacity) =>
  shown(html`${loadList({ ...UPSTREAM, load: { ...UPSTREAM.load, ...load }, capacity }, NOW_MS) ?? ''}`.text);

const capacityFor = (neededPerSecond: number) => ({ neededPerSecond, possiblePerSecond: 8, unknownStations: 0 });

describe('loadList', () => {
  it.each<[text: string, load: Partial<typeof UPSTREAM.load>]>([
    ['', {}],
    ['', { waitingRefreshes: 3, oldestWaitingMs: 999 }],
    [
      'throttled: 36 of 180 requests in 5 min, now limited to 4.2 requests/s',
      { recentThrottled: 36, requestsPerSecond: 4.2 },
    ],
    [
      'throttled: 1 of 1 request in 5 min, now limited to 123 requests/s',
      { recentThrottled: 1, recentRequests: 1, requestsPerSecond: 123.4 },
    ],
    // Without a limit there is nothing to say of one: that all were throttled although there is none sounds wrong.
    ['throttled: 3 of 180 requests in 5 min', { recentThrottled: 3 }],
    ['service requested a pause until 03:06:01 UTC (Retry-After)', { holdMs: 61_000 }],
    ['12 refreshes waiting for capacity, the first for 3 min', { waitingRefreshes: 12, oldestWaitingMs: 180_000 }],
    ['1 refresh waiting for capacity, the first for 1 s', { waitingRefreshes: 1, oldestWaitingMs: 1000 }],
    ['3 stations hang (one probing request at a time)', { hangingStations: 3 }],
    ['1 station hangs (one probing request at a time)', { hangingStations: 1 }],
  ])('is "%s" with %j', (text, load) => {
    expect(listOf(load).text).toBe(text);
  });

  it('compares the requests with the capacity when it does not suffice, and links to the guide', () => {
    expect(listOf({ requestsPerSecond: 5 }, capacityFor(8)).text).toBe('');
    const { text, hrefs, tags } = listOf({ hangingStations: 1 }, capacityFor(16));
    expect(text).toBe(
      '1 station hangs (one probing request at a time)Refreshing once per ttl needs 16 requests/s, and 8 are possible: 200 % of the capacity, so data gets older than ttl. What to do',
    );
    expect(hrefs).toEqual([CAPACITY_GUIDE]);
    expect(tags.filter(({ name }) => name === 'li')).toHaveLength(2);
  });
});
