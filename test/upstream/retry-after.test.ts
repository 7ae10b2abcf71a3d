import { describe, expect, it } from 'vitest';
import { httpDateMs, retryAfterMs } from '../../src/upstream/reply-failure.ts';

const NOW_MS = Date.UTC(1994, 10, 6, 8, 49, 0);

describe('retryAfterMs', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 3 ', 3000],
    ['1.5', 1500],
  ])('reads the seconds %j', (header, expected) => {
    expect(retryAfterMs(header, NOW_MS)).toBe(expected);
  });

  it.each(['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])(
    'reads the date %j',
    (header) => {
      expect(retryAfterMs(header, NOW_MS)).toBe(37_000);
    },
  );

  it('asks for no wait when the date has passed', () => {
    expect(retryAfterMs('Sun, 06 Nov 1994 08:00:00 GMT', NOW_MS)).toBe(0);
  });

  it.each([undefined, '', '-5', 'soon', '1e3', 'Infinity', '0x10', 'Sunny day', '2030-01-01'])('takes nothing from %j', (header) => {
    expect(retryAfterMs(header, NOW_MS)).toBeUndefined();
  });

  it.each(['99999999999999999999999999', 'Fri, 31 Dec 9999 23:59:59 GMT'])('cuts the absurd %j to a day', (header) => {
    expect(retryAfterMs(header, NOW_MS)).toBe(86_400_000);
  });

  it('takes the first of several headers', () => {
    expect(retryAfterMs(['7', '9'], NOW_MS)).toBe(7000);
  });
});

describe('httpDateMs', () => {
  it('knows the time that a date names', () => {
    expect(httpDateMs('Sun, 06 Nov 1994 08:49:00 GMT')).toBe(NOW_MS);
  });

  it('takes nothing from a date without sense', () => {
    expect(httpDateMs('Mon, 99 Foo 2020')).toBeUndefined();
  });
});
