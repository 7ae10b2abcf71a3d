import { describe, expect, it } from 'vitest';
import { type Base, comparisonOf } from '../../src/resources/comparison.ts';
import type { Resource } from '../../src/resources/fields.ts';
import { type LastKnown, lastKnownAfter, NOTHING_KNOWN } from '../../src/resources/last-known.ts';
import type { Snapshot } from '../../src/resources/snapshot.ts';
import { aggregatesOf, listingOf, rejecting, resourceOf, resourcesOf, specOf } from '../stations/fixtures.ts';

const MINUTE_MS = 60_000;
const MAX_STALE_MS = 10 * MINUTE_MS;

/** What is known after these snapshots, one per minute. */
async function knownAfter(...snapshots: readonly Snapshot[]): Promise<LastKnown> {
  return knownWithin(500, ...snapshots);
}

async function knownWithin(maxFiringResources: number, ...snapshots: readonly Snapshot[]): Promise<LastKnown> {
  const { cache, metrics } = specOf();
  const spec = { cache: { ...cache, maxStaleMs: MAX_STALE_MS }, metrics: { ...metrics, maxFiringResources } };
  let known = NOTHING_KNOWN;
  let base: Base | undefined;
  for (const [minute, snapshot] of snapshots.entries()) {
    const nowMs = minute * MINUTE_MS;
    const comparison = comparisonOf(base, snapshot, nowMs, MAX_STALE_MS);
    const aggregates = aggregatesOf(snapshot.parts.flat());
    known = await lastKnownAfter(known, snapshot, { spec, comparison, aggregates, beforeMs: nowMs - MINUTE_MS });
    base = comparison.base;
  }
  return known;
}

/** The same snapshot in each of so many minutes. */
const forMinutes = (count: number, snapshot: Snapshot) => Array<Snapshot>(count).fill(snapshot);

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
    });

    it('goes by the main listing, whatever the further ones do', async () => {
      const further = { ...listingOf(resourcesOf(3), INCOMPLETE), main: { addsUp: true } };
      expect(await verifiedAfter(listingOf(resourcesOf(9)), further)).toBe(3);
    });
  });

  describe('sets', () => {
    const setsAfter = async (...snapshots: readonly Snapshot[]) => (await knownWithin(2, ...snapshots)).sets;
    const stateOf = (state: string) => (count: number) => resourcesOf(count, () => ({ state }));
    const [firing, renamed] = [stateOf('FIRING'), stateOf('RED')];

    it('have a listing that adds up', async () => {
      const listed = listingOf([...firing(3), ...resourcesOf(10).slice(3)], { rejected: 2, addsUp: true });
      expect(await setsAfter(listed)).toEqual({ all: 12, firing: 3, unknown: 0, missing: 2 });
    });

    it('count resources as firing whose state was renamed, however many, and as unknown', async () => {
      const before = listingOf([...firing(30), ...resourcesOf(100).slice(30)]);
      const after = listingOf([...renamed(30), ...resourcesOf(100).slice(30)]);
      expect(await setsAfter(before, after)).toEqual({ all: 100, firing: 30, unknown: 30, missing: 0 });
      expect(await setsAfter(after)).toEqual({ all: 100, firing: 0, unknown: 30, missing: 0 });
      expect(await setsAfter(before, after, listingOf(resourcesOf(100)))).toMatchObject({ firing: 0, unknown: 0 });
    });

    it('have what a listing lacks that does not add up, by the total or the latest one that did', async () => {
      const [all, part] = [listingOf(firing(10)), { ...INCOMPLETE, reportedTotal: undefined }];
      expect(await setsAfter(all, listingOf(firing(4), part))).toEqual({ all: 10, firing: 10, unknown: 0, missing: 6 });
      const reported = listingOf(firing(4), { ...INCOMPLETE, reportedTotal: 12 });
      expect(await setsAfter(all, reported)).toEqual({ all: 12, firing: 10, unknown: 0, missing: 8 });
    });

    it('do not say how many are missing while nothing does', async () => {
      const part = listingOf(firing(4), { ...INCOMPLETE, reportedTotal: undefined });
      expect(await setsAfter(part)).toEqual({ all: 4, firing: 4, unknown: 0, missing: undefined });
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

    it('has the sums of a listing over all types, sizes in bytes', async () => {
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

    it('is held while listings do not add up or reject more records', async () => {
      const rejects = listingOf(gpus(1), rejecting(2));
      expect(await sumsAfter(listingOf(gpus(3)), listingOf(gpus(1), INCOMPLETE), rejects)).toEqual({ 'H100 GPU': 24 });
      expect(await sumsAfter(listingOf(gpus(3)), rejects, listingOf(gpus(2)))).toEqual({ 'H100 GPU': 16 });
    });

    it('is held no longer than max_stale, then has the sums of the next listing that adds up', async () => {
      const short = listingOf(gpus(1), INCOMPLETE);
      expect(await sumsAfter(listingOf(gpus(3)), ...forMinutes(10, short))).toEqual({ 'H100 GPU': 24 });
      expect(await sumsAfter(listingOf(gpus(3)), ...forMinutes(11, short))).toEqual({});
      const rejects = listingOf(gpus(2), rejecting(1));
      expect(await sumsAfter(listingOf(gpus(3)), ...forMinutes(10, rejects))).toEqual({ 'H100 GPU': 24 });
      expect(await sumsAfter(listingOf(gpus(3)), ...forMinutes(11, rejects))).toEqual({ 'H100 GPU': 16 });
    });

    it('keeps a GPU model and a unit that are gone at 0', async () => {
      expect(await sumsAfter(listingOf(gpus(2)), listingOf(gpus(1, '5 cores', 'A1')), listingOf([]))).toEqual({
        'H100 GPU': 0,
        'A1 cores': 0,
      });
    });
  });

  describe('firing', () => {
    const idsOf = ({ firing, held }: LastKnown) => [...firing.keys(), ...held.keys()];
    const firingAfter = async (...snapshots: readonly Snapshot[]) => idsOf(await knownAfter(...snapshots));
    const firingWithin = async (limit: number, ...snapshots: readonly Snapshot[]) =>
      idsOf(await knownWithin(limit, ...snapshots)).join('');
    /** Resources that fire, by letters. */
    const firingOf = (letters: string, changes = {}) =>
      listingOf(
        Array.from(letters, (letter) => withState(letter, 'FIRING')),
        changes,
      );
    const fires = listingOf([withState('a', 'FIRING'), withState('b', 'INACTIVE')]);

    it.each([
      { title: 'an incomplete listing without it', next: listingOf([resourceOf('b')], INCOMPLETE) },
      {
        title: 'a listing that rejects more records and does not have it',
        next: listingOf([resourceOf('b')], rejecting(1)),
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
        next: { ...listingOf([resourceOf('b')], INCOMPLETE), main: { addsUp: true } },
      },
    ])('ends a resource that fired when $title', async ({ next }) => {
      expect(await firingAfter(fires, next)).toEqual([]);
      const hidden = listingOf([resourceOf('b')], INCOMPLETE);
      expect(await firingAfter(fires, hidden, next)).toEqual([]);
    });

    it('does not begin with a state of unknown meaning', async () => {
      expect(await firingAfter(listingOf([withState('a', '17')]))).toEqual([]);
    });

    it('holds a resource until max_stale after it was last listed, by whatever listing', async () => {
      const [both, one] = [firingOf('ab', INCOMPLETE), firingOf('b', INCOMPLETE)];
      expect(await firingAfter(both, ...forMinutes(10, one))).toEqual(['b', 'a']);
      expect(await firingAfter(both, ...forMinutes(11, one))).toEqual(['b']);
      expect(await firingAfter(both, one, both, ...forMinutes(10, one))).toEqual(['b', 'a']);
      expect(await firingAfter(both, one, both, ...forMinutes(11, one))).toEqual(['b']);
    });

    it('holds within max_firing_resources what was listed last, and drops the rest for good', async () => {
      const listings = ['abc', 'cd', 'e'].map((letters) => firingOf(letters, INCOMPLETE));
      expect(await firingWithin(5, ...listings)).toBe('ecdab');
      expect(await firingWithin(3, ...listings)).toBe('ecd');
      expect(await firingWithin(1, ...listings)).toBe('e');
      expect(await firingWithin(3, ...listings, firingOf('', INCOMPLETE))).toBe('ecd');
    });

    it('holds as many as the station has, also beyond max_firing_resources', async () => {
      expect(await firingWithin(2, firingOf('a'), firingOf('bcd', INCOMPLETE))).toBe('bcd');
      expect(await firingWithin(2, firingOf('abc'), firingOf('d', INCOMPLETE))).toBe('dab');
      const unclear = listingOf([...'abc'].map((letter) => withState(letter, '17')));
      expect(await firingWithin(2, firingOf('abc'), unclear)).toBe('abc');
    });

    it('has a kept resource as it was listed last', async () => {
      const renamed = listingOf([withState('a', '', { displayName: 'Renamed' })]);
      const hidden = listingOf([resourceOf('b')], INCOMPLETE);
      const { held } = await knownAfter(fires, renamed, hidden);
      expect(held.get('a')?.resource.displayName).toBe('Renamed');
    });
  });
});
