import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../src/model/failure.ts';
import type { Listing } from '../../src/model/listing.ts';
import type { Resource } from '../../src/resources/fields.ts';
import { SnapshotReader } from '../../src/resources/snapshot.ts';
import { listingContext } from '../service/support/context.ts';
import { listingOf, ManualClock, mismatch, rejecting, resourceOf, sourceWith, specOf } from '../stations/fixtures.ts';

const MINUTE_MS = 60_000;
const TTL_MS = 10 * MINUTE_MS;
const KEPT = { products: ['x', 'y'], alertability: true, productsTtlMs: TTL_MS, alertabilityTtlMs: TTL_MS };
const timeout = new ListingFailure('timeout', 'no reply');

type Ids = readonly string[];

/** A service whose resources, members and failures the test changes; one reader of it. */
function station(spec: Parameters<typeof specOf>[0] = KEPT) {
  const clock = new ManualClock();
  const service = {
    /** A page that did not change is the same array again. */
    pages: [[resourceOf('a')], [resourceOf('b')]] as readonly (readonly Resource[])[],
    x: ['a'] as Ids,
    y: ['b'] as Ids,
    alertable: ['a'] as Ids,
    /** Of listings, by their names. */
    failures: {} as Record<string, unknown>,
    changes: {} as Record<string, Partial<Listing<string>>>,
  };
  let requested: string[] = [];
  const reader = new SnapshotReader(specOf(spec), {
    source: sourceWith(
      async () => {
        requested.push('main');
        return listingOf<Resource>([], { parts: service.pages });
      },
      async ({ product = 'alertable' }) => {
        const name = product as 'x' | 'y' | 'alertable';
        requested.push(name);
        if (service.failures[name]) throw service.failures[name];
        return listingOf(service[name], service.changes[name]);
      },
    ),
    clock,
  });
  const read = async (context = listingContext()) => {
    requested = [];
    const snapshot = await reader.read(context);
    const joined = snapshot.parts.flat().map(({ id, product, alertable }) => `${id} ${product} ${alertable}`);
    return { snapshot, joined, requested: requested.join() };
  };
  const add = (...ids: Ids) => {
    const [first = [], last = []] = service.pages;
    service.pages = [first, [...last, ...ids.map((id) => resourceOf(id))]];
  };
  const remove = (...ids: Ids) => {
    service.pages = service.pages.map((page) => page.filter(({ id }) => !ids.includes(id)));
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
    const source = sourceWith(
      () =>
        new Promise<Listing<Resource>>((resolve) => {
          endMain = () => resolve(listingOf([resourceOf('a')]));
        }),
      async (filters) => {
        listed.push(Object.keys(filters).join());
        return listingOf<string>([]);
      },
    );
    const reading = new SnapshotReader(specOf({ ...KEPT, alertabilityTtlMs: 0 }), { source }).read(listingContext());
    await new Promise(setImmediate);
    expect(listed).toEqual(['enabled_alert']);
    endMain();
    await reading;
    expect(listed).toEqual(['enabled_alert', 'product', 'product']);
  });

  it('lists again for a resource that is back', async () => {
    const { read, add, remove, service } = await keptStation(1);
    remove('b');
    expect((await read()).requested).toBe('main');
    add('b');
    service.y = [];
    expect(await read()).toMatchObject({ requested: EVERYTHING, joined: ['a x true', 'b  false'] });
  });

  it('lists nothing again while resources only change or move', async () => {
    const { read, service } = await keptStation(1);
    service.pages = [[resourceOf('b', { state: 'FIRING' })], [resourceOf('a')]];
    expect(await read()).toMatchObject({ requested: 'main', joined: ['b y false', 'a x true'] });
  });

  it('keeps each of both listings for its own ttl', async () => {
    const { read, clock } = await keptStation(1, { alertabilityTtlMs: 0, productsTtlMs: 2 * MINUTE_MS });
    expect((await read()).requested).toBe('main,alertable');
    clock.advance(MINUTE_MS);
    expect((await read()).requested).toBe(EVERYTHING);
  });

  it('is due with the refresh that begins a twentieth of its ttl before that has passed, not with the one after', async () => {
    const { read, clock } = await keptStation(9);
    expect((await read()).requested).toBe('main');
    clock.advance(MINUTE_MS / 2);
    expect((await read()).requested).toBe(EVERYTHING);
  });

  it('counts a kept listing once per ttl, and the others once per refresh', async () => {
    const intervalsWith = async (ttls: Partial<typeof KEPT>) => {
      const { read } = await keptStation(1, { ...ttls, products: ['x'] });
      return (await read()).snapshot.repeated.map(({ intervalMs }) => intervalMs);
    };
    expect(await intervalsWith({ alertabilityTtlMs: 0 })).toEqual([MINUTE_MS, MINUTE_MS, TTL_MS]);
    expect(await intervalsWith({ productsTtlMs: 1000 })).toEqual([MINUTE_MS, TTL_MS, MINUTE_MS]);
  });
});

describe('SnapshotReader, when a further listing is due and cannot be read', () => {
  it('fails, with a ttl, without one and for a new resource, and reads it with the next refresh', async () => {
    const due = await keptStation(10);
    const everyTime = await keptStation(1, { productsTtlMs: 0, alertabilityTtlMs: 0 });
    const grown = await keptStation(1);
    grown.add('new');
    for (const { read, service } of [due, everyTime, grown]) {
      service.failures = { y: timeout };
      await expect(read()).rejects.toBe(timeout);
      service.failures = {};
      expect((await read()).requested).toBe(EVERYTHING);
    }
  });

  it('reads a listing that did not add up again with the next refresh, and keeps one that only rejected records', async () => {
    const { read, service } = await keptStation(10);
    service.changes = { y: { complete: false, incompleteReasons: [mismatch('too few')] }, x: rejecting(1) };
    expect((await read()).snapshot).toMatchObject({ complete: false, addsUp: false });
    const { requested, snapshot } = await read();
    expect(requested).toBe('main,y');
    expect(snapshot.incompleteReasons.map(({ text }) => text)).toEqual([
      'listing of product x: 1 rejected',
      'listing of product y: too few',
    ]);
    service.changes = { x: rejecting(1) };
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
