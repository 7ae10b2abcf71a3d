import { describe, expect, it } from 'vitest';
import { clockDifferenceMs } from '../../src/diagnosis/facts.ts';

type Reply = readonly [sentMs: number, receivedMs: number, dateMs: number | undefined];

const SLOW: Reply = [0, 60_000, 30_000];
const QUICK: Reply = [20_000, 20_000, 10_000];

describe('clockDifferenceMs', () => {
  it.each<[what: string, differenceMs: number | undefined, ...replies: Reply[]]>([
    ['0 when the second before the request is the Date', 0, [10_900, 11_100, 10_000]],
    ['0 when the Date lies within the round trip', 0, [10_900, 11_100, 11_000]],
    ['0 when the Date lies within a long round trip', 0, [10_000, 40_000, 35_000]],
    ['positive when the local clock is ahead', 9500, QUICK],
    ['negative when the local clock is behind', -10_500, [10_000, 10_000, 20_000]],
    ['that of the shortest round trip, if it is the last', 9500, SLOW, QUICK],
    ['that of the shortest round trip, if it is the first', 9500, QUICK, SLOW],
    ['unknown without a reply', undefined],
    ['unknown without a Date', undefined, [0, 0, undefined]],
  ])('is %s', (_, differenceMs, ...replies) => {
    const infos = replies.map(([sentMs, receivedMs, dateMs]) => ({ sentMs, receivedMs, dateMs }));
    expect(clockDifferenceMs(infos)).toBe(differenceMs);
  });
});
