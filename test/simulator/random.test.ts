import { describe, expect, it } from 'vitest';
import { between, hash, hashText, pick, randomFrom } from '../../src/simulator/random.ts';

describe('hash', () => {
  it('is deterministic and depends on the order', () => {
    expect(hash(1, 2, 3)).toBe(hash(1, 2, 3));
    expect(hash(1, 2, 3)).not.toBe(hash(3, 2, 1));
    expect(hash(7)).toBeGreaterThanOrEqual(0);
    expect(hash(7)).toBeLessThan(2 ** 32);
  });

  it('distributes consecutive numbers evenly', () => {
    const buckets = new Array(16).fill(0);
    for (let number = 0; number < 16_000; number += 1) buckets[hash(5, number) >>> 28] += 1;
    for (const count of buckets) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});

describe('hashText', () => {
  it('depends on every character', () => {
    expect(hashText('站点')).toBe(hashText('站点'));
    expect(hashText('ab')).not.toBe(hashText('ba'));
  });
});

describe('randomFrom', () => {
  it('repeats its sequence for the same key, within [0, 1)', () => {
    const [one, same, other] = [randomFrom(9), randomFrom(9), randomFrom(10)];
    const drawn = Array.from({ length: 1000 }, one);
    expect(Array.from({ length: 1000 }, same)).toEqual(drawn);
    expect(Array.from({ length: 1000 }, other)).not.toEqual(drawn);
    expect(drawn.every((draw) => draw >= 0 && draw < 1)).toBe(true);
    expect(drawn.reduce((sum, draw) => sum + draw) / 1000).toBeCloseTo(0.5, 1);
  });
});

describe('pick', () => {
  it('returns every choice', () => {
    const random = randomFrom(1);
    expect(new Set(Array.from({ length: 200 }, () => pick(random, ['a', 'b', 'c'])))).toEqual(new Set(['a', 'b', 'c']));
  });
});

describe('between', () => {
  it('includes both ends', () => {
    const random = randomFrom(1);
    expect(new Set(Array.from({ length: 200 }, () => between(random, 3, 5)))).toEqual(new Set([3, 4, 5]));
  });
});
