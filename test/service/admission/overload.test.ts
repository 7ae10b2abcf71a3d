import { describe, expect, it } from 'vitest';
import { type FleetModel, type Scraper, SimulatedFleet } from '../support/simulated-fleet.ts';
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

const METRICS: Scraper = { path: '/metrics', offsetMs: 5000 };
const METRICS_LATER: Scraper = { path: '/metrics', offsetMs: 35_000 };
const PROBES: Scraper = { path: '/probe', offsetMs: 5000 };
const PROBES_LATER: Scraper = { path: '/probe', offsetMs: 22_000 };

const SCRAPED: readonly { readonly title: string; readonly model: Partial<FleetModel> }[] = [
  { title: 'one Prometheus', model: { scrapers: [METRICS] } },
  { title: 'two Prometheus servers', model: { scrapers: [METRICS, METRICS_LATER] } },
  { title: 'one Prometheus with /probe', model: { scrapers: [PROBES] } },
  { title: 'two Prometheus servers with /probe', model: { scrapers: [PROBES, PROBES_LATER] } },
];

describe('a fleet on a service that is fast enough', () => {
  const sizes = [
    { stations: 1, pages: 3, latencyMs: 200 },
    { stations: 100, pages: 3, latencyMs: 200 },
    { stations: 1000, pages: 1, latencyMs: 100 },
  ];

  it.each(SCRAPED.flatMap((row) => sizes.map((size) => ({ ...row, ...size }))))(
    'refreshes each of $stations stations once per ttl, scraped by $title',
    async ({ stations, pages, latencyMs, model }) => {
      const fleet = await simulate({ stations, pages, ...model }, { latencyMs }, 12 * MINUTE_MS);
      expect(fleet.failures()).toEqual({});
      expect(fleet.refreshesPerTtl(2 * MINUTE_MS, 12 * MINUTE_MS)).toBeCloseTo(1, 2);
      expect(fleet.maxAgeMs(2 * MINUTE_MS, 12 * MINUTE_MS)).toBeLessThan(1.02 * MINUTE_MS);
    },
  );

  it('refreshes each station once per ttl and jitter in the background', async () => {
    const model = { stations: 100, pages: 3, refresh: 'background' } as const;
    const fleet = await simulate(model, { latencyMs: 200 }, 12 * MINUTE_MS);
    expect(fleet.failures()).toEqual({});
    expect(fleet.refreshesPerTtl(2 * MINUTE_MS, 12 * MINUTE_MS)).toBeGreaterThan(0.9);
    expect(fleet.maxAgeMs(2 * MINUTE_MS, 12 * MINUTE_MS)).toBeLessThan(1.15 * MINUTE_MS);
  });

  it.each([
    { stations: 1000, pages: 1 },
    { stations: 1, pages: 1000 },
  ])('loses no time to scheduling: %o', async (model) => {
    const fleet = await simulate({ ...model, concurrency: 16 }, { latencyMs: 50 }, 10_000);
    expect(fleet.allRefreshedMs(0)).toBeLessThan(1.05 * (1000 / 16) * 50);
  });
});

describe('a fleet with more work than the limits allow', () => {
  const loads: readonly {
    readonly what: string;
    readonly size: FleetModel;
    readonly upstream: UpstreamModel;
    /** Work divided by capacity. */
    readonly roundMs: number;
  }[] = [
    {
      what: '1,000 stations of two pages',
      size: { stations: 1000, pages: 2 },
      upstream: { latencyMs: 1000 },
      roundMs: 250_000,
    },
    {
      what: '60 stations of three pages within a refresh timeout far below a round',
      size: { stations: 60, pages: 3, refreshTimeoutMs: 10_000, ttlMs: 10_000 },
      upstream: { latencyMs: 1000 },
      roundMs: 22_500,
    },
    {
      what: '100 stations of ten pages at 5/s',
      size: { stations: 100, pages: 10 },
      upstream: { latencyMs: 1000, bucket: { perSecond: 5, burst: 10 } },
      roundMs: 200_000,
    },
  ];
  const modes = [...SCRAPED, { title: 'nobody, in the background', model: { refresh: 'background' } as const }];

  it.each(modes.flatMap((mode) => loads.map((load) => ({ ...mode, ...load }))))(
    'refreshes $what one after another, at an interval of work divided by capacity, scraped by $title',
    async ({ model, size, upstream, roundMs }) => {
      const fleet = await simulate({ ...size, ...model }, upstream, 4 * roundMs);
      expect(fleet.failures()).toEqual({});
      expect(fleet.maxAgeMs(2 * roundMs, 4 * roundMs)).toBeLessThan(1.3 * roundMs);
      expect(fleet.upstream.mostInFlight).toBe(8);
    },
  );

  it.each(modes)(
    'fails no refresh that takes longer than its timeout only because of the rate, scraped by $title',
    async ({ model }) => {
      const size = { stations: 20, pages: 15, requestsPerSecond: 0.1, ...model };
      // 300 requests, one in ten seconds.
      const roundMs = 3_000_000;
      const fleet = await simulate(size, { latencyMs: 200 }, 3 * roundMs);
      expect(fleet.failures()).toEqual({});
      expect(fleet.maxAgeMs(2 * roundMs, 3 * roundMs)).toBeLessThan(1.1 * roundMs);
    },
  );

  it.each([undefined, 1])(
    'delays no refresh for long when half the rate is needed, with Retry-After %s',
    async (retryAfter) => {
      const model = { stations: 600, pages: 1, scrapers: [PROBES] };
      const upstream = { latencyMs: 50, bucket: { perSecond: 20, burst: 40 }, retryAfter };
      const fleet = await simulate(model, upstream, 3 * MINUTE_MS);
      fleet.refreshTogether(100);
      await fleet.runUntil(6 * MINUTE_MS);
      const later = fleet.stations
        .flatMap(({ successes }) => successes)
        .filter(({ requestedMs }) => requestedMs > 3 * MINUTE_MS + 10_000);
      const { accepted, throttled } = fleet.upstream.total(MINUTE_MS, 6 * MINUTE_MS);
      expect(fleet.failures()).toEqual({});
      expect(Math.max(...later.map(({ requestedMs, endMs }) => endMs - requestedMs))).toBeLessThan(1000);
      expect(throttled / (accepted + throttled)).toBeLessThan(0.02);
    },
  );
});

describe('a fleet with stations that hang', () => {
  const every = (nth: number) => (name: string) => numberOf(name) % nth === 0;
  const UNTIL_MS = 20 * MINUTE_MS;

  it.each([
    { title: '10 of 100', stations: 100, isBad: every(10), fromMs: 150_000 },
    { title: '50 of 100', stations: 100, isBad: every(2), fromMs: 150_000 },
    { title: '50 of 100 from the start', stations: 100, isBad: every(2), fromMs: 0 },
    { title: '50 of 1,000', stations: 1000, isBad: every(20), fromMs: 150_000 },
    { title: '500 of 1,000', stations: 1000, isBad: every(2), fromMs: 150_000 },
  ])(
    'delays the others only until each has hung once, and refreshes all within a ttl when they answer again: $title',
    async ({ stations, isBad, fromMs }) => {
      const hangs = (name: string, nowMs: number) => isBad(name) && nowMs >= fromMs && nowMs < UNTIL_MS;
      const fleet = await simulate({ stations, pages: 1 }, { latencyMs: 50, hangs }, UNTIL_MS + 1.2 * MINUTE_MS);
      const healthy = fleet.stations.filter(({ name }) => !isBad(name));
      // Each holds one of three quarters of the slots for the timeout of a request.
      const foundMs = ((stations - healthy.length) * 10_000) / 6;
      expect(fleet.failures(healthy)).toEqual({});
      expect(fleet.allRefreshedMs(fromMs, healthy)).toBeLessThan(fromMs + foundMs + MINUTE_MS);
      expect(fleet.maxAgeMs(fromMs + foundMs + 2 * MINUTE_MS, UNTIL_MS, healthy)).toBeLessThan(1.02 * MINUTE_MS);
      expect(fleet.allRefreshedMs(UNTIL_MS)).toBeLessThan(UNTIL_MS + 1.2 * MINUTE_MS);
      expect(fleet.limiter.load().hangingStations).toBe(0);
    },
  );

  it('probes them with a quarter of the slots, and lets no scrape wait for them', async () => {
    const hangs = (_: string, nowMs: number) => nowMs >= 150_000;
    const fleet = await simulate({ stations: 40, pages: 1 }, { latencyMs: 50, hangs }, 10 * MINUTE_MS);
    fleet.upstream.mostInFlight = 0;
    fleet.scrapes.length = 0;
    await fleet.runUntil(20 * MINUTE_MS);
    expect(fleet.limiter.load().hangingStations).toBe(40);
    expect(fleet.upstream.mostInFlight).toBe(2);
    expect(fleet.scrapes.map(({ startMs, endMs }) => endMs - startMs)).toEqual(Array(10).fill(0));
  });
});
