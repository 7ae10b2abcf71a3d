import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, formatSize, parseDuration, parseSize } from '../../src/schema/units.ts';

describe('parseDuration', () => {
  it.each([
    ['0', 0],
    ['250ms', 250],
    ['1y2w3d4h5m6s7ms', 33_019_506_007],
    ['0.5s', 500],
    ['4.35s', 4350],
    ['0.1s0.0ms', 100],
  ])('parses %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    ...['', '1', '-1s', '1s1m', '1s1s', '1 s', '1S', '.5s', '5.s', '00', '1h30'],
    // Fractions of a millisecond, and values above the safe integer range.
    ...['0.5ms', '1.0005s', '300000y', `${'9'.repeat(400)}s`],
  ])('rejects %j', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0s'],
    [90_000, '1m30s'],
    [604_800_000, '1w'],
    [691_200_000, '8d'],
    [5_400_250, '1h30m250ms'],
  ])('formats %d ms like Prometheus', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('formats what parseDuration reads back', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
  });
});

describe('parseSize', () => {
  it.each([
    ['1B', 1],
    ['1MB', 1_000_000],
    ['2GB', 2_000_000_000],
    ['16MiB', 16_777_216],
    ['0.5KiB', 512],
    ['1.001KB', 1001],
  ])('parses %s', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each(['', '1', '1.5B', '0.0001KB', '-1B', '1kb', '1 MB', 'MiB', '1TB', '99999999999GB'])('rejects %j', (text) => {
    expect(parseSize(text)).toBeUndefined();
  });
});

describe('formatSize', () => {
  it.each([
    [0, '0B'],
    [1001, '1001B'],
    [16_777_216, '16MiB'],
    [5_000_000, '5MB'],
  ])('formats %d bytes in the largest unit that needs no fraction', (bytes, text) => {
    expect(formatSize(bytes)).toBe(text);
  });

  it('formats what parseSize reads back', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (bytes) => {
        expect(parseSize(formatSize(bytes))).toBe(bytes);
      }),
    );
  });
});
