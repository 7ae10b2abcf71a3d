import { describe, expect, it } from 'vitest';
import { FAILURE_ADVICE, FAILURE_REASONS } from '../../src/station/failure.ts';

describe('FAILURE_ADVICE', () => {
  it('has a meaning and an advice for each reason, in their order', () => {
    expect(Object.keys(FAILURE_ADVICE)).toEqual([...FAILURE_REASONS]);
  });

  it.each(Object.entries(FAILURE_ADVICE))('says each in whole sentences of plain text: %s', (_reason, advice) => {
    for (const text of Object.values(advice)) expect(text).toMatch(/^[A-Z][^`<>|]*[^.]\.$/);
  });
});
