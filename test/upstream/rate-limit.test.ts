import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BURST_MS, FLOOR_PER_SECOND, lowered, openLimit, type RateLimit, raised } from '../../src/upstream/adaptive-rate.ts';

const NONE = Number.POSITIVE_INFINITY;

const throttledAt = (nowMs: number, sentPerSecond: number, begunMs = nowMs) => ({ nowMs, begunMs, sentPerSecond });

/** The limit after so many successes, or as soon as it is open again. */
function recovered(limit: RateLimit, ceiling: number, successes: number) {
  let after = limit;
  let needed = 0;
  while (needed < successes && after.perSecond < ceiling) {
    after = raised(after, ceiling);
    needed += 1;
  }
  return { perSecond: after.perSecond, needed };
}

const ceilings = fc.oneof(fc.constant(NONE), fc.double({ min: 0.01, max: 1000, noNaN: true }));
const rates = fc.double({ min: 0.01, max: 5000, noNaN: true });
type Answer = { kind: 'success' } | { kind: 'throttled'; afterMs: number; tookMs: number; sentPerSecond: number };
const histories: fc.Arbitrary<Answer[]> = fc.array(
  fc.oneof(
    fc.constant<Answer>({ kind: 'success' }),
    fc.record({
      kind: fc.constant('throttled' as const),
      afterMs: fc.integer({ min: -10_000, max: 10_000 }),
      tookMs: fc.nat(5000),
      sentPerSecond: rates,
    }),
  ),
  { maxLength: 200 },
);

/** The limits that a history of answers leads through, whatever the clock does meanwhile. */
function* limits(ceiling: number, history: readonly Answer[]): Generator<RateLimit> {
  let limit = openLimit(ceiling);
  let nowMs = 1_000_000;
  yield limit;
  for (const answer of history) {
    if (answer.kind === 'success') {
      limit = raised(limit, ceiling);
    } else {
      nowMs += answer.afterMs;
      limit = lowered(limit, throttledAt(nowMs, answer.sentPerSecond, nowMs - answer.tookMs));
    }
    yield limit;
  }
}

describe('lowered', () => {
  it('halves the rate that was sent, or the limit where that is lower', () => {
    expect(lowered(openLimit(NONE), throttledAt(0, 50)).perSecond).toBe(25);
    expect(lowered(openLimit(100), throttledAt(0, 50)).perSecond).toBe(25);
    expect(lowered(openLimit(10), throttledAt(0, 50)).perSecond).toBe(5);
  });

  it('counts the throttled requests of a burst once', () => {
    const once = lowered(openLimit(NONE), throttledAt(10_000, 50, 9000));
    for (const begunMs of [0, 9999, 10_000, 10_000 + BURST_MS - 1]) {
      expect(lowered(once, throttledAt(15_000, 50, begunMs))).toEqual(once);
    }
    expect(lowered(once, throttledAt(15_000, 50, 10_000 + BURST_MS)).perSecond).toBe(12.5);
  });

  it('goes on after the clock was set back', () => {
    const once = lowered(openLimit(NONE), throttledAt(3_600_000, 50));
    const back = lowered(once, throttledAt(0, 50, 0));
    expect(lowered(back, throttledAt(BURST_MS, 50)).perSecond).toBe(12.5);
  });
});

describe('raised', () => {
  it('leaves an open limit as it is', () => {
    expect(raised(openLimit(NONE), NONE)).toEqual(openLimit(NONE));
    expect(raised(openLimit(7), 7)).toEqual(openLimit(7));
  });

  it('adds the same per second of full use, and one step per success below one a second', () => {
    const limit = { perSecond: 30, tooMuch: 60, loweredAtMs: 0 };
    const aSecond = Array.from({ length: 30 }).reduce<RateLimit>((before) => raised(before, NONE), limit);
    expect(aSecond.perSecond).toBeCloseTo(31, 1);
    expect(raised({ ...limit, perSecond: 0.1 }, NONE).perSecond).toBeCloseTo(1.1);
  });

  it('is back at the ceiling when it has reached it', () => {
    const after = lowered(openLimit(10), throttledAt(0, 50));
    expect(recovered(after, 10, 1000)).toEqual({ perSecond: 10, needed: 225 });
  });

  it('opens without a ceiling at twice the rate that was too much, which then no longer binds', () => {
    const after = lowered(openLimit(NONE), throttledAt(0, 10));
    const { perSecond, needed } = recovered(after, NONE, 10_000);
    expect(perSecond).toBe(NONE);
    expect(recovered(after, NONE, needed - 1).perSecond).toBeGreaterThan(19.9);
  });

  it('remembers the highest rate that was too much, not the latest', () => {
    const deep = [0, 2000, 4000, 6000].reduce((limit, nowMs) => lowered(limit, throttledAt(nowMs, 40)), openLimit(NONE));
    expect(deep.perSecond).toBe(2.5);
    const { needed } = recovered(deep, NONE, 100_000);
    expect(recovered(deep, NONE, needed - 1).perSecond).toBeGreaterThan(79);
  });
});

describe('RateLimit', () => {
  it('never passes the ceiling and never starves, whatever the answers and the clock', () => {
    fc.assert(
      fc.property(ceilings, histories, (ceiling, history) => {
        for (const { perSecond } of limits(ceiling, history)) {
          expect(perSecond).toBeLessThanOrEqual(ceiling);
          expect(perSecond).toBeGreaterThanOrEqual(Math.min(ceiling, FLOOR_PER_SECOND));
        }
      }),
    );
  });

  it('recovers from any history when every request succeeds', () => {
    fc.assert(
      fc.property(ceilings, histories, (ceiling, history) => {
        const last = [...limits(ceiling, history)].at(-1) ?? openLimit(ceiling);
        // Two minutes of full use, and as much again for the start from almost nothing.
        const enough = 240 * Math.max(1, last.tooMuch);
        expect(recovered(last, ceiling, enough).perSecond).toBe(ceiling);
      }),
    );
  });

  it('falls and rises by no leap but the opening at the end', () => {
    fc.assert(
      fc.property(ceilings, histories, (ceiling, history) => {
        let before = openLimit(ceiling);
        for (const limit of limits(ceiling, history)) {
          const step = before.tooMuch / 60;
          expect(limit.perSecond === ceiling || limit.perSecond <= (before.perSecond + step) * 1.000_001).toBe(true);
          before = limit;
        }
      }),
    );
  });
});
