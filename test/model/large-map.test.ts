import { describe, expect, it } from 'vitest';
import { LargeMap } from '../../src/model/large-map.ts';

describe('LargeMap', () => {
  it('finds the values of hundreds of thousands of keys', () => {
    const map = new LargeMap<string>();
    const keys = Array.from({ length: 200_000 }, (_, at) => `/subscriptions/a/resources/${at}`);
    for (const key of keys) map.add(key, `value of ${key}`);
    expect(map.size).toBe(200_000);
    expect(keys.filter((key) => map.get(key) !== `value of ${key}`)).toEqual([]);
    expect([map.has('unknown'), map.get('unknown')]).toEqual([false, undefined]);
  });
});
