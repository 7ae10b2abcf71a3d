import { describe, expect, it } from 'vitest';
import { clockDifferenceMs, clockDifferenceText } from '../../src/diagnosis/facts.ts';

describe('clockDifferenceMs', () => {
  it('is 0 when the Date lies within the round trip', () => {
    expect(clockDifferenceMs([{ sentMs: 10_900, receivedMs: 11_100, dateMs: 10_000 }])).toBe(0);
    expect(clockDifferenceMs([{ sentMs: 10_900, receivedMs: 11_100, dateMs: 11_000 }])).toBe(0);
    expect(clockDifferenceMs([{ sentMs: 10_000, receivedMs: 40_000, dateMs: 35_000 }])).toBe(0);
  });

  it('is positive when the local clock is ahead, negative when it is behind', () => {
    expect(clockDifferenceMs([{ sentMs: 20_000, receivedMs: 20_000, dateMs: 10_000 }])).toBe(9500);
    expect(clockDifferenceMs([{ sentMs: 10_000, receivedMs: 10_000, dateMs: 20_000 }])).toBe(-10_500);
  });

  it('uses the reply with the shortest round trip', () => {
    const slow = { sentMs: 0, receivedMs: 60_000, dateMs: 30_000 };
    const quick = { sentMs: 20_000, receivedMs: 20_000, dateMs: 10_000 };
    expect(clockDifferenceMs([slow, quick])).toBe(9500);
    expect(clockDifferenceMs([quick, slow])).toBe(9500);
  });

  it('is undefined without a Date', () => {
    expect(clockDifferenceMs([])).toBeUndefined();
    expect(clockDifferenceMs([{ sentMs: 0, receivedMs: 0, dateMs: undefined }])).toBeUndefined();
  });
});

describe('clockDifferenceText', () => {
  it('gives seconds and direction', () => {
    expect(clockDifferenceText(61_400)).toBe('61 s ahead of');
    expect(clockDifferenceText(-3_600_000)).toBe('3600 s behind');
  });
});
