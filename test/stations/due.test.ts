import { describe, expect, it } from 'vitest';
import type { Deadline } from '../../src/model/clock.ts';
import type { ListingContext } from '../../src/model/listing.ts';
import type { Resources } from '../../src/resources/collector.ts';
import type { Resource } from '../../src/resources/fields.ts';
import { RequestLimiter } from '../../src/service/admission/request-limiter.ts';
import { Fleet } from '../../src/stations/fleet.ts';
import { StationCache } from '../../src/stations/station-cache.ts';
import { VirtualClock } from '../service/support/virtual-clock.ts';
import { collectorOf, listingOf, sourceWith, specOf } from './fixtures.ts';

const TTL_MS = 60_000;
const CONCURRENCY = 8;
const NAMES = Array.from({ length: 100 }, (_, index) => `station-${index}`);

/** A hundred stations that share eight slots, on a virtual clock. */
function fleetOn(clock: VirtualClock, latencyMs: number) {
  const limits = { concurrency: CONCURRENCY, requestsPerSecond: 0 };
  const limiter = new RequestLimiter({ ...limits, ...clock, observer: {} });
  const requests: { readonly station: string; readonly atMs: number }[] = [];
  const list = (_filters: unknown, context: ListingContext) =>
    limiter.run(context, async () => {
      requests.push({ station: context.station, atMs: clock.now() });
      await clock.sleep(latencyMs);
      return listingOf<Resource>([]);
    });
  const caches = NAMES.map(
    (name) =>
      new StationCache<Resources>(specOf({ name }), {
        collector: collectorOf(specOf({ name }), { source: sourceWith(list), encode: async () => name }),
        clock: { wallMs: clock.now, elapsedMs: clock.now },
      }),
  );
  const fleet = new Fleet(caches);
  const scrape = (name?: string) => {
    const waiting = new AbortController();
    const deadline: Deadline = { atMs: clock.now() + 9500, signal: waiting.signal };
    clock.schedule(() => waiting.abort(), 9500);
    void fleet.read(deadline, name);
  };
  return { requests, caches, scrape };
}

/** How many requests were sent from each of these times to the next. */
function requestsPerScrape(requests: readonly { readonly atMs: number }[], timesMs: readonly number[]): number[] {
  return timesMs.map((fromMs, index) => {
    const untilMs = timesMs[index + 1] ?? Number.POSITIVE_INFINITY;
    return requests.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs).length;
  });
}

describe('a fleet that is scraped at an interval equal to ttl', () => {
  it.each([
    { title: 'on time', lateMs: [0, 0, 0, 0, 0] },
    { title: 'once 300 ms late', lateMs: [0, 300, 0, 0, 0] },
    { title: 'early and late by turns, by 5 % of ttl', lateMs: [1500, -1500, 1500, -1500, 1500] },
  ])('refreshes every station with every scrape, although most of them queue: $title', async ({ lateMs }) => {
    const clock = new VirtualClock();
    const { requests, scrape } = fleetOn(clock, 1000);
    const timesMs = lateMs.map((late, index) => TTL_MS * (index + 1) + late);
    for (const atMs of timesMs) clock.schedule(() => scrape(), atMs);
    await clock.runUntil(6 * TTL_MS);
    expect(requestsPerScrape(requests, timesMs)).toEqual([100, 100, 100, 100, 100]);
  });

  it('refreshes every station with each of its probes', async () => {
    const clock = new VirtualClock();
    const { requests, scrape } = fleetOn(clock, 200);
    const timesMs = [1, 2, 3, 4, 5].map((minute) => TTL_MS * minute);
    for (const atMs of timesMs) for (const name of NAMES) clock.schedule(() => scrape(name), atMs);
    await clock.runUntil(6 * TTL_MS);
    expect(requestsPerScrape(requests, timesMs)).toEqual([100, 100, 100, 100, 100]);
  });

  it.each([
    { title: 'half an interval apart', offsetMs: 30_000 },
    { title: 'shortly after one another', offsetMs: 1000 },
    { title: 'shortly before one another', offsetMs: 58_000 },
  ])('is requested by two scrapers once per ttl: $title', async ({ offsetMs }) => {
    const clock = new VirtualClock();
    const { requests, scrape } = fleetOn(clock, 1000);
    for (const minute of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) {
      clock.schedule(() => scrape(), TTL_MS * minute);
      clock.schedule(() => scrape(), TTL_MS * minute + offsetMs);
    }
    await clock.runUntil(11 * TTL_MS - 1);
    expect(requests.length).toBeGreaterThanOrEqual(1000);
    expect(requests.length).toBeLessThanOrEqual(1100);
  });

  it('joins refreshes that still wait or run, uses all slots and serves the oldest data first when the service is too slow', async () => {
    const clock = new VirtualClock();
    const { requests, scrape } = fleetOn(clock, 8000);
    const roundMs = 100_000;
    for (const minute of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) clock.schedule(() => scrape(), TTL_MS * minute);
    await clock.runUntil(11 * TTL_MS - 1);
    const startsOf = (name: string) => requests.filter(({ station }) => station === name).map(({ atMs }) => atMs);
    const intervalsMs = NAMES.flatMap((name) =>
      startsOf(name).map((atMs, index, starts) => atMs - (starts[index - 1] ?? atMs)),
    );
    expect(requests.length).toBe((10 * TTL_MS * NAMES.length) / roundMs);
    expect(Math.max(...intervalsMs)).toBeLessThan(1.3 * roundMs);
  });
});
