import { describe, expect, it } from 'vitest';
import { type FleetModel, SimulatedFleet } from '../service/support/simulated-fleet.ts';
import { MAINTENANCE, type UpstreamModel } from '../service/support/simulated-upstream.ts';

const MINUTE_MS = 60_000;
const FROM_MS = 5 * MINUTE_MS;

/** How long a refresh takes, and a station in the background waits for it beyond its ttl. */
const REFRESH_MS = 8000;

const DOWN = {
  reason: 'status',
  status: 503,
  message: `service.invalid answered 503 Service Unavailable: ${MAINTENANCE}`,
};

interface Maintenance {
  readonly lastsMs: number;
  /** In seconds. */
  readonly retryAfter?: number | undefined;
  /** Whether the station is part of it. */
  readonly isOut?: (station: string) => boolean;
  readonly fromMs?: number;
}

function fleetDuring(maintenance: Maintenance, model: Partial<FleetModel>, upstream: Partial<UpstreamModel> = {}) {
  const { lastsMs, retryAfter = 0, isOut = () => true, fromMs = FROM_MS } = maintenance;
  const toMs = fromMs + lastsMs;
  const unavailable = (name: string, nowMs: number) => isOut(name) && nowMs >= fromMs && nowMs < toMs;
  const service = { latencyMs: 200, throttleLatencyMs: 5, jitterMs: 4, unavailable, unavailableRetryAfter: retryAfter };
  const fleet = new SimulatedFleet({ stations: 20, pages: 1, ...model }, { ...service, ...upstream });
  /** All stations are refreshed and none fails after that. */
  const isOverMs = toMs + MINUTE_MS + 1000 * retryAfter;
  return { fleet, toMs, isOverMs };
}

const downOf = (stations: number) => Array(stations).fill(expect.objectContaining(DOWN));

const failuresOf = (fleet: SimulatedFleet) => fleet.views().map(({ health }) => health.failure);

const lateFailures = (fleet: SimulatedFleet, fromMs: number) =>
  fleet.stations.flatMap(({ failures }) => failures).filter(({ endMs }) => endMs > fromMs);

const ROWS = [20, 40].flatMap((stations) =>
  (['scrape', 'background'] as const).flatMap((refresh) =>
    [90_000, 600_000].flatMap((lastsMs) =>
      [undefined, 30].map((retryAfter) => ({ stations, refresh, lastsMs, retryAfter })),
    ),
  ),
);

describe('a maintenance of the service', () => {
  it.each(ROWS)(
    'is what every station reports until it ends, and leaves no limit: %o',
    async ({ stations, refresh, ...maintenance }) => {
      const bucket = { bucket: { perSecond: 20, burst: 20 }, retryAfter: 1 };
      const { fleet, toMs, isOverMs } = fleetDuring(maintenance, { stations, refresh }, bucket);
      await fleet.runUntil(FROM_MS + 1.2 * MINUTE_MS);
      for (let atMs = FROM_MS + 1.2 * MINUTE_MS; atMs < toMs; atMs += 5000) {
        await fleet.runUntil(atMs);
        expect(failuresOf(fleet)).toEqual(downOf(stations));
      }
      await fleet.runUntil(isOverMs + 10 * MINUTE_MS);
      expect(fleet.upstream.early).toBe(0);
      expect(fleet.allRefreshedMs(toMs)).toBeLessThan(isOverMs + REFRESH_MS);
      expect(lateFailures(fleet, isOverMs)).toEqual([]);
      expect(fleet.limiter.load()).toMatchObject({ requestsPerSecond: Number.POSITIVE_INFINITY });
    },
  );

  it.each([undefined, 30, 300])('is what the first scrape in it reports, with Retry-After %s', async (retryAfter) => {
    const { fleet } = fleetDuring({ lastsMs: 90_000, retryAfter }, { stations: 40 });
    await fleet.runUntil(FROM_MS + 20_000);
    const scrape = fleet.scrapes.findLast(({ startMs }) => startMs > FROM_MS);
    expect(scrape?.failures).toEqual(downOf(40));
  });

  it.each([
    { stations: 1, retryAfter: 60 },
    { stations: 2, retryAfter: 300 },
  ])(
    'is what one or two stations report within seconds that got pages until then: %o',
    async ({ stations, retryAfter }) => {
      const maintenance = { lastsMs: 600_000, retryAfter, fromMs: FROM_MS + 6000 };
      const { fleet } = fleetDuring(maintenance, { stations, pages: 40 });
      await fleet.runUntil(maintenance.fromMs + 1000);
      expect(fleet.limiter.load()).toMatchObject({ refusal: DOWN });
      await fleet.runUntil(maintenance.fromMs + 6000);
      expect(failuresOf(fleet)).toEqual(downOf(stations));
    },
  );

  it.each([undefined, 30])('is what a first start in it reports, with Retry-After %s', async (retryAfter) => {
    const { fleet, toMs, isOverMs } = fleetDuring({ lastsMs: 90_000, retryAfter, fromMs: 0 }, { stations: 40 });
    await fleet.runUntil(20_000);
    expect(failuresOf(fleet)).toEqual(downOf(40));
    await fleet.runUntil(isOverMs + MINUTE_MS);
    expect(fleet.allRefreshedMs(toMs)).toBeLessThan(isOverMs + REFRESH_MS);
    expect(lateFailures(fleet, isOverMs)).toEqual([]);
  });

  it('leaves the limit that was in force before it', async () => {
    const bucket = { bucket: { perSecond: 20, burst: 20 }, retryAfter: 1 };
    const { fleet, toMs } = fleetDuring({ lastsMs: 700_000 }, { stations: 40, pages: 4 }, bucket);
    await fleet.runUntil(FROM_MS);
    const before = fleet.limiter.load().requestsPerSecond;
    await fleet.runUntil(toMs);
    expect(before).toBeLessThan(40);
    expect(fleet.limiter.load().requestsPerSecond / before).toBeCloseTo(1, 1);
    await fleet.runUntil(toMs + 5 * MINUTE_MS);
    expect(fleet.limiter.load().requestsPerSecond / before).toBeGreaterThan(0.6);
  });

  it.each([undefined, 30])(
    'of half of the stations neither limits nor stops the others, with Retry-After %s',
    async (retryAfter) => {
      const isOut = (name: string) => Number(name.split('-')[1]) < 10;
      const { fleet, toMs } = fleetDuring({ lastsMs: 600_000, retryAfter, isOut }, {});
      const others = fleet.stations.filter(({ name }) => !isOut(name));
      await fleet.runUntil(toMs);
      expect(fleet.limiter.load().requestsPerSecond).toBe(Number.POSITIVE_INFINITY);
      expect(fleet.maxAgeMs(FROM_MS + 5 * MINUTE_MS, toMs, others)).toBeLessThan(3 * MINUTE_MS);
    },
  );

  it('begins with pages that are still accepted, and does not count against the rate with those that are not', async () => {
    const { fleet, toMs } = fleetDuring(
      { lastsMs: 90_000, fromMs: FROM_MS + 6000 },
      { stations: 20, pages: 40 },
      { latencyMs: 2000 },
    );
    await fleet.runUntil(toMs + 3 * MINUTE_MS);
    expect(fleet.limiter.load()).toMatchObject({ requestsPerSecond: Number.POSITIVE_INFINITY, recentThrottled: 0 });
  });
});
