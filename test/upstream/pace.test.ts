import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AdaptiveRate } from '../../src/upstream/adaptive-rate.ts';

/** Begins so many requests, this far apart, and says when it has. */
function begin(pace: AdaptiveRate, count: number, everyMs: number, fromMs = 0): number {
  for (let started = 0; started < count; started += 1) pace.began(fromMs + started * everyMs);
  return fromMs + (count - 1) * everyMs;
}

describe('Pace', () => {
  it('has no limit and no wait without a ceiling', () => {
    const pace = new AdaptiveRate({ ceiling: 0, concurrency: 8 });
    expect(pace.perSecond).toBe(Number.POSITIVE_INFINITY);
    pace.began(1000);
    expect(pace.waitMs(1000)).toBe(0);
  });

  it('spaces requests by the ceiling', () => {
    const pace = new AdaptiveRate({ ceiling: 4, concurrency: 8 });
    expect(pace.waitMs(1000)).toBeLessThanOrEqual(0);
    pace.began(1000);
    expect(pace.waitMs(1100)).toBe(150);
    expect(pace.waitMs(1250)).toBe(0);
  });

  it('begins from the rate of the last seconds when it is throttled', () => {
    const pace = new AdaptiveRate({ ceiling: 0, concurrency: 8 });
    const nowMs = begin(pace, 500, 20);
    pace.throttled(nowMs, nowMs);
    expect(pace.perSecond).toBeCloseTo(25, 0);
  });

  it('does not take what was sent long ago for its rate', () => {
    const pace = new AdaptiveRate({ ceiling: 0, concurrency: 2 });
    begin(pace, 1000, 1);
    const nowMs = begin(pace, 10, 1000, 60_000);
    pace.throttled(nowMs, nowMs);
    expect(pace.perSecond).toBeCloseTo(0.56, 1);
  });

  it('takes a burst for the rate of one second', () => {
    const pace = new AdaptiveRate({ ceiling: 0, concurrency: 8 });
    begin(pace, 12, 1);
    pace.throttled(5, 20);
    expect(pace.perSecond).toBe(6);
  });

  it('does not take a single request for its rate', () => {
    const pace = new AdaptiveRate({ ceiling: 0, concurrency: 8 });
    pace.began(0);
    pace.throttled(0, 20);
    expect(pace.perSecond).toBe(4);
  });

  it('keeps no memory of requests from before the clock was set back', () => {
    const pace = new AdaptiveRate({ ceiling: 0, concurrency: 2 });
    begin(pace, 1000, 1, 3_600_000);
    const nowMs = begin(pace, 4, 500);
    pace.throttled(nowMs, nowMs);
    expect(pace.perSecond).toBeCloseTo(4 / 1.5 / 2);
  });

  it('comes back when requests succeed', () => {
    const pace = new AdaptiveRate({ ceiling: 10, concurrency: 8 });
    begin(pace, 20, 100);
    pace.throttled(1900, 1900);
    expect(pace.perSecond).toBe(5);
    for (let success = 0; success < 226; success += 1) pace.succeeded();
    expect(pace.perSecond).toBe(10);
  });

  it('never lets requests begin faster than the ceiling, and lets one begin within bounds, whatever happens', () => {
    const step = fc.record({
      forwardMs: fc.nat(5000),
      answer: fc.constantFrom('success', 'throttled', 'failure'),
      tookMs: fc.nat(10_000),
    });
    fc.assert(
      fc.property(fc.double({ min: 0.2, max: 50, noNaN: true }), fc.array(step, { maxLength: 100 }), (ceiling, steps) => {
        const pace = new AdaptiveRate({ ceiling, concurrency: 4 });
        let nowMs = 0;
        let lastMs = Number.NEGATIVE_INFINITY;
        for (const { forwardMs, answer, tookMs } of steps) {
          nowMs += forwardMs;
          const waitMs = pace.waitMs(nowMs);
          expect(waitMs).toBeLessThanOrEqual(10_000);
          nowMs += Math.max(0, waitMs);
          expect(nowMs - lastMs).toBeGreaterThanOrEqual(1000 / ceiling - 1e-6);
          lastMs = nowMs;
          pace.began(nowMs);
          if (answer === 'success') pace.succeeded();
          if (answer === 'throttled') pace.throttled(nowMs - tookMs, nowMs);
        }
      }),
    );
  });
});
