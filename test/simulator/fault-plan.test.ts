import { describe, expect, it } from 'vitest';
import { faultPlan } from '../../src/simulator/fault-plan.ts';
import type { When } from '../../src/simulator/faults.ts';
import type { Filters } from '../../src/simulator/listing-request.ts';

interface Asked {
  readonly filters?: Filters;
  readonly offset?: number;
  readonly atMs?: number;
}

/** Which of the requests a fault with these limits strikes. */
function struck(when: When, requests: readonly Asked[], seed = 1): boolean[] {
  const plan = faultPlan([{ kind: 'hang', when }], seed);
  return requests.map(({ filters = {}, offset = 0, atMs = 0 }) => plan({ filters, offset }, atMs).length > 0);
}

function times(count: number): Asked[] {
  return Array.from({ length: count }, () => ({}));
}

const product: Filters = { product: ['product.a'] };

describe('faultPlan', () => {
  it('strikes always without limits', () => {
    const plan = faultPlan([{ kind: 'hang' }], 1);
    expect(plan({ filters: {}, offset: 5 }, 0)).toHaveLength(1);
  });

  it('strikes the nth request, or several', () => {
    expect(struck({ nth: 2 }, times(4))).toEqual([false, true, false, false]);
    expect(struck({ nth: [1, 3] }, times(4))).toEqual([true, false, true, false]);
  });

  it('strikes the first requests, then none', () => {
    expect(struck({ first: 2 }, times(4))).toEqual([true, true, false, false]);
  });

  it('strikes one offset', () => {
    expect(struck({ offset: 100 }, [{ offset: 0 }, { offset: 100 }, { offset: 200 }, { offset: 100 }])).toEqual([false, true, false, true]);
  });

  it('strikes listings with a filter, with a value of it, or without any', () => {
    const requests: Asked[] = [{}, { filters: product }, { filters: { product: ['product.b'] } }, { filters: { enabled_alert: ['true'] } }];
    expect(struck({ filter: 'product' }, requests)).toEqual([false, true, true, false]);
    expect(struck({ filter: 'product', filterValue: 'product.b' }, requests)).toEqual([false, false, true, false]);
    expect(struck({ filter: 'none' }, requests)).toEqual([true, false, false, false]);
  });

  it('counts only the requests that fit', () => {
    const requests: Asked[] = [{ offset: 0 }, { offset: 100 }, { offset: 0 }, { offset: 100 }];
    expect(struck({ offset: 100, first: 1 }, requests)).toEqual([false, true, false, false]);
  });

  it('strikes the first listings, counted apart for each set of filters', () => {
    const requests: Asked[] = [
      { offset: 0 },
      { offset: 10 },
      { filters: product, offset: 0 },
      { offset: 0 },
      { offset: 10 },
      { filters: product, offset: 10 },
      { filters: product, offset: 0 },
    ];
    expect(struck({ firstListings: 1 }, requests)).toEqual([true, true, true, false, false, true, false]);
  });

  it('strikes a share of the requests, chosen by the seed', () => {
    const chosen = struck({ share: 0.3 }, times(2000));
    expect(chosen.filter(Boolean).length / 2000).toBeCloseTo(0.3, 1);
    expect(struck({ share: 0.3 }, times(2000))).toEqual(chosen);
    expect(struck({ share: 0.3 }, times(2000), 2)).not.toEqual(chosen);
    expect(struck({ share: 0 }, times(50))).not.toContain(true);
    expect(struck({ share: 1 }, times(50))).not.toContain(false);
  });

  it('strikes a share of the periods, each one whole', () => {
    const minutes = Array.from({ length: 1000 }, (_, minute) => [{ atMs: minute * 60_000 }, { atMs: minute * 60_000 + 59_999 }]);
    const chosen = struck({ share: 0.2, periodMs: 60_000 }, minutes.flat());
    const [begins, ends] = [0, 1].map((rest) => chosen.filter((_, index) => index % 2 === rest));
    expect(begins).toEqual(ends);
    expect((begins ?? []).filter(Boolean).length / 1000).toBeCloseTo(0.2, 1);
  });

  it('draws for each fault by itself', () => {
    const half = { share: 0.5 };
    const plan = faultPlan(
      [
        { kind: 'hang', when: half },
        { kind: 'hang', when: half },
      ],
      1,
    );
    const counts = new Set(times(50).map(() => plan({ filters: {}, offset: 0 }, 0).length));
    expect(counts).toEqual(new Set([0, 1, 2]));
  });
});
