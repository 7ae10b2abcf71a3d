import { describe, expect, it } from 'vitest';
import { exceededLimit, scrapeSize, scrapeSizeText } from '../../src/status/scrape-size.ts';

const station = (families: Readonly<Record<string, readonly number[]>>) => ({
  served: {
    families: new Map(
      Object.entries(families).map(([name, lengths]) => [name, lengths.map((length) => ({ length }))] as const),
    ),
  },
});

/** Two stations of 4,000 bytes per resource and less of other data, and one without data. */
const SIZE = scrapeSize({ plainLength: 9200, gzipLength: 1100 }, [
  station({ telemetry_station_resource_info: [3000, 2000], telemetry_station_resource_state: [1000] }),
  station({
    telemetry_station_resource_info: [2000],
    telemetry_station_resources: [300],
    telemetry_station_info: [200],
  }),
  { served: undefined },
]);

describe('scrapeSize', () => {
  it('adds up the segments of each family over the stations', () => {
    expect(Object.fromEntries(SIZE.families)).toEqual({
      telemetry_station_resource_info: 7000,
      telemetry_station_resource_state: 1000,
      telemetry_station_resources: 300,
      telemetry_station_info: 200,
    });
  });

  it('is shown as text and compressed, because scrapers limit the text', () => {
    expect(scrapeSizeText(SIZE)).toBe('9 KiB as text, 1.1 KiB with gzip');
    const large = { plainBytes: 17.8 * 1024 ** 2, gzipBytes: 900, families: new Map() };
    expect(scrapeSizeText(large)).toBe('17.8 MiB as text, 900 bytes with gzip');
  });
});

describe('exceededLimit', () => {
  it('is none up to the limit, which is 16 MiB unless another one is given', () => {
    expect(exceededLimit(SIZE, 9200)).toBeUndefined();
    expect(exceededLimit(SIZE, 9199)).toBeDefined();
    expect(exceededLimit({ ...SIZE, plainBytes: 16_777_216 })).toBeUndefined();
    expect(exceededLimit({ ...SIZE, plainBytes: 16_777_217 })).toBeDefined();
  });

  it('says what saves how much: the three largest families, and those of single resources together', () => {
    const { what, advice } = exceededLimit(SIZE, 8192) ?? expect.unreachable();
    expect(what).toContain('more than 8 KiB');
    expect(advice).toContain(
      'the largest of which are telemetry_station_resource_info (6.8 KiB), telemetry_station_resource_state (1,000 bytes), telemetry_station_resources (300 bytes).',
    );
    expect(advice).toContain('metrics.per_resource: false) it has 7.8 KiB less');
  });

  it('does not mention metrics.per_resource where it is false already', () => {
    const size = scrapeSize({ plainLength: 300, gzipLength: 100 }, [station({ telemetry_station_resources: [300] })]);
    expect(exceededLimit(size, 100)?.advice).not.toContain('per_resource');
  });
});
