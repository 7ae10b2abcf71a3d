import { describe, expect, it } from 'vitest';
import { expectProblems, loaded, problemsOf, RID } from './fixtures.ts';
import { fleet, GLOBAL_MISTAKES } from './mistakes.ts';

const OTHER = RID.replace('telemetryStations/ts', 'telemetryStations/other');

describe('configSchema', () => {
  it('requires at least one upstream and one station', () => {
    expectProblems(
      'upstreams: {}\nstations: []\n',
      '1:12: upstreams: expected at least one upstream, got none',
      '2:11: stations: expected at least one station, or station_files, got none',
    );
  });

  it('requires a non-empty upstream name', () => {
    expect(
      problemsOf(
        `upstreams: { "": { base_url: "http://h" }, a: { base_url: "http://h" } }\nstations: [{ rid: ${RID} }]`,
      ),
    ).toEqual(['1:14: upstreams[""]: invalid key, expected a non-empty string']);
  });

  it('rejects a duplicate station name, whichever key defines it', () => {
    const text = fleet(
      'stations:',
      `  - { upstream: main, name: ts, rid: ${OTHER} }`,
      `  - { upstream: main, rid: ${RID} }`,
      '  - { upstream: main, subscription: a, resource_group: b, zone: c, telemetry_station: ts }',
      `  - { upstream: main, rid: ${OTHER} }`,
    );
    expectProblems(
      text,
      '6:28: stations[1].rid: duplicate station name "ts", already used at conf/config.yaml:5:29',
      '7:87: stations[2].telemetry_station: duplicate station name "ts", already used at conf/config.yaml:5:29',
    );
  });

  it('rejects station names and products that differ only after 1,024 bytes, where label values are cut', () => {
    const long = 'x'.repeat(1024);
    const text = fleet(
      'stations:',
      `  - { upstream: main, name: ${long}1, rid: ${RID} }`,
      `  - { upstream: main, name: ${long}2, rid: ${OTHER}, products: [${long}1, ${long}2] }`,
    );
    expectProblems(
      text,
      /stations\[1\]\.name: duplicate station name "x+.*", already used /,
      /stations\[1\]\.products\[1\]: duplicate product, expected each only once$/,
    );
  });

  it('requires the name of an upstream when there are several', () => {
    expectProblems(
      fleet('stations:', `  - rid: ${RID}`, '    upstream: mian', `  - rid: ${OTHER}`),
      '6:15: stations[0].upstream: expected the name of an upstream, got "mian"; did you mean "main"?',
      '7:5: stations[1].upstream: missing, expected one of "main", "commas", because there are several upstreams',
    );
  });

  it('suggests upstreams for the first 100 unknown names, and lists at most 20', () => {
    const upstreams = Array.from({ length: 30 }, (_, index) => `  u${index}: { base_url: "http://h" }`);
    const stations = Array.from({ length: 110 }, (_, index) => `  - { rid: ${RID}, name: s${index}, upstream: uu29 }`);
    const problems = problemsOf(['upstreams:', ...upstreams, 'stations:', ...stations, `  - rid: ${OTHER}`].join('\n'));
    expect(problems.filter((problem) => problem.endsWith('got "uu29"; did you mean "u29"?'))).toHaveLength(100);
    expect(problems.filter((problem) => problem.endsWith('got "uu29"'))).toHaveLength(10);
    expect(problems.at(-1)).toMatch(
      /missing, expected one of "u0", .*, "u19", and 10 more, because there are several upstreams$/,
    );
  });

  it('reports an upstream that is not a string once', () => {
    expectProblems(
      fleet('stations:', `  - { rid: ${RID}, upstream: 5 }`),
      /stations\[0\]\.upstream: expected a string, got a number; quote it$/,
    );
  });

  it('does not accept an inherited property as an upstream', () => {
    expectProblems(
      fleet('stations:', `  - { rid: ${RID}, upstream: constructor }`),
      /expected the name of an upstream, got "constructor"/,
    );
  });

  it('does not check the upstreams of stations against invalid upstreams', () => {
    expectProblems(
      `upstreams: []\nstations: [{ rid: ${RID}, upstream: a }]`,
      '1:12: upstreams: expected a mapping with one entry per account, got an empty list',
    );
    expectProblems(
      `upstreams: { a: 5 }\nstations: [{ rid: ${RID}, filters: { resource_ids: ["a,b"] } }]`,
      '1:17: upstreams.a: expected a mapping, got a number',
    );
  });

  it('rejects a comma in a list filter of an upstream with list_style comma', () => {
    const filters = 'filters: { resource_ids: [a, "b,c"], resource_types: ["d,e"], product: "f,g" }';
    expect(problemsOf(fleet('stations:', `  - { upstream: main, rid: ${RID}, ${filters} }`))).toEqual([]);
    const text = fleet('stations:', '  - upstream: commas', `    rid: ${RID}`, `    ${filters}`);
    expectProblems(
      text,
      '7:34: stations[0].filters.resource_ids[1]: expected no comma, because the upstream has list_style comma',
      '7:59: stations[0].filters.resource_types[0]: expected no comma, because the upstream has list_style comma',
    );
  });

  it('reports list entries that are not strings once', () => {
    const text = fleet(
      'stations:',
      `  - { upstream: commas, rid: ${RID}, filters: { resource_ids: [5], resource_types: a } }`,
    );
    expectProblems(
      text,
      /resource_ids\[0\]: expected a string, got a number; quote it/,
      /resource_types: expected a list, got a string/,
    );
  });

  it('rejects a ttl of 0 with background refresh', () => {
    const stations = ['stations:', `  - { upstream: main, rid: ${RID}, cache: { error_ttl: 0 } }`];
    expect(problemsOf(fleet(...stations, 'cache: { ttl: 0 }'))).toEqual([]);
    expectProblems(
      fleet(...stations, 'cache: { ttl: 0, refresh: background }'),
      /^5:\d+: stations\[0\]\.cache\.error_ttl: expected more than 0 because cache\.refresh is background, got 0$/,
      '6:15: cache.ttl: expected more than 0 because cache.refresh is background, got 0',
    );
  });

  it.each(GLOBAL_MISTAKES)('rejects %s', (line, problem) => {
    expectProblems(fleet('stations:', `  - { upstream: main, rid: ${RID} }`, line), problem);
  });

  it('accepts station and exporter families in metrics.disabled', () => {
    const disabled = ['telemetry_station_up', 'telemetry_station_exporter_build_info'];
    const { config } = loaded(
      fleet('stations:', `  - { upstream: main, rid: ${RID} }`, `metrics: { disabled: [${disabled}] }`),
    );
    expect(config.metrics.disabled).toEqual(disabled);
  });

  it.each([
    'cache: 5',
    'metrics: { max_resources: 0.5 }',
    'unknown: 1',
    'metrics: { disabled: [x, 5] }',
    'cache: { ttl: x, refresh: y }',
  ])('compares the stations in spite of %s', (line) => {
    const text = fleet(
      'stations:',
      `  - { rid: ${RID} }`,
      '  - 5',
      `  - { rid: ${RID}, name: 5 }`,
      '  - { rid: x }',
      line,
    );
    expect(problemsOf(text)).toEqual(
      expect.arrayContaining([
        expect.stringContaining('stations[2].rid: duplicate station name "ts", already used at '),
        expect.stringContaining('stations[0].upstream: missing'),
        expect.stringContaining('stations[1]: expected a mapping, got a number'),
      ]),
    );
  });
});
