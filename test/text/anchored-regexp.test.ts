import { createRequire } from 'node:module';
import type * as Re2 from 're2js';
import { describe, expect, it, vi } from 'vitest';
import { AnchoredRegExp } from '../../src/text/anchored-regexp.ts';

const { RE2JS }: typeof Re2 = createRequire(import.meta.url)('re2js');

describe('AnchoredRegExp', () => {
  it('builds no automaton for a text that needs a state for each of its characters, which would take 0.3 s', () => {
    const automaton = vi.spyOn(RE2JS.prototype, 'testExact');
    const expression = new AnchoredRegExp('.*a.{400}');
    expect(expression.matches('a'.repeat(1020))).toBe(true);
    expect(expression.matches(`${'a'.repeat(619)}b${'a'.repeat(400)}`)).toBe(false);
    expect(automaton).not.toHaveBeenCalled();
    expect(expression.matches('a'.repeat(100))).toBe(false);
    expect(automaton).toHaveBeenCalledOnce();
  });
});
