import { describe, expect, it } from 'vitest';
import { WORLDS } from './threshold-worlds.ts';

describe('the predicates of the pages', () => {
  it.each(WORLDS)('have the verdict $isProblem: $name', ({ isProblem, isProblemOnPage }) => {
    expect(isProblemOnPage).toBe(isProblem);
  });
});
