import { describe, expect, it } from 'vitest';
import { loaded, problemsOf, RID } from './fixtures.ts';

/** Two upstreams, of which `commas` has list_style comma, and these lines after them. */
const fleet = (...lines: readonly string[]) =>
  ['upstreams:', '  main: { base_url: "http://h" }', '  commas: { base_url: "http://h", list_style: comma }', ...lines, ''].join('\n');

const OTHER = RID.replace('telemetryStations/ts', 'telemetryStations/other');

describe('configSchema', () => {
  it('wants at least one upstream and one station', () => {
    expect(problemsOf('upstreams: {}\nstations: []\n')).toEqual([
      '1:12: upstreams: found no upstream, expected at least one',
      '2:11: stations: found an empty list, expected at least one station',
    ]);
  });

  it('wants an upstream to have a name', () => {
    expect(problemsOf(`upstreams: { "": { base_url: "http://h" }, a: { base_url: "http://h" } }\nstations: [{ rid: ${RID} }]`)).toEqual([
      '1:14: upstreams[""]: invalid key, expected a string that is not empty',
    ]);
  });

  it('tells a name that two stations have, wherever each one has it from', () => {
    const text = fleet(
      'stations:',
      `  - { upstream: main, name: ts, rid: ${OTHER} }`,
      `  - { upstream: main, rid: ${RID} }`,
      '  - { upstream: main, subscription: a, resource_group: b, zone: c, telemetry_station: ts }',
      `  - { upstream: main, rid: ${OTHER} }`,
    );
    expect(problemsOf(text)).toEqual([
      '6:28: stations[1].rid: stations[0] has the name "ts" already, expected another one',
      '7:87: stations[2].telemetry_station: stations[0] has the name "ts" already, expected another one',
    ]);
  });

  it('wants a station to name one of several upstreams', () => {
    expect(problemsOf(fleet('stations:', `  - rid: ${RID}`, '    upstream: mian', `  - rid: ${OTHER}`))).toEqual([
      '6:15: stations[0].upstream: found "mian", expected the name of an upstream; did you mean "main"?',
      '7:5: stations[1].upstream: missing, expected one of "main", "commas", because there are several upstreams',
    ]);
  });

  it('leaves an upstream that is no string to the type', () => {
    expect(problemsOf(fleet('stations:', `  - { rid: ${RID}, upstream: 5 }`))).toEqual([
      expect.stringMatching(/stations\[0\]\.upstream: found a number, expected a string$/),
    ]);
  });

  it('does not take what every object has for an upstream', () => {
    expect(problemsOf(fleet('stations:', `  - { rid: ${RID}, upstream: constructor }`))).toEqual([
      expect.stringContaining('found "constructor", expected the name of an upstream'),
    ]);
  });

  it('says nothing about upstreams of stations when the upstreams cannot be read', () => {
    expect(problemsOf(`upstreams: []\nstations: [{ rid: ${RID}, upstream: a }]`)).toEqual([
      '1:12: upstreams: found an empty list, expected a mapping with one entry per account',
    ]);
    expect(problemsOf(`upstreams: { a: 5 }\nstations: [{ rid: ${RID}, filters: { resource_ids: ["a,b"] } }]`)).toEqual([
      '1:17: upstreams.a: found a number, expected a mapping',
    ]);
  });

  it('refuses a comma in a list that is sent with commas', () => {
    const filters = 'filters: { resource_ids: [a, "b,c"], resource_types: ["d,e"], product: "f,g" }';
    expect(problemsOf(fleet('stations:', `  - { upstream: main, rid: ${RID}, ${filters} }`))).toEqual([]);
    const text = fleet('stations:', '  - upstream: commas', `    rid: ${RID}`, `    ${filters}`);
    expect(problemsOf(text)).toEqual([
      '7:34: stations[0].filters.resource_ids[1]: found a comma, expected none, because the upstream has list_style comma',
      '7:59: stations[0].filters.resource_types[0]: found a comma, expected none, because the upstream has list_style comma',
    ]);
  });

  it('leaves entries that are no strings to the list', () => {
    const text = fleet('stations:', `  - { upstream: commas, rid: ${RID}, filters: { resource_ids: [5], resource_types: a } }`);
    expect(problemsOf(text)).toEqual([
      expect.stringContaining('resource_ids[0]: found a number, expected a string'),
      expect.stringContaining('resource_types: found a string, expected a list'),
    ]);
  });

  it('gives a timer that refreshes in the background a pause', () => {
    const stations = ['stations:', `  - { upstream: main, rid: ${RID}, cache: { error_ttl: 0 } }`];
    expect(problemsOf(fleet(...stations, 'cache: { ttl: 0 }'))).toEqual([]);
    expect(problemsOf(fleet(...stations, 'cache: { ttl: 0, refresh: background }'))).toEqual([
      expect.stringMatching(
        /^5:\d+: stations\[0\]\.cache\.error_ttl: found 0, expected more than 0, because cache\.refresh is background$/,
      ),
      '6:15: cache.ttl: found 0, expected more than 0, because cache.refresh is background',
    ]);
  });

  it.each([
    ['cache: 5', '6:8: cache: found a number, expected a mapping'],
    ['cache: { refresh: timer }', '6:19: cache.refresh: found "timer", expected one of scrape, background'],
    ['cache: { error_ttl: 10 }', '6:21: cache.error_ttl: found a number, expected a duration such as 90s, 1h30m or 250ms'],
    ['metrics: { max_resources: -1 }', '6:27: metrics.max_resources: found -1, expected a whole number of at least 0'],
    ['metrics: { per_resource: 5 }', '6:26: metrics.per_resource: found a number, expected true or false'],
    [
      'metrics: { disabled: [telemetry_station_upp] }',
      '6:23: metrics.disabled[0]: found "telemetry_station_upp", expected the name of a metric family; did you mean "telemetry_station_up"?',
    ],
    ['metrics: { disabled: [up] }', '6:23: metrics.disabled[0]: found "up", expected the name of a metric family'],
    ['cahce: {}', '6:1: cahce: unknown key, did you mean cache?'],
    ['web: {}', '6:1: web: unknown key, expected one of upstreams, stations, cache, metrics'],
  ])('refuses %s', (line, problem) => {
    expect(problemsOf(fleet('stations:', `  - { upstream: main, rid: ${RID} }`, line))).toEqual([problem]);
  });

  it('knows the families of the stations and of the exporter', () => {
    const disabled = ['telemetry_station_up', 'telemetry_station_exporter_build_info'];
    const { config } = loaded(fleet('stations:', `  - { upstream: main, rid: ${RID} }`, `metrics: { disabled: [${disabled}] }`));
    expect(config.metrics.disabled).toEqual(disabled);
  });

  it.each(['cache: 5', 'metrics: { max_resources: 0.5 }', 'unknown: 1', 'metrics: { disabled: [x, 5] }', 'cache: { ttl: x, refresh: y }'])(
    'compares the stations even beside %s',
    (line) => {
      const text = fleet('stations:', `  - { rid: ${RID} }`, '  - 5', `  - { rid: ${RID}, name: 5 }`, '  - { rid: x }', line);
      const problems = problemsOf(text);
      expect(problems).toContainEqual(expect.stringContaining('stations[2].rid: stations[0] has the name "ts" already'));
      expect(problems).toContainEqual(expect.stringContaining('stations[0].upstream: missing'));
      expect(problems).toContainEqual(expect.stringContaining('stations[1]: found a number, expected a mapping'));
    },
  );
});
