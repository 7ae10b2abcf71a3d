import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PageSize } from '../../src/upstream/page.ts';

function pageSizeOf(most: number) {
  const reductions: number[] = [];
  return { reductions, pageSize: new PageSize(most, (size) => reductions.push(size)) };
}

describe('PageSize', () => {
  it('asks for what is wanted as long as nothing was too many', () => {
    const { pageSize, reductions } = pageSizeOf(100);
    expect([pageSize.atMost(100), pageSize.atMost(30)]).toEqual([100, 30]);
    expect(reductions).toEqual([]);
  });

  it('halves down to ten, then gives up', () => {
    const { pageSize, reductions } = pageSizeOf(100);
    expect([100, 50, 25, 12, 10].map((tooMany) => pageSize.below(tooMany))).toEqual([50, 25, 12, 10, undefined]);
    expect(pageSize.atMost(100)).toBe(10);
    expect(reductions).toEqual([50, 25, 12, 10]);
  });

  it('is reduced once by pages of one size that fail side by side', () => {
    const { pageSize, reductions } = pageSizeOf(100);
    expect([100, 100, 100].map((tooMany) => pageSize.below(tooMany))).toEqual([50, 50, 50]);
    expect(reductions).toEqual([50]);
  });

  it('goes by what was asked for, which may be less than it allows', () => {
    const { pageSize, reductions } = pageSizeOf(100);
    expect(pageSize.below(40)).toBe(20);
    expect(reductions).toEqual([20]);
  });

  it('has nothing to reduce in a page of ten or less', () => {
    const { pageSize, reductions } = pageSizeOf(7);
    expect([pageSize.below(7), pageSize.below(10)]).toEqual([undefined, undefined]);
    expect(reductions).toEqual([]);
  });

  it('asks for strictly less each time, and ends', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), fc.array(fc.integer({ min: 1, max: 10_000 })), (most, wanted) => {
        const { pageSize, reductions } = pageSizeOf(most);
        for (const size of wanted) {
          const asked = pageSize.atMost(size);
          const less = pageSize.below(asked);
          expect(less === undefined ? asked <= 10 : less < asked && less >= 10).toBe(true);
        }
        expect(reductions.length).toBeLessThanOrEqual(10);
      }),
    );
  });
});
