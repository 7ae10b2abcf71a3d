import { describe, expect, it } from 'vitest';
import { STATION_INFO } from '../../src/metrics/health-families.ts';
import { loaded, problemsOf, RID, stationWith } from './fixtures.ts';

const PARTS = ['subscription: sub', 'resource_group: rg', 'zone: z1', 'telemetry_station: ts'] as const;

describe('station', () => {
  it('accepts four parts or a rid', () => {
    expect(problemsOf(stationWith(...PARTS))).toEqual([]);
    expect(problemsOf(stationWith(`rid: ${RID}`))).toEqual([]);
  });

  it('rejects a rid together with parts', () => {
    expect(problemsOf(stationWith('zone: z1', `rid: ${RID}`, 'telemetry_station: ts'))).toEqual([
      '5:5: stations[0].rid: given together with zone, telemetry_station, expected either rid or those keys',
    ]);
  });

  it('requires a rid or the parts', () => {
    expect(problemsOf(stationWith('name: a'))).toEqual([
      '4:5: stations[0]: expected rid or all of subscription, resource_group, zone, telemetry_station, got none of them',
    ]);
  });

  it('requires all four parts', () => {
    expect(problemsOf(stationWith('zone: z1', 'telemetry_station: ts'))).toEqual([
      '4:5: stations[0].subscription: missing, expected together with zone, telemetry_station',
      '4:5: stations[0].resource_group: missing, expected together with zone, telemetry_station',
    ]);
  });

  it.each(['""', '.', '..', '"\\ud800"'])('rejects the path part %s', (part) => {
    const [first, ...rest] = PARTS;
    expect(problemsOf(stationWith(first, ...rest.slice(0, 2), `telemetry_station: ${part}`))).toEqual([
      '7:24: stations[0].telemetry_station: expected a non-empty name other than "." and ".."',
    ]);
  });

  it.each([
    RID.slice(1),
    `${RID}/`,
    `${RID}/resources`,
    RID.replace('/zones/z1', ''),
    RID.replace('z1', ''),
    RID.replace('z1', '..'),
    RID.replace('/rg/', '/./'),
    RID.replace('resourceGroups', 'resourcegroups'),
    'ts',
  ])('rejects the rid %s', (rid) => {
    expect(problemsOf(stationWith(`rid: ${rid}`))).toEqual([
      '4:10: stations[0].rid: expected /subscriptions/<subscription>/resourceGroups/<group>/zones/<zone>/telemetryStations/<name>',
    ]);
  });

  it('accepts any other characters in path parts', () => {
    expect(problemsOf(stationWith('subscription: "a/b"', 'resource_group: "漢 字"', 'zone: "..."', 'telemetry_station: "%2e"'))).toEqual(
      [],
    );
  });

  it.each([
    ['name: ""', '11: stations[0].name: expected a non-empty string, got ""'],
    ['filters: { resource_ids: [a, ""] }', '34: stations[0].filters.resource_ids[1]: expected a non-empty string, got ""'],
    ['filters: { resource_types: a }', '32: stations[0].filters.resource_types: expected a list, got a string'],
    ['filters: { product: "" }', '25: stations[0].filters.product: expected a non-empty string, got ""'],
    ['filters: { enabled_alert: yes }', '31: stations[0].filters.enabled_alert: expected true or false, got a string'],
    ['products: [a, b, a]', '22: stations[0].products[2]: duplicate product, expected each only once'],
    ['products: [""]', '16: stations[0].products[0]: expected a non-empty string, got ""'],
    ['products: 5', '15: stations[0].products: expected a list, got a number'],
    ['alertability: 1', '19: stations[0].alertability: expected true or false, got a number'],
    ['cache: { ttl: 30d }', '19: stations[0].cache.ttl: expected at most 24d20h31m23s647ms, got "30d"'],
    ['cache: { refresh: background }', '14: stations[0].cache.refresh: unknown key, expected one of ttl, max_stale, error_ttl'],
    [
      'labels: { 9a: b }',
      '15: stations[0].labels["9a"]: invalid key, expected a label name of letters, digits and underscores that does not start with a digit',
    ],
    [
      'labels: { a-b: b }',
      '15: stations[0].labels.a-b: invalid key, expected a label name of letters, digits and underscores that does not start with a digit',
    ],
    ['labels: { __a: b }', '15: stations[0].labels.__a: label names that start with __ are reserved, expected another one'],
    ['labels: { a: 5 }', '18: stations[0].labels.a: expected a string, got a number; quote it'],
  ])('rejects %s', (line, problem) => {
    expect(problemsOf(stationWith(`rid: ${RID}`, line))).toEqual([`5:${problem}`]);
  });

  it.each(STATION_INFO.labels)('rejects the label %s, which telemetry_station_info already has', (label) => {
    expect(problemsOf(stationWith(`rid: ${RID}`, `labels: { ${label}: b }`))).toEqual([
      `5:15: stations[0].labels.${label}: telemetry_station_info already has this label, expected another one`,
    ]);
  });

  it('accepts durations from 0 to years in the cache', () => {
    const { config } = loaded(stationWith(`rid: ${RID}`, 'cache: { ttl: 0, max_stale: 2y, error_ttl: 0s }'));
    expect(config.stations[0]?.cache).toEqual({ ttl: 0, max_stale: 63_072_000_000, error_ttl: 0 });
  });

  it.each(['name: 5', 'unknown: 1', 'filters: 5', 'cache: { ttl: x }', 'labels: { 9: 9 }', 'rid: 5', 'alertability: 1'])(
    'reports missing keys in spite of %s',
    (line) => {
      const problems = problemsOf(stationWith('products: [a, a]', line));
      expect(problems).toContainEqual(expect.stringContaining('stations[0].products[1]: duplicate product'));
      expect(problems).toContainEqual(
        expect.stringMatching(
          line.startsWith('rid') ? /rid: expected a string, got a number; quote it/ : /expected rid or all of .*, got none of them$/,
        ),
      );
    },
  );
});
