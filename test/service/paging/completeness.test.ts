import { beforeAll, describe, expect, it } from 'vitest';
import { ID_LISTING } from '../../../src/resources/listings.ts';
import { listPages } from '../../../src/service/paging/list-pages.ts';
import { readPage } from '../../../src/service/protocol/page.ts';
import { iterationsDuring } from '../../event-loop.ts';
import { listingContext } from '../support/context.ts';
import { drawWorld, ModelService, type World } from '../support/listing-model.ts';
import { sourceOf } from '../support/listing-source.ts';

const WORLDS = 1000;

interface Outcome {
  readonly world: World;
  readonly addsUp: boolean;
  /** Resources that existed during the whole listing. */
  readonly missing: readonly string[];
}

async function listed(world: World): Promise<Outcome> {
  const service = new ModelService(world);
  const { list } = sourceOf((request) => service.answer(request), world);
  const listing = await list({}, listingContext());
  const ids = new Set(listing.parts.flat().map(({ id }) => id));
  return { world, addsUp: listing.addsUp, missing: service.missing(ids) };
}

const hasTotal = ({ total }: World) => total === 'right';
const isStill = ({ change, order }: World) => change === 'none' && order === 'stable';
const isHonest = ({ offset }: World) => offset === 'honest';
/**
 * A duplicate makes the total wrong, or the order doubtful where there is none. Without a total, single records cannot overlap, and pages of
 * equal records without an id look like one page again and again.
 */
function isVerifiable({ total, size, cap, duplicated, withoutId, areEqual }: World): boolean {
  if (duplicated > 0) return false;
  const canOverlap = size !== 'short pages' && (size !== 'capped' || cap > 1);
  return total === 'right' || (canOverlap && (withoutId === 0 || !areEqual));
}

/** Over many services drawn from seeds, honest and faulty, against a model that shares no code with the listing. */
describe('stationSource, completeness', () => {
  const outcomes: Outcome[] = [];
  const of = (select: (world: World) => boolean) => outcomes.filter(({ world }) => select(world));
  const wrong = (select: (world: World) => boolean) =>
    of(select).filter(({ addsUp, missing }) => addsUp && missing.length > 0);

  beforeAll(async () => {
    for (let seed = 1; seed <= WORLDS; seed += 1) outcomes.push(await listed(drawWorld(seed)));
  });

  it('without a total, a listing that misses a resource never adds up', () => {
    expect(wrong((world) => !hasTotal(world))).toEqual([]);
  });

  it('with a total, a listing that misses a resource never adds up, except when rows changed while it was read', () => {
    expect(wrong((world) => hasTotal(world) && isStill(world))).toEqual([]);
    expect(wrong((world) => hasTotal(world)).length).toBeLessThan(WORLDS / 200);
  });

  it('the listing of an honest service adds up when nothing changes', () => {
    const incomplete = of((world) => isHonest(world) && isStill(world) && isVerifiable(world)).filter(
      ({ addsUp }) => !addsUp,
    );
    expect(incomplete).toEqual([]);
  });
});

describe('listPages', () => {
  it.each([
    { of: 'distinct ids', last: 'id-24999', pauses: 24, expected: { size: 25_000, complete: true, duplicates: 0 } },
    { of: 'ids with one duplicate', last: 'id-3', pauses: 98, expected: { size: 24_999, pages: 2, duplicates: 1 } },
  ])('pauses after each 1,000 ids of a page of 25,000 $of', async ({ last, pauses, expected }) => {
    const resources = Array.from({ length: 25_000 }, (_, at) => ({ resource_id: at === 24_999 ? last : `id-${at}` }));
    const page = await readPage(Buffer.from(JSON.stringify({ resources, page: { total: 25_000 } })), ID_LISTING);
    const fetchPage = async (offset: number) => ({ page, offset, requested: 100 });
    const list = () => listPages(fetchPage, { pageSize: 100, concurrency: 1, kind: ID_LISTING });
    expect(await iterationsDuring(list)).toBeGreaterThanOrEqual(pauses);
    const listing = await list();
    expect(listing).toMatchObject(expected);
    // Parts without a duplicate stay the same objects, so that what is derived from them is reused.
    const isSame = listing.parts.map((part, at) => part === page.parts[at]?.rows);
    expect(isSame.filter((same) => same)).toHaveLength(25 - expected.duplicates);
  });
});
