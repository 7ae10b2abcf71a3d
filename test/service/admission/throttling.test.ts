import { describe, expect, it } from 'vitest';
import { type FleetModel, SimulatedFleet } from '../support/simulated-fleet.ts';
import type { UpstreamModel } from '../support/simulated-upstream.ts';

const MINUTE_MS = 60_000;

interface Row extends Partial<UpstreamModel> {
  readonly title: string;
  /** What the service allows, in requests per second. */
  readonly capacity: number;
  /** The least share of the capacity that is used, in percent. */
  readonly used: number;
  /** The largest share of requests that is throttled, in percent. */
  readonly throttled?: number;
  readonly fleet?: Partial<FleetModel>;
}

/** Stations that would need 40 requests per second, and more than that slots. */
const BUSY: FleetModel = { stations: 600, pages: 4 };
const IMPATIENT = { ttlMs: 10_000, stations: 300 };
const halfTakenAtTimes = (nowMs: number) => (Math.floor(nowMs / 30_000) % 2 ? 10 : 20);

const ROWS: readonly Row[] = [
  { title: 'bucket, burst 40', capacity: 20, used: 90, bucket: { perSecond: 20, burst: 40 } },
  {
    title: 'bucket, burst 40, tenfold load',
    capacity: 20,
    used: 90,
    fleet: { stations: 3000 },
    bucket: { perSecond: 20, burst: 40 },
  },
  {
    title: 'bucket, slow, Retry-After 1',
    capacity: 20,
    used: 85,
    fleet: { concurrency: 64 },
    latencyMs: 2000,
    retryAfter: 1,
    bucket: { perSecond: 20, burst: 40 },
  },
  {
    title: 'bucket, half taken by others at times',
    capacity: 15,
    used: 70,
    throttled: 5,
    bucket: { perSecond: halfTakenAtTimes, burst: 40 },
  },
  { title: 'bucket, burst 1', capacity: 20, used: 65, bucket: { perSecond: 20, burst: 1 } },
  // Requests that arrive at random: a share of 3 % throttled would allow 3 % of the capacity.
  {
    title: 'bucket, burst 1, jitter 100 ms',
    capacity: 20,
    used: 30,
    throttled: 15,
    jitterMs: 100,
    bucket: { perSecond: 20, burst: 1 },
  },
  {
    title: 'bucket, burst 40, Retry-After 30',
    capacity: 20,
    used: 30,
    retryAfter: 30,
    bucket: { perSecond: 20, burst: 40 },
  },
  { title: 'bucket of 2/s, burst 4', capacity: 2, used: 90, throttled: 3.5, bucket: { perSecond: 2, burst: 4 } },
  {
    title: 'bucket of 200/s, burst 200',
    capacity: 200,
    used: 90,
    latencyMs: 20,
    fleet: { stations: 800, pages: 30, concurrency: 16 },
    bucket: { perSecond: 200, burst: 200 },
  },
  { title: 'window of 1 s', capacity: 20, used: 90, window: { requests: 20, periodMs: 1000 } },
  { title: 'window of 60 s', capacity: 20, used: 90, window: { requests: 1200, periodMs: MINUTE_MS } },
  {
    title: 'window of 60 s, Retry-After 30',
    capacity: 20,
    used: 90,
    retryAfter: 30,
    window: { requests: 1200, periodMs: MINUTE_MS },
  },
  { title: '4 at once, fast 503', capacity: 20, used: 85, latencyMs: 200, maxInFlight: 4, throttleLatencyMs: 5 },
  { title: '4 at once, Retry-After 1', capacity: 20, used: 75, latencyMs: 200, maxInFlight: 4, retryAfter: 1 },
  {
    title: 'random 5 %',
    capacity: 40,
    used: 90,
    throttled: 6,
    throttledShare: 0.05,
    latencyMs: 200,
    fleet: IMPATIENT,
  },
  {
    title: 'random 20 %, slow',
    capacity: 4,
    used: 40,
    throttled: 25,
    throttledShare: 0.2,
    latencyMs: 2000,
    fleet: IMPATIENT,
  },
];

function fleetOf(seed: number, model: Partial<UpstreamModel>, fleet: Partial<FleetModel> = {}): SimulatedFleet {
  return new SimulatedFleet({ ...BUSY, seed, ...fleet }, { latencyMs: 50, jitterMs: 4, ...model });
}

/** In percent of the capacity, and of the requests. */
function shares(fleet: SimulatedFleet, capacity: number, fromMs: number, untilMs: number) {
  const { accepted, throttled } = fleet.upstream.total(fromMs, untilMs);
  return {
    used: (100_000 * accepted) / (untilMs - fromMs) / capacity,
    throttled: (100 * throttled) / (accepted + throttled),
  };
}

describe.each([1, 2])('a fleet on a service that limits requests, seed %i', (seed) => {
  it.each(ROWS)('$title: uses at least $used % and fails no refresh', async (row) => {
    const { capacity, used, throttled = 3, fleet: size, title: _, ...model } = row;
    const fleet = fleetOf(seed, model, size);
    const untilMs = capacity === 200 ? 2 * MINUTE_MS : 5 * MINUTE_MS;
    await fleet.runUntil(untilMs);
    const result = shares(fleet, capacity, MINUTE_MS, untilMs);
    expect(fleet.failures()).toEqual({});
    expect(result.used).toBeGreaterThanOrEqual(used);
    expect(result.throttled).toBeLessThanOrEqual(throttled);
  });

  const modes = [20, 40].flatMap((stations) =>
    (['scrape', 'background'] as const).map((refresh) => ({ stations, refresh })),
  );

  it.each(modes)('keeps data younger than twice the ttl beside one station of 240 pages: %o', async (mode) => {
    const small = Math.round(240 / (mode.stations - 1));
    const pages = (name: string) => (name === 'station-3' ? 240 : small);
    const fleet = fleetOf(seed, { bucket: { perSecond: 20, burst: 20 }, retryAfter: 1 }, { ...mode, pages });
    await fleet.runUntil(15 * MINUTE_MS);
    expect(fleet.failures()).toEqual({});
    expect(fleet.maxAgeMs(3 * MINUTE_MS, 15 * MINUTE_MS)).toBeLessThan(2 * MINUTE_MS);
  });

  it.each(
    modes.flatMap((mode) =>
      [0.05, 0.2].flatMap((throttledShare) =>
        [undefined, 1].map((retryAfter) => ({ mode, throttledShare, retryAfter })),
      ),
    ),
  )('keeps data younger than twice the ttl when requests are refused at random: %o', async ({ mode, ...refusals }) => {
    const fleet = fleetOf(seed, { latencyMs: 200, throttleLatencyMs: 5, ...refusals }, { ...mode, pages: 2 });
    await fleet.runUntil(15 * MINUTE_MS);
    expect(fleet.failures()).toEqual({});
    expect(fleet.maxAgeMs(3 * MINUTE_MS, 15 * MINUTE_MS)).toBeLessThan(2 * MINUTE_MS);
  });

  it.each([
    [10, 20, 20, 120],
    [2, 40, 4, 120],
  ])('finds a limit that rises from %i to %i per second within a minute', async (before, after, burst, second) => {
    const changeMs = 1000 * second;
    const perSecond = (nowMs: number) => (nowMs < changeMs ? before : after);
    const fleet = fleetOf(seed, { bucket: { perSecond, burst } }, { stations: 1500 });
    await fleet.runUntil(changeMs + MINUTE_MS);
    expect(fleet.failures()).toEqual({});
    const reached = Array.from({ length: 58 }, (_, later) => changeMs + 1000 * later).some(
      (fromMs) => shares(fleet, after, fromMs, fromMs + 3000).used >= 80,
    );
    expect(reached).toBe(true);
  });

  it('follows a limit that falls from 40 to 2 per second', async () => {
    const perSecond = (nowMs: number) => (nowMs < 2 * MINUTE_MS ? 40 : 2);
    const fleet = fleetOf(seed, { bucket: { perSecond, burst: 40 } });
    await fleet.runUntil(7 * MINUTE_MS);
    const { used, throttled } = shares(fleet, 2, 2 * MINUTE_MS + 10_000, 7 * MINUTE_MS);
    expect(fleet.failures()).toEqual({});
    expect(used).toBeGreaterThan(90);
    expect(throttled).toBeLessThan(3.5);
  });

  it('finishes a refresh of 300 pages in which four requests are throttled once, at about its former speed', async () => {
    let throttled = 0;
    const throttlesAll = (nowMs: number) => nowMs > 500 && throttled++ < 4;
    const fleet = fleetOf(seed, { latencyMs: 30, throttlesAll }, { stations: 1, pages: 300 });
    await fleet.runUntil(MINUTE_MS);
    expect(fleet.failures()).toEqual({});
    expect(fleet.allRefreshedMs(0)).toBeLessThan(5000);
  });
});

it.each([10, 24, 36])('takes no series of refusals at random for a limit, seed %i', async (seed) => {
  const model = { latencyMs: 200, throttleLatencyMs: 5, throttledShare: 0.2 };
  const fleet = fleetOf(seed, model, { stations: 40, refresh: 'background', pages: 2 });
  await fleet.runUntil(15 * MINUTE_MS);
  expect(fleet.maxAgeMs(3 * MINUTE_MS, 15 * MINUTE_MS)).toBeLessThan(2 * MINUTE_MS);
});
