import { describe, expect, it } from 'vitest';
import { AnchoredRegExp } from '../../src/text/anchored-regexp.ts';

describe('AnchoredRegExp', () => {
  it('matches in linear time where backtracking would not end', () => {
    const expression = new AnchoredRegExp('(?:a|a?)+b');
    expect(expression.matches('a'.repeat(1024))).toBe(false);
    expect(expression.matches(`${'a'.repeat(1024)}b`)).toBe(true);
  });

  it('matches whole texts, also over line breaks', () => {
    const expression = new AnchoredRegExp('a.c');
    expect(['a\nc', 'abc', 'abcd', ' abc'].map((text) => expression.matches(text))).toEqual([true, true, false, false]);
  });
});
