import { describe, expect, it } from 'vitest';
import { capacityOf, capacityText, isExceeded } from '../../src/status/capacity.ts';

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
    expect(capacityOf(stations, 8, load)).toEqual({
      neededPerSecond: 201,
      possiblePerSecond: 200,
      roundMs: 62_850,
      unknownStations: 1,
    });
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
      capacity: { neededPerSecond: 0.1 + 0.2, possiblePerSecond: 0.3, roundMs: 1, unknownStations: 0 },
      text: '0.3 requests/s are possible, 0.3 are needed',
    },
    {
      capacity: { neededPerSecond: 7.47, possiblePerSecond: 0.1, roundMs: 720_000, unknownStations: 2 },
      text: '0.1 requests/s are possible, 7.5 are needed: data gets up to 12 min old (2 stations without data not counted)',
    },
    {
      capacity: { neededPerSecond: 3, possiblePerSecond: UNLIMITED, roundMs: 0, unknownStations: 0 },
      text: '∞ requests/s are possible, 3 are needed',
    },
  ])('$text', ({ capacity, text }) => {
    expect(capacityText(capacity)).toBe(text);
    expect(isExceeded(capacity)).toBe(text.includes('old'));
  });
});
