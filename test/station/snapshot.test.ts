import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../src/station/failure.ts';
import type { Listing, ListingFilters } from '../../src/station/listing.ts';
import type { Resource } from '../../src/station/resource.ts';
import { SnapshotReader } from '../../src/station/snapshot.ts';
import { listingOf, resourceOf, specOf } from './fixtures.ts';

const context = { signal: new AbortController().signal, deadlineMs: Number.POSITIVE_INFINITY };
const records = ['a', 'b', 'c'].map((id) => resourceOf(id));

/** A surveyor over a service that answers by the filters. */
function surveyorOf(
  spec: Parameters<typeof specOf>[0],
  resources: () => Listing<Resource>,
  ids: (filters: ListingFilters) => Listing<string>,
) {
  const asked: ListingFilters[] = [];
  const reader = new SnapshotReader(specOf(spec), {
    listResources: async ({ filters }) => {
      asked.push(filters);
      return resources();
    },
    listIds: async ({ filters }) => {
      asked.push(filters);
      return ids(filters);
    },
  });
  const survey = async () => {
    const snapshot = await reader.read(context);
    return { snapshot, told: snapshot.parts.flat().map(({ id, product, alertable }) => [id, product, alertable]) };
  };
  return { asked, survey };
}

const noIds = () => listingOf<string>([]);

describe('SnapshotReader', () => {
  it('returns the listing itself without products and alertability', async () => {
    const { asked, survey } = surveyorOf({ filters: { resourceType: 't' } }, () => listingOf(records, { pages: 3, duplicates: 2 }), noIds);
    const { snapshot, told } = await survey();
    expect(asked).toEqual([{ resourceType: 't' }]);
    expect(told).toEqual([
      ['a', '', undefined],
      ['b', '', undefined],
      ['c', '', undefined],
    ]);
    expect(snapshot).toMatchObject({ complete: true, reportedTotal: 3, pages: 3, duplicates: 2, size: 3 });
  });

  it('labels each resource with the first configured product whose listing contains it', async () => {
    const byProduct: Record<string, string[]> = { x: ['b'], y: ['a', 'b', 'elsewhere'] };
    const { asked, survey } = surveyorOf(
      { products: ['x', 'y'], filters: { displayNamePrefix: 'web-' } },
      () => listingOf(records, { pages: 2 }),
      ({ product }) => listingOf(byProduct[product ?? ''] ?? []),
    );
    const { snapshot, told } = await survey();
    expect(asked).toEqual([
      { displayNamePrefix: 'web-' },
      { displayNamePrefix: 'web-', product: 'x' },
      { displayNamePrefix: 'web-', product: 'y' },
    ]);
    expect(told.map(([id, product]) => [id, product])).toEqual([
      ['a', 'y'],
      ['b', 'x'],
      ['c', ''],
    ]);
    expect(snapshot).toMatchObject({ complete: true, reportedTotal: 3, pages: 4 });
  });

  it('determines alertable resources with one further listing', async () => {
    const { asked, survey } = surveyorOf(
      { alertability: true },
      () => listingOf(records),
      () => listingOf(['a', 'c']),
    );
    const { told } = await survey();
    expect(asked).toEqual([{}, { enabledAlert: true }]);
    expect(told.map(([, , alertable]) => alertable)).toEqual([true, false, true]);
  });

  it('needs no further listing with the filter enabled_alert', async () => {
    const spec = { alertability: true, filters: { enabledAlert: true } };
    const { asked, survey } = surveyorOf(spec, () => listingOf(records, { pages: 2 }), noIds);
    const { snapshot, told } = await survey();
    expect(asked).toEqual([{ enabledAlert: true }]);
    expect(told.map(([, , alertable]) => alertable)).toEqual([true, true, true]);
    expect(snapshot.pages).toBe(2);
  });

  it('does not report a resource as not alertable when it is missing from an incomplete listing', async () => {
    const { survey } = surveyorOf(
      { alertability: true },
      () => listingOf(records),
      () => listingOf(['a'], { complete: false }),
    );
    const { snapshot, told } = await survey();
    expect(told.map(([, , alertable]) => alertable)).toEqual([true, undefined, undefined]);
    expect(snapshot.complete).toBe(false);
  });

  it('is complete only when all of its listings are', async () => {
    const { survey } = surveyorOf(
      { products: ['x'] },
      () => listingOf(records),
      () => listingOf([], { complete: false }),
    );
    expect((await survey()).snapshot.complete).toBe(false);
  });

  it('keeps the locations of the main listing and collects the incomplete reasons of all listings', async () => {
    const origins = [{ offset: 40, positions: [1, 2, 5], invalid: new Map([[1, ['sku'] as const]]) }];
    const { survey } = surveyorOf(
      { products: ['x', 'y'], alertability: true },
      () => listingOf(records, { locations: origins, complete: false, incompleteReasons: ['the main one is short'] }),
      ({ product, enabledAlert }) => {
        if (enabledAlert) return listingOf(['a'], { complete: false, incompleteReasons: ['the total moved'] });
        return product === 'y' ? listingOf(['b'], { complete: false, incompleteReasons: ['it is short', 'it repeats'] }) : listingOf(['c']);
      },
    );
    const { snapshot } = await survey();
    expect(snapshot.locations).toBe(origins);
    expect(snapshot.incompleteReasons).toEqual([
      'the main one is short',
      'listing of alertable resources: the total moved',
      'listing of product y: it is short',
      'listing of product y: it repeats',
    ]);
  });

  it('has no incomplete reasons when all listings are complete', async () => {
    const { survey } = surveyorOf({ products: ['x'], alertability: true }, () => listingOf(records), noIds);
    expect((await survey()).snapshot).toMatchObject({ complete: true, incompleteReasons: [] });
  });

  it('returns a new snapshot when only the incomplete reasons change', async () => {
    let doubt = 'one';
    const part = records;
    const { survey } = surveyorOf({}, () => ({ ...listingOf(part), complete: false, incompleteReasons: [doubt] }), noIds);
    const first = (await survey()).snapshot;
    expect((await survey()).snapshot).toBe(first);
    doubt = 'another';
    expect((await survey()).snapshot.incompleteReasons).toEqual(['another']);
  });

  it('fails when one of its listings fails', async () => {
    const { survey } = surveyorOf(
      { products: ['x', 'y'] },
      () => listingOf(records),
      ({ product }) => {
        if (product === 'y') throw new ListingFailure('forbidden', 'not yours');
        return listingOf([]);
      },
    );
    await expect(survey()).rejects.toMatchObject({ reason: 'forbidden' });
  });

  it('returns the same snapshot when no listing changed, with and without joins', async () => {
    for (const spec of [{}, { products: ['x'], alertability: true }]) {
      const ids = ['a'];
      const { survey } = surveyorOf(
        spec,
        () => listingOf(records),
        () => listingOf(ids),
      );
      const { snapshot } = await survey();
      expect((await survey()).snapshot).toBe(snapshot);
    }
  });

  it('returns a new snapshot when any property of the listing changes', async () => {
    const changes: Partial<Listing<Resource>>[] = [{}, { duplicates: 1 }, { reportedTotal: undefined }, { complete: false }, { pages: 2 }];
    const { survey } = surveyorOf({}, () => listingOf(records, changes.shift()), noIds);
    const snapshots = [await survey(), await survey(), await survey(), await survey(), await survey()];
    expect(new Set(snapshots.map(({ snapshot }) => snapshot)).size).toBe(5);
  });

  it('joins again only the parts that the further listings change', async () => {
    const parts = [[resourceOf('a')], [resourceOf('b')], [resourceOf('c')]];
    const alertable = [
      ['a', 'b', 'c'],
      ['a', 'b', 'c', 'elsewhere'],
      ['a', 'c'],
    ];
    const { survey } = surveyorOf(
      { alertability: true },
      () => listingOf([], { parts, size: 3 }),
      () => listingOf(alertable.shift() ?? []),
    );
    const [first, second, third] = [await survey(), await survey(), await survey()];
    expect(second.snapshot).toBe(first.snapshot);
    expect(third.snapshot.parts.map((part, index) => part === first.snapshot.parts[index])).toEqual([true, false, true]);
    expect(third.told).toEqual([
      ['a', '', true],
      ['b', '', false],
      ['c', '', true],
    ]);
  });

  it('sets alertable to unknown when the listing of alertable resources becomes incomplete', async () => {
    const ids = ['a'];
    const completes = [true, false];
    const { survey } = surveyorOf(
      { alertability: true },
      () => listingOf(records),
      () => listingOf(ids, { complete: completes.shift() ?? true }),
    );
    expect((await survey()).told.map(([, , alertable]) => alertable)).toEqual([true, false, false]);
    expect((await survey()).told.map(([, , alertable]) => alertable)).toEqual([true, undefined, undefined]);
  });
});
