import { describe, expect, it } from 'vitest';
import { enumeration } from '../../src/text/quoted.ts';

describe('enumeration', () => {
  it('joins words as a sentence does', () => {
    expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map(enumeration)).toEqual(['', 'a', 'a and b', 'a, b and c']);
  });
});
