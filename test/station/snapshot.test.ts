import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../src/station/failure.ts';
import type { Listing, ListingFilters } from '../../src/station/listing.ts';
import { takeSnapshot } from '../../src/station/snapshot.ts';
import { listingOf, recordOf, specOf } from './fixtures.ts';

const context = { signal: new AbortController().signal, deadlineMs: Number.POSITIVE_INFINITY };
const records = ['a', 'b', 'c'].map((id) => recordOf(id));
const [a, b, c] = records as [(typeof records)[0] & object, (typeof records)[0] & object, (typeof records)[0] & object];

async function take(spec: Parameters<typeof specOf>[0], answer: (filters: ListingFilters) => Listing) {
  const asked: ListingFilters[] = [];
  const snapshot = await takeSnapshot(
    specOf(spec),
    async ({ filters }) => {
      asked.push(filters);
      return answer(filters);
    },
    context,
  );
  const told = Array.from(snapshot.resources.values(), ({ id, product, alertable }) => [id, product, alertable]);
  return { snapshot, asked, told };
}

describe('takeSnapshot', () => {
  it('is the listing itself when nothing further is configured', async () => {
    const { snapshot, asked, told } = await take({ filters: { resourceType: 't' } }, () => listingOf(records, { pages: 3, duplicates: 2 }));
    expect(asked).toEqual([{ resourceType: 't' }]);
    expect(told).toEqual([
      ['a', '', undefined],
      ['b', '', undefined],
      ['c', '', undefined],
    ]);
    expect(snapshot).toMatchObject({ complete: true, reportedTotal: 3, pages: 3, duplicates: 2 });
  });

  it('gives each resource the first configured product whose listing holds it', async () => {
    const byProduct: Record<string, Listing> = { x: listingOf([b]), y: listingOf([a, b, recordOf('elsewhere')]) };
    const { snapshot, asked, told } = await take(
      { products: ['x', 'y'], filters: { displayNamePrefix: 'web-' } },
      ({ product }) => byProduct[product ?? ''] ?? listingOf(records, { pages: 2 }),
    );
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

  it('learns by one further listing which resources can have alerts', async () => {
    const { asked, told } = await take({ alertability: true }, ({ enabledAlert }) => listingOf(enabledAlert ? [a, c] : records));
    expect(asked).toEqual([{}, { enabledAlert: true }]);
    expect(told.map(([, , alertable]) => alertable)).toEqual([true, false, true]);
  });

  it('needs no further listing where only alertable resources are listed', async () => {
    const { snapshot, asked, told } = await take({ alertability: true, filters: { enabledAlert: true } }, () =>
      listingOf(records, { pages: 2 }),
    );
    expect(asked).toEqual([{ enabledAlert: true }]);
    expect(told.map(([, , alertable]) => alertable)).toEqual([true, true, true]);
    expect(snapshot.pages).toBe(2);
  });

  it('does not call a resource unalertable because an incomplete listing lacks it', async () => {
    const { snapshot, told } = await take({ alertability: true }, ({ enabledAlert }) =>
      listingOf(enabledAlert ? [a] : records, { complete: !enabledAlert }),
    );
    expect(told.map(([, , alertable]) => alertable)).toEqual([true, undefined, undefined]);
    expect(snapshot.complete).toBe(false);
  });

  it('is complete only when each of its listings is', async () => {
    const { snapshot } = await take({ products: ['x'] }, ({ product }) => listingOf(records, { complete: product !== 'x' }));
    expect(snapshot.complete).toBe(false);
  });

  it('fails when one of its listings fails', async () => {
    const answer = ({ product }: ListingFilters) => {
      if (product === 'y') throw new ListingFailure('forbidden', 'not yours');
      return listingOf(records);
    };
    await expect(take({ products: ['x', 'y'] }, answer)).rejects.toMatchObject({ reason: 'forbidden' });
  });
});
