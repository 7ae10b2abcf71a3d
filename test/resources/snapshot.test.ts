import { describe, expect, it } from 'vitest';
import type { Listing } from '../../src/model/listing.ts';
import type { Resource } from '../../src/resources/fields.ts';
import { ResourceLabels } from '../../src/resources/resource-labels.ts';
import { SnapshotReader } from '../../src/resources/snapshot.ts';
import type { ListingFilters } from '../../src/resources/station-keys.ts';
import { AnchoredRegExp } from '../../src/text/anchored-regexp.ts';
import { listingContext } from '../service/support/context.ts';
import {
  listingOf,
  mismatch,
  ObservedLabels,
  rejecting,
  resourceOf,
  sourceWith,
  specOf,
} from '../stations/fixtures.ts';

const context = listingContext();
const records = ['a', 'b', 'c'].map((id) => resourceOf(id));
const OF_PRODUCT_X = { match: { product: new AnchoredRegExp('x') }, labels: { team: 'x' } };

/** A reader of a service that answers by the filters. */
function readerOf(
  spec: Parameters<typeof specOf>[0],
  ids: (filters: ListingFilters) => Listing<string> = () => listingOf<string>([]),
  resources: () => Listing<Resource> = () => listingOf(records),
) {
  const requested: ListingFilters[] = [];
  const source = sourceWith(
    async (filters) => {
      requested.push(filters);
      return resources();
    },
    async (filters) => {
      requested.push(filters);
      return ids(filters);
    },
  );
  const reader = new SnapshotReader(specOf(spec), { source });
  const read = async (given = context) => {
    const snapshot = await reader.read(given);
    return { snapshot, joined: snapshot.parts.flat().map(({ id, product, alertable }) => [id, product, alertable]) };
  };
  return { requested, read };
}

describe('SnapshotReader', () => {
  it('labels each resource with the first configured product whose listing contains it', async () => {
    const byProduct: Record<string, string[]> = { x: ['b'], y: ['a', 'b', 'elsewhere'] };
    const { requested, read } = readerOf(
      { products: ['x', 'y'], filters: { resource_display_name_prefix: 'web-' } },
      ({ product }) => listingOf(byProduct[product ?? ''] ?? []),
      () => listingOf(records, { pages: 2 }),
    );
    const { snapshot, joined } = await read();
    expect(requested).toEqual([
      { resource_display_name_prefix: 'web-' },
      { resource_display_name_prefix: 'web-', product: 'x' },
      { resource_display_name_prefix: 'web-', product: 'y' },
    ]);
    expect(joined.map(([id, product]) => [id, product])).toEqual([
      ['a', 'y'],
      ['b', 'x'],
      ['c', ''],
    ]);
    expect(snapshot).toMatchObject({ complete: true, incompleteReasons: [], reportedTotal: 3, pages: 4 });
  });

  const twelve = Array.from({ length: 12 }, (_, at) => resourceOf(`r${at}`));
  const allIds = twelve.map(({ id }) => id);

  it('labels no resource with a product when the listings of two products have all resources', async () => {
    const byProduct: Record<string, string[]> = { x: ['r0'], y: allIds, z: [...allIds, 'elsewhere'] };
    const { read } = readerOf(
      { products: ['x', 'y', 'z'], alertability: true },
      ({ product }) => listingOf(product === undefined ? ['r1'] : (byProduct[product] ?? [])),
      () => listingOf(twelve),
    );
    const { snapshot, joined } = await read();
    expect(joined.map(([, product]) => product)).toEqual(Array(12).fill(''));
    expect(joined.map(([, , alertable]) => alertable)).toEqual(allIds.map((id) => id === 'r1'));
    expect(snapshot).toMatchObject({ ignoresProduct: true, addsUp: false, complete: false, main: { addsUp: true } });
    expect(snapshot.incompleteReasons).toEqual([
      {
        reason: 'further_listing',
        text: 'the service ignores the filter product: the listings of y and z have all 12 resources',
      },
    ]);
  });

  it.each([
    { title: 'only one product has all resources', resources: twelve, x: allIds, y: ['r1'] },
    { title: 'each product lacks a resource', resources: twelve, x: allIds.slice(1), y: [...allIds.slice(0, 11), 'z'] },
    { title: 'there are less than ten resources', resources: twelve.slice(0, 9), x: allIds, y: allIds },
  ])('takes the filter product for obeyed when $title', async ({ resources, x, y }) => {
    const { read } = readerOf(
      { products: ['x', 'y'] },
      ({ product }) => listingOf(product === 'x' ? x : y),
      () => listingOf(resources),
    );
    const { snapshot } = await read();
    expect(snapshot).toMatchObject({ ignoresProduct: false, complete: true });
    expect(snapshot.parts.flat().some(({ product }) => product === 'x')).toBe(true);
  });

  it('needs no further listing with the filter enabled_alert', async () => {
    const spec = { alertability: true, filters: { enabled_alert: true } };
    const { requested, read } = readerOf(spec);
    const { snapshot, joined } = await read();
    expect(requested).toEqual([{ enabled_alert: true }]);
    expect(joined.map(([, , alertable]) => alertable)).toEqual([true, true, true]);
    expect(snapshot.pages).toBe(1);
  });

  it('keeps the invalid fields of the main listing and collects the incomplete reasons of all listings', async () => {
    const invalid = [new Map([[1, ['sku'] as const]])];
    const { read } = readerOf(
      { products: ['y'], alertability: true },
      ({ enabled_alert }) => {
        const reasons = enabled_alert ? ['the total changed'] : ['it is short', 'it repeats'];
        return listingOf(['a'], { complete: false, incompleteReasons: reasons.map(mismatch) });
      },
      () => listingOf(records, { invalid, complete: false, incompleteReasons: [mismatch('the main one is short')] }),
    );
    const { snapshot } = await read();
    expect(snapshot.invalid).toBe(invalid);
    const further = (text: string) => ({ reason: 'further_listing', text });
    expect(snapshot.incompleteReasons).toEqual([
      mismatch('the main one is short'),
      further('listing of alertable resources: the total changed'),
      further('listing of product y: it is short'),
      further('listing of product y: it repeats'),
    ]);
  });

  it.each([
    ['none of the main listing', 0, 'further_listing'],
    ['some of the main listing too', 2, 'rejected_records'],
  ])(
    'does not know whether a resource is alertable when that listing rejected records, and %s',
    async (_, main, reason) => {
      const { read } = readerOf(
        { alertability: true },
        () => listingOf(['a'], rejecting(1)),
        () => listingOf(records, rejecting(main)),
      );
      const { snapshot } = await read();
      expect(snapshot.parts.flat().map(({ alertable }) => alertable)).toEqual([true, undefined, undefined]);
      expect(snapshot).toMatchObject({ addsUp: true, complete: false, rejected: main });
      expect(snapshot.incompleteReasons.at(-1)).toEqual({ reason, text: 'listing of alertable resources: 1 rejected' });
    },
  );

  it('returns a new snapshot when any property of the listing changes', async () => {
    const changes: Partial<Listing<Resource>>[] = [
      {},
      { duplicates: 1 },
      { reportedTotal: undefined },
      { complete: false, incompleteReasons: [mismatch('one')] },
      { complete: false, incompleteReasons: [mismatch('another')] },
      { pages: 2 },
    ];
    const { read } = readerOf({}, undefined, () => listingOf(records, changes[0]));
    const snapshots = new Set();
    for (; changes.length > 0; changes.shift()) snapshots.add((await read()).snapshot);
    expect(snapshots.size).toBe(6);
  });

  it('joins again only the parts that the further listings change', async () => {
    const parts = [[resourceOf('a')], [resourceOf('b')], [resourceOf('c')]];
    const alertable = [
      ['a', 'b', 'c'],
      ['a', 'b', 'c', 'elsewhere'],
      ['a', 'c'],
    ];
    const { read } = readerOf(
      { alertability: true },
      () => listingOf(alertable.shift() ?? []),
      () => listingOf([], { parts, size: 3 }),
    );
    const [first, second, third] = [await read(), await read(), await read()];
    expect(second.snapshot).toBe(first.snapshot);
    expect(third.snapshot.parts.map((part, index) => part === first.snapshot.parts[index])).toEqual([
      true,
      false,
      true,
    ]);
    expect(third.joined).toEqual([
      ['a', '', true],
      ['b', '', false],
      ['c', '', true],
    ]);
  });

  it('labels resources by what it has joined, and again only if that or what they match has changed', async () => {
    const labelled: string[] = [];
    const resourceLabels = new ObservedLabels([
      OF_PRODUCT_X,
      { match: { name: new AnchoredRegExp('name-.*') }, labels: { team: 'named' } },
    ]);
    resourceLabels.beforeLabelling = ({ id }) => labelled.push(id);
    let listed = records;
    let ofProduct = ['a'];
    const { read } = readerOf(
      { products: ['x'], resourceLabels },
      () => listingOf(ofProduct),
      () => listingOf(listed),
    );
    const teams = async () => {
      labelled.length = 0;
      const { snapshot } = await read();
      return [snapshot.parts.flat().map(({ id, labels }) => `${id}:${labels?.['team']}`), labelled.join()];
    };
    expect(await teams()).toEqual([['a:x', 'b:named', 'c:named'], 'a,b,c']);
    ofProduct = ['b'];
    expect(await teams()).toEqual([['a:named', 'b:x', 'c:named'], 'a,b']);
    listed = [resourceOf('new'), records[1] as Resource, resourceOf('c', { name: 'other' })].toReversed();
    expect(await teams()).toEqual([['c:', 'b:x', 'new:named'], 'c,new']);
    // The rows of a page are shared with the source, which takes them for what the service sent.
    expect(listed.map(({ product, labels }) => [product, labels])).toEqual(listed.map(() => ['', undefined]));
  });

  it.each(['again', 'and then as before'])(
    'has the right products and labels after a refresh that ended while it labelled, when a product is listed %s',
    async (next) => {
      const end = new AbortController();
      const resourceLabels = new ObservedLabels([OF_PRODUCT_X]);
      // A page that did not change is the same array again.
      const page = [...records];
      const [before, after] = [['a'], ['b']];
      let listed = listingOf(page);
      let ofProduct = before;
      const { read } = readerOf(
        { products: ['x'], resourceLabels },
        () => listingOf(ofProduct),
        () => listed,
      );
      const joined = async () => {
        const { snapshot } = await read();
        return snapshot.parts.flat().map(({ id, product, labels }) => `${id}:${product}:${labels?.['team']}`);
      };
      expect(await joined()).toEqual(['a:x:x', 'b::', 'c::']);
      ofProduct = after;
      let labelled = 0;
      resourceLabels.beforeLabelling = () => {
        labelled += 1;
        end.abort(new Error('the refresh did not finish'));
      };
      await expect(read(listingContext({ signal: end.signal }))).rejects.toThrow('the refresh did not finish');
      // It labels no further resource.
      expect(labelled).toBe(1);
      resourceLabels.beforeLabelling = () => undefined;
      if (next !== 'again') ofProduct = before;
      const expected = next === 'again' ? ['a::', 'b:x:x', 'c::'] : ['a:x:x', 'b::', 'c::'];
      expect(await joined()).toEqual(expected);
      // Records that changed in another field have the labels of what they are.
      listed = listingOf(page.map((resource) => ({ ...resource, state: 'FIRING' })));
      expect(await joined()).toEqual(expected);
    },
  );

  it('labels resources without products and alertability', async () => {
    const entry = { match: { resource_id: new AnchoredRegExp('a|b') }, labels: { team: 'x' } };
    const { read } = readerOf({ resourceLabels: new ResourceLabels([entry]) });
    const { snapshot } = await read();
    expect(snapshot.parts.flat().map(({ id, labels }) => `${id}:${labels?.['team']}`)).toEqual(['a:x', 'b:x', 'c:']);
    expect((await read()).snapshot).toBe(snapshot);
  });

  it('reports an exempt resource as not alertable, whatever the listing of alertable resources says', async () => {
    const exempt = { match: { resource_id: new AnchoredRegExp('[ac]') }, alertable: false, index: 7 };
    const listed = [['a', 'b'], ['b', 'c'], ['c']];
    const spec = { alertability: true, resourceLabels: new ResourceLabels([exempt]) };
    const { read } = readerOf(spec, () => listingOf(listed.shift() ?? ['c']));
    const exemptions = async () => {
      const { snapshot } = await read();
      const said = snapshot.parts
        .flat()
        .map(({ id, listedAlertable, exemptBy, alertable }) => [id, listedAlertable, exemptBy, alertable]);
      return { snapshot, said };
    };
    expect((await exemptions()).said).toEqual([
      ['a', true, 7, false],
      ['b', true, undefined, true],
      ['c', false, 7, false],
    ]);
    expect((await exemptions()).said).toEqual([
      ['a', false, 7, false],
      ['b', true, undefined, true],
      ['c', true, 7, false],
    ]);
    const third = await exemptions();
    expect(third.said[1]).toEqual(['b', false, undefined, false]);
    expect((await exemptions()).snapshot).toBe(third.snapshot);
  });
});
