import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../src/station/failure.ts';
import type { Listing, ListingContext, StationSource } from '../../src/station/listing.ts';
import type { Resource } from '../../src/station/resource.ts';
import { type Publication, StationCache, type StationView } from '../../src/station/station-cache.ts';
import type { StationSpec } from '../../src/station/station-spec.ts';
import { listingOf, ManualClock, resourceOf, specOf } from './fixtures.ts';

const twoRecords = () => listingOf([resourceOf('a'), resourceOf('b')]);

/** A station over a service whose next answers the test gives one by one. */
function stationOf(
  spec: Partial<StationSpec> = {},
  prepare = async ({ snapshot }: Publication) =>
    snapshot.parts
      .flat()
      .map(({ id }) => id)
      .join(),
) {
  const clock = new ManualClock();
  const calls: { context: ListingContext; resolve: (listing: Listing<Resource>) => void; reject: (error: unknown) => void }[] = [];
  const refreshed: StationView<string>[] = [];
  const called = <Row>(context: ListingContext) =>
    new Promise<Listing<Row>>((resolve, reject) => {
      calls.push({ context, resolve: resolve as (listing: Listing<Resource>) => void, reject });
      context.signal.addEventListener('abort', () => reject(context.signal.reason));
    });
  const source: StationSource = { listResources: (_query, context) => called(context), listIds: (_query, context) => called(context) };
  const cache = new StationCache(specOf(spec), { source, encode: prepare, clock, refreshed: (view) => refreshed.push(view) });
  const attempt = async (answer: Listing<Resource> | Error) => {
    const update = cache.refreshIfDue();
    const call = calls.at(-1);
    if (answer instanceof Error) call?.reject(answer);
    else call?.resolve(answer);
    return update;
  };
  return { cache, clock, calls, refreshed, attempt };
}

const sourceOf = (resources: StationSource['listResources']): StationSource => ({
  listResources: resources,
  listIds: async () => listingOf([]),
});

const down = (message = 'no route') => new ListingFailure('network', message);

describe('StationCache', () => {
  it('serves nothing and says nothing of success before the first attempt', () => {
    const { cache } = stationOf();
    expect(cache.wasAttempted).toBe(false);
    expect(cache.view()).toMatchObject({
      health: { lastAttemptMs: undefined, lastSuccessMs: undefined, failure: undefined },
      served: undefined,
    });
  });

  it('serves a snapshot younger than ttl without asking again', async () => {
    const { cache, clock, calls, attempt } = stationOf();
    await attempt(twoRecords());
    clock.advance(59_899);
    expect(cache.refreshIfDue()).toBeUndefined();
    expect(calls).toHaveLength(1);
    expect(cache.view().served?.encoded).toBe('a,b');
    clock.advance(1);
    await attempt(listingOf([resourceOf('c')]));
    expect(calls).toHaveLength(2);
    expect(cache.view().served?.encoded).toBe('c');
  });

  it('counts ttl from the question, so that an interval as long asks each time', async () => {
    const { cache, clock, calls } = stationOf();
    const update = cache.refreshIfDue();
    clock.advance(20_000);
    calls[0]?.resolve(twoRecords());
    await update;
    clock.advance(39_899);
    expect(cache.refreshIfDue()).toBeUndefined();
    clock.advance(1);
    expect(cache.refreshIfDue()).toBeDefined();
  });

  it('makes nothing ready anew that did not change', async () => {
    let prepared = 0;
    const { cache, clock, attempt } = stationOf({}, async () => {
      prepared += 1;
      return `encoded ${prepared}`;
    });
    const listing = twoRecords();
    await attempt(listing);
    clock.advance(60_000);
    await attempt({ ...listing });
    expect(cache.view()).toMatchObject({ served: { encoded: 'encoded 1' }, health: { lastSuccessMs: clock.wallMs() } });
    clock.advance(60_000);
    await attempt({ ...listing, duplicates: 1 });
    expect(cache.view().served?.encoded).toBe('encoded 2');
  });

  it('lets all who wait share one refresh', async () => {
    const { cache, calls } = stationOf();
    const updates = Array.from({ length: 20 }, () => cache.refreshIfDue());
    calls[0]?.resolve(twoRecords());
    await Promise.all(updates);
    expect(new Set(updates).size).toBe(1);
    expect(calls).toHaveLength(1);
  });

  it('keeps the last good snapshot while refreshes fail, up to max_stale', async () => {
    const { cache, clock, attempt } = stationOf();
    await attempt(twoRecords());
    const good = cache.view().health.lastSuccessMs;
    clock.advance(60_000);
    await attempt(down());
    expect(cache.view()).toMatchObject({
      health: { lastSuccessMs: good, failure: { reason: 'network', message: 'no route' } },
      served: { encoded: 'a,b' },
    });
    clock.advance(840_000);
    expect(cache.view().served?.encoded).toBe('a,b');
    clock.advance(1);
    expect(cache.view().served).toBeUndefined();
    expect(cache.view().health.lastSuccessMs).toBe(good);
    await attempt(twoRecords());
    expect(cache.view()).toMatchObject({ health: { failure: undefined }, served: { encoded: 'a,b' } });
  });

  it('does not serve what is older than max_stale though nothing has failed', async () => {
    const { cache, clock, attempt } = stationOf();
    await attempt(twoRecords());
    clock.advance(900_001);
    expect(cache.view().served).toBeUndefined();
  });

  it('serves within ttl what is older than a shorter max_stale', async () => {
    const { cache, clock, attempt } = stationOf({ cache: { ttlMs: 60_000, maxStaleMs: 0, errorTtlMs: 0, refresh: 'scrape' } });
    await attempt(twoRecords());
    clock.advance(59_999);
    expect(cache.view().served?.encoded).toBe('a,b');
    clock.advance(1);
    await attempt(down());
    expect(cache.view().served).toBeUndefined();
  });

  it('serves those who waited for a snapshot where none may be kept', async () => {
    const { cache, clock, attempt } = stationOf({ cache: { ttlMs: 0, maxStaleMs: 0, errorTtlMs: 0, refresh: 'scrape' } });
    await attempt(twoRecords());
    clock.advance(0.1);
    expect(cache.view().served?.encoded).toBe('a,b');
    await attempt(down());
    expect(cache.view().served).toBeUndefined();
  });

  it('does not ask a failed station again before error_ttl', async () => {
    const { cache, clock, calls, attempt } = stationOf();
    await attempt(down());
    clock.advance(9_999);
    expect(cache.dueInMs()).toBe(1);
    expect(cache.refreshIfDue()).toBeUndefined();
    expect(calls).toHaveLength(1);
    clock.advance(1);
    await attempt(twoRecords());
    expect(calls).toHaveLength(2);
  });

  it('tells when, how long and why after every attempt', async () => {
    const { clock, refreshed, attempt, calls, cache } = stationOf();
    const update = cache.refreshIfDue();
    clock.advance(1500);
    calls[0]?.resolve(twoRecords());
    await update;
    clock.advance(60_000);
    await attempt(down());
    expect(refreshed.map(({ health }) => health)).toMatchObject([
      { lastAttemptMs: 1_700_000_001_500, lastSuccessMs: 1_700_000_001_500, durationMs: 1500, failure: undefined },
      { lastAttemptMs: 1_700_000_061_500, lastSuccessMs: 1_700_000_001_500, durationMs: 0, failure: { reason: 'network' } },
    ]);
  });

  it.each([
    [new TypeError('a bug'), 'a bug'],
    ['a text thrown', 'a text thrown'],
  ])('takes %s for an internal failure of this station alone', async (thrown, message) => {
    const { cache, calls } = stationOf();
    const update = cache.refreshIfDue();
    calls[0]?.reject(thrown);
    await update;
    expect(cache.view().health.failure).toEqual({ reason: 'internal', message, error: thrown });
  });

  it('fails when the snapshot cannot be made ready', async () => {
    const { cache, attempt } = stationOf({}, async () => {
      throw new RangeError('too long');
    });
    await attempt(twoRecords());
    expect(cache.view()).toMatchObject({ health: { failure: { reason: 'internal' } }, served: undefined });
  });

  it('gives up a refresh at refresh_timeout and ends its requests', async () => {
    const { cache, calls } = stationOf({ refreshTimeoutMs: 1 });
    await cache.refreshIfDue();
    expect(cache.view().health.failure).toMatchObject({
      reason: 'timeout',
      message: 'the refresh did not finish within refresh_timeout (0.001 s)',
    });
    expect(calls[0]?.context.signal.aborted).toBe(true);
  });

  it('tells the listing by when it must have ended', async () => {
    const { cache, calls, clock } = stationOf();
    const update = cache.refreshIfDue();
    expect(calls[0]?.context.deadlineMs).toBe(clock.wallMs() + 120_000);
    calls[0]?.resolve(twoRecords());
    await update;
  });

  it('ends the other listings when one has failed', async () => {
    const { cache, calls } = stationOf({ products: ['x'] });
    const update = cache.refreshIfDue();
    calls[0]?.reject(down());
    await update;
    expect(calls[1]?.context.signal.aborted).toBe(true);
  });

  it('counts changes between complete snapshots only', async () => {
    const { cache, clock, attempt } = stationOf();
    const counts = () => {
      const churn = cache.view().served?.publication.churn;
      return [churn?.added.get('type.a'), churn?.removed.get('type.a')];
    };
    const next = async (answer: Listing<Resource> | Error) => {
      clock.advance(60_000);
      await attempt(answer);
      return counts();
    };
    await attempt(twoRecords());
    expect(counts()).toEqual([0, 0]);
    expect(await next(listingOf([], { complete: false }))).toEqual([0, 0]);
    expect(await next(down())).toEqual([0, 0]);
    expect(await next(listingOf([resourceOf('b'), resourceOf('c'), resourceOf('d')]))).toEqual([2, 1]);
    expect(await next(listingOf([resourceOf('b')], { complete: false }))).toEqual([2, 1]);
    expect(await next(listingOf([resourceOf('b')]))).toEqual([2, 3]);
  });

  it('does not count a change of which the snapshot could not be made ready', async () => {
    let broken = false;
    const { cache, clock, attempt } = stationOf({}, async () => {
      if (broken) throw new Error('not now');
      return '';
    });
    await attempt(twoRecords());
    broken = true;
    clock.advance(60_000);
    await attempt(listingOf([resourceOf('a')]));
    broken = false;
    clock.advance(60_000);
    await attempt(listingOf([resourceOf('a')]));
    expect(cache.view().served?.publication.churn.removed.get('type.a')).toBe(1);
  });

  it('is not asked by scrapes once it is refreshed in the background', async () => {
    const { cache, clock, calls, attempt } = stationOf({
      cache: { ttlMs: 1000, maxStaleMs: 9000, errorTtlMs: 1000, refresh: 'background' },
    });
    await attempt(twoRecords());
    clock.advance(5000);
    expect(cache.refreshIfDue()).toBeUndefined();
    expect(calls).toHaveLength(1);
  });

  it('ends its refresh when it is closed, is not asked again and reports no failure', async () => {
    const { cache, calls, refreshed } = stationOf();
    const update = cache.refreshIfDue();
    cache.close();
    await update;
    expect(calls[0]?.context.signal.aborted).toBe(true);
    expect(refreshed).toEqual([]);
    expect(cache.wasAttempted).toBe(false);
    expect(cache.refreshIfDue()).toBeUndefined();
  });

  it('publishes nothing that was being made ready when it was closed', async () => {
    const { cache, attempt, refreshed } = stationOf({}, async () => {
      cache.close();
      return 'late';
    });
    await attempt(twoRecords());
    expect(refreshed).toEqual([]);
    expect(cache.view().served).toBeUndefined();
  });

  it('hands all it holds to a successor that makes it ready anew', async () => {
    const { cache, clock, attempt } = stationOf();
    await attempt(twoRecords());
    clock.advance(30_000);
    const successor = await cache.successor(cache.spec, {
      source: sourceOf(async () => listingOf([])),
      encode: async () => 'anew',
      clock,
    });
    expect(successor.view()).toMatchObject({ health: cache.view().health, served: { encoded: 'anew' } });
    expect(successor.dueInMs()).toBe(30_000);
    clock.advance(30_000);
    await successor.refreshIfDue();
    expect(successor.view().served?.publication.churn.removed.get('type.a')).toBe(2);
  });

  it('has a successor before it was ever tried', async () => {
    const { cache } = stationOf();
    const successor = await cache.successor(cache.spec, { source: sourceOf(async () => twoRecords()), encode: async () => 'anew' });
    expect(successor.wasAttempted).toBe(false);
    expect(successor.view().served).toBeUndefined();
  });
});
