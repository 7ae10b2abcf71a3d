import { describe, expect, it } from 'vitest';
import { type FleetModel, type Scraper, SimulatedFleet } from '../service/support/simulated-fleet.ts';
import type { UpstreamModel } from '../service/support/simulated-upstream.ts';

const MINUTE_MS = 60_000;
const DEADLINE_MS = 9500;

interface SlowWorld {
  readonly why: string;
  /** So that a station is refreshed in about 18 s if it is slow at that time. */
  readonly pages: (isSlow: boolean) => number;
  readonly latencyMs: (isSlow: boolean) => number;
}

const WORLDS: readonly SlowWorld[] = [
  { why: 'replies late', pages: (isSlow) => (isSlow ? 3 : 1), latencyMs: (isSlow) => (isSlow ? 9000 : 200) },
  { why: 'has 240 pages, which take all slots', pages: (isSlow) => (isSlow ? 240 : 1), latencyMs: () => 600 },
];

const SIZES = [20, 100];

const PROMETHEUS: Scraper = { path: '/metrics', offsetMs: 5000 };
const SCRAPERS: readonly { readonly by: string; readonly scrapers: readonly Scraper[] }[] = [
  { by: 'one Prometheus', scrapers: [PROMETHEUS] },
  { by: 'two, three seconds apart', scrapers: [PROMETHEUS, { ...PROMETHEUS, offsetMs: 8000 }] },
  { by: 'two, half an interval apart', scrapers: [PROMETHEUS, { ...PROMETHEUS, offsetMs: 35_000 }] },
];

/** Default values; every 20th station is slow, as many as said, until then. */
function fleetOf(
  { pages, latencyMs }: SlowWorld,
  { slow, ...size }: { readonly slow: number } & Omit<FleetModel, 'pages'>,
  untilMs = Number.POSITIVE_INFINITY,
) {
  const slowNames = new Set(Array.from({ length: slow }, (_, index) => `station-${20 * index + 3}`));
  let now = () => 0;
  const isSlow = (name: string) => slowNames.has(name) && now() < untilMs;
  const upstream: UpstreamModel = { latencyMs: (name) => latencyMs(isSlow(name)) };
  const fleet = new SimulatedFleet({ pages: (name) => pages(isSlow(name)), ...size }, upstream);
  now = fleet.clock.now;
  /** What the scrapes of that time took, and the greatest age of the data in them. */
  const scraped = (fromMs: number, toMs: number) => {
    const scrapes = fleet.scrapes.filter(({ startMs }) => startMs >= fromMs && startMs < toMs);
    const agesMs = (ofSlow: boolean) =>
      scrapes.flatMap((scrape) => scrape.agesMs.filter((_, at) => slowNames.has(`station-${at}`) === ofSlow));
    const durationsMs = scrapes.map(({ startMs, endMs }) => endMs - startMs);
    return {
      maxMs: Math.max(...durationsMs),
      meanMs: durationsMs.reduce((sum, ms) => sum + ms, 0) / durationsMs.length,
      oldestMs: Math.max(...agesMs(false)),
      oldestSlowMs: Math.max(...agesMs(true)),
    };
  };
  return { fleet, scraped };
}

describe('a fleet with a slow station', () => {
  it.each(WORLDS.flatMap((world) => SIZES.flatMap((stations) => SCRAPERS.map((row) => ({ world, stations, ...row })))))(
    'is scraped without waiting for it, and with fresh data of the others: 1 of $stations, which $world.why, by $by',
    async ({ world, stations, scrapers }) => {
      const { fleet, scraped } = fleetOf(world, { slow: 1, stations, scrapers });
      await fleet.runUntil(10 * MINUTE_MS);
      const { maxMs, oldestMs, oldestSlowMs } = scraped(2 * MINUTE_MS, 10 * MINUTE_MS);
      expect(fleet.failures()).toEqual({});
      expect(maxMs).toBeLessThan(8000);
      // Between two servers that share the refreshes, half an interval.
      expect(oldestMs).toBeLessThan(scrapers.length === 1 ? DEADLINE_MS : 31_000);
      expect(oldestSlowMs).toBeLessThan(MINUTE_MS + DEADLINE_MS);
      expect(fleet.refreshesPerTtl(2 * MINUTE_MS, 10 * MINUTE_MS)).toBeCloseTo(1, 2);
    },
  );

  it.each(WORLDS)('waits for the first refreshes after a restart, and not in the next scrape: $why', async (world) => {
    const { fleet, scraped } = fleetOf(world, { slow: 1, stations: 20 });
    await fleet.runUntil(4 * MINUTE_MS);
    fleet.restart();
    await fleet.runUntil(8 * MINUTE_MS);
    expect(scraped(4 * MINUTE_MS, 5 * MINUTE_MS)).toMatchObject({ maxMs: DEADLINE_MS, oldestSlowMs: Infinity });
    const { maxMs, oldestSlowMs } = scraped(5 * MINUTE_MS, 8 * MINUTE_MS);
    expect(maxMs).toBeLessThan(8000);
    expect(oldestSlowMs).toBeLessThan(MINUTE_MS + DEADLINE_MS);
    // The first refreshes of others may have waited for that of the slow one.
    expect(scraped(6 * MINUTE_MS, 8 * MINUTE_MS).oldestMs).toBeLessThan(DEADLINE_MS);
  });

  it.each(WORLDS)('waits for it again one scrape after it has become fast: $why', async (world) => {
    const { fleet, scraped } = fleetOf(world, { slow: 1, stations: 20 }, 4 * MINUTE_MS);
    await fleet.runUntil(8 * MINUTE_MS);
    expect(scraped(3 * MINUTE_MS, 5 * MINUTE_MS).oldestSlowMs).toBeGreaterThan(50_000);
    expect(scraped(5 * MINUTE_MS, 8 * MINUTE_MS).oldestSlowMs).toBeLessThan(DEADLINE_MS);
  });

  it('makes data older when five of 100 need more than all slots, and scrapes shorter than their deadline', async () => {
    const [, world] = WORLDS as [SlowWorld, SlowWorld];
    const { fleet, scraped } = fleetOf(world, { slow: 5, stations: 100 });
    await fleet.runUntil(20 * MINUTE_MS);
    expect(fleet.failures()).toEqual({});
    const { meanMs, oldestMs, oldestSlowMs } = scraped(3 * MINUTE_MS, 20 * MINUTE_MS);
    expect(meanMs).toBeLessThan(0.7 * DEADLINE_MS);
    expect(oldestMs).toBeLessThan(1.5 * MINUTE_MS);
    expect(oldestSlowMs).toBeLessThan(2.5 * MINUTE_MS);
  });
});
