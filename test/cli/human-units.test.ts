import { describe, expect, it } from 'vitest';
import { sizeText, spanText } from '../../src/cli/human-units.ts';

describe('sizeText', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.0 KB'],
    [842_300, '842 KB'],
    [999_499, '999 KB'],
    [999_500, '1.0 MB'],
    [3_415_956, '3.4 MB'],
    [99_950_000, '100 MB'],
    [1e18, '1000000 TB'],
  ])('shows %i bytes as %s', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });
});

describe('spanText', () => {
  it.each([
    [0, '0 ms'],
    [842.4, '842 ms'],
    [999.5, '1.0 s'],
    [13_512, '13.5 s'],
    [99_950, '100 s'],
    [119_949, '120 s'],
    [120_000, '2 min'],
    [125_000, '2 min 5 s'],
  ])('shows %f ms as %s', (ms, text) => {
    expect(spanText(ms)).toBe(text);
  });
});
