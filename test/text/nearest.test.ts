import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearest } from '../../src/text/nearest.ts';

const KEYS = ['timeout', 'refresh_timeout', 'main', 'list_style', 'ttl'];

/** The optimal string alignment distance by its definition. */
function distanceOf(from: string, to: string): number {
  if (from === '' || to === '') return from.length + to.length;
  const ways = [
    distanceOf(from.slice(1), to) + 1,
    distanceOf(from, to.slice(1)) + 1,
    distanceOf(from.slice(1), to.slice(1)) + (from[0] === to[0] ? 0 : 1),
  ];
  if (from.length > 1 && from[0] === to[1] && from[1] === to[0]) ways.push(distanceOf(from.slice(2), to.slice(2)) + 1);
  return Math.min(...ways);
}

/** Every word with its distance, and of the nearest the first, if at most 40 % differ. */
function nearestByDefinition(word: string, known: readonly string[]): string | undefined {
  const distances = known.map((candidate) => distanceOf(word, candidate));
  const least = Math.min(...distances);
  return least <= word.length * 0.4 ? known[distances.indexOf(least)] : undefined;
}

describe('nearest', () => {
  it.each([
    ['timout', 'timeout'],
    ['mian', 'main'],
    ['listStyle', 'list_style'],
    ['concurrency', undefined],
  ])('suggests for %j %j', (word, meant) => {
    expect(nearest(word, KEYS)).toBe(meant);
  });

  it('suggests the first of the words with the least distance, whatever they are', () => {
    const words = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });
    fc.assert(
      fc.property(words, fc.array(words, { maxLength: 6 }), (word, known) => {
        expect(nearest(word, known)).toBe(nearestByDefinition(word, known));
      }),
    );
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
