import { describe, expect, it } from 'vitest';
import type { When } from '../../src/simulator/faults.ts';
import { faultPlan } from '../../src/simulator/faults.ts';
import type { Filters } from '../../src/simulator/listing-request.ts';

interface PlannedRequest {
  readonly filters?: Filters;
  readonly offset?: number;
  readonly atMs?: number;
}

/** To which of the requests a fault with these conditions applies. */
function affected(when: When, requests: readonly PlannedRequest[], seed = 1): boolean[] {
  const plan = faultPlan([{ kind: 'hang', when }], seed);
  return requests.map(
    ({ filters = {}, offset = 0, atMs = 0 }) => plan({ station: 'ts', filters, offset }, atMs).length > 0,
  );
}

function times(count: number): PlannedRequest[] {
  return Array.from({ length: count }, () => ({}));
}

const product: Filters = { product: ['product.a'] };

describe('faultPlan', () => {
  it('applies to the first listings, counted per set of filters', () => {
    const requests: PlannedRequest[] = [
      { offset: 0 },
      { offset: 10 },
      { filters: product, offset: 0 },
      { offset: 0 },
      { offset: 10 },
      { filters: product, offset: 10 },
      { filters: product, offset: 0 },
    ];
    expect(affected({ firstListings: 1 }, requests)).toEqual([true, true, true, false, false, true, false]);
  });

  it('applies to a share of the requests, chosen by the seed', () => {
    const chosen = affected({ share: 0.3 }, times(2000));
    expect(chosen.filter(Boolean).length / 2000).toBeCloseTo(0.3, 1);
    expect(affected({ share: 0.3 }, times(2000))).toEqual(chosen);
    expect(affected({ share: 0.3 }, times(2000), 2)).not.toEqual(chosen);
    expect(affected({ share: 0 }, times(50))).not.toContain(true);
    expect(affected({ share: 1 }, times(50))).not.toContain(false);
  });

  it('applies to a share of the periods, to all requests of each', () => {
    const minutes = Array.from({ length: 1000 }, (_, minute) => [
      { atMs: minute * 60_000 },
      { atMs: minute * 60_000 + 59_999 },
    ]);
    const chosen = affected({ share: 0.2, periodMs: 60_000 }, minutes.flat());
    const [begins, ends] = [0, 1].map((rest) => chosen.filter((_, index) => index % 2 === rest));
    expect(begins).toEqual(ends);
    expect((begins ?? []).filter(Boolean).length / 1000).toBeCloseTo(0.2, 1);
  });

  it('draws independently for each fault', () => {
    const half = { share: 0.5 };
    const plan = faultPlan(
      [
        { kind: 'hang', when: half },
        { kind: 'hang', when: half },
      ],
      1,
    );
    const counts = new Set(times(50).map(() => plan({ station: 'ts', filters: {}, offset: 0 }, 0).length));
    expect(counts).toEqual(new Set([0, 1, 2]));
  });
});
