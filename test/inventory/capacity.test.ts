import { describe, expect, it } from 'vitest';
import { capacityOf, capacityText, isExceeded } from '../../src/inventory/capacity.ts';

const UNLIMITED = Number.POSITIVE_INFINITY;

describe('capacityOf', () => {
  it('adds up the requests per second of all listings, once per minute where ttl is 0, and counts stations without data', () => {
    const stations = [
      [
        { intervalMs: 60_000, pages: 11_880 },
        { intervalMs: 600_000, pages: 600 },
      ],
      [{ intervalMs: 30_000, pages: 30 }],
      [{ intervalMs: 0, pages: 60 }],
      undefined,
    ];
    const load = { typicalLatencyMs: 40, requestsPerSecond: UNLIMITED };
    expect(capacityOf(stations, 8, load)).toEqual({ neededPerSecond: 201, possiblePerSecond: 200, unknownStations: 1 });
  });

  it.each([
    [100, 5, 5],
    [1000, 50, 8],
    [0, 50, 50],
  ])(
    'is limited by concurrency 8 at %i ms and by %i requests/s to %i',
    (typicalLatencyMs, requestsPerSecond, possible) => {
      const capacity = capacityOf([[{ intervalMs: 1000, pages: 1 }]], 8, { typicalLatencyMs, requestsPerSecond });
      expect(capacity?.possiblePerSecond).toBe(possible);
    },
  );

  it('is unknown without data or without a reply', () => {
    const load = { typicalLatencyMs: 100, requestsPerSecond: UNLIMITED };
    expect(capacityOf([], 1, load)).toBeUndefined();
    expect(capacityOf([undefined], 1, load)).toBeUndefined();
    expect(capacityOf([[{ intervalMs: 1000, pages: 1 }]], 1, { ...load, typicalLatencyMs: undefined })).toBeUndefined();
  });
});

describe('capacityText', () => {
  it.each([
    {
      capacity: { neededPerSecond: 0.1 + 0.2, possiblePerSecond: 0.3, unknownStations: 0 },
      text: 'needs 0.3 requests/s, and 0.3 are possible: 100 % of the capacity.',
    },
    {
      capacity: { neededPerSecond: 1234.5, possiblePerSecond: 119.6, unknownStations: 2 },
      text: 'needs 1,230 requests/s, and 120 are possible: 1,030 % of the capacity, without 2 stations that have no data, so data gets older than ttl.',
    },
    {
      capacity: { neededPerSecond: 3, possiblePerSecond: UNLIMITED, unknownStations: 0 },
      text: 'needs 3 requests/s, and ∞ are possible: 0 % of the capacity.',
    },
  ])('$text', ({ capacity, text }) => {
    expect(capacityText(capacity)).toBe(`Refreshing once per ttl ${text}`);
    expect(isExceeded(capacity)).toBe(text.includes('older'));
  });
});
