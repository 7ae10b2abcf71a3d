import { describe, expect, it } from 'vitest';
import {
  durationFlag,
  externalUrl,
  type FlagType,
  faultShare,
  file,
  integerFlag,
  labelValue,
  listenAddress,
  share,
  sortOrder,
  telemetryPath,
  trueOrFalse,
} from '../../src/cli/flag-type.ts';

const PATHS = ['/metrics', '/a/b.c_d~e-f', '/probes', '/..x', '/config/metrics'];

const CASES: readonly (readonly [
  name: string,
  kind: FlagType<unknown>,
  accepted: Readonly<Record<string, unknown>>,
  rejected: readonly string[],
])[] = [
  ['file', file, { 'a b.yaml': 'a b.yaml' }, ['']],
  ['trueOrFalse', trueOrFalse, { true: true, false: false }, ['TRUE', '1', '', 'constructor']],
  [
    'integer of at least 1',
    integerFlag(1),
    { '1': 1, '0042': 42, '9007199254740991': Number.MAX_SAFE_INTEGER },
    ['0', '-1', '1.0', '0x10', ' 1', '', '9007199254740992'],
  ],
  ['integer up to 65535', integerFlag(0, 65_535), { '65535': 65_535 }, ['65536']],
  ['share', share, { '0': 0, '1.0': 1, '.5': 0.5 }, ['', '1.5', '-1', 'a']],
  ['duration', durationFlag(1), { '1h30m': 5_400_000, '1d': 86_400_000 }, ['10', '0s', '1d1ms', '25h']],
  [
    'sortOrder',
    sortOrder,
    {
      created: 'created',
      '-resource_id': '-resource_id',
    },
    ['', '-', '--created', 'size', 'rules', 'constructor'],
  ],
  [
    'listenAddress',
    listenAddress,
    {
      ':9842': { port: 9842 },
      '127.0.0.1:0': { host: '127.0.0.1', port: 0 },
      'exporter-1.example.com:65535': { host: 'exporter-1.example.com', port: 65_535 },
      '[fe80::1%eth0]:80': { host: 'fe80::1%eth0', port: 80 },
    },
    [
      ...['', '9842', 'localhost', ':', ':65536', ':http', '::1:80', '[::1]', '[localhost]:80'],
      ...['999.0.0.1:80', 'http://localhost:80', 'a b:80', ':80\n'],
    ],
  ],
  [
    'telemetryPath',
    telemetryPath,
    Object.fromEntries(PATHS.map((path) => [path, path])),
    [...['/', '', 'metrics', '//metrics', '/metrics/', '/a/../sd', '/m?x', '/:name', '/m%20', '/m\n']],
  ],
  [
    'externalUrl',
    externalUrl,
    {
      'http://exporter.example.com': new URL('http://exporter.example.com/'),
      'HTTPS://example.com:8443/monitoring/': new URL('https://example.com:8443/monitoring/'),
      'http://[::1]:80/a': new URL('http://[::1]/a'),
    },
    [
      ...['', '/monitoring', 'http:example.com', 'ftp://example.com', 'http://'],
      ...['http://u@example.com', 'http://:p@example.com', 'http://example.com/?', 'http://example.com/#'],
    ],
  ],
  [
    'faultShare',
    faultShare,
    {
      hang: { name: 'hang', share: 1 },
      'rate_limited:0.1': { name: 'rate_limited', share: 0.1 },
    },
    ['', 'slo', 'hang:', 'hang:1.5', 'hang:0.1:2', 'toString'],
  ],
  [
    'labelValue',
    labelValue,
    { 'team=a=b': { label: 'team', value: 'a=b' }, 'team=': { label: 'team', value: '' } },
    ['', 'team', '=a', 'a b=c'],
  ],
];

describe.each(CASES)('%s', (_, kind, accepted, rejected) => {
  it('parses what it accepts, and nothing else', () => {
    const parsed = [...Object.keys(accepted), ...rejected].map((given) => [given, kind.parse(given)]);
    expect(parsed).toEqual([...Object.entries(accepted), ...rejected.map((given) => [given, undefined])]);
  });
});
