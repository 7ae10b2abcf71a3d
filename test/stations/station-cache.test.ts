import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../src/model/failure.ts';
import type { Listing, RefreshContext } from '../../src/model/listing.ts';
import { StateMeanings } from '../../src/resources/alert-state.ts';
import type { Changes } from '../../src/resources/churn.ts';
import type { Resources } from '../../src/resources/collector.ts';
import type { Publication } from '../../src/resources/family-tables.ts';
import type { Resource } from '../../src/resources/fields.ts';
import { NOTHING_KNOWN } from '../../src/resources/last-known.ts';
import { ResourceLabels } from '../../src/resources/resource-labels.ts';
import type { ResourceSpec } from '../../src/resources/spec.ts';
import { type RefreshDetails, StationCache, type StationView } from '../../src/stations/station-cache.ts';
import {
  collectorOf,
  encodedIn,
  listingOf,
  ManualClock,
  rejecting,
  resourceOf,
  sourceWith,
  specOf,
} from './fixtures.ts';

const twoRecords = () => listingOf([resourceOf('a'), resourceOf('b')]);

/** A station on a service whose replies the test provides one by one. */
function stationOf(
  spec: Partial<ResourceSpec> = {},
  encode = async ({ snapshot }: Publication) =>
    snapshot.parts
      .flat()
      .map(({ id }) => id)
      .join(),
) {
  const clock = new ManualClock();
  const calls: {
    context: RefreshContext;
    resolve: (listing: Listing<Resource>) => void;
    reject: (error: unknown) => void;
  }[] = [];
  const refreshed: StationView<Resources>[] = [];
  const ended: RefreshDetails<Changes | undefined>[] = [];
  const called = <Row>(context: RefreshContext) =>
    new Promise<Listing<Row>>((resolve, reject) => {
      calls.push({ context, resolve: resolve as (listing: Listing<Resource>) => void, reject });
      context.signal.addEventListener('abort', () => reject(context.signal.reason));
    });
  const source = sourceWith(
    (_filters, context) => called(context),
    (_filters, context) => called(context),
  );
  const fullSpec = specOf(spec);
  const cache = new StationCache<Resources>(fullSpec, {
    collector: collectorOf(fullSpec, { source, encode, clock }),
    clock,
    refreshed: (view, attempt) => {
      refreshed.push(view);
      ended.push(attempt);
    },
  });
  const attempt = async (answer: Listing<Resource> | Error) => {
    const update = cache.refreshIfDue();
    const call = calls.at(-1);
    if (answer instanceof Error) call?.reject(answer);
    else call?.resolve(answer);
    return update;
  };
  /** The next attempt, after the ttl. */
  const attemptLater = (answer: Listing<Resource> | Error) => {
    clock.advance(60_000);
    return attempt(answer);
  };
  const expectServedFor = (ms: number, served: StationCache<Resources> = cache) => {
    clock.advance(ms - 1);
    expect(served.view().served).toBeDefined();
    clock.advance(1);
    expect(served.view().served).toBeUndefined();
  };
  /** A cache that takes its place, with the answers of a service that the test decides. */
  const successor = (
    answer: () => Promise<Listing<Resource>> = async () => twoRecords(),
    changes: Partial<ResourceSpec> = {},
    isSameService = true,
  ) => {
    const nextSpec = { ...cache.spec, ...changes };
    const next = new StationCache<Resources>(nextSpec, {
      collector: collectorOf(nextSpec, { source: sourceWith(answer), encode: async () => 'encoded again', clock }),
      clock,
      refreshed: (_view, attempt) => ended.push(attempt),
    });
    next.replace(cache, isSameService);
    return next;
  };
  return { cache, clock, calls, refreshed, ended, attempt, attemptLater, expectServedFor, successor };
}

/** A station with data that is due again. */
async function dueStation() {
  const station = stationOf();
  await station.attempt(twoRecords());
  station.clock.advance(60_000);
  return station;
}

const POSTPONED = new ListingFailure('rate_limited', 'later', { isPostponed: true });
const down = () => new ListingFailure('network', 'no route');

describe('StationCache', () => {
  it.each([
    [60_000, 57_000],
    [5000, 4750],
  ])('with a ttl of %i ms, is due after %i ms', async (ttlMs, dueMs) => {
    const { cache, clock, calls, attempt } = stationOf({ cache: { ...specOf().cache, ttlMs } });
    await attempt(twoRecords());
    clock.advance(dueMs - 1);
    expect(cache.refreshIfDue()).toBeUndefined();
    expect(calls).toHaveLength(1);
    expect(encodedIn(cache.view())).toBe('a,b');
    clock.advance(1);
    await attempt(listingOf([resourceOf('c')]));
    expect(calls).toHaveLength(2);
    expect(encodedIn(cache.view())).toBe('c');
  });

  it('does not encode an unchanged snapshot again', async () => {
    let encodings = 0;
    const { cache, clock, attempt, attemptLater } = stationOf({}, async () => {
      encodings += 1;
      return `encoded ${encodings}`;
    });
    const listing = twoRecords();
    await attempt(listing);
    const { served } = cache.view();
    await attemptLater({ ...listing });
    expect(cache.view().served?.families).toBe(served?.families);
    expect(cache.view()).toMatchObject({
      served: { families: new Map([['encoded 1', []]]) },
      health: { lastSuccessMs: clock.wallMs() },
    });
    await attemptLater({ ...listing, duplicates: 1, complete: false });
    expect(encodedIn(cache.view())).toBe('encoded 2');
  });

  it('encodes an unchanged snapshot again when a counter that started at 0 has its count', async () => {
    const { cache, attemptLater } = stationOf({}, async ({ churn }) => `added ${churn.published.get('new')?.added}`);
    const changed = listingOf([resourceOf('a', { type: 'new' })]);
    for (const [listing, encoded] of [
      [twoRecords(), 'added undefined'],
      [changed, 'added 0'],
      [changed, 'added 1'],
    ] as const) {
      await attemptLater(listing);
      expect(encodedIn(cache.view())).toBe(encoded);
    }
  });

  it('keeps the last good snapshot for max_stale after the first failure, however old it was then', async () => {
    const { cache, clock, attempt, attemptLater, expectServedFor } = stationOf();
    await attempt(twoRecords());
    const good = cache.view().health.lastSuccessMs;
    clock.advance(900_000);
    await attempt(down());
    expect(cache.view().health).toMatchObject({
      lastSuccessMs: good,
      failure: { reason: 'network', message: 'no route' },
    });
    expect(encodedIn(cache.view())).toBe('a,b');
    await attemptLater(down());
    expectServedFor(840_000);
    expect(cache.view().health.lastSuccessMs).toBe(good);
    await attempt(twoRecords());
    expect(cache.view().health.failure).toBeUndefined();
    expect(encodedIn(cache.view())).toBe('a,b');
  });

  it('keeps the first message of failures with the same reason and status', async () => {
    const { cache, attempt, attemptLater } = stationOf();
    const said = async (status: number, message: string) => {
      await attemptLater(new ListingFailure('status', message, { status, replyStatus: status }));
      return cache.view().health.firstMessage;
    };
    await attempt(twoRecords());
    expect(await said(503, 'maintenance, request 1')).toBe('maintenance, request 1');
    expect(await said(503, 'maintenance, request 2')).toBe('maintenance, request 1');
    expect(await said(500, 'broken')).toBe('broken');
    await attemptLater(twoRecords());
    expect(cache.view().health.firstMessage).toBeUndefined();
  });

  describe('with replies from a cache', () => {
    /** A station with a listing whose pages had these ages, as far as known. */
    async function cachedStation(...agesMs: (number | undefined)[]) {
      const station = stationOf();
      const refresh = station.cache.refreshIfDue();
      for (const ageMs of agesMs) station.calls[0]?.context.repliedFromCache({ ageMs, header: `${ageMs}` });
      station.clock.advance(500);
      station.calls[0]?.resolve(twoRecords());
      await refresh;
      return station;
    }

    it.each([
      { agesMs: [2000, 34_000, undefined], header: '34000', olderMs: 34_500, ageMs: 34_500 },
      { agesMs: [undefined], header: 'undefined', olderMs: 0, ageMs: undefined },
      { agesMs: [undefined, 3000], header: '3000', olderMs: 3500, ageMs: 3500 },
    ])('dates the data by the oldest of $agesMs, which do not make it due earlier', async (row) => {
      const { cache, clock, calls } = await cachedStation(...row.agesMs);
      const { lastAttemptMs, lastSuccessMs, cached } = cache.view().health;
      expect(lastAttemptMs).toBe(clock.wallMs());
      expect(lastSuccessMs).toBe(clock.wallMs() - row.olderMs);
      expect(cached).toEqual({ header: row.header, ageMs: row.ageMs });
      clock.advance(56_499);
      expect(cache.refreshIfDue()).toBeUndefined();
      expect(calls).toHaveLength(1);
      clock.advance(1);
      void cache.refreshIfDue();
      expect(calls).toHaveLength(2);
    });

    it('keeps the age while refreshes fail, and forgets it with the next reply of the service', async () => {
      const { cache, attemptLater, expectServedFor } = await cachedStation(31_536_000_000);
      expect(encodedIn(cache.view())).toBe('a,b');
      await attemptLater(down());
      const { cached } = cache.view().health;
      expect(cached).toEqual({ header: '31536000000', ageMs: 31_536_000_500 });
      expectServedFor(900_000);
      await attemptLater(twoRecords());
      expect(cache.view().health.cached).toBeUndefined();
    });
  });

  /** The ids of the resources that are published as firing. */
  const firingOf = ({ served }: StationView<Resources>) => {
    const { firing, held } = served?.data.lastKnown ?? NOTHING_KNOWN;
    return [...firing.keys(), ...held.keys()].join();
  };

  it('holds a firing resource for max_stale while the same listing without it does not add up', async () => {
    const { cache, attempt, attemptLater } = stationOf();
    await attempt(listingOf([resourceOf('a', { state: 'FIRING' }), resourceOf('b')]));
    const without = listingOf([resourceOf('b')], { complete: false });
    for (let minute = 1; minute <= 15; minute += 1) {
      await attemptLater(without);
      expect(firingOf(cache.view())).toBe('a');
    }
    await attemptLater(without);
    expect(firingOf(cache.view())).toBe('');
  });

  it.each([60_000, 0])(
    'with a ttl of %i ms and max_stale 0, serves a snapshot until a refresh fails',
    async (ttlMs) => {
      const { cache, attempt, attemptLater } = stationOf({
        cache: { ttlMs, maxStaleMs: 0, errorTtlMs: 0, refresh: 'scrape' },
      });
      await attempt(twoRecords());
      expect(encodedIn(cache.view())).toBe('a,b');
      await attemptLater(down());
      expect(cache.view().served).toBeUndefined();
    },
  );

  it('does not refresh a failed station before error_ttl', async () => {
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

  it('aborts a refresh and its requests at refresh_timeout', async () => {
    const { cache, calls } = stationOf({ refreshTimeoutMs: 1 });
    const refresh = cache.refreshIfDue();
    calls[0]?.context.started();
    await refresh;
    expect(cache.view().health.failure).toMatchObject({
      reason: 'timeout',
      message: 'the refresh did not finish within refresh_timeout (0.001 s)',
    });
    expect(calls[0]?.context.signal.aborted).toBe(true);
  });

  it('counts refresh_timeout and the duration from the admission of the first request, and ttl from when the refresh was requested', async () => {
    const { cache, calls, clock } = stationOf({ refreshTimeoutMs: 120_000 });
    const refresh = cache.refreshIfDue();
    const { context } = calls[0] as (typeof calls)[number];
    clock.advance(600_000);
    expect(context.deadlineMs()).toBe(Number.POSITIVE_INFINITY);
    expect(cache.view()).toMatchObject({ isRefreshing: true, waitingMs: 600_000 });
    context.started();
    expect(context.deadlineMs()).toBe(clock.elapsedMs() + 120_000);
    clock.advance(1000);
    expect(cache.view()).toMatchObject({ isRefreshing: true, waitingMs: undefined });
    calls[0]?.resolve(twoRecords());
    await refresh;
    expect(cache.view().health.durationMs).toBe(1000);
    expect(cache.dueInMs()).toBe(-541_000);
  });

  it('does not count in refresh_timeout how long all requests wait for admission', async () => {
    const { cache, calls, clock } = stationOf({ refreshTimeoutMs: 120_000 });
    void cache.refreshIfDue();
    const { context } = calls[0] as (typeof calls)[number];
    const leftMs = () => context.deadlineMs() - clock.elapsedMs();
    context.started();
    clock.advance(20_000);
    context.waiting();
    clock.advance(300_000);
    expect(leftMs()).toBe(100_000);
    context.waiting();
    clock.advance(300_000);
    context.started();
    expect(leftMs()).toBe(100_000);
    clock.advance(40_000);
    expect(leftMs()).toBe(60_000);
  });

  it('reports when its data becomes older than ttl, so that an upstream can serve the oldest first', async () => {
    const { cache, calls, clock } = stationOf();
    clock.advance(500);
    const first = cache.refreshIfDue();
    expect(calls[0]?.context.outdatedAtMs).toBe(0);
    clock.advance(20_000);
    calls[0]?.context.started();
    clock.advance(5000);
    calls[0]?.resolve(twoRecords());
    await first;
    clock.advance(35_000);
    void cache.refreshIfDue();
    // A refresh of five seconds comes ten seconds later.
    expect(calls[1]?.context.outdatedAtMs).toBe(20_500 + 60_000 + 10_000);
  });

  it.each([
    ['succeeded', twoRecords()],
    ['failed', down()],
  ])(
    'may end within the time that its last refresh took, from its request and from its start, if that %s',
    async (_, answer) => {
      const { cache, calls, clock, attemptLater } = stationOf();
      const endsWithin = (ms: number) => [ms - 1, ms].map((leftMs) => cache.mayEnd(clock.elapsedMs() + leftMs));
      const slow = cache.refreshIfDue();
      expect(endsWithin(1)).toEqual([true, true]);
      clock.advance(3000);
      calls[0]?.context.started();
      clock.advance(18_000);
      if (answer instanceof Error) calls[0]?.reject(answer);
      else calls[0]?.resolve(answer);
      await slow;
      clock.advance(60_000);
      const next = cache.refreshIfDue();
      expect(endsWithin(21_000)).toEqual([false, true]);
      clock.advance(2000);
      expect(endsWithin(19_000)).toEqual([false, true]);
      calls[1]?.context.started();
      expect(endsWithin(18_000)).toEqual([false, true]);
      clock.advance(17_000);
      expect(endsWithin(1000)).toEqual([false, true]);
      calls[1]?.resolve(twoRecords());
      await next;
      await attemptLater(twoRecords());
      clock.advance(60_000);
      void cache.refreshIfDue();
      expect(endsWithin(0)).toEqual([false, true]);
    },
  );

  it('keeps its data for as long as a refresh waits for the upstream, and for max_stale if it fails then', async () => {
    const { cache, calls, clock, expectServedFor } = await dueStation();
    const refresh = cache.refreshIfDue();
    clock.advance(3_600_000);
    expect(cache.view().served).toBeDefined();
    calls[1]?.context.started();
    clock.advance(20_000);
    calls[1]?.reject(down());
    await refresh;
    expectServedFor(900_000);
  });

  it('keeps its data for as long as Retry-After postpones its refreshes', async () => {
    const { cache, clock, attempt } = await dueStation();
    for (let minutes = 0; minutes < 60; minutes += 10) {
      await attempt(POSTPONED);
      clock.advance(600_000);
    }
    expect(encodedIn(cache.view())).toBe('a,b');
  });

  it('counts all time towards max_stale after a failure: a station that hangs waits for long, and its data is stale', async () => {
    const { cache, clock, attempt, expectServedFor } = await dueStation();
    await attempt(new ListingFailure('timeout', 'no reply'));
    clock.advance(10_000);
    await attempt(POSTPONED);
    clock.advance(10_000);
    void cache.refreshIfDue();
    expectServedFor(880_000);
  });

  it('serves no data that is older than max_stale because nothing requested a refresh, whatever happens to the next one', async () => {
    const { cache, clock, attempt } = await dueStation();
    clock.advance(840_000);
    expect(cache.view().served).toBeDefined();
    clock.advance(1);
    expect(cache.view().served).toBeUndefined();
    const late = cache.refreshIfDue();
    expect(cache.view().served).toBeUndefined();
    await attempt(down());
    await late;
    expect(cache.view().served).toBeUndefined();
    clock.advance(10_000);
    await attempt(twoRecords());
    expect(encodedIn(cache.view())).toBe('a,b');
  });

  it('counts max_stale anew after a success', async () => {
    const { attempt, attemptLater, expectServedFor } = await dueStation();
    await attempt(down());
    await attemptLater(twoRecords());
    await attemptLater(down());
    expectServedFor(900_000);
  });

  it('keeps its data, its health and its place in the queue when its refresh is postponed', async () => {
    const { cache, calls, clock, attempt, refreshed } = await dueStation();
    await attempt(POSTPONED);
    expect(cache.view().health.failure).toBeUndefined();
    expect(encodedIn(cache.view())).toBe('a,b');
    expect(refreshed).toHaveLength(1);
    expect(cache.refreshIfDue()).toBeUndefined();
    clock.advance(10_000);
    await attempt(twoRecords());
    expect(calls).toHaveLength(3);
    expect(calls[2]?.context.outdatedAtMs).toBe(calls[1]?.context.outdatedAtMs);
  });

  it('fails again when its refresh is postponed while it is failing: that is no recovery', async () => {
    const { cache, clock, attempt, refreshed } = await dueStation();
    await attempt(down());
    clock.advance(10_000);
    await attempt(POSTPONED);
    expect(cache.view().health).toMatchObject({ failure: { reason: 'rate_limited' }, lastAttemptMs: clock.wallMs() });
    expect(refreshed).toHaveLength(3);
  });

  it('fails when its refresh is postponed and it has no data', async () => {
    const { cache, attempt } = stationOf();
    await attempt(POSTPONED);
    expect(cache.view().health.failure).toMatchObject({ reason: 'rate_limited' });
  });

  it('aborts the other listings when one fails', async () => {
    const { cache, calls } = stationOf({ products: ['x'] });
    const update = cache.refreshIfDue();
    calls[0]?.reject(down());
    await update;
    expect(calls[1]?.context.signal.aborted).toBe(true);
  });

  it('reports the wait and the changes of each attempt; between snapshots that can be compared only', async () => {
    const { cache, calls, clock, attemptLater, ended } = stationOf();
    const next = async (answer: Listing<Resource> | Error) => {
      await attemptLater(answer);
      return ended.at(-1)?.report;
    };
    clock.advance(1000);
    const refresh = cache.refreshIfDue();
    clock.advance(5000);
    calls[0]?.context.started();
    calls[0]?.resolve(twoRecords());
    await refresh;
    expect(ended).toEqual([{ waitedMs: 5000, report: undefined }]);
    expect(await next(listingOf([], { complete: false }))).toBeUndefined();
    expect(await next(down())).toBeUndefined();
    const changed = listingOf([resourceOf('b', { state: 'FIRING' }), resourceOf('c'), resourceOf('d')]);
    expect(await next(changed)).toMatchObject({ added: 2, removed: 1, stateChanges: 1, list: { length: 4 } });
  });

  it('fails when the snapshot cannot be encoded, and counts a change only once it is', async () => {
    let broken = true;
    const { cache, attempt, attemptLater } = stationOf({}, async () => {
      if (broken) throw new Error('not now');
      return '';
    });
    await attempt(twoRecords());
    expect(cache.view()).toMatchObject({ health: { failure: { reason: 'internal' } }, served: undefined });
    broken = false;
    await attemptLater(twoRecords());
    broken = true;
    await attemptLater(listingOf([resourceOf('a')]));
    broken = false;
    await attemptLater(listingOf([resourceOf('a')]));
    expect(cache.view().served?.data.churn.published.get('type.a')?.removed).toBe(1);
  });

  it('is not refreshed by scrapes with background refresh', async () => {
    const { cache, clock, calls, attempt } = stationOf({
      cache: { ttlMs: 1000, maxStaleMs: 9000, errorTtlMs: 1000, refresh: 'background' },
    });
    await attempt(twoRecords());
    clock.advance(5000);
    expect(cache.refreshIfDue()).toBeUndefined();
    expect(calls).toHaveLength(1);
  });

  it('aborts its refresh without a failure when closed, and starts no other', async () => {
    const { cache, calls, refreshed } = stationOf();
    const update = cache.refreshIfDue();
    cache.close();
    await update;
    expect(calls[0]?.context.signal.aborted).toBe(true);
    expect(refreshed).toEqual([]);
    expect(cache.wasAttempted).toBe(false);
    expect(cache.refreshIfDue()).toBeUndefined();
  });

  it('stays due after a reload while its refresh is postponed: its predecessor may have listed other resources', async () => {
    const { clock, attempt, successor } = stationOf();
    await attempt(twoRecords());
    const answers = [async () => Promise.reject(POSTPONED), async () => twoRecords()];
    const next = successor(() => answers.shift()?.() ?? Promise.reject(down()));
    await next.refreshIfDue();
    expect(next.view()).toMatchObject({ health: { failure: undefined }, served: { families: new Map([['a,b', []]]) } });
    clock.advance(10_000);
    await next.refreshIfDue();
    expect(encodedIn(next.view())).toBe('encoded again');
  });

  const HELD = { verifiedResources: 1, verifiedQuantities: new Map([['', new Map([['GPU', 8]])]]), held: { size: 1 } };

  /** What is known after a firing resource, a reload with these changes and an incomplete listing without the resource. */
  const knownAfter = async (changes: Partial<ResourceSpec>, isSameService = true) => {
    const { attempt, successor } = stationOf();
    await attempt(listingOf([resourceOf('a', { state: 'FIRING', sku: '8 GPU' })]));
    const next = successor(async () => listingOf([resourceOf('b')], { complete: false }), changes, isSameService);
    const lastKnown = () => next.view().served?.data.lastKnown;
    expect(lastKnown()).toMatchObject({ verifiedResources: 1, firing: { size: 1 } });
    await next.refreshIfDue();
    return lastKnown();
  };

  it.each<Partial<ResourceSpec>>([
    { refreshTimeoutMs: 1, labels: { team: 'b' } },
    { upstream: 'renamed' },
    { products: ['other'] },
    { states: new StateMeanings({ pending: ['INACTIVE'] }) },
    { resourceLabels: new ResourceLabels([{ match: {}, labels: { team: 'b' } }]) },
  ])('holds what its predecessor knew when it lists the same resources, with %j', async (changes) => {
    expect(await knownAfter(changes)).toMatchObject(HELD);
  });

  it.each([
    ['inactive', 0],
    ['firing', 1],
  ])('holds what fired with the meanings that states have after the reload: %s', async (meaning, held) => {
    const states = new StateMeanings({ [meaning]: ['FIRING'] });
    expect(await knownAfter({ states })).toMatchObject({ ...HELD, firing: { size: 0 }, held: { size: held } });
  });

  it.each([
    ['holds', 0, 'a'],
    ['does not hold', 1, ''],
  ])(
    '%s what its predecessor listed as firing when that rejected %i of the records of the next listing',
    async (_, rejected, firing) => {
      const { attempt, successor } = stationOf();
      await attempt(listingOf([resourceOf('a', { state: 'FIRING' })], rejecting(rejected)));
      const next = successor(async () => listingOf([resourceOf('b')], rejecting(1)));
      await next.refreshIfDue();
      expect(firingOf(next.view())).toBe(firing);
    },
  );

  it.each<[changes: Partial<ResourceSpec>, isSameService?: boolean]>([
    [{}, false],
    [{ path: { subscription: 's', resource_group: 'g', zone: 'other', telemetry_station: 't' } }],
    [{ filters: { resource_type: 'other' } }],
  ])('holds nothing of what its predecessor knew with other %j, or of another service', async (...changed) => {
    expect(await knownAfter(...changed)).toMatchObject({
      verifiedResources: undefined,
      firing: new Map(),
      held: new Map(),
    });
  });

  it('serves the data of its predecessor while its own refreshes fail, for max_stale', async () => {
    const { attempt, successor, expectServedFor } = stationOf();
    await attempt(twoRecords());
    const next = successor(() => Promise.reject(down()));
    await next.refreshIfDue();
    expect(next.view().health).toMatchObject({ failure: { reason: 'network' } });
    expectServedFor(900_000, next);
  });

  it('goes on counting max_stale from the first failure of its predecessor', async () => {
    const { clock, attempt, attemptLater, successor, expectServedFor } = stationOf();
    await attempt(twoRecords());
    await attemptLater(down());
    clock.advance(5 * 60_000);
    const next = successor(() => Promise.reject(down()));
    await next.refreshIfDue();
    expectServedFor(10 * 60_000, next);
  });

  it('keeps the data of its predecessor whose refresh waits', async () => {
    const { cache, clock, successor } = await dueStation();
    void cache.refreshIfDue();
    clock.advance(3_600_000);
    const next = successor(() => new Promise(() => undefined));
    expect(next.view().served).toBeDefined();
    void next.refreshIfDue();
    clock.advance(3_600_000);
    expect(next.view().served).toBeDefined();
  });

  it('serves nothing of a predecessor whose data had expired', async () => {
    const { clock, successor } = await dueStation();
    clock.advance(3_600_000);
    expect(successor().view().served).toBeUndefined();
  });

  it('stays up when what observes its refreshes throws', async () => {
    const spec = specOf();
    const cache = new StationCache<Resources>(spec, {
      collector: collectorOf(spec, { source: sourceWith(async () => twoRecords()), encode: async () => 'encoded' }),
      refreshed: () => {
        throw new Error('a bug');
      },
    });
    await expect(cache.refresh()).rejects.toThrow('a bug');
    expect(cache.view()).toMatchObject({ health: { failure: undefined }, served: {} });
    expect(cache.isRefreshing).toBe(false);
  });
});
