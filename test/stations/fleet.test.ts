import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Deadline } from '../../src/model/clock.ts';
import { ListingFailure } from '../../src/model/failure.ts';
import type { Listing } from '../../src/model/listing.ts';
import type { Resources } from '../../src/resources/collector.ts';
import type { Resource } from '../../src/resources/fields.ts';
import type { ResourceSpec } from '../../src/resources/spec.ts';
import { Fleet, refreshInBackground } from '../../src/stations/fleet.ts';
import { StationCache, type StationDependencies } from '../../src/stations/station-cache.ts';
import { collectorOf, encodedIn, listingOf, ManualClock, resourceOf, sourceWith, specOf } from './fixtures.ts';

const forever: Deadline = { atMs: Number.POSITIVE_INFINITY, signal: new AbortController().signal };

const atOnce: Deadline = { atMs: 0, signal: AbortSignal.abort() };

function cacheOf(
  name: string,
  changes: Partial<ResourceSpec> = {},
  answer: () => Listing<Resource> | Promise<Listing<Resource>> = () => listingOf([resourceOf(name)]),
  upstream?: StationDependencies<Resources>['upstream'],
) {
  const clock = new ManualClock();
  const count = { listings: 0 };
  const list = async () => {
    count.listings += 1;
    return answer();
  };
  const spec = specOf({ name, ...changes });
  const cache = new StationCache<Resources>(spec, {
    collector: collectorOf(spec, { source: sourceWith(list), encode: async () => name, clock }),
    clock,
    ...(upstream && { upstream }),
  });
  return { cache, clock, count };
}

/** A station whose service answers when the test says so. */
function heldStation(name: string, upstream?: StationDependencies<Resources>['upstream']) {
  let answer = () => {};
  const answered = new Promise<Listing<Resource>>((resolve) => {
    answer = () => resolve(listingOf([]));
  });
  return { ...cacheOf(name, {}, () => answered, upstream), answer };
}

const fleetOf = (...caches: StationCache<Resources>[]) => new Fleet(caches);

const background = { ttlMs: 1000, maxStaleMs: 9000, errorTtlMs: 200, refresh: 'background' } as const;

describe('Fleet', () => {
  it('reads all stations or the named one', async () => {
    const [a, b] = [cacheOf('a'), cacheOf('b')];
    const fleet = fleetOf(a.cache, b.cache);
    expect((await fleet.read(forever, 'b')).map((view) => [view.spec.name, encodedIn(view)])).toEqual([['b', 'b']]);
    expect((await fleet.read(forever)).map(({ spec }) => spec.name)).toEqual(['a', 'b']);
    expect(await fleet.read(forever, 'c')).toEqual([]);
    expect([a.count.listings, b.count.listings]).toEqual([1, 1]);
  });

  it('lets the first requests start before the refreshes of a thousand stations are queued', async () => {
    const stations = Array.from({ length: 1000 }, (_, at) => cacheOf(`s${at}`));
    const fleet = fleetOf(...stations.map(({ cache }) => cache));
    const started = () => stations.filter(({ count }) => count.listings > 0).length;
    const read = fleet.read(atOnce);
    await Promise.resolve();
    expect(started()).toBeLessThan(100);
    await read;
    expect(started()).toBe(1000);
  });

  it('stops waiting at the deadline while the refresh continues for the next scrape', async () => {
    const { cache, count, answer } = heldStation('ready');
    const fleet = fleetOf(cache);
    const impatient = new AbortController();
    const read = fleet.read({ ...forever, signal: impatient.signal });
    impatient.abort();
    expect((await read)[0]?.served).toBeUndefined();
    expect((await fleet.read(atOnce))[0]?.served).toBeUndefined();
    const next = fleet.read(forever);
    answer();
    expect((await next).map(encodedIn)).toEqual(['ready']);
    expect(count.listings).toBe(1);
  });

  it('does not wait for a station that cannot answer, and has what it answers while others are waited for', async () => {
    const upstream = { mayAnswer: (station: string) => station !== 'hanging' };
    const [slow, hanging] = [heldStation('slow', upstream), heldStation('hanging', upstream)];
    const fleet = fleetOf(slow.cache, hanging.cache);
    expect(await fleet.read(forever, 'hanging')).toMatchObject([{ isRefreshing: true, served: undefined }]);
    const read = fleet.read(forever);
    hanging.answer();
    while (hanging.cache.view().isRefreshing) await new Promise(setImmediate);
    slow.answer();
    expect((await read).map(encodedIn)).toEqual(['slow', 'hanging']);
  });

  it('refreshes the stations that took longest last', async () => {
    const order: string[] = [];
    const stations = Object.entries({ slow: 18_000, quick: 200, slower: 30_000, quicker: 100 }).map(([name, ms]) => {
      const station = cacheOf(name, {}, () => {
        order.push(name);
        station.clock.advance(ms);
        return listingOf([]);
      });
      return station;
    });
    const fleet = fleetOf(...stations.map(({ cache }) => cache));
    await fleet.read(forever);
    order.length = 0;
    for (const { clock } of stations) clock.advance(60_000);
    await fleet.read(forever);
    expect(order).toEqual(['quicker', 'quick', 'slow', 'slower']);
  });

  it('refreshes only stations that were never attempted when it starts', async () => {
    const [attempted, unattempted] = [cacheOf('attempted'), cacheOf('unattempted')];
    await attempted.cache.refresh();
    const fleet = fleetOf(attempted.cache, unattempted.cache);
    fleet.start();
    await unattempted.cache.refresh();
    expect([attempted.count.listings, unattempted.count.listings]).toEqual([1, 1]);
    fleet.stop();
  });
});

describe('refreshInBackground', () => {
  /** A station with a virtual clock for its timers too. */
  function stationOf(policy: ResourceSpec['cache'], answer?: () => Listing<Resource>) {
    const { cache, clock, count } = cacheOf('a', { cache: policy }, answer);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    /** Resolves with the number of listings after that time. */
    const listingsAfter = async (ms: number) => {
      clock.advance(ms);
      vi.advanceTimersByTime(ms);
      while (cache.view().isRefreshing) await new Promise(setImmediate);
      await new Promise(setImmediate);
      return count.listings;
    };
    return { cache, listingsAfter };
  }

  it('refreshes at once, then after ttl plus jitter, and after a failure after error_ttl plus jitter', async () => {
    let fails = false;
    const { cache, listingsAfter } = stationOf(background, () => {
      if (fails) throw new ListingFailure('network', 'down');
      return listingOf([]);
    });
    const stop = refreshInBackground(cache, () => 0.5);
    expect(await listingsAfter(0)).toBe(1);
    fails = true;
    expect([await listingsAfter(1049), await listingsAfter(1)]).toEqual([1, 2]);
    expect([await listingsAfter(209), await listingsAfter(1)]).toEqual([2, 3]);
    stop();
    expect([await listingsAfter(100_000), vi.getTimerCount()]).toEqual([3, 0]);
  });

  it('sets no timer after a refresh that ends when it is stopped', async () => {
    const { cache, listingsAfter } = stationOf(background);
    const stop = refreshInBackground(cache);
    vi.advanceTimersByTime(0);
    expect(cache.view().isRefreshing).toBe(true);
    stop();
    expect([await listingsAfter(0), vi.getTimerCount()]).toEqual([1, 0]);
  });

  it('pauses between refreshes although ttl and error_ttl are 0', async () => {
    const { cache, listingsAfter } = stationOf({ ...background, ttlMs: 0, errorTtlMs: 0 });
    refreshInBackground(cache, () => 0);
    expect([await listingsAfter(0), await listingsAfter(99), await listingsAfter(1)]).toEqual([1, 1, 2]);
  });

  it('waits for the rest of ttl after a reload, and never longer than the longest timer', async () => {
    const { cache, listingsAfter } = stationOf({ ...background, ttlMs: 2 ** 31 - 1 });
    await cache.refresh();
    // Node fires a timer with a longer delay at once.
    const stop = refreshInBackground(cache, () => 0.5);
    expect(await listingsAfter(2 ** 31 - 1 - 1000)).toBe(1);
    stop();
    refreshInBackground(cache, () => 0.5);
    expect([await listingsAfter(1049), await listingsAfter(1)]).toEqual([1, 2]);
  });
});
