import { describe, expect, it } from 'vitest';
import { FAILURE_REASONS } from '../../src/station/failure.ts';
import { FAILURE_ADVICE } from '../../src/station/failure-advice.ts';

describe('FAILURE_ADVICE', () => {
  it('has a meaning and a remedy for each reason, in their order', () => {
    expect(Object.keys(FAILURE_ADVICE)).toEqual([...FAILURE_REASONS]);
  });

  it.each(Object.entries(FAILURE_ADVICE))('says each in one sentence with its code marked in pairs: %s', (_reason, advice) => {
    for (const text of Object.values(advice)) {
      expect(text).toMatch(/^[A-Z][^.]*(\.\w[^.]*)*\.$/);
      expect(text.split('`').length % 2).toBe(1);
    }
  });
});
