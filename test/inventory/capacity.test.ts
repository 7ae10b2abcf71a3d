import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forecastCapacity, type ListedWork, type StationWork } from '../../src/inventory/capacity.ts';
import { capacityText, slowRefreshText } from '../../src/inventory/capacity-text.ts';

const LIMITS = { concurrency: 8, requestsPerSecond: 0, pageSize: 100 };
const LOAD = { typicalLatencyMs: 67, requestsPerSecond: Number.POSITIVE_INFINITY };

function workOf(requests: number, changes: Partial<StationWork> = {}, listed: Partial<ListedWork> = {}): StationWork {
  return {
    name: 'prod',
    ttlMs: 60_000,
    refreshTimeoutMs: 120_000,
    durationMs: 1000,
    listed: { requests, furtherRequests: 0, listings: 1, records: 100 * requests, ...listed },
    ...changes,
  };
}

/** Stations of ten requests each. */
const fleetOf = (requests: number, changes?: Partial<StationWork>, listed?: Partial<ListedWork>) =>
  Array.from({ length: requests / 10 }, () => workOf(10, changes, listed));

function forecastOf(
  stations: readonly StationWork[],
  limits: Partial<typeof LIMITS> = {},
  load: Partial<typeof LOAD> = {},
) {
  const forecast = forecastCapacity(stations, { ...LIMITS, ...limits }, { ...LOAD, ...load });
  if (forecast === undefined) throw new Error('too little is known');
  return forecast;
}

describe('forecastCapacity', () => {
  it('is unknown before the first reply and the first snapshot', () => {
    const latency = { ...LOAD, typicalLatencyMs: undefined };
    expect(forecastCapacity([workOf(1)], LIMITS, latency)).toBeUndefined();
    expect(forecastCapacity([workOf(1, { listed: undefined })], LIMITS, LOAD)).toBeUndefined();
    expect(forecastCapacity([], LIMITS, LOAD)).toBeUndefined();
  });

  it('leaves out stations without a snapshot, and counts them', () => {
    expect(forecastOf([workOf(3), workOf(1, { listed: undefined })])).toMatchObject({
      requests: 3,
      unknownStations: 1,
    });
  });

  it('suffices up to exactly the capacity', () => {
    // 1,000 ms with concurrency 8: 480 requests per minute.
    const exact = forecastOf(fleetOf(480), {}, { typicalLatencyMs: 1000 });
    expect(exact).toMatchObject({ durationMs: 60_000, delayMs: 0, remedies: undefined });
    const above = forecastOf(fleetOf(490), {}, { typicalLatencyMs: 1000 });
    expect(above.remedies).toMatchObject({ limits: { concurrency: 9 }, shards: 2, pageSize: 200 });
  });

  it('names for each setting the smallest value that suffices alone', () => {
    expect(forecastOf(fleetOf(12_000)).remedies).toEqual({
      limits: { concurrency: 14, requestsPerSecond: undefined },
      ttlMs: expect.closeTo(100_500, 6),
      ttlFactor: expect.closeTo(1.675, 6),
      pageSize: 200,
      furtherRequests: undefined,
      shards: 2,
    });
  });

  it('rounds no exact integer up', () => {
    const { remedies } = forecastOf(fleetOf(12_000), {}, { typicalLatencyMs: 70 });
    expect(remedies?.limits?.concurrency).toBe(14);
    const twice = forecastOf(fleetOf(960), {}, { typicalLatencyMs: 1000 });
    expect(twice.remedies?.shards).toBe(2);
  });

  it('knows no concurrency above what the configuration allows', () => {
    expect(forecastOf(fleetOf(12_000), {}, { typicalLatencyMs: 5000 }).remedies?.limits?.concurrency).toBe(1000);
    expect(forecastOf(fleetOf(12_010), {}, { typicalLatencyMs: 5000 }).remedies?.limits).toBeUndefined();
  });

  it('raises requests_per_second where that is the limit, together with concurrency where both are', () => {
    const configured = forecastOf(fleetOf(600), { requestsPerSecond: 5 }, { requestsPerSecond: 5 });
    expect(configured).toMatchObject({ limit: 'requests_per_second', possiblePerSecond: 5, durationMs: 120_000 });
    expect(configured.remedies).toMatchObject({
      limits: { concurrency: undefined, requestsPerSecond: 10 },
      shards: undefined,
    });
    const both = forecastOf(fleetOf(12_000), { requestsPerSecond: 5 }, { requestsPerSecond: 5 });
    expect(both.remedies?.limits).toEqual({ concurrency: 14, requestsPerSecond: 200 });
  });

  it('offers neither limits nor shards while the service throttles', () => {
    for (const requestsPerSecond of [0, 50]) {
      const { limit, remedies } = forecastOf(fleetOf(600), { requestsPerSecond }, { requestsPerSecond: 4.2 });
      expect(limit).toBe('throttling');
      expect(remedies).toMatchObject({ limits: undefined, shards: undefined, pageSize: 300 });
    }
  });

  it('offers no larger page where that changes nothing', () => {
    const small = forecastOf(Array.from({ length: 12_000 }, () => workOf(1)));
    expect(small.remedies).toMatchObject({ pageSize: undefined, shards: 2 });
    const capped = forecastOf(fleetOf(12_000, {}, { records: 200 }));
    expect(capped.remedies?.pageSize).toBeUndefined();
    expect(forecastOf(fleetOf(12_000), { pageSize: 1000 }).remedies?.pageSize).toBeUndefined();
  });

  it('offers to remove products where that suffices', () => {
    expect(forecastOf(fleetOf(12_000, {}, { furtherRequests: 8 })).remedies?.furtherRequests).toBe(9600);
    expect(forecastOf(fleetOf(12_000, {}, { furtherRequests: 1 })).remedies?.furtherRequests).toBeUndefined();
  });

  it('counts one refresh per minute with a ttl of 0', () => {
    expect(forecastOf(fleetOf(600, { ttlMs: 0 }))).toMatchObject({ intervalMs: 60_000, neededPerSecond: 10 });
  });

  it('delays stations of any ttl by the same time, until the work fits the capacity', () => {
    const stations = [...fleetOf(480, { ttlMs: 60_000 }), ...fleetOf(480, { ttlMs: 120_000 })];
    const { intervalMs, delayMs, remedies } = forecastOf(stations, {}, { typicalLatencyMs: 1000 });
    expect(480 / (60 + delayMs / 1000) + 480 / (120 + delayMs / 1000)).toBeCloseTo(8, 3);
    expect(intervalMs).toBeUndefined();
    expect(remedies).toMatchObject({ ttlMs: undefined, ttlFactor: 1.5 });
  });

  it('has a delay exactly when more is needed than possible, and remedies that end it', () => {
    const work = fc.record({
      requests: fc.integer({ min: 1, max: 5000 }),
      ttlMs: fc.constantFrom(1000, 60_000, 300_000),
    });
    const limits = fc.record({
      concurrency: fc.integer({ min: 1, max: 100 }),
      latencyMs: fc.integer({ min: 0, max: 5000 }),
    });
    fc.assert(
      fc.property(fc.array(work, { minLength: 1, maxLength: 5 }), limits, (works, { concurrency, latencyMs }) => {
        const stations = works.map(({ requests, ttlMs }) => workOf(requests, { ttlMs }));
        const { neededPerSecond, possiblePerSecond, delayMs, remedies } = forecastOf(
          stations,
          { concurrency },
          { typicalLatencyMs: latencyMs },
        );
        expect(delayMs > 0).toBe(neededPerSecond > 1.000001 * possiblePerSecond);
        expect(remedies !== undefined).toBe(delayMs > 0);
        if (remedies?.limits?.concurrency !== undefined) {
          const raised = { concurrency: remedies.limits.concurrency };
          expect(forecastOf(stations, raised, { typicalLatencyMs: latencyMs }).delayMs).toBeLessThan(1);
        }
        if (remedies !== undefined) {
          const longer = stations.map((station) => ({
            ...station,
            ttlMs: 1.000001 * remedies.ttlFactor * station.ttlMs,
          }));
          expect(forecastOf(longer, { concurrency }, { typicalLatencyMs: latencyMs }).delayMs).toBe(0);
        }
      }),
    );
  });

  it('names the refresh with the largest share of refresh_timeout when that is more than four fifths', () => {
    const slow = workOf(1, { name: 'slow', durationMs: 97_000 });
    expect(forecastOf([workOf(1), slow]).slowRefresh).toEqual({
      station: 'slow',
      durationMs: 97_000,
      refreshTimeoutMs: 120_000,
    });
    expect(forecastOf([workOf(1), { ...slow, durationMs: 96_000 }]).slowRefresh).toBeUndefined();
  });

  it('knows that a refresh cannot be faster than its requests, although the latest one failed', () => {
    const large = workOf(2000, { name: 'large', durationMs: undefined, ttlMs: 600_000 });
    const { delayMs, slowRefresh } = forecastOf([large], {}, { typicalLatencyMs: 500 });
    expect({ delayMs, slowRefresh }).toEqual({
      delayMs: 0,
      slowRefresh: { station: 'large', durationMs: 125_000, refreshTimeoutMs: 120_000 },
    });
  });
});

describe('capacityText', () => {
  const textOf = (...args: Parameters<typeof forecastOf>) => capacityText(forecastOf(...args));

  it('reports the share of the capacity while it suffices', () => {
    expect(textOf(fleetOf(240))).toEqual({
      meaning: '240 requests every 60 s take 2 s with concurrency 8 at 67 ms: 3.4 % of the capacity.',
      advice: undefined,
    });
    expect(textOf(fleetOf(10), {}, { typicalLatencyMs: 1.25 }).meaning).toBe(
      '10 requests every 60 s take 1.6 ms with concurrency 8 at 1.3 ms: 0 % of the capacity.',
    );
  });

  it('reports the age of the data and what to change', () => {
    expect(textOf(fleetOf(12_000), {}, { typicalLatencyMs: 66.6667 })).toEqual({
      meaning: '12,000 requests every 60 s take 100 s with concurrency 8 at 67 ms: data will be about 100 s old.',
      advice: 'Raise concurrency to 14, or ttl to 101 s, or page_size to 200, or use 2 shards.',
    });
  });

  it('reports the limit of a service that throttles', () => {
    const stations = [...fleetOf(600, {}, { furtherRequests: 8 }), workOf(1, { listed: undefined })];
    expect(textOf(stations, {}, { requestsPerSecond: 4.2 })).toEqual({
      meaning:
        '600 requests every 60 s take 143 s at 4.2 requests/s (the service throttles): data will be at least 143 s old. Stations without data are not included: 1.',
      advice:
        "Raise ttl to 143 s, or page_size to 300, or remove products and alertability, which take 480 of the requests, or have the service's limit raised to 10 requests/s.",
    });
  });

  it('reports rates and a factor where ttl differs', () => {
    const stations = [...fleetOf(480), ...fleetOf(480, { ttlMs: 120_000 })];
    expect(textOf(stations, { requestsPerSecond: 8 }, { requestsPerSecond: 8 })).toEqual({
      meaning:
        '12 requests/s are needed, 8 requests/s are possible at 8 requests/s (requests_per_second): data will be about 37 s older than ttl.',
      advice: 'Raise requests_per_second to 12, or ttl by a factor of 1.5, or page_size to 200.',
    });
  });

  it('rounds long times to minutes and hours', () => {
    const { meaning, advice } = textOf(fleetOf(120_000), { pageSize: 1000 }, { requestsPerSecond: 10 });
    expect(meaning).toContain('take 3.3 h at');
    expect(advice).toContain('Raise ttl to 3.4 h, or have');
    expect(textOf(fleetOf(12_000), {}, { requestsPerSecond: 10 }).meaning).toContain('take 20 min at');
  });
});

describe('slowRefreshText', () => {
  it('advises a longer refresh_timeout', () => {
    expect(slowRefreshText(forecastOf([workOf(1)]))).toBeUndefined();
    expect(slowRefreshText(forecastOf([workOf(1, { durationMs: 100_000 })]))).toEqual({
      meaning: 'A refresh of station prod takes about 100 s, close to its refresh_timeout of 120 s.',
      advice: 'Raise refresh_timeout to 150 s, or concurrency, or narrow the station with filters.',
    });
    expect(slowRefreshText(forecastOf([workOf(1300)], {}, { requestsPerSecond: 10 }))).toEqual({
      meaning: 'A refresh of station prod takes about 130 s, more than its refresh_timeout of 120 s.',
      advice: 'Raise refresh_timeout to 195 s, or narrow the station with filters.',
    });
  });
});
