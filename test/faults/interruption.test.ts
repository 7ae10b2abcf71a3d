import { describe, expect, it } from 'vitest';
import { SimulatedFleet } from '../service/support/simulated-fleet.ts';
import type { Interruption } from '../service/support/simulated-upstream.ts';

const MINUTE_MS = 60_000;

/** What replies during an interruption: the same for each request, or one after another. */
const INTERRUPTIONS: readonly (readonly Interruption[])[] = [
  ['refused'],
  ['reset'],
  [502],
  [503],
  [504],
  ['refused', 'reset', 502, 503, 504],
];

const ROWS = INTERRUPTIONS.flatMap((replies) =>
  [1, 4, 40].flatMap((stations) =>
    (['scrape', 'background'] as const).flatMap((refresh) =>
      [1, 5].map((ttlMinutes) => ({ replies, stations, refresh, ttlMs: ttlMinutes * MINUTE_MS })),
    ),
  ),
);

function interruptedFrom(fromMs: number, untilMs: number, replies: readonly Interruption[]) {
  let requests = 0;
  return (nowMs: number) => {
    if (nowMs < fromMs || nowMs >= untilMs) return undefined;
    requests += 1;
    return replies[requests % replies.length];
  };
}

describe('a service that is interrupted', () => {
  it.each(ROWS)('for two seconds or less loses no refresh and leaves no limit: %o', async ({ replies, ...model }) => {
    // The next scrape, and the middle of the one after that.
    const fromMs = 2 * model.ttlMs + 5000;
    const long = interruptedFrom(fromMs, fromMs + 2000, replies);
    const laterMs = fromMs + model.ttlMs + 100;
    const short = interruptedFrom(laterMs, laterMs + 300, replies);
    const interrupted = (nowMs: number) => long(nowMs) ?? short(nowMs);
    const service = { latencyMs: 200, throttleLatencyMs: 5, jitterMs: 4, interrupted };
    const fleet = new SimulatedFleet({ pages: 2, ...model }, service);
    await fleet.runUntil(fromMs + 3 * model.ttlMs);
    expect(fleet.failures()).toEqual({});
    expect(fleet.maxAgeMs(model.ttlMs, fromMs + 3 * model.ttlMs)).toBeLessThan(2 * model.ttlMs);
    expect(fleet.limiter.load()).toMatchObject({ requestsPerSecond: Number.POSITIVE_INFINITY });
  });

  it.each(INTERRUPTIONS)('for ten minutes leaves the limit that was in force before: %o', async (...replies) => {
    const fromMs = 5 * MINUTE_MS;
    const untilMs = 15 * MINUTE_MS;
    const service = {
      latencyMs: 200,
      throttleLatencyMs: 5,
      bucket: { perSecond: 20, burst: 20 },
      interrupted: interruptedFrom(fromMs, untilMs, replies),
    };
    const fleet = new SimulatedFleet({ stations: 40, pages: 40 }, service);
    await fleet.runUntil(fromMs);
    const before = fleet.limiter.load().requestsPerSecond;
    await fleet.runUntil(untilMs);
    expect(before).toBeLessThan(40);
    expect(fleet.limiter.load().requestsPerSecond / before).toBeCloseTo(1, 1);
    await fleet.runUntil(untilMs + 5 * MINUTE_MS);
    expect(fleet.limiter.load().requestsPerSecond / before).toBeGreaterThan(0.6);
    expect(fleet.allRefreshedMs(untilMs)).toBeLessThan(untilMs + 3 * MINUTE_MS);
  });
});
