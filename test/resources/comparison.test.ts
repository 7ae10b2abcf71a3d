import { describe, expect, it } from 'vitest';
import { comparisonOf } from '../../src/resources/comparison.ts';

const MAX_STALE_MS = 1000;

interface Case {
  readonly title: string;
  /** Rejected records and age of the base; undefined: there is none. */
  readonly base?: readonly [rejected: number, ageMs: number];
  /** Rejected records of a listing that adds up; undefined: it does not add up. */
  readonly rejected?: number;
  readonly result: 'compared' | 'started' | 'incomparable';
  /** Which listing the next one is compared with. */
  readonly next: 'itself' | 'base' | undefined;
}

const CASES: readonly Case[] = [
  { title: 'the first listing adds up', rejected: 0, result: 'started', next: 'itself' },
  { title: 'the first listing rejects a record', rejected: 1, result: 'started', next: 'itself' },
  { title: 'the first listing does not add up', result: 'incomparable', next: undefined },
  { title: 'none rejects a record', base: [0, 60], rejected: 0, result: 'compared', next: 'itself' },
  { title: 'a record is rejected for good', base: [1, 60], rejected: 1, result: 'compared', next: 'itself' },
  { title: 'fewer records are rejected', base: [2, 60], rejected: 1, result: 'compared', next: 'itself' },
  { title: 'more records are rejected', base: [0, 60], rejected: 1, result: 'incomparable', next: 'base' },
  { title: 'it does not add up', base: [0, 60], result: 'incomparable', next: 'base' },
  { title: 'more are rejected, at max_stale', base: [0, 1000], rejected: 1, result: 'incomparable', next: 'base' },
  { title: 'more are rejected, after max_stale', base: [0, 1001], rejected: 1, result: 'started', next: 'itself' },
  { title: 'it does not add up, after max_stale', base: [0, 1001], result: 'incomparable', next: undefined },
  {
    title: 'refreshes failed for longer than max_stale',
    base: [1, 9000],
    rejected: 1,
    result: 'compared',
    next: 'itself',
  },
];

describe('comparisonOf', () => {
  it.each(CASES)('is $result when $title', ({ base: given, rejected, result, next }) => {
    const nowMs = 10_000;
    const base = given && { rejected: given[0], listedMs: nowMs - given[1] };
    const listing = { main: { addsUp: rejected !== undefined }, rejected: rejected ?? 0 };
    const bases = { itself: { rejected, listedMs: nowMs }, base };
    expect(comparisonOf(base, listing, nowMs, MAX_STALE_MS)).toEqual({ result, base: next && bases[next], nowMs });
  });
});
