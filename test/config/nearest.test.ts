import { describe, expect, it } from 'vitest';
import { nearest } from '../../src/config/nearest.ts';

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
  ])('takes %j for %j', (word, meant) => {
    expect(nearest(word, KEYS)).toBe(meant);
  });

  it('has nothing to offer when nothing is known', () => {
    expect(nearest('main', [])).toBeUndefined();
  });
});
