import { describe, expect, it } from 'vitest';
import { labelText } from '../../src/model/values.ts';

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
});
