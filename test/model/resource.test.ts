import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelText } from '../../src/model/resource.ts';
import { codePoint } from '../code-point.ts';

describe('labelText', () => {
  it('replaces each lone surrogate', () => {
    expect(labelText('a\ud800b\udfff')).toBe('a\ufffdb\ufffd');
  });

  it('truncates at 1,024 bytes on a character boundary', () => {
    expect(labelText('x'.repeat(2000))).toBe('x'.repeat(1024));
    expect(labelText('é'.repeat(600))).toBe('é'.repeat(512));
    expect(labelText('名'.repeat(342))).toBe('名'.repeat(341));
    expect(labelText(`x${'😀'.repeat(300)}`)).toBe(`x${'😀'.repeat(255)}`);
    expect(labelText('x'.repeat(1024))).toHaveLength(1024);
  });

  it('returns the longest well-formed prefix that fits, for any text', () => {
    const texts = fc
      .string({ unit: codePoint, maxLength: 40 })
      .map((text) => text.repeat(1 + Math.floor(1500 / (text.length + 1))));
    fc.assert(
      fc.property(texts, (text) => {
        const fit = labelText(text);
        const wellFormed = text.toWellFormed();
        expect(fit.isWellFormed()).toBe(true);
        expect(wellFormed.startsWith(fit)).toBe(true);
        const size = Buffer.byteLength(fit);
        expect(size).toBeLessThanOrEqual(1024);
        const next = String.fromCodePoint(wellFormed.codePointAt(fit.length) ?? 0);
        if (fit !== wellFormed) expect(size + Buffer.byteLength(next)).toBeGreaterThan(1024);
      }),
    );
  });
});
