import { describe, expect, it, vi } from 'vitest';
import { InternedTexts } from '../../src/resources/interned-texts.ts';

describe('InternedTexts', () => {
  it('stores a text once, and starts again with the one after 10,000', () => {
    const texts = new InternedTexts();
    const stored = vi.spyOn(Map.prototype, 'set');
    const cleared = vi.spyOn(Map.prototype, 'clear');
    for (let round = 0; round < 2; round += 1)
      for (let text = 0; text < 10_000; text += 1) expect(texts.intern(`${text}`)).toBe(`${text}`);
    expect([stored.mock.calls.length, cleared.mock.calls.length]).toEqual([10_000, 0]);
    texts.intern('one more');
    expect([stored.mock.calls.length, cleared.mock.calls.length]).toEqual([10_001, 1]);
  });
});
