import { describe, expect, it } from 'vitest';
import { nearest } from '../../src/text/nearest.ts';

const KEYS = ['timeout', 'refresh_timeout', 'main', 'list_style', 'ttl'];

describe('nearest', () => {
  it.each([
    ['timout', 'timeout'],
    ['mian', 'main'],
    ['listStyle', 'list_style'],
    ['tlt', 'ttl'],
    ['tt', undefined],
    ['xxl', undefined],
    ['mein', 'main'],
    ['concurrency', undefined],
  ])('suggests for %j %j', (word, meant) => {
    expect(nearest(word, KEYS)).toBe(meant);
  });

  it('suggests nothing for a word that is too long to be a name', () => {
    const long = 'a'.repeat(4000);
    expect(nearest(`${long}b`, [long])).toBeUndefined();
  });

  it('suggests nothing among thousands of names', () => {
    const names = Array.from({ length: 3000 }, (_, at) => `station-${at}`);
    expect(nearest('station-12x', names)).toBeUndefined();
  });
});
