import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../src/model/failure.ts';
import type { Listing } from '../../src/model/listing.ts';
import type { Resource } from '../../src/model/resource.ts';
import { repeatedListings, SnapshotReader } from '../../src/refresh/snapshot.ts';
import { listingContext } from '../upstream/support/context.ts';
import { listingOf, ManualClock, mismatch, rejecting, resourceOf, specOf } from './fixtures.ts';

const MINUTE_MS = 60_000;
const TTL_MS = 10 * MINUTE_MS;
const KEPT = { products: ['x', 'y'], alertability: true, productsTtlMs: TTL_MS, alertabilityTtlMs: TTL_MS };
const timeout = new ListingFailure('timeout', 'no reply');

type Ids = readonly string[];

/** A service whose resources, members and failures the test changes; one reader of it. */
function station(spec: Parameters<typeof specOf>[0] = KEPT, random = () => 0) {
  const clock = new ManualClock();
  const service = {
    /** A page that did not change is the same array again. */
    resources: [resourceOf('a'), resourceOf('b')] as readonly Resource[],
    x: ['a'] as Ids,
    y: ['b'] as Ids,
    alertable: ['a'] as Ids,
    /** Of listings, by their names. */
    failures: {} as Record<string, unknown>,
    changes: {} as Record<string, Partial<Listing<string>>>,
  };
  let requested: string[] = [];
  const reader = new SnapshotReader(
    specOf(spec),
    {
      listResources: async () => {
        requested.push('main');
        return listingOf(service.resources);
      },
      listIds: async ({ filters }) => {
        const name = (filters.product ?? 'alertable') as 'x' | 'y' | 'alertable';
        requested.push(name);
        if (service.failures[name]) throw service.failures[name];
        return listingOf(service[name], service.changes[name]);
      },
    },
    { clock, random },
  );
  const read = async (context = listingContext()) => {
    requested = [];
    const snapshot = await reader.read(context);
    const joined = snapshot.parts.flat().map(({ id, product, alertable }) => `${id} ${product} ${alertable}`);
    return { snapshot, joined, requested: requested.join() };
  };
  const add = (...ids: Ids) => {
    service.resources = [...service.resources, ...ids.map((id) => resourceOf(id))];
  };
  const remove = (...ids: Ids) => {
    service.resources = service.resources.filter(({ id }) => !ids.includes(id));
  };
  return { clock, service, reader, read, add, remove };
}

/** A station whose listings were read, some minutes ago. */
async function keptStation(minutes: number, spec: Parameters<typeof specOf>[0] = {}) {
  const kept = station({ ...KEPT, ...spec });
  await kept.read();
  kept.clock.advance(minutes * MINUTE_MS);
  return kept;
}

const EVERYTHING = 'main,alertable,x,y';

describe('SnapshotReader with products_ttl and alertability_ttl', () => {
  it('returns the same snapshot while nothing changed and nothing is due', async () => {
    const { read } = await keptStation(1);
    const { snapshot, requested } = await read();
    expect(requested).toBe('main');
    expect((await read()).snapshot).toBe(snapshot);
  });

  it('publishes a new resource with its product and alertability in the refresh that first lists it', async () => {
    const { read, add, service } = await keptStation(1);
    add('new');
    service.x = ['a', 'new'];
    service.alertable = ['a', 'new'];
    const { joined, requested, snapshot } = await read();
    expect(joined).toEqual(['a x true', 'b y false', 'new x true']);
    expect(requested).toBe(EVERYTHING);
    expect(snapshot).toMatchObject({ complete: true, pages: 4 });
    expect((await read()).requested).toBe('main');
  });

  it('begins a kept listing after the main one, which could otherwise have resources that it lacks', async () => {
    const listed: string[] = [];
    let endMain = () => {};
    const source = {
      listResources: () =>
        new Promise<Listing<Resource>>((resolve) => {
          endMain = () => resolve(listingOf([resourceOf('a')]));
        }),
      listIds: async ({ filters }: { readonly filters: object }) => {
        listed.push(Object.keys(filters).join());
        return listingOf<string>([]);
      },
    };
    const reading = new SnapshotReader(specOf({ ...KEPT, alertabilityTtlMs: 0 }), source).read(listingContext());
    await new Promise(setImmediate);
    expect(listed).toEqual(['enabled_alert']);
    endMain();
    await reading;
    expect(listed).toEqual(['enabled_alert', 'product', 'product']);
  });

  it('lists nothing again for a resource that is back and was there when the kept listing was read', async () => {
    const { read, add, remove } = await keptStation(1);
    remove('b');
    expect((await read()).requested).toBe('main');
    add('b');
    expect(await read()).toMatchObject({ requested: 'main', joined: ['a x true', 'b y false'] });
  });

  it('lists again for a resource that was missing when the kept listing was read, although an earlier one had it', async () => {
    const { read, add, remove, clock, service } = await keptStation(9);
    remove('b');
    service.y = [];
    clock.advance(MINUTE_MS);
    expect((await read()).requested).toBe(EVERYTHING);
    add('b');
    service.y = ['b'];
    expect(await read()).toMatchObject({ requested: EVERYTHING, joined: ['a x true', 'b y false'] });
  });

  it('publishes a resource that moved to another product under its new one when the listings are due', async () => {
    const { read, clock, service } = await keptStation(5);
    service.x = [];
    service.y = ['a', 'b'];
    expect((await read()).joined).toEqual(['a x true', 'b y false']);
    clock.advance(5 * MINUTE_MS);
    expect((await read()).joined).toEqual(['a y true', 'b y false']);
  });

  it('keeps each of both listings for its own ttl', async () => {
    const { read, clock } = await keptStation(1, { alertabilityTtlMs: 0, productsTtlMs: 2 * MINUTE_MS });
    expect((await read()).requested).toBe('main,alertable');
    clock.advance(MINUTE_MS);
    expect((await read()).requested).toBe(EVERYTHING);
  });

  it('is due up to a fifth of the ttl earlier, so that stations started together are not due together', async () => {
    const dueAfter = async (random: number) => {
      const { read, clock } = station(KEPT, () => random);
      await read();
      for (let minute = 1; ; minute += 1) {
        clock.advance(MINUTE_MS);
        if ((await read()).requested !== 'main') return minute;
      }
    };
    expect([await dueAfter(0), await dueAfter(0.6)]).toEqual([10, 9]);
  });

  it('counts a kept listing once per ttl, and the others once per refresh', async () => {
    const { read } = await keptStation(1, { alertabilityTtlMs: 0, products: ['x'] });
    const intervals = repeatedListings(specOf(KEPT), (await read()).snapshot).map(({ intervalMs }) => intervalMs);
    expect(intervals).toEqual([MINUTE_MS, TTL_MS, TTL_MS]);
    const short = specOf({ ...KEPT, productsTtlMs: 1000, alertabilityTtlMs: 0 });
    const shortIntervals = repeatedListings(short, (await read()).snapshot).map(({ intervalMs }) => intervalMs);
    expect(shortIntervals).toEqual([MINUTE_MS, MINUTE_MS, MINUTE_MS]);
  });
});

describe('SnapshotReader, when a kept listing is due and cannot be read', () => {
  it('keeps the last one up to max_stale, tries again with each refresh, and fails after that', async () => {
    const { read, clock, service } = await keptStation(10);
    const takenWallMs = clock.wallMs() - TTL_MS;
    service.failures = { y: timeout };
    const { snapshot, joined, requested } = await read();
    expect(requested).toBe(EVERYTHING);
    expect(joined).toEqual(['a x true', 'b y false']);
    expect(snapshot).toMatchObject({ complete: true, addsUp: true, incompleteReasons: [], pages: 3 });
    const [, alertable, x, y] = snapshot.listings;
    expect(y).toMatchObject({ name: 'product y', takenWallMs, failure: { reason: 'timeout', message: 'no reply' } });
    for (const listing of [alertable, x])
      expect(listing).toMatchObject({ takenWallMs: clock.wallMs(), failure: undefined });
    clock.advance(5 * MINUTE_MS);
    expect((await read()).requested).toBe('main,y');
    clock.advance(1);
    await expect(read()).rejects.toBe(timeout);
    service.failures = {};
    const recovered = await read();
    expect(recovered.requested).toBe('main,y');
    expect(recovered.snapshot.listings.at(-1)).toMatchObject({ takenWallMs: clock.wallMs(), failure: undefined });
  });

  it('keeps one with a ttl above max_stale for the ttl, but not longer', async () => {
    const { read, add, clock, service } = await keptStation(59, { productsTtlMs: 60 * MINUTE_MS, alertability: false });
    service.failures = { x: timeout, y: timeout };
    add('new');
    expect((await read()).joined).toEqual(['a x undefined', 'b y undefined', 'new  undefined']);
    clock.advance(MINUTE_MS + 1);
    await expect(read()).rejects.toBe(timeout);
  });

  it('says of a new resource neither that it is not alertable nor that the listing is complete', async () => {
    const { read, add, remove, service } = await keptStation(1);
    service.failures = { alertable: timeout, y: timeout };
    add('new', 'newer');
    service.y = ['b', 'new'];
    const { snapshot, joined, requested } = await read();
    expect(requested).toBe(EVERYTHING);
    expect(joined).toEqual(['a x true', 'b y false', 'new  undefined', 'newer  undefined']);
    expect(snapshot).toMatchObject({ addsUp: false, complete: false });
    const text = 'failed (no reply), and the last one was read before 2 resources were added';
    expect(snapshot.incompleteReasons).toEqual([
      { reason: 'further_listing', text: `listing of alertable resources: ${text}` },
      { reason: 'further_listing', text: `listing of product y: ${text}` },
    ]);
    // The listing of x was read after the resources were added.
    expect((await read()).requested).toBe('main,alertable,y');
    remove('newer');
    expect((await read()).snapshot.incompleteReasons.at(-1)?.text).toMatch(/before 1 resource was added$/);
    // Without the new resources it is complete, although the listings still fail.
    remove('new');
    expect(await read()).toMatchObject({ requested: 'main,alertable,y', snapshot: { complete: true } });
    add('new');
    service.failures = {};
    const recovered = await read();
    expect(recovered.joined).toEqual(['a x true', 'b y false', 'new y false']);
    expect(recovered.snapshot).toMatchObject({ complete: true, incompleteReasons: [] });
  });

  it('fails without a ttl, when nothing was read before, and for errors of the exporter itself', async () => {
    const without = station({ ...KEPT, productsTtlMs: 0, alertabilityTtlMs: 0 });
    await without.read();
    without.service.failures = { y: timeout };
    await expect(without.read()).rejects.toBe(timeout);
    const first = station();
    first.service.failures = { y: timeout };
    await expect(first.read()).rejects.toBe(timeout);
    const broken = await keptStation(10);
    broken.service.failures = { y: new TypeError('a bug') };
    await expect(broken.read()).rejects.toThrow('a bug');
  });

  it('fails when the refresh itself has ended, for example by refresh_timeout', async () => {
    const { read, service } = await keptStation(10);
    const end = new AbortController();
    end.abort(timeout);
    service.failures = { y: timeout };
    await expect(read(listingContext({ signal: end.signal }))).rejects.toBe(timeout);
  });

  it('reads a listing that did not add up again with the next refresh, and keeps one that only rejected records', async () => {
    const { read, service } = await keptStation(10);
    service.changes = { y: { complete: false, incompleteReasons: [mismatch('too few')] }, x: rejecting('r') };
    expect((await read()).snapshot).toMatchObject({ complete: false, addsUp: false });
    const { requested, snapshot } = await read();
    expect(requested).toBe('main,y');
    expect(snapshot.incompleteReasons.map(({ text }) => text)).toEqual([
      'listing of product x: 1 rejected',
      'listing of product y: too few',
    ]);
    service.changes = { x: rejecting('r') };
    expect((await read()).snapshot).toMatchObject({ complete: false, addsUp: true });
    expect((await read()).requested).toBe('main');
  });

  it('does not use what a refresh has read that then failed', async () => {
    const { read, clock, service } = await keptStation(16);
    service.x = ['b'];
    service.y = [];
    service.failures = { alertable: timeout };
    await expect(read()).rejects.toBe(timeout);
    clock.advance(MINUTE_MS);
    service.failures = {};
    expect(await read()).toMatchObject({ requested: EVERYTHING, joined: ['a  true', 'b x false'] });
  });
});

describe('SnapshotReader.takeOver', () => {
  it('continues with the kept listings, their age and their failure', async () => {
    const before = await keptStation(9);
    // Its clock stands at another time.
    const after = station();
    after.reader.takeOver(before.reader);
    after.service.failures = { alertable: timeout, x: timeout, y: timeout };
    const takenWallMs = before.clock.wallMs() - 9 * MINUTE_MS;
    const { snapshot, joined } = await after.read();
    expect(joined).toEqual(['a x true', 'b y false']);
    expect(snapshot.listings.at(-1)).toMatchObject({ takenWallMs, failure: undefined });
    after.clock.advance(MINUTE_MS);
    expect((await after.read()).snapshot.listings.at(-1)).toMatchObject({
      takenWallMs,
      failure: { reason: 'timeout' },
    });
    after.clock.advance(5 * MINUTE_MS + 1);
    await expect(after.read()).rejects.toBe(timeout);
  });

  it('lists everything with a ttl that the reader before did not have', async () => {
    const before = station({ ...KEPT, productsTtlMs: 0, alertabilityTtlMs: 0 });
    await before.read();
    const after = station();
    after.reader.takeOver(before.reader);
    expect((await after.read()).requested).toBe(EVERYTHING);
    expect((await after.read()).requested).toBe('main');
  });
});
