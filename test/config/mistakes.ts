import { parseDocument } from 'yaml';
import { STATION_INFO } from '../../src/metrics/health-families.ts';
import { RID, stationWith, upstreamWith } from './fixtures.ts';

/** Two upstreams, `commas` with list_style comma, and these lines after them. */
export const fleet = (...lines: readonly string[]) =>
  [
    'upstreams:',
    '  main: { base_url: "http://h" }',
    '  commas: { base_url: "http://h", list_style: comma }',
    ...lines,
    '',
  ].join('\n');

export const withLink = (...lines: readonly string[]) => `${upstreamWith()}links:\n  - ${lines.join('\n    ')}\n`;

const BRACES = '; write %7B and %7D for literal braces';
const STATION = '{station}, {upstream}, {subscription}, {resource_group}, {zone}, {telemetry_station}';

const UPSTREAMS = 'upstreams:\n  main:\n    base_url: https://monitor.example.com\n';
const STATIONS = `stations:\n  - rid: ${RID}\n`;
export const VALID = UPSTREAMS + STATIONS;

const UNQUOTED = `expected quotes around $\{NAME} inside { } and [ ]: "$\{NAME}"`;
const KEY_AND_VALUE = 'expected "key: value"; check the colon and the indentation';

const withUrl = (url: string) => VALID.replace('https://monitor.example.com', url);
export const withUpstreamLine = (line: string) => `${UPSTREAMS}    ${line}\n${STATIONS}`;
const withStationLine = (line: string) => `${VALID}    ${line}\n`;

/** Lines of an upstream with a single wrong value. */
export const UPSTREAM_MISTAKES = [
  ['timeout: 0', 'timeout: expected more than 0, got "0"'],
  ['timeout: 0s', 'timeout: expected more than 0, got "0s"'],
  ['refresh_timeout: 25d', 'refresh_timeout: expected at most 24d20h31m23s647ms, got "25d"'],
  ['timeout: 5', 'timeout: expected a duration such as 90s, 1h30m or 250ms, got a number'],
  ['timeout: 10 minutes', 'timeout: expected a duration such as 90s, 1h30m or 250ms, got "10 minutes"'],
  [`timeout: ${'x'.repeat(100)}`, `timeout: expected a duration such as 90s, 1h30m or 250ms, got "${'x'.repeat(60)}…"`],
  ['timeout: 0.1ms', 'timeout: expected a duration in whole milliseconds such as 90s, 1h30m or 250ms, got "0.1ms"'],
  ['timeout:', 'timeout: expected a duration such as 90s, 1h30m or 250ms, got null'],
  ['concurrency: 0', 'concurrency: expected an integer from 1 to 1000, got 0'],
  ['concurrency: 1001', 'concurrency: expected an integer from 1 to 1000, got 1001'],
  ['concurrency: 0.5', 'concurrency: expected an integer from 1 to 1000, got 0.5'],
  ['concurrency: [1]', 'concurrency: expected an integer from 1 to 1000, got a list'],
  ['requests_per_second: -1', 'requests_per_second: expected a number of at least 0, got -1'],
  ['requests_per_second: .inf', 'requests_per_second: expected a number of at least 0, got Infinity'],
  ['max_retries: 21', 'max_retries: expected an integer from 0 to 20, got 21'],
  ['page_size: 10001', 'page_size: expected an integer from 1 to 10000, got 10001'],
  ['max_page_bytes: 100', 'max_page_bytes: expected a size such as 16MiB or 1MB, got a number'],
  ['max_page_bytes: 0B', 'max_page_bytes: expected a size in whole bytes such as 16MiB or 1MB, got "0B"'],
  ['max_page_bytes: 16 MiB', 'max_page_bytes: expected a size such as 16MiB or 1MB, got "16 MiB"'],
  ['list_style: commas', 'list_style: expected one of repeat, comma, got "commas"; did you mean "comma"?'],
  ['list_style: { a: 1 }', 'list_style: expected one of repeat, comma, got a mapping'],
  ['proxy_url: socks5://p', 'proxy_url: must begin with http:// or https://'],
  ['proxy_url: http://p/path', 'proxy_url: expected a URL without path, query and fragment'],
  ['proxy_url: http://p?q', 'proxy_url: expected a URL without path, query and fragment'],
  [
    'proxy_url: http://u:100%@p',
    'proxy_url: invalid percent-encoding in the user or password, expected %25 for a literal %',
  ],
  ['proxy_url: true', 'proxy_url: expected an http or https URL, got a boolean'],
] as const;

/** URLs of a service. */
export const URL_MISTAKES = [
  ['ftp://h', 'must begin with http:// or https://'],
  ['monitor.example.com', 'must begin with http:// or https://'],
  ['127.0.0.1:8080', 'must begin with http:// or https://'],
  ['http://', 'expected an http or https URL such as https://host:8443'],
  ['https://user@h', 'expected a URL without user and password; use basic_auth instead'],
  ['https://user:hunter2@h', 'expected a URL without user and password; use basic_auth instead'],
  ['https://h?', 'expected a URL without query and fragment'],
  ['https://h#', 'expected a URL without query and fragment'],
] as const;

/** Lines of an upstream about credentials and TLS. */
export const CREDENTIAL_MISTAKES = [
  [
    'authorization: { type: Basic, credentials: c }',
    '28: upstreams.main.authorization.type: expected a scheme other than Basic; use basic_auth instead',
  ],
  [
    'authorization: { type: basic, credentials: c }',
    '28: upstreams.main.authorization.type: expected a scheme other than Basic; use basic_auth instead',
  ],
  [
    'authorization: { type: Bearer hunter2, credentials: c }',
    '28: upstreams.main.authorization.type: expected an authentication scheme such as Bearer',
  ],
  [
    'authorization: { credentials: "" }',
    '35: upstreams.main.authorization.credentials: expected a non-empty string, got ""',
  ],
  [
    'authorization: { credentials: "hunter2\\n" }',
    '35: upstreams.main.authorization.credentials: expected printable Latin-1 characters, spaces and tabs',
  ],
  [
    'basic_auth: { username: "a:b", password: "" }',
    '29: upstreams.main.basic_auth.username: expected a user name without a colon',
  ],
  ['basic_auth: { password: "" }', '17: upstreams.main.basic_auth.username: missing, expected a string'],
  [
    'hmac: { access_key_id: "a\\"b", secret_access_key: s }',
    '28: upstreams.main.hmac.access_key_id: expected printable ASCII without quotes and backslashes',
  ],
  [
    'hmac: { access_key_id: "a\\n", secret_access_key: s }',
    '28: upstreams.main.hmac.access_key_id: expected printable ASCII without quotes and backslashes',
  ],
  [
    'hmac: { access_key_id: a, secret_access_key: s, signed_headers: [] }',
    '69: upstreams.main.hmac.signed_headers: expected at least one entry, got an empty list',
  ],
  [
    'hmac: { access_key_id: a, secret_access_key: s, signed_headers: [date, date] }',
    '69: upstreams.main.hmac.signed_headers: expected each entry at most once, got a duplicate',
  ],
  [
    'hmac: { access_key_id: a, secret_access_key: s, signed_headers: [request_line] }',
    '70: upstreams.main.hmac.signed_headers[0]: expected one of x-date, date, host, request-line, @request-target, got "request_line"; did you mean "request-line"?',
  ],
  ['tls_config: { cert_file: c }', '17: upstreams.main.tls_config.key_file: missing, expected together with cert_file'],
  ['tls_config: { key_file: c }', '17: upstreams.main.tls_config.cert_file: missing, expected together with key_file'],
  [
    'tls_config: { min_version: TLS1.2 }',
    '32: upstreams.main.tls_config.min_version: expected one of TLS10, TLS11, TLS12, TLS13, got "TLS1.2"; did you mean "TLS12"?',
  ],
] as const;

/** Entries of http_headers. */
export const HEADER_MISTAKES = [
  ['"b d": { values: [a] }', 'http_headers["b d"]: invalid key, expected an HTTP header name', 21],
  ['Host: { values: [a] }', 'http_headers.Host: this header is set by the exporter, expected another one', 21],
  [
    'content-LENGTH: { values: [a] }',
    'http_headers.content-LENGTH: this header is set by the exporter, expected another one',
    21,
  ],
  ['X: {}', 'http_headers.X: expected at least one entry in values, secrets or files, got none', 24],
  [
    'X: { values: [], files: [] }',
    'http_headers.X: expected at least one entry in values, secrets or files, got none',
    24,
  ],
  ['X: { values: 5 }', 'http_headers.X.values: expected a list, got a number', 34],
  ['X: { values: ["a\\0"] }', 'http_headers.X.values[0]: expected printable Latin-1 characters, spaces and tabs', 35],
  ['X: { secrets: ["漢"] }', 'http_headers.X.secrets[0]: expected printable Latin-1 characters, spaces and tabs', 36],
  ['X: hunter2', 'http_headers.X: expected a mapping, got a string', 24],
] as const;

/** Resource IDs. */
export const RID_MISTAKES = [
  RID.slice(1),
  `${RID}/`,
  `${RID}/resources`,
  RID.replace('/zones/z1', ''),
  RID.replace('z1', ''),
  RID.replace('z1', '..'),
  RID.replace('/rg/', '/./'),
  RID.replace('resourceGroups', 'resourcegroups'),
  'ts',
];

/** Lines of a station. */
export const STATION_MISTAKES = [
  ['name: ""', '11: stations[0].name: expected a non-empty string, got ""'],
  [
    'filters: { resource_ids: [a, ""] }',
    '34: stations[0].filters.resource_ids[1]: expected a non-empty string, got ""',
  ],
  ['filters: { resource_types: a }', '32: stations[0].filters.resource_types: expected a list, got a string'],
  ['filters: { product: "" }', '25: stations[0].filters.product: expected a non-empty string, got ""'],
  ['filters: { enabled_alert: yes }', '31: stations[0].filters.enabled_alert: expected true or false, got a string'],
  ['products: [a, b, a]', '22: stations[0].products[2]: duplicate product, expected each only once'],
  ['products: [1]', '16: stations[0].products[0]: expected a string, got a number; quote it'],
  ['products: [""]', '16: stations[0].products[0]: expected a non-empty string, got ""'],
  ['products: 5', '15: stations[0].products: expected a list, got a number'],
  ['alertability: 1', '19: stations[0].alertability: expected true or false, got a number'],
  ['cache: { ttl: 30d }', '19: stations[0].cache.ttl: expected at most 24d20h31m23s647ms, got "30d"'],
  [
    'cache: { refresh: background }',
    '14: stations[0].cache.refresh: unknown key, expected one of ttl, max_stale, error_ttl',
  ],
  [
    'metrics: { disabled: [telemetry_station_exporter_series] }',
    '27: stations[0].metrics.disabled[0]: expected the name of a metric family of a station, got "telemetry_station_exporter_series"; did you mean "telemetry_station_resources"?',
  ],
  ['metrics: { per_resource: 1 }', '30: stations[0].metrics.per_resource: expected true or false, got a number'],
  [
    'labels: { 9a: b }',
    '15: stations[0].labels["9a"]: invalid key, expected a label name of letters, digits and underscores that does not start with a digit',
  ],
  [
    'labels: { a-b: b }',
    '15: stations[0].labels.a-b: invalid key, expected a label name of letters, digits and underscores that does not start with a digit',
  ],
  [
    'labels: { __a: b }',
    '15: stations[0].labels.__a: label names that start with __ are reserved, expected another one',
  ],
  ['labels: { a: 5 }', '18: stations[0].labels.a: expected a string, got a number; quote it'],
] as const;

/** Lines of the file itself. */
export const GLOBAL_MISTAKES = [
  ['cache: 5', '6:8: cache: expected a mapping, got a number'],
  ['cache: { refresh: timer }', '6:19: cache.refresh: expected one of scrape, background, got "timer"'],
  ['cache: { error_ttl: 10 }', '6:21: cache.error_ttl: expected a duration such as 90s, 1h30m or 250ms, got a number'],
  ['metrics: { max_resources: -1 }', '6:27: metrics.max_resources: expected an integer of at least 0, got -1'],
  ['metrics: { per_resource: 5 }', '6:26: metrics.per_resource: expected true or false, got a number'],
  [
    'metrics: { disabled: [telemetry_station_upp] }',
    '6:23: metrics.disabled[0]: expected the name of a metric family, got "telemetry_station_upp"; did you mean "telemetry_station_up"?',
  ],
  ['metrics: { disabled: [up] }', '6:23: metrics.disabled[0]: expected the name of a metric family, got "up"'],
  ['cahce: {}', '6:1: cahce: unknown key, did you mean cache?'],
  [
    'web: {}',
    '6:1: web: unknown key, expected one of upstreams, stations, station_files, cache, metrics, limits, resource_labels, links',
  ],
] as const;

/** Templates of the page of a station. */
export const LINK_MISTAKES = [
  ['javascript:alert(1)', 'must begin with http:// or https://'],
  ['//host/{station}', 'must begin with http:// or https://'],
  ['{station}', 'must begin with http:// or https://'],
  ['https://{station}/', 'expected a placeholder only after the host'],
  ['https://a.{zone}.example.com/', 'expected a placeholder only after the host'],
  ['https://h:{zone}/', 'expected a placeholder only after the host'],
  ['https://user:hunter2@h/', 'expected a URL without user and password'],
  ['https:///{station}', 'expected an http or https URL such as https://host:8443/path?station={station}'],
  ['https://\\\\{station}', 'expected an http or https URL such as https://host:8443/path?station={station}'],
  ['https://h/a b', 'expected an http or https URL such as https://host:8443/path?station={station}'],
  ['https://h/{sation}', `unknown placeholder {sation}, expected one of ${STATION}${BRACES}`],
  ['https://h/{resource_id}', `unknown placeholder {resource_id}, expected one of ${STATION}${BRACES}`],
  ['https://h/{}', `unknown placeholder {}, expected one of ${STATION}${BRACES}`],
  ['https://h/{station', `unknown placeholder {, expected one of ${STATION}${BRACES}`],
  ['https://h/}{station}', `unknown placeholder }, expected one of ${STATION}${BRACES}`],
] as const;

/** First configurations: what is wrong, the file, and the problem. */
export const NEWCOMER_MISTAKES = [
  ['a variable in brackets', `${VALID}station_files: [a, $\{FOLDER}/*.yaml]\n`, `6:21: ${UNQUOTED}`],
  ['a variable in braces', `upstreams: { main: { base_url: $\{URL} } }\n${STATIONS}`, `1:33: ${UNQUOTED}`],
  ['an unset variable', withUrl(`$\{URL}`), '3:15: upstreams.main.base_url: environment variable URL is not set'],
  [
    'an address without a scheme',
    withUrl('127.0.0.1:8080'),
    '3:15: upstreams.main.base_url: must begin with http:// or https://',
  ],
  [
    'a host without a scheme',
    withUrl('monitor.example.com'),
    '3:15: upstreams.main.base_url: must begin with http:// or https://',
  ],
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
  [
    'a reserved character',
    withStationLine('name: @team'),
    '6:11: value starts with a reserved character, expected quotes around it',
  ],
  ['a quote that is not closed', withUrl('"https://h'), '6:1: missing closing double quote'],
  [
    'the singular of a key',
    VALID.replace('stations:', 'station:'),
    '4:1: station: unknown key, did you mean stations?',
  ],
  [
    'the singular of another key',
    VALID.replace('upstreams:', 'upstream:'),
    '1:1: upstream: unknown key, did you mean upstreams?',
  ],
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
  [
    'a common name of a key',
    VALID.replace('base_url', 'url'),
    '3:5: upstreams.main.url: unknown key, did you mean base_url?',
  ],
  [
    'a key in capitals',
    VALID.replace('base_url', 'Base-URL'),
    '3:5: upstreams.main.Base-URL: unknown key, did you mean base_url?',
  ],
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
  [
    'a cache setting outside of cache',
    withStationLine('ttl: 5m'),
    '6:5: stations[0].ttl: unknown key, did you mean cache.ttl?',
  ],
  [
    'a number as a name',
    withStationLine('name: 5'),
    '6:11: stations[0].name: expected a string, got a number; quote it',
  ],
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
] as const;

const SCHEMES = {
  authorization: { key: 'credentials', rest: '' },
  basic_auth: { key: 'password', rest: 'username: u, ' },
  hmac: { key: 'secret_access_key', rest: 'access_key_id: a, ' },
  oauth2: { key: 'client_secret', rest: 'client_id: c, token_url: "http://t", ' },
} as const;

const scheme = (name: keyof typeof SCHEMES, secret = `${SCHEMES[name].key}: s`) =>
  `${name}: { ${SCHEMES[name].rest}${secret} }`;
const schemes = Object.keys(SCHEMES) as (keyof typeof SCHEMES)[];
const PARTS = { subscription: 's', resource_group: 'g', zone: 'z', telemetry_station: 't' };

/** Between several keys. */
const COMBINATIONS: readonly string[] = [
  ...schemes.flatMap((one, at) => schemes.slice(at + 1).map((other) => upstreamWith(scheme(one), scheme(other)))),
  ...schemes.flatMap((name) =>
    ['', `${SCHEMES[name].key}: s, ${SCHEMES[name].key}_file: f`].map((secret) => upstreamWith(scheme(name, secret))),
  ),
  ...schemes.map((name) => upstreamWith(scheme(name), 'http_headers: { AUTHORIZATION: { values: [a] } }')),
  ...['date', 'X-Date'].map((header) => upstreamWith(scheme('hmac'), `http_headers: { ${header}: { values: [a] } }`)),
  ...Object.keys(PARTS).map((missing) =>
    stationWith(
      ...(Object.entries(PARTS).flatMap(([key, part]) => (key === missing ? [] : [`${key}: ${part}`])) as [string]),
    ),
  ),
  ...Object.keys(PARTS).map((key) => stationWith(`rid: ${RID}`, `${key}: x`)),
  ...['""', '.', '..'].map((part) =>
    stationWith(...(Object.entries({ ...PARTS, zone: part }).map(([key, value]) => `${key}: ${value}`) as [string])),
  ),
  ...STATION_INFO.labels.map((label) => stationWith(`rid: ${RID}`, `labels: { ${label}: x }`)),
  stationWith('name: a'),
  'upstreams: {}\nstations: []\n',
  `upstreams: {}\nstations: [{ rid: ${RID} }]\n`,
  'upstreams: { main: { base_url: "http://h" } }\nstations: []\nstation_files: []\n',
  `upstreams: { "": { base_url: "http://h" } }\nstations: [{ rid: ${RID} }]\n`,
  fleet('stations:', `  - rid: ${RID}`),
  fleet('stations:', `  - { upstream: main, rid: ${RID} }`, 'cache: { ttl: 0, refresh: background }'),
  fleet('stations:', `  - { upstream: main, rid: ${RID}, cache: { error_ttl: 0s } }`, 'cache: { refresh: background }'),
  fleet('stations:', `  - { upstream: main, rid: ${RID} }`, 'station_files: [a/*/b.yaml]'),
  ...['', '- a', 'text', '42'],
  withLink('name: a'),
  withLink('station: https://h'),
  withLink('name: a', 'resource: https://h/{id}'),
];

/** What JSON Schema cannot express, with the reason. */
export const INEXPRESSIBLE: readonly (readonly [text: string, reason: string])[] = [
  [withUrl(`$\{URL}`), 'the environment'],
  [upstreamWith('refresh_timeout: 25d'), 'the value of a duration'],
  [upstreamWith('timeout: 0.1ms'), 'the value of a duration'],
  [stationWith(`rid: ${RID}`, 'cache: { ttl: 30d }'), 'the value of a duration'],
  [
    fleet('stations:', `  - { upstream: main, rid: ${RID} }`, `  - { upstream: main, rid: ${RID} }`),
    'values of one key in several entries',
  ],
  [fleet('stations:', `  - { upstream: mian, rid: ${RID} }`), 'a reference to a key'],
  [
    fleet('stations:', `  - { upstream: commas, rid: ${RID}, filters: { resource_ids: ["a,b"] } }`),
    'a reference to a key',
  ],
  [
    stationWith(
      ...(Object.entries({ ...PARTS, zone: '"\\ud800"' }).map(([key, value]) => `${key}: ${value}`) as [string]),
    ),
    'well-formed Unicode',
  ],
];

/** Every configuration that the loader rejects and that is YAML. */
export const MISTAKES: readonly string[] = [
  ...[...UPSTREAM_MISTAKES, ...CREDENTIAL_MISTAKES].map(([line]) => upstreamWith(line)),
  ...URL_MISTAKES.map(([url]) => VALID.replace('https://monitor.example.com', JSON.stringify(url))),
  ...HEADER_MISTAKES.map(([header]) => upstreamWith(`http_headers: { ${header} }`)),
  ...RID_MISTAKES.map((rid) => stationWith(`rid: ${rid}`)),
  ...STATION_MISTAKES.map(([line]) => stationWith(`rid: ${RID}`, line)),
  ...GLOBAL_MISTAKES.map(([line]) => fleet('stations:', `  - { upstream: main, rid: ${RID} }`, line)),
  ...LINK_MISTAKES.map(([template]) => withLink('name: a', `station: "${template}"`)),
  ...NEWCOMER_MISTAKES.map(([, text]) => text).filter((text) => parseDocument(text).errors.length === 0),
  ...COMBINATIONS,
  ...INEXPRESSIBLE.map(([text]) => text),
];
