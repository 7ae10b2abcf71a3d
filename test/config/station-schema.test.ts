import { describe, expect, it } from 'vitest';
import { STATION_INFO } from '../../src/metrics/health-families.ts';
import { loaded, problemsOf, RID, stationWith } from './fixtures.ts';

const PARTS = ['subscription: sub', 'resource_group: rg', 'zone: z1', 'telemetry_station: ts'] as const;

describe('station', () => {
  it('is named by four parts or by a rid', () => {
    expect(problemsOf(stationWith(...PARTS))).toEqual([]);
    expect(problemsOf(stationWith(`rid: ${RID}`))).toEqual([]);
  });

  it('is named by one of the two only', () => {
    expect(problemsOf(stationWith('zone: z1', `rid: ${RID}`, 'telemetry_station: ts'))).toEqual([
      '5:5: stations[0].rid: given together with zone, telemetry_station, expected either the one or the others',
    ]);
  });

  it('is named at all', () => {
    expect(problemsOf(stationWith('name: a'))).toEqual([
      '4:5: stations[0]: names no telemetry station, expected rid or all of subscription, resource_group, zone, telemetry_station',
    ]);
  });

  it('is named by all four parts', () => {
    expect(problemsOf(stationWith('zone: z1', 'telemetry_station: ts'))).toEqual([
      '4:5: stations[0].subscription: missing, expected together with zone, telemetry_station',
      '4:5: stations[0].resource_group: missing, expected together with zone, telemetry_station',
    ]);
  });

  it.each(['""', '.', '..', '"\\ud800"'])('cannot have the part %s in its path', (part) => {
    const [first, ...rest] = PARTS;
    expect(problemsOf(stationWith(first, ...rest.slice(0, 2), `telemetry_station: ${part}`))).toEqual([
      '7:24: stations[0].telemetry_station: found what cannot be part of a path, expected a name other than the empty one, a dot and two dots',
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
  ])('cannot have the rid %s', (rid) => {
    expect(problemsOf(stationWith(`rid: ${rid}`))).toEqual([
      '4:10: stations[0].rid: found a string of another form, expected /subscriptions/<subscription>/resourceGroups/<group>/zones/<zone>/telemetryStations/<name>',
    ]);
  });

  it('may have any other characters in its path', () => {
    expect(problemsOf(stationWith('subscription: "a/b"', 'resource_group: "漢 字"', 'zone: "..."', 'telemetry_station: "%2e"'))).toEqual(
      [],
    );
  });

  it.each([
    ['name: ""', '11: stations[0].name: found "", expected a string that is not empty'],
    ['filters: { resource_ids: [a, ""] }', '34: stations[0].filters.resource_ids[1]: found "", expected a string that is not empty'],
    ['filters: { resource_types: a }', '32: stations[0].filters.resource_types: found a string, expected a list'],
    ['filters: { product: "" }', '25: stations[0].filters.product: found "", expected a string that is not empty'],
    ['filters: { enabled_alert: yes }', '31: stations[0].filters.enabled_alert: found a string, expected true or false'],
    ['products: [a, b, a]', '22: stations[0].products[2]: found a product twice, expected each once'],
    ['products: [""]', '16: stations[0].products[0]: found "", expected a string that is not empty'],
    ['products: 5', '15: stations[0].products: found a number, expected a list'],
    ['alertability: 1', '19: stations[0].alertability: found a number, expected true or false'],
    ['cache: { ttl: 30d }', '19: stations[0].cache.ttl: found "30d", expected at most 24d20h31m23s647ms'],
    ['cache: { refresh: background }', '14: stations[0].cache.refresh: unknown key, expected one of ttl, max_stale, error_ttl'],
    [
      'labels: { 9a: b }',
      '15: stations[0].labels["9a"]: invalid key, expected a label name of letters, digits and underscores, beginning with no digit',
    ],
    [
      'labels: { a-b: b }',
      '15: stations[0].labels.a-b: invalid key, expected a label name of letters, digits and underscores, beginning with no digit',
    ],
    ['labels: { __a: b }', '15: stations[0].labels.__a: names that begin with two underscores are reserved, expected another one'],
    ['labels: { a: 5 }', '18: stations[0].labels.a: found a number, expected a string'],
  ])('refuses %s', (line, problem) => {
    expect(problemsOf(stationWith(`rid: ${RID}`, line))).toEqual([`5:${problem}`]);
  });

  it.each(STATION_INFO.labels)('cannot have the extra label %s, which telemetry_station_info has already', (label) => {
    expect(problemsOf(stationWith(`rid: ${RID}`, `labels: { ${label}: b }`))).toEqual([
      `5:15: stations[0].labels.${label}: telemetry_station_info has this label already, expected another one`,
    ]);
  });

  it('may have a cache that never keeps, or keeps for years', () => {
    const { config } = loaded(stationWith(`rid: ${RID}`, 'cache: { ttl: 0, max_stale: 2y, error_ttl: 0s }'));
    expect(config.stations[0]?.cache).toEqual({ ttl: 0, max_stale: 63_072_000_000, error_ttl: 0 });
  });

  it.each(['name: 5', 'unknown: 1', 'filters: 5', 'cache: { ttl: x }', 'labels: { 9: 9 }', 'rid: 5', 'alertability: 1'])(
    'tells what is missing even beside %s',
    (line) => {
      const problems = problemsOf(stationWith('products: [a, a]', line));
      expect(problems).toContainEqual(expect.stringContaining('stations[0].products[1]: found a product twice'));
      expect(problems).toContainEqual(expect.stringMatching(line.startsWith('rid') ? /rid: found a number/ : /names no telemetry station/));
    },
  );
});
