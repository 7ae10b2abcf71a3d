import { describe, expect, it } from 'vitest';
import { type FleetModel, SimulatedFleet } from '../support/simulated-fleet.ts';
import type { UpstreamModel } from '../support/simulated-upstream.ts';

const MINUTE_MS = 60_000;

async function simulate(fleet: FleetModel, upstream: UpstreamModel, untilMs: number): Promise<SimulatedFleet> {
  const simulated = new SimulatedFleet(fleet, upstream);
  await simulated.runUntil(untilMs);
  return simulated;
}

function numberOf(name: string): number {
  return Number(name.split('-')[1]);
}

describe('a fleet with more work than the limits allow', () => {
  it.each<{
    what: string;
    model: FleetModel;
    upstream: UpstreamModel;
    /** Work divided by capacity. */
    roundMs: number;
  }>([
    {
      what: '1,000 stations of two pages',
      model: { stations: 1000, pages: 2 },
      upstream: { latencyMs: 1000 },
      roundMs: 250_000,
    },
    {
      what: '60 stations of three pages within a refresh timeout far below a round',
      model: { stations: 60, pages: 3, refreshTimeoutMs: 10_000, ttlMs: 10_000 },
      upstream: { latencyMs: 1000 },
      roundMs: 22_500,
    },
    {
      what: '100 stations of ten pages at 5/s',
      model: { stations: 100, pages: 10 },
      upstream: { latencyMs: 1000, bucket: { perSecond: 5, burst: 10 } },
      roundMs: 200_000,
    },
  ])(
    'refreshes $what one after another, at an interval of work divided by capacity',
    async ({ model, upstream, roundMs }) => {
      const fleet = await simulate(model, upstream, 4 * roundMs);
      expect(fleet.failures()).toEqual({});
      expect(fleet.maxAgeMs(2 * roundMs, 4 * roundMs)).toBeLessThan(1.3 * roundMs);
      expect(fleet.upstream.mostInFlight).toBe(8);
    },
  );

  it.each([
    { stations: 1000, pages: 1 },
    { stations: 1, pages: 1000 },
  ])('loses no time to scheduling when there is no overload: %o', async (model) => {
    const fleet = await simulate({ ...model, concurrency: 16 }, { latencyMs: 50 }, 10_000);
    expect(fleet.allRefreshedMs(0)).toBeLessThan(1.05 * (1000 / 16) * 50);
  });

  it('uses the allowed rate when twice as much is needed and a 429 is faster than a page', async () => {
    const upstream = { latencyMs: 1000, throttleLatencyMs: 10, bucket: { perSecond: 20, burst: 40 } };
    const fleet = await simulate({ stations: 600, pages: 4, concurrency: 64 }, upstream, 6 * MINUTE_MS);
    const { accepted, throttled } = fleet.upstream.total(MINUTE_MS, 6 * MINUTE_MS);
    expect(fleet.failures()).toEqual({});
    expect(accepted / 300).toBeGreaterThan(0.85 * 20);
    expect(throttled / (accepted + throttled)).toBeLessThan(0.03);
  });

  it.each([undefined, 1])(
    'delays no refresh for long when half the rate is needed, with Retry-After %s',
    async (retryAfter) => {
      const model = { stations: 600, pages: 1, spreadMs: MINUTE_MS };
      const fleet = await simulate(
        model,
        { latencyMs: 50, bucket: { perSecond: 20, burst: 40 }, retryAfter },
        3 * MINUTE_MS,
      );
      const burst = Array.from({ length: 100 }, (_, index) => fleet.refreshNow(`burst-${index}`));
      await fleet.runUntil(6 * MINUTE_MS);
      await Promise.all(burst);
      const later = fleet.stations
        .flatMap(({ successes }) => successes)
        .filter(({ dueAtMs }) => dueAtMs > 3 * MINUTE_MS + 10_000);
      const { accepted, throttled } = fleet.upstream.total(MINUTE_MS, 6 * MINUTE_MS);
      expect(fleet.failures()).toEqual({});
      expect(Math.max(...later.map(({ dueAtMs, endMs }) => endMs - dueAtMs))).toBeLessThan(1000);
      expect(throttled / (accepted + throttled)).toBeLessThan(0.02);
    },
  );
});

describe('a fleet with stations that hang', () => {
  const every = (count: number) => (name: string) => numberOf(name) % (1000 / count) === 0;
  const firstHalf = (name: string) => numberOf(name) < 500;
  const UNTIL_MS = 5 * MINUTE_MS;

  it.each([
    { title: '500 neighbours from the start', isBad: firstHalf, fromMs: 0 },
    { title: '50 later', isBad: every(50), fromMs: 150_000 },
    { title: '500 later', isBad: every(500), fromMs: 150_000 },
  ])(
    'keeps the others fresh, and refreshes all within a ttl when they answer again: $title',
    async ({ isBad, fromMs }) => {
      const hangs = (name: string, nowMs: number) => isBad(name) && nowMs >= fromMs && nowMs < UNTIL_MS;
      const fleet = await simulate({ stations: 1000, pages: 1 }, { latencyMs: 50, hangs }, 7 * MINUTE_MS);
      const healthy = fleet.stations.filter(({ name }) => !isBad(name));
      expect(fleet.failures(healthy)).toEqual({});
      expect(fleet.allRefreshedMs(0, healthy)).toBeLessThan(2 * MINUTE_MS);
      expect(fleet.maxAgeMs(2 * MINUTE_MS, UNTIL_MS, healthy)).toBeLessThan(2 * MINUTE_MS);
      expect(fleet.allRefreshedMs(UNTIL_MS)).toBeLessThan(UNTIL_MS + 1.2 * MINUTE_MS);
      expect(fleet.limiter.load().hangingStations).toBe(0);
    },
  );

  it('refreshes stations that become slow but answer', async () => {
    const isSlow = (name: string, nowMs: number) => numberOf(name) % 10 === 0 && nowMs >= 150_000;
    const latencyMs = (name: string, nowMs: number) => (isSlow(name, nowMs) ? 8000 : 50);
    const fleet = await simulate({ stations: 200, pages: 1 }, { latencyMs }, 8 * MINUTE_MS);
    expect(fleet.failures()).toEqual({});
    expect(fleet.maxAgeMs(5 * MINUTE_MS, 8 * MINUTE_MS)).toBeLessThan(1.3 * MINUTE_MS);
    expect(fleet.limiter.load().hangingStations).toBe(0);
  });

  it('aborts no request when the upstream itself becomes slow', async () => {
    const latencyMs = (_: string, nowMs: number) => (nowMs > 100_000 ? 5000 : 50);
    const fleet = await simulate({ stations: 200, pages: 2 }, { latencyMs }, 5 * MINUTE_MS);
    expect(fleet.upstream.aborted).toBe(0);
    expect(fleet.failures()).toEqual({});
  });
});
