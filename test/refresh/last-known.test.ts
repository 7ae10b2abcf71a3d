import { describe, expect, it } from 'vitest';
import type { Resource } from '../../src/model/resource.ts';
import { LabelValues } from '../../src/refresh/label-values.ts';
import { type LastKnown, lastKnownAfter, NOTHING_KNOWN } from '../../src/refresh/last-known.ts';
import type { Snapshot } from '../../src/refresh/snapshot.ts';
import { listingOf, resourceOf, resourcesOf } from './fixtures.ts';

/** What is known after these snapshots, one after the other. */
async function knownAfter(...snapshots: readonly Snapshot[]): Promise<LastKnown> {
  const values = new LabelValues(1000);
  let known = NOTHING_KNOWN;
  for (const snapshot of snapshots) known = await lastKnownAfter(known, snapshot, values);
  return known;
}

const INCOMPLETE = { complete: false, addsUp: false };

const withState = (id: string, state: string, changes: Partial<Resource> = {}) => resourceOf(id, { state, ...changes });

describe('lastKnownAfter', () => {
  describe('verifiedResources', () => {
    const verifiedAfter = async (...snapshots: readonly Snapshot[]) =>
      (await knownAfter(...snapshots)).verifiedResources;

    it('is unknown before the first listing that adds up', async () => {
      expect(await verifiedAfter()).toBeUndefined();
      expect(await verifiedAfter(listingOf(resourcesOf(3), INCOMPLETE))).toBeUndefined();
    });

    it('counts the resources and the rejected records of a listing that adds up', async () => {
      const rejecting = listingOf(resourcesOf(3), { rejected: 2, addsUp: true, complete: false });
      expect(await verifiedAfter(listingOf(resourcesOf(9)), rejecting)).toBe(5);
    });

    it('is held while listings do not add up', async () => {
      expect(await verifiedAfter(listingOf(resourcesOf(9)), listingOf(resourcesOf(3), INCOMPLETE))).toBe(9);
      expect(
        await verifiedAfter(
          listingOf(resourcesOf(9)),
          listingOf(resourcesOf(3), INCOMPLETE),
          listingOf(resourcesOf(4)),
        ),
      ).toBe(4);
    });

    it('goes by the main listing, whatever the further ones do', async () => {
      const further = { ...listingOf(resourcesOf(3), INCOMPLETE), main: { addsUp: true, complete: true } };
      expect(await verifiedAfter(listingOf(resourcesOf(9)), further)).toBe(3);
    });
  });

  describe('verifiedQuantities', () => {
    const sumsAfter = async (...snapshots: readonly Snapshot[]) => {
      const { verifiedQuantities } = await knownAfter(...snapshots);
      return Object.fromEntries(
        [...verifiedQuantities].flatMap(([model, units]) =>
          Array.from(units, ([unit, sum]) => [`${model} ${unit}`, sum] as const),
        ),
      );
    };
    const gpus = (count: number, sku = '8 GPU', gpuModel = 'H100') => resourcesOf(count, () => ({ sku, gpuModel }));

    it('has the sums of a complete listing over all types, sizes in bytes', async () => {
      const resources = [
        resourceOf('a', { sku: '8 GPU', gpuModel: 'H100', type: 'type.a' }),
        resourceOf('b', { sku: '4 GPU', gpuModel: 'H100', type: 'type.b' }),
        resourceOf('c', { sku: '1.5 TiB' }),
        resourceOf('d', { sku: '2 GB' }),
        resourceOf('e', { sku: 'large' }),
      ];
      expect(await sumsAfter(listingOf(resources))).toEqual({
        'H100 GPU': 12,
        ' bytes': 1.5 * 1024 ** 4 + 2e9,
      });
    });

    it('is held while listings are incomplete, also by rejected records', async () => {
      const rejecting = listingOf(gpus(1), { rejected: 2, addsUp: true, complete: false });
      expect(await sumsAfter(listingOf(gpus(3)), listingOf(gpus(1), INCOMPLETE), rejecting)).toEqual({
        'H100 GPU': 24,
      });
      expect(await sumsAfter(listingOf(gpus(3)), rejecting, listingOf(gpus(2)))).toEqual({ 'H100 GPU': 16 });
    });

    it('has nothing before the first complete listing', async () => {
      expect(await sumsAfter(listingOf(gpus(3), INCOMPLETE))).toEqual({});
    });

    it('keeps a GPU model and a unit that are gone at 0', async () => {
      expect(await sumsAfter(listingOf(gpus(2)), listingOf(gpus(1, '5 cores', 'A1')), listingOf([]))).toEqual({
        'H100 GPU': 0,
        'A1 cores': 0,
      });
    });
  });

  describe('firing', () => {
    const firingAfter = async (...snapshots: readonly Snapshot[]) => [
      ...(await knownAfter(...snapshots)).firing.keys(),
    ];
    const fires = listingOf([withState('a', 'FIRING'), withState('b', 'INACTIVE')]);

    it('has the firing resources', async () => {
      expect(await firingAfter(fires)).toEqual(['a']);
    });

    it.each([
      { title: 'an incomplete listing without it', next: listingOf([resourceOf('b')], INCOMPLETE) },
      {
        title: 'a listing that rejected records and does not have it',
        next: listingOf([resourceOf('b')], { rejected: 1, addsUp: true, complete: false }),
      },
      { title: 'a state of unknown meaning', next: listingOf([withState('a', '17')]) },
      { title: 'a missing state', next: listingOf([withState('a', '')]) },
    ])('keeps a resource that fired through $title', async ({ next }) => {
      expect(await firingAfter(fires, next, next)).toEqual(['a']);
    });

    it.each([
      { title: 'a listing shows it inactive', next: listingOf([withState('a', 'INACTIVE')]) },
      { title: 'a listing shows it pending', next: listingOf([withState('a', 'PENDING')]) },
      {
        title: 'an incomplete listing shows it inactive',
        next: listingOf([withState('a', 'INACTIVE')], INCOMPLETE),
      },
      { title: 'a complete listing does not have it', next: listingOf([resourceOf('b')]) },
      {
        title: 'a complete main listing does not have it, beside an incomplete one of a product',
        next: { ...listingOf([resourceOf('b')], INCOMPLETE), main: { addsUp: true, complete: true } },
      },
    ])('ends a resource that fired when $title', async ({ next }) => {
      expect(await firingAfter(fires, next)).toEqual([]);
      const hidden = listingOf([resourceOf('b')], INCOMPLETE);
      expect(await firingAfter(fires, hidden, next)).toEqual([]);
    });

    it('does not begin with a state of unknown meaning', async () => {
      expect(await firingAfter(listingOf([withState('a', '17')]))).toEqual([]);
    });

    it('has a kept resource as it was listed last', async () => {
      const renamed = listingOf([withState('a', '', { displayName: 'Renamed' })]);
      const hidden = listingOf([resourceOf('b')], INCOMPLETE);
      const { firing } = await knownAfter(fires, renamed, hidden);
      expect(firing.get('a')?.displayName).toBe('Renamed');
    });
  });
});
