import { describe, expect, it } from 'vitest';
import { VerifiedNumbers } from '../../src/status/loss.ts';

/** A number of each hour, from hour 0 on. */
function numbersOf(...resources: readonly number[]): VerifiedNumbers {
  const numbers = new VerifiedNumbers();
  for (const [at, count] of resources.entries()) numbers.add(count, hour(at));
  return numbers;
}

const hour = (count: number) => count * 3_600_000;

describe('VerifiedNumbers', () => {
  it('compares the latest number with the largest, since that was last listed', () => {
    expect(numbersOf(300, 400, 398, 390, 310).lossAt(hour(5))).toEqual({ lost: 90, before: 400, sinceMs: hour(2) });
  });

  it('forgets a loss six hours after it', () => {
    const numbers = numbersOf(100, 100, 50);
    expect(numbers.lossAt(hour(8) - 1)).toMatchObject({ before: 100, sinceMs: hour(2) });
    expect(numbers.lossAt(hour(8))).toBeUndefined();
    numbers.add(49, hour(8));
    expect(numbers.lossAt(hour(8))).toBeUndefined();
  });

  it('compares with a number that was in force within six hours, however long ago it was listed', () => {
    const numbers = numbersOf(100);
    numbers.add(50, hour(20));
    expect(numbers.lossAt(hour(20))).toEqual({ lost: 50, before: 100, sinceMs: hour(20) });
  });

  it('compares with no number that lasted less than half an hour, and no page forgets a loss because of one', () => {
    const numbers = new VerifiedNumbers();
    const minutes = [...Array(60).fill(100), ...Array(10).fill(140), ...Array(60).fill(100), ...Array(40).fill(0)];
    const losses = minutes.map((count: number, minute) => {
      numbers.add(count, minute * 60_000);
      return numbers.lossAt(minute * 60_000)?.before;
    });
    expect(losses.slice(0, 130)).toEqual(Array(130).fill(undefined));
    expect(new Set(losses.slice(130))).toEqual(new Set([100]));
  });

  it('has none before the first number', () => {
    expect(new VerifiedNumbers().lossAt(0)).toBeUndefined();
  });
});
