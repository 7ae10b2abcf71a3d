import { describe, expect, it } from 'vitest';
import { STATION_INFO } from '../../src/metrics/health-families.ts';
import { expectProblems, loaded, problemsOf, RID, stationWith } from './fixtures.ts';
import { RID_MISTAKES, STATION_MISTAKES } from './mistakes.ts';

const PARTS = ['subscription: sub', 'resource_group: rg', 'zone: z1', 'telemetry_station: ts'] as const;

describe('station', () => {
  it('accepts four parts or a rid', () => {
    expect(problemsOf(stationWith(...PARTS))).toEqual([]);
    expect(problemsOf(stationWith(`rid: ${RID}`))).toEqual([]);
  });

  it('rejects a rid together with parts', () => {
    expectProblems(
      stationWith('zone: z1', `rid: ${RID}`, 'telemetry_station: ts'),
      '5:5: stations[0].rid: given together with zone, telemetry_station, expected either rid or those keys',
    );
  });

  it('requires a rid or the parts', () => {
    expectProblems(
      stationWith('name: a'),
      '4:5: stations[0]: expected rid or all of subscription, resource_group, zone, telemetry_station, got none of them',
    );
  });

  it('requires all four parts', () => {
    expectProblems(
      stationWith('zone: z1', 'telemetry_station: ts'),
      '4:5: stations[0].subscription: missing, expected together with zone, telemetry_station',
      '4:5: stations[0].resource_group: missing, expected together with zone, telemetry_station',
    );
  });

  it.each(['""', '.', '..', '"\\ud800"'])('rejects the path part %s', (part) => {
    const [first, ...rest] = PARTS;
    expectProblems(
      stationWith(first, ...rest.slice(0, 2), `telemetry_station: ${part}`),
      '7:24: stations[0].telemetry_station: expected a non-empty name other than "." and ".."',
    );
  });

  it.each(RID_MISTAKES)('rejects the rid %s', (rid) => {
    expectProblems(
      stationWith(`rid: ${rid}`),
      '4:10: stations[0].rid: expected /subscriptions/<subscription>/resourceGroups/<group>/zones/<zone>/telemetryStations/<name>',
    );
  });

  it.each(STATION_MISTAKES)('rejects %s', (line, problem) => {
    expectProblems(stationWith(`rid: ${RID}`, line), `5:${problem}`);
  });

  it.each(STATION_INFO.labels)('rejects the label %s, which telemetry_station_info already has', (label) => {
    expectProblems(
      stationWith(`rid: ${RID}`, `labels: { ${label}: b }`),
      `5:15: stations[0].labels.${label}: telemetry_station_info already has this label, expected another one`,
    );
  });

  it('accepts durations from 0 to years in the cache', () => {
    const { config } = loaded(stationWith(`rid: ${RID}`, 'cache: { ttl: 0, max_stale: 2y, error_ttl: 0s }'));
    expect(config.stations[0]?.cache).toEqual({ ttl: 0, max_stale: 63_072_000_000, error_ttl: 0 });
  });

  it.each([
    'name: 5',
    'unknown: 1',
    'filters: 5',
    'cache: { ttl: x }',
    'labels: { 9: 9 }',
    'rid: 5',
    'alertability: 1',
  ])('reports missing keys in spite of %s', (line) => {
    const problems = problemsOf(stationWith('products: [a, a]', line));
    expect(problems).toContainEqual(expect.stringContaining('stations[0].products[1]: duplicate product'));
    expect(problems).toContainEqual(
      expect.stringMatching(
        line.startsWith('rid')
          ? /rid: expected a string, got a number; quote it/
          : /expected rid or all of .*, got none of them$/,
      ),
    );
  });
});
