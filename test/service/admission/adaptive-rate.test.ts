import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AdaptiveRate } from '../../../src/service/admission/adaptive-rate.ts';

/** Sends requests at the allowed rate for this time, each answered within a millisecond. Returns when it ended. */
function send(
  rate: AdaptiveRate,
  fromMs: number,
  forMs: number,
  isAccepted: (count: number, nowMs: number) => boolean,
): number {
  let nowMs = fromMs;
  for (let count = 0; nowMs < fromMs + forMs; count += 1) {
    nowMs += Math.max(rate.waitMs(nowMs), 5);
    rate.started(nowMs);
    if (isAccepted(count, nowMs)) rate.accepted(nowMs, nowMs + 1);
    else rate.throttled({ startedMs: nowMs, nowMs: nowMs + 1 });
  }
  return nowMs;
}

/** A rate that a token bucket of 20 requests per second, with a burst of two, has limited for ten seconds. */
function limitedRate() {
  const rate = new AdaptiveRate();
  let tokens = 2;
  let filledMs = 0;
  const nowMs = send(rate, 0, 10_000, (_, sentMs) => {
    tokens = Math.min(2, tokens + (sentMs - filledMs) / 50);
    filledMs = sentMs;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  });
  return { rate, nowMs };
}

describe('AdaptiveRate', () => {
  it('tolerates single throttled requests', () => {
    const rate = new AdaptiveRate();
    send(rate, 0, 10_000, (count) => count % 1000 !== 500);
    expect(rate.perSecond).toBe(Number.POSITIVE_INFINITY);
  });

  it('removes the limit when the throttled share does not fall with the rate', () => {
    const rate = new AdaptiveRate();
    const perSecond: number[] = [];
    for (let nowMs = 0; nowMs < 30_000; ) {
      nowMs = send(rate, nowMs, 100, (count) => count % 20 !== 10);
      perSecond.push(rate.perSecond);
    }
    expect(Math.min(...perSecond)).toBeLessThan(200);
    expect(perSecond.at(-1)).toBe(Number.POSITIVE_INFINITY);
  });

  it('lowers the rate to one request in ten seconds when all are throttled, and climbs fast when one is accepted', () => {
    const rate = new AdaptiveRate();
    const nowMs = send(rate, 0, 180_000, () => false);
    expect(rate.perSecond).toBe(0.1);
    expect(rate.isAtFloor).toBe(true);
    send(rate, nowMs, 60_000, () => true);
    expect(rate.perSecond).toBeGreaterThan(50);
  });

  it('pauses all requests until Retry-After', () => {
    const rate = new AdaptiveRate();
    rate.started(0);
    rate.started(0);
    rate.throttled({ startedMs: 0, nowMs: 100, retryAfterMs: 30_000 });
    expect(rate.pauses.untilMs).toBe(30_100);
    expect(rate.waitMs(10_100)).toBe(20_000);
    rate.throttled({ startedMs: 0, nowMs: 200, retryAfterMs: 1000 });
    expect(rate.pauses.untilMs).toBe(30_100);
    rate.started(30_100);
    rate.throttled({ startedMs: 30_100, nowMs: 30_200, retryAfterMs: 600_000 });
    expect(rate.pauses.untilMs).toBe(630_200);
    expect(rate.perSecond).toBe(Number.POSITIVE_INFINITY);
  });

  it('lowers an existing limit at once by a pause, whose time is not time at a rate', () => {
    const { rate, nowMs } = limitedRate();
    const before = rate.perSecond;
    rate.started(nowMs);
    rate.started(nowMs);
    rate.throttled({ startedMs: nowMs, nowMs: nowMs + 1, retryAfterMs: 30_000 });
    expect(rate.perSecond / before).toBeCloseTo(0.7);
    // The clock stands still during the pause.
    const activeMs = [1, 10_001, 30_001, 60_001].map((laterMs) =>
      Math.round(rate.pauses.activeMs(nowMs + laterMs) - nowMs),
    );
    expect(activeMs).toEqual([1, 1, 1, 30_001]);
    // It was sent before the limit was lowered.
    rate.throttled({ startedMs: nowMs, nowMs: nowMs + 2 });
    expect(rate.perSecond / before).toBeCloseTo(0.7);
  });

  it('starts a limit lower where the throttled requests ask for a pause', () => {
    const starts = [0, 1].map((retryAfterMs) => {
      const rate = new AdaptiveRate();
      let nowMs = 0;
      for (let count = 0; rate.perSecond === Number.POSITIVE_INFINITY; count += 1) {
        nowMs += 50 + Math.max(0, rate.waitMs(nowMs));
        rate.started(nowMs);
        if (count % 3 === 0) rate.throttled({ startedMs: nowMs, nowMs, retryAfterMs });
        else rate.accepted(nowMs, nowMs);
      }
      return rate.perSecond;
    });
    expect(starts[1]).toBeLessThan(0.9 * (starts[0] ?? 0));
  });

  it('removes a limit for which no request has waited in ten minutes', () => {
    const { rate, nowMs } = limitedRate();
    for (let laterMs = 10_000; laterMs <= 700_000; laterMs += 10_000) {
      rate.started(nowMs + laterMs);
      rate.accepted(nowMs + laterMs, nowMs + laterMs + 1);
    }
    expect(rate.perSecond).toBe(Number.POSITIVE_INFINITY);
  });

  it('keeps its limit while the service accepts nothing, which is not time at a rate', () => {
    const { rate, nowMs } = limitedRate();
    const before = rate.perSecond;
    for (let laterMs = 10_000; laterMs <= 700_000; laterMs += 10_000)
      rate.started(nowMs + laterMs, { isAccepting: false });
    rate.resume(nowMs + 700_000);
    rate.started(nowMs + 701_000);
    expect(rate.perSecond).toBe(before);
  });

  it('finds that refusals at random do not depend on the rate, also if each of them pauses all requests', () => {
    const rate = new AdaptiveRate();
    let lowest = Number.POSITIVE_INFINITY;
    let nowMs = 0;
    for (let count = 0; count < 5000; count += 1) {
      nowMs += Math.max(rate.waitMs(nowMs), 5);
      rate.started(nowMs);
      if (count % 7 === 3) rate.throttled({ startedMs: nowMs, nowMs: nowMs + 1, retryAfterMs: 1000 });
      else rate.accepted(nowMs, nowMs + 1);
      lowest = Math.min(lowest, rate.perSecond);
      nowMs += 1;
    }
    expect(lowest).toBeGreaterThan(2);
  });

  it('climbs to many times the target while everything is accepted, and takes half of what it reached', () => {
    const { rate, nowMs } = limitedRate();
    const endMs = send(rate, nowMs, 45_000, () => true);
    const reached = rate.perSecond;
    expect(reached).toBeGreaterThan(40);
    rate.started(endMs);
    rate.throttled({ startedMs: endMs, nowMs: endMs + 1 });
    expect(rate.perSecond).toBeGreaterThan(0.4 * reached);
    expect(rate.perSecond).toBeLessThan(reached);
  });

  it('counts the requests of the last five minutes', () => {
    const rate = new AdaptiveRate();
    for (let nowMs = 0; nowMs < 90_000; nowMs += 1000) {
      rate.started(nowMs);
      if (nowMs % 30_000 === 0) rate.throttled({ startedMs: nowMs, nowMs });
      else rate.accepted(nowMs, nowMs);
    }
    expect(rate.statistics(100_000)).toEqual({ replies: 90, throttled: 3 });
    expect(rate.statistics(500_000)).toEqual({ replies: 0, throttled: 0 });
  });

  it('never exceeds the ceiling, and lets a request start within ten seconds, whatever happens', () => {
    const step = fc.record({
      forwardMs: fc.nat(5000),
      result: fc.constantFrom('accepted', 'throttled', 'failed'),
      tookMs: fc.nat(10_000),
    });
    fc.assert(
      fc.property(
        fc.double({ min: 0.2, max: 50, noNaN: true }),
        fc.array(step, { maxLength: 200 }),
        (ceiling, steps) => {
          const rate = new AdaptiveRate();
          rate.ceiling = ceiling;
          let nowMs = 0;
          for (const [index, { forwardMs, result, tookMs }] of steps.entries()) {
            nowMs += forwardMs;
            const waitMs = rate.waitMs(nowMs);
            expect(waitMs).toBeLessThanOrEqual(10_000);
            nowMs += Math.max(0, waitMs);
            rate.started(nowMs);
            expect(index).toBeLessThanOrEqual((nowMs * ceiling) / 1000 + 20 * ceiling + 1e-6);
            expect(rate.perSecond).toBeLessThanOrEqual(ceiling);
            nowMs += tookMs;
            if (result === 'accepted') rate.accepted(nowMs - tookMs, nowMs);
            else if (result === 'throttled') rate.throttled({ startedMs: nowMs - tookMs, nowMs });
            else rate.failed(nowMs - tookMs, nowMs);
          }
        },
      ),
    );
  });
});
