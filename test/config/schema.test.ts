import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { renderConfig, resolveStations } from '../../src/config/resolve.ts';
import { resourceOf } from '../stations/fixtures.ts';
import {
  expectProblems,
  fleet,
  loaded,
  problemsOf,
  RID,
  stationWith,
  upstreamWith,
  withEntries,
  withLink,
} from './fixtures.ts';
import { MISTAKES } from './mistakes.ts';

describe('configSchema', () => {
  it.each(MISTAKES)('rejects %j', expectProblems);

  it('lists at most 20 upstreams', async () => {
    const upstreams = Array.from({ length: 30 }, (_, index) => `  u${index}: { base_url: "http://h" }`);
    await expectProblems(
      ['upstreams:', ...upstreams, 'stations:', `  - { rid: ${RID} }`].join('\n'),
      /missing, expected one of "u0", .*, "u19", and 10 more, because there are several upstreams$/,
    );
  });

  it.each([
    {
      problem: 'a duplicate name',
      text: fleet('stations:', `  - { rid: ${RID} }`, '  - 5', `  - { rid: ${RID}, name: 5 }`, 'cache: { ttl: x }'),
      found: 'stations[2].rid: duplicate station name "ts", already used at ',
    },
    {
      problem: 'a missing upstream',
      text: fleet('unknown: 1', 'stations:', '  - { rid: x }'),
      found: 'stations[0].upstream: missing',
    },
    {
      problem: 'a missing part of the path',
      text: stationWith('zone: ..', 'filters: 5', 'labels: { 9: 9 }'),
      found: 'stations[0].subscription: missing, expected together with zone',
    },
    {
      problem: 'two schemes',
      text: upstreamWith('authorization: { credentials: [] }', 'basic_auth: 5', 'requests_per_second: .nan', 'a: 1'),
      found: 'upstreams.main.basic_auth: given together with authorization',
    },
  ])('reports $problem in spite of wrong values and unknown keys beside it', async ({ text, found }) => {
    expect(await problemsOf(text)).toContainEqual(expect.stringContaining(found));
  });
});

describe('resource_labels', () => {
  it('are shown as configured, and label the resources of each station', async () => {
    const { config } = await loaded(
      withEntries(
        '{ match: { name: "a.*", station: .* }, labels: { team: storage } }',
        '{ match: { name: .*b }, alertable: false }',
        '{ labels: { team: "", tier: b } }',
      ),
    );
    expect(parse(renderConfig(config)).resource_labels).toEqual([
      { match: { name: 'a.*', station: '.*' }, labels: { team: 'storage' } },
      { match: { name: '.*b' }, alertable: false },
      { match: {}, labels: { team: '', tier: 'b' } },
    ]);
    const [station] = resolveStations(config);
    expect(station?.resourceLabels.labelled(resourceOf('x', { name: 'ab' }))).toEqual({
      labels: { team: 'storage', tier: 'b' },
      exemptBy: 1,
    });
  });
});

describe('links', () => {
  it('are templates with variables of the environment, and are shown in the configuration', async () => {
    const text = withLink(
      'name: Grafana',
      `station: $\{GRAFANA}/d/x?var-station={station}&q=%7Ba%7D#{zone}/$\{station}`,
      'resource: "HTTP://console/{resource_id}"',
    );
    const { config } = await loaded(text, { GRAFANA: 'https://grafana.example.com', station: 'b' });
    expect(parse(renderConfig(config)).links).toEqual([
      {
        name: 'Grafana',
        station: 'https://grafana.example.com/d/x?var-station={station}&q=%7Ba%7D#{zone}/b',
        resource: 'HTTP://console/{resource_id}',
      },
    ]);
    for (const host of ['javascript:alert(1)//', 'https://h:999999'])
      expect(await problemsOf(text, { GRAFANA: host, station: 'b' })).toEqual([
        expect.stringContaining('8:14: links[0].station: expected an http or https URL without user'),
      ]);
  });
});
