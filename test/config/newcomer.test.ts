import { describe, expect, it } from 'vitest';
import { problemsOf, RID } from './fixtures.ts';

const UPSTREAMS = 'upstreams:\n  main:\n    base_url: https://monitor.example.com\n';
const STATIONS = `stations:\n  - rid: ${RID}\n`;
const VALID = UPSTREAMS + STATIONS;

const UNQUOTED = `expected quotes around $\{NAME} inside { } and [ ]: "$\{NAME}"`;
const KEY_AND_VALUE = 'expected "key: value"; check the colon and the indentation';

const withUrl = (url: string) => VALID.replace('https://monitor.example.com', url);
const withUpstreamLine = (line: string) => `${UPSTREAMS}    ${line}\n${STATIONS}`;
const withStationLine = (line: string) => `${VALID}    ${line}\n`;

describe('loadConfig, with the mistakes of a first configuration', () => {
  it('accepts the configuration that the others are variations of', () => {
    expect(problemsOf(VALID)).toEqual([]);
  });

  it.each([
    ['a variable in brackets', `${VALID}station_files: [a, $\{FOLDER}/*.yaml]\n`, `6:21: ${UNQUOTED}`],
    ['a variable in braces', `upstreams: { main: { base_url: $\{URL} } }\n${STATIONS}`, `1:33: ${UNQUOTED}`],
    ['an unset variable', withUrl(`$\{URL}`), '3:15: upstreams.main.base_url: environment variable URL is not set'],
    ['an address without a scheme', withUrl('127.0.0.1:8080'), '3:15: upstreams.main.base_url: must begin with http:// or https://'],
    ['a host without a scheme', withUrl('monitor.example.com'), '3:15: upstreams.main.base_url: must begin with http:// or https://'],
    ['a variable without braces', withUrl('$URL'), '3:15: upstreams.main.base_url: must begin with http:// or https://'],
    ['tabs', VALID.replaceAll('    ', '\t').replaceAll('  ', '\t'), '2:1: tab as indentation, expected spaces'],
    [
      'no space after the colon',
      VALID.replace('url: ', 'url:'),
      '3:5: upstreams.main: expected a mapping, got a string; a space is missing after the colon',
    ],
    ['no colon', VALID.replace('upstreams:', 'upstreams'), `1:1: ${KEY_AND_VALUE}`],
    [
      'a line too far to the right',
      VALID.replace('stations:', '      timeout: 1s\nstations:'),
      '3:15: second ": " in one line, or a wrong indentation; quote a value that contains ": "',
    ],
    ['a reserved character', withStationLine('name: @team'), '6:11: value starts with a reserved character, expected quotes around it'],
    ['a quote that is not closed', withUrl('"https://h'), '6:1: missing closing double quote'],
    ['the singular of a key', VALID.replace('stations:', 'station:'), '4:1: station: unknown key, did you mean stations?'],
    ['the singular of another key', VALID.replace('upstreams:', 'upstream:'), '1:1: upstream: unknown key, did you mean upstreams?'],
    [
      'a list of upstreams',
      VALID.replace('  main:\n', '  - name: main\n'),
      '2:3: upstreams: expected a mapping with one entry per account, got a list',
    ],
    ['a mapping of stations', VALID.replace('- rid', 'rid'), '5:3: stations: expected a list of stations, got a mapping'],
    [
      'an upstream without a name',
      `base_url: https://h\n${STATIONS}`,
      '1:1: base_url: unknown key, did you mean base_url in an entry of upstreams?',
    ],
    ['a common name of a key', VALID.replace('base_url', 'url'), '3:5: upstreams.main.url: unknown key, did you mean base_url?'],
    ['a key in capitals', VALID.replace('base_url', 'Base-URL'), '3:5: upstreams.main.Base-URL: unknown key, did you mean base_url?'],
    [
      'a token in the wrong place',
      withUpstreamLine('bearer_token_file: f'),
      '4:5: upstreams.main.bearer_token_file: unknown key, did you mean authorization?',
    ],
    [
      'the label instead of the key',
      withStationLine('alertable: true'),
      '6:5: stations[0].alertable: unknown key, did you mean alertability?',
    ],
    [
      'a filter outside of filters',
      withStationLine('resource_type: t'),
      '6:5: stations[0].resource_type: unknown key, did you mean filters.resource_type?',
    ],
    ['a cache setting outside of cache', withStationLine('ttl: 5m'), '6:5: stations[0].ttl: unknown key, did you mean cache.ttl?'],
    ['a number as a name', withStationLine('name: 5'), '6:11: stations[0].name: expected a string, got a number; quote it'],
    [
      'a duration without a unit',
      `${VALID}cache: { ttl: 60 }\n`,
      '6:15: cache.ttl: expected a duration such as 90s, 1h30m or 250ms, got a number',
    ],
    [
      'a duration in words',
      `${VALID}cache: { ttl: 1min }\n`,
      '6:15: cache.ttl: expected a duration such as 90s, 1h30m or 250ms, got "1min"',
    ],
  ])('explains %s in one line', (_, text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  it('reports a missing key next to an unknown one that stands for another', () => {
    expect(problemsOf(VALID.replace('base_url: https://monitor.example.com', 'timout: 1s'))).toEqual([
      '3:5: upstreams.main.base_url: missing, expected an http or https URL',
      '3:5: upstreams.main.timout: unknown key, did you mean timeout?',
    ]);
  });

  it('reports an invalid key next to an unknown one that is similar', () => {
    expect(problemsOf(withUpstreamLine('base_uri: x').replace('https://monitor.example.com', 'x'))).toEqual([
      '3:15: upstreams.main.base_url: must begin with http:// or https://',
      '4:5: upstreams.main.base_uri: unknown key, did you mean base_url?',
    ]);
  });
});
