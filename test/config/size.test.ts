import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatSize, parseSize } from '../../src/config/units.ts';

describe('parseSize', () => {
  it.each([
    ['1B', 1],
    ['1KB', 1000],
    ['1MB', 1_000_000],
    ['2GB', 2_000_000_000],
    ['1KiB', 1024],
    ['16MiB', 16_777_216],
    ['1GiB', 1_073_741_824],
    ['0.5KiB', 512],
    ['1.001KB', 1001],
  ])('reads %s', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each(['', '1', '1.5B', '0.0001KB', '-1B', '1kb', '1 MB', 'MiB', '1TB', '99999999999GB'])('does not read %j', (text) => {
    expect(parseSize(text)).toBeUndefined();
  });
});

describe('formatSize', () => {
  it.each([
    [0, '0B'],
    [1001, '1001B'],
    [16_777_216, '16MiB'],
    [5_000_000, '5MB'],
  ])('prints %d bytes in the largest unit that needs no fraction', (bytes, text) => {
    expect(formatSize(bytes)).toBe(text);
  });

  it('prints what is read back as the same', () => {
    fc.assert(fc.property(fc.maxSafeNat(), (bytes) => parseSize(formatSize(bytes)) === bytes));
  });
});
