import { describe, expect, it } from 'vitest';
import type { Holdings } from './soak-exporter.ts';
import type { Seen } from './soak-scrapers.ts';
import { soakViolations } from './soak-verdict.ts';

const HELD: Holdings = {
  heapBytes: 100,
  bufferBytes: 100,
  residentBytes: 1000,
  sockets: 10,
  timers: 10,
  handles: 30,
  resources: 5,
  longestTurnMs: 1,
  bugs: 0,
};
const SEEN: Seen = {
  scrapes: 9,
  bytes: 9,
  slowestMs: 9,
  largestShare: 0.9,
  published: 9,
  failing: 1,
  reasons: {},
  incomplete: 1,
  violations: [],
};

const verdict = (last: Partial<Holdings>, seen: Partial<Seen> = {}) =>
  soakViolations([HELD, { ...HELD, ...last }], [{ ...SEEN, ...seen }], 10);

describe('soakViolations', () => {
  it('finds nothing where everything held, be the heap a little larger or much smaller', () => {
    expect(verdict({ heapBytes: 109, bufferBytes: 20 })).toEqual([]);
  });

  it.each([
    ['the heap grew by 12.0 %', { heapBytes: 112 }, {}],
    ['buffers grew by 50.0 %', { bufferBytes: 150 }, {}],
    ['11 sockets are open, more than 10', { sockets: 11 }, {}],
    ['11 timers are set, more than one for each of 10 sockets', { timers: 11 }, {}],
    ['2 answers failed by a fault of the exporter', { bugs: 2 }, {}],
    ['an answer came after the timeout that its scraper had announced', {}, { largestShare: 1 }],
    ['no station ever failed', {}, { failing: 0 }],
    ['no listing was ever incomplete', {}, { incomplete: 0 }],
    ['nobody scraped', {}, { scrapes: 0 }],
    ['a: 1 resources in sum, 2 one by one', {}, { violations: ['a: 1 resources in sum, 2 one by one'] }],
  ])('tells: %s', (violation, last, seen) => {
    expect(verdict(last, seen)).toEqual([violation]);
  });

  it('does not pass what was measured once', () => {
    expect(soakViolations([HELD], [SEEN], 10)).toEqual(['there is nothing to compare the heap with']);
  });
});
