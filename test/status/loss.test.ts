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

  it('has none before the first number', () => {
    expect(new VerifiedNumbers().lossAt(0)).toBeUndefined();
  });
});
