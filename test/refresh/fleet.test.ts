import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../src/model/failure.ts';
import type { Listing } from '../../src/model/listing.ts';
import type { Resource } from '../../src/model/resource.ts';
import type { StationSpec } from '../../src/model/station-spec.ts';
import { Fleet, refreshInBackground } from '../../src/refresh/fleet.ts';
import { StationCache } from '../../src/refresh/station-cache.ts';
import { listingOf, ManualClock, resourceOf, specOf } from './fixtures.ts';

const forever = new AbortController().signal;

function cacheOf(name: string, changes: Partial<StationSpec> = {}, fails = () => false) {
  const clock = new ManualClock();
  const count = { listings: 0 };
  const list = async () => {
    count.listings += 1;
    if (fails()) throw new ListingFailure('network', 'down');
    return listingOf([resourceOf(name)]);
  };
  const cache = new StationCache(specOf({ name, ...changes }), {
    source: { listResources: list, listIds: list as never },
    encode: async ({ spec }) => spec.name,
    clock,
  });
  return { cache, clock, count };
}

const background = { ttlMs: 1000, maxStaleMs: 9000, errorTtlMs: 200, refresh: 'background' } as const;

describe('Fleet', () => {
  it('reads all stations or the named one, and reports cache hits and misses', async () => {
    const [a, b] = [cacheOf('a'), cacheOf('b')];
    const reads = { hit: 0, miss: 0 };
    const fleet = new Fleet([a.cache, b.cache], (result, stations) => {
      reads[result] += stations;
    });
    expect((await fleet.read(forever, 'b')).map(({ spec, served }) => [spec.name, served?.encoded])).toEqual([
      ['b', 'b'],
    ]);
    expect((await fleet.read(forever)).map(({ spec }) => spec.name)).toEqual(['a', 'b']);
    expect(await fleet.read(forever, 'c')).toEqual([]);
    expect(reads).toEqual({ hit: 1, miss: 2 });
  });

  it('lets the first requests start before the refreshes of a thousand stations are queued', async () => {
    const stations = Array.from({ length: 1000 }, (_, at) => cacheOf(`s${at}`));
    const fleet = new Fleet(
      stations.map(({ cache }) => cache),
      () => undefined,
    );
    const started = () => stations.filter(({ count }) => count.listings > 0).length;
    const read = fleet.read(AbortSignal.abort());
    await Promise.resolve();
    expect(started()).toBeLessThan(100);
    await read;
    expect(started()).toBe(1000);
  });

  it('stops waiting at the deadline while the refresh continues for the next scrape', async () => {
    let resolve: (listing: Listing<Resource>) => void = () => undefined;
    const answer = new Promise<Listing<Resource>>((done) => {
      resolve = done;
    });
    let listings = 0;
    const list = async () => {
      listings += 1;
      return answer;
    };
    const cache = new StationCache(specOf(), {
      source: { listResources: list, listIds: list as never },
      encode: async () => 'ready',
    });
    const fleet = new Fleet([cache], () => undefined);
    const impatient = new AbortController();
    const read = fleet.read(impatient.signal);
    impatient.abort();
    expect((await read)[0]?.served).toBeUndefined();
    expect((await fleet.read(AbortSignal.abort()))[0]?.served).toBeUndefined();
    const next = fleet.read(forever);
    resolve(listingOf([]));
    expect((await next)[0]?.served?.encoded).toBe('ready');
    expect(listings).toBe(1);
  });

  it('is ready once every station was attempted, even if the attempt failed', async () => {
    const [good, bad] = [cacheOf('good'), cacheOf('bad', {}, () => true)];
    const fleet = new Fleet([good.cache, bad.cache], () => undefined);
    expect(fleet.ready()).toBe(false);
    await good.cache.refresh();
    expect(fleet.ready()).toBe(false);
    await bad.cache.refresh();
    expect(fleet.ready()).toBe(true);
    expect(fleet.views().map(({ health }) => health.failure?.reason)).toEqual([undefined, 'network']);
  });

  it('refreshes only stations that were never attempted when it starts', async () => {
    const [attempted, unattempted] = [cacheOf('attempted'), cacheOf('unattempted')];
    await attempted.cache.refresh();
    const fleet = new Fleet([attempted.cache, unattempted.cache], () => undefined);
    fleet.start();
    await unattempted.cache.refresh();
    expect([attempted.count.listings, unattempted.count.listings]).toEqual([1, 1]);
    fleet.stop();
  });

  it('refreshes in the background until it is stopped', async () => {
    const { cache, count } = cacheOf('a', { cache: { ...background, ttlMs: 0 } });
    const fleet = new Fleet([cache], () => undefined);
    fleet.start();
    while (count.listings < 3) await new Promise(setImmediate);
    fleet.stop();
    await cache.refresh();
    const before = count.listings;
    // A timer set now fires after any that was left pending with no delay.
    await new Promise((resolve) => setTimeout(resolve, 2));
    expect(count.listings).toBe(before);
  });
});

describe('Fleet.refreshNow', () => {
  function fleetOf(...caches: readonly ReturnType<typeof cacheOf>[]) {
    const clock = new ManualClock();
    const fleet = new Fleet(
      caches.map(({ cache }) => cache),
      () => undefined,
      clock.elapsedMs,
    );
    return { fleet, clock };
  }

  it('refreshes a station that is not due, also within error_ttl', async () => {
    let fails = false;
    const a = cacheOf('a', {}, () => fails);
    const { fleet, clock } = fleetOf(a);
    await fleet.read(forever);
    expect(a.cache.refreshIfDue()).toBeUndefined();
    fails = true;
    await fleet.refreshNow('a');
    expect(a.cache.view().health.failure).toBeDefined();
    fails = false;
    clock.advance(5000);
    await fleet.refreshNow('a');
    expect(a.cache.view().health.failure).toBeUndefined();
    expect(a.count.listings).toBe(3);
  });

  it('joins a running refresh, whoever started it', async () => {
    const a = cacheOf('a');
    const { fleet } = fleetOf(a);
    const running = a.cache.refresh();
    expect([fleet.refreshNow('a'), fleet.refreshNow('a')]).toEqual([running, running]);
    await running;
    expect(a.count.listings).toBe(1);
  });

  it('accepts one request per station in five seconds', async () => {
    const [a, b] = [cacheOf('a'), cacheOf('b')];
    const { fleet, clock } = fleetOf(a, b);
    await fleet.refreshNow('a');
    clock.advance(1500);
    expect(fleet.refreshNow('a')).toBe(3500);
    await fleet.refreshNow('b');
    clock.advance(3500);
    await fleet.refreshNow('a');
    expect([a.count.listings, b.count.listings]).toEqual([2, 1]);
  });

  it('accepts no further request within five seconds after a reload', async () => {
    const [a, b] = [cacheOf('a'), cacheOf('b')];
    const { fleet, clock } = fleetOf(a);
    await fleet.refreshNow('a');
    const next = fleet.successor([a.cache, b.cache]);
    clock.advance(1500);
    expect(next.refreshNow('a')).toBe(3500);
    await next.refreshNow('b');
    clock.advance(3500);
    await next.refreshNow('a');
    expect([a.count.listings, b.count.listings]).toEqual([2, 1]);
  });

  it('knows only the stations of the fleet', () => {
    expect(fleetOf(cacheOf('a')).fleet.refreshNow('b')).toBeUndefined();
  });
});

describe('refreshInBackground', () => {
  function timers() {
    const set: { run: () => void; delayMs: number }[] = [];
    const cleared: unknown[] = [];
    const setTimer = (run: () => void, delayMs: number) => set.push({ run, delayMs });
    return {
      set,
      cleared,
      dependencies: { random: () => 0.5, setTimer, clearTimer: (timer: unknown) => cleared.push(timer) },
    };
  }

  it('refreshes at once, then after ttl plus jitter, and after a failure after error_ttl plus jitter', async () => {
    let fails = false;
    const { cache, clock } = cacheOf('a', { cache: background }, () => fails);
    const { set, cleared, dependencies } = timers();
    const stop = refreshInBackground(cache, dependencies);
    const fire = async () => {
      set.at(-1)?.run();
      await cache.refresh();
      await new Promise(setImmediate);
    };
    await fire();
    fails = true;
    clock.advance(1050);
    await fire();
    expect(set.map(({ delayMs }) => delayMs)).toEqual([0, 1050, 210]);
    stop();
    expect(cleared).toEqual([3]);
    await fire();
    expect(set).toHaveLength(3);
  });

  it('waits for the rest of ttl after a reload, and never longer than the longest timer', async () => {
    const { cache, clock } = cacheOf('a', { cache: { ...background, ttlMs: 2 ** 31 - 1 } });
    await cache.refresh();
    const first = timers();
    refreshInBackground(cache, first.dependencies);
    clock.advance(2 ** 31 - 1 - 1000);
    const second = timers();
    refreshInBackground(cache, second.dependencies);
    expect([first.set[0]?.delayMs, second.set[0]?.delayMs]).toEqual([2 ** 31 - 1, 1050]);
  });
});
