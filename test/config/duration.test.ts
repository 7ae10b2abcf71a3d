import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../../src/config/units.ts';

describe('parseDuration', () => {
  it.each([
    ['0', 0],
    ['0s', 0],
    ['250ms', 250],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['1y2w3d4h5m6s7ms', 33_019_506_007],
    ['0.5s', 500],
    ['1.5h', 5_400_000],
    ['4.35s', 4350],
    ['0.1s0.0ms', 100],
  ])('reads %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '1', '-1s', '1s1m', '1s1s', '1 s', '1S', 's', '.5s', '5.s', '1e3s', '1µs', '10m ', '00', '1h30'])(
    'does not read %j',
    (text) => {
      expect(parseDuration(text)).toBeUndefined();
    },
  );

  it('does not read what is finer than a millisecond', () => {
    expect(parseDuration('0.5ms')).toBeUndefined();
    expect(parseDuration('1.0005s')).toBeUndefined();
  });

  it('does not read what is too long to be counted', () => {
    expect(parseDuration('300000y')).toBeUndefined();
    expect(parseDuration('285616y285616d')).toBeUndefined();
    expect(parseDuration(`${'9'.repeat(400)}s`)).toBeUndefined();
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0s'],
    [60_000, '1m'],
    [90_000, '1m30s'],
    [604_800_000, '1w'],
    [691_200_000, '8d'],
    [31_536_000_000, '1y'],
    [5_400_250, '1h30m250ms'],
  ])('prints %d ms as Prometheus does', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('prints what is read back as the same', () => {
    fc.assert(fc.property(fc.maxSafeNat(), (ms) => parseDuration(formatDuration(ms)) === ms));
  });
});
