import { describe, expect, it } from 'vitest';
import { nearest } from '../../src/model/nearest.ts';

const KEYS = ['timeout', 'refresh_timeout', 'main', 'list_style', 'ttl'];

describe('nearest', () => {
  it.each([
    ['timout', 'timeout'],
    ['mian', 'main'],
    ['tl', undefined],
    ['listStyle', 'list_style'],
    ['timeout', 'timeout'],
    ['concurrency', undefined],
    ['', undefined],
  ])('suggests for %j %j', (word, meant) => {
    expect(nearest(word, KEYS)).toBe(meant);
  });

  it('suggests nothing without known words', () => {
    expect(nearest('main', [])).toBeUndefined();
  });
});
