import { fleet, RID, stationWith, upstreamWith, VALID, withEntries, withLink } from './fixtures.ts';

/** A configuration that is rejected, and its problems without the name of the file. */
type Mistake = [text: string, ...problems: (string | RegExp)[]];

/** `place`: begins every problem. */
const ALERTING_LABEL = 'Prometheus or the alert rules set or remove this label, expected another one';

const rows = (
  table: Readonly<Record<string, string>>,
  textOf: (line: string) => string,
  place = '',
): readonly Mistake[] => Object.entries(table).map(([line, problem]) => [textOf(line), `${place}${problem}`]);

const withUrl = (url: string) => VALID.replace('https://monitor.example.com', url);
const withStationLine = (line: string) => stationWith(`rid: ${RID}`, line);
const withLine = (line: string) => fleet('stations:', `  - { upstream: main, rid: ${RID} }`, line);

const DURATION = 'expected a duration such as 90s, 1h30m or 250ms';

const HEADER_TEXT = 'expected valid Unicode without line breaks and other control characters';

/** Lines of an upstream with a single wrong value. */
const UPSTREAM_LINES = {
  'timeout: 0': '4:14: upstreams.main.timeout: expected more than 0, got "0"',
  'timeout: 5': `4:14: upstreams.main.timeout: ${DURATION}, got "5"; did you mean 5s?`,
  'timeout:': `4:13: upstreams.main.timeout: ${DURATION}, got null`,
  'concurrency: 0.5': '4:18: upstreams.main.concurrency: expected an integer from 1 to 1000, got 0.5',
  'concurrency: many': '4:18: upstreams.main.concurrency: expected an integer from 1 to 1000, got "many"',
  'requests_per_second: -1':
    '4:26: upstreams.main.requests_per_second: expected a number of at least 0.001, or 0 for no limit, got -1',
  'requests_per_second: 1e-7':
    '4:26: upstreams.main.requests_per_second: expected a number of at least 0.001, or 0 for no limit',
  'max_page_bytes: 100': '4:21: upstreams.main.max_page_bytes: expected a size such as 16MiB or 1MB, got a number',
  'max_page_bytes: 0B':
    '4:21: upstreams.main.max_page_bytes: expected a size in whole bytes such as 16MiB or 1MB, got "0B"',
  'list_style: commas':
    '4:17: upstreams.main.list_style: expected one of repeat, comma, got "commas"; did you mean "comma"?',
  'proxy_url: socks5://p': '4:16: upstreams.main.proxy_url: must begin with http:// or https://',
  'proxy_url: http://p/path': '4:16: upstreams.main.proxy_url: expected a URL without path, query and fragment',
  'proxy_url: http://u:100%@p':
    '4:16: upstreams.main.proxy_url: invalid percent-encoding in the user or password, expected %25 for a literal %',
  'proxy_from_environment: true\n    proxy_url: http://p':
    '4:5: upstreams.main.proxy_from_environment: given together with proxy_url, expected only one of the two',
  'authorization: { type: Basic, credentials: c }':
    '4:28: upstreams.main.authorization.type: expected a scheme other than Basic; use basic_auth instead',
  'authorization: { type: Bearer hunter2, credentials: c }':
    '4:28: upstreams.main.authorization.type: expected an authentication scheme such as Bearer',
  'authorization: {}': '4:20: upstreams.main.authorization: expected credentials or credentials_file, got neither',
  'authorization: { credentials: s, credentials_file: f }':
    '4:38: upstreams.main.authorization.credentials_file: given together with credentials, expected only one of the two',
  'authorization: { credentials: "" }':
    '4:35: upstreams.main.authorization.credentials: expected a non-empty string, got ""',
  'authorization: { credentials: "hunter2\\n" }': `4:35: upstreams.main.authorization.credentials: ${HEADER_TEXT}`,
  'basic_auth: { username: u }': '4:17: upstreams.main.basic_auth: expected password or password_file, got neither',
  'basic_auth: { username: "a:b", password: "" }':
    '4:29: upstreams.main.basic_auth.username: expected a user name without a colon',
  'basic_auth: { password: "" }': '4:17: upstreams.main.basic_auth.username: missing, expected a string',
  'hmac: { access_key_id: "a\\"b", secret_access_key: s }':
    '4:28: upstreams.main.hmac.access_key_id: expected printable ASCII without quotes and backslashes',
  'hmac: { access_key_id: a, secret_access_key: s, signed_headers: [] }':
    '4:69: upstreams.main.hmac.signed_headers: expected at least one entry, got an empty list',
  'hmac: { access_key_id: a, secret_access_key: s, signed_headers: [date, date] }':
    '4:69: upstreams.main.hmac.signed_headers: expected each entry at most once, got a duplicate',
  'hmac: { access_key_id: a, secret_access_key: s, signed_headers: [request_line] }':
    '4:70: upstreams.main.hmac.signed_headers[0]: expected one of x-date, date, host, request-line, @request-target, got "request_line"; did you mean "request-line"?',
  'oauth2: { client_id: c, token_url: "http://t" }':
    '4:13: upstreams.main.oauth2: expected client_secret or client_secret_file, got neither',
  'oauth2: { client_id: c, client_secret: s, token_url: "ftp://t" }':
    '4:58: upstreams.main.oauth2.token_url: must begin with http:// or https://',
  'tls_config: { cert_file: c }': '4:17: upstreams.main.tls_config.key_file: missing, expected together with cert_file',
  'tls_config: { min_version: TLS1.2 }':
    '4:32: upstreams.main.tls_config.min_version: expected one of TLS10, TLS11, TLS12, TLS13, got "TLS1.2"; did you mean "TLS12"?',
  'http_headers: { "b d": { values: [a] } }':
    '4:21: upstreams.main.http_headers["b d"]: invalid key, expected an HTTP header name',
  'http_headers: { content-LENGTH: { values: [a] } }':
    '4:21: upstreams.main.http_headers.content-LENGTH: this header is set by the exporter, expected another one',
  'http_headers: { X: { values: [], files: [] } }':
    '4:24: upstreams.main.http_headers.X: expected at least one entry in values, secrets or files, got none',
  'http_headers: { X: hunter2 }': '4:24: upstreams.main.http_headers.X: expected a mapping, got a string',
};

/** URLs of a service. */
const URLS = {
  'ftp://h': 'must begin with http:// or https://',
  'http://': 'expected an http or https URL such as https://host:8443',
  'https://user:hunter2@h': 'expected a URL without user and password; use basic_auth instead',
  'https://h?': 'expected a URL without query and fragment',
  'https://h/x/monitor/ts/data/v1/':
    'expected the URL without /monitor/ts/data/v1/, the path of the interface, which the exporter appends',
  'https://h/monitor/ts/data/v1/subscriptions/s':
    'expected the URL without /monitor/ts/data/v1/subscriptions/s, the path of the interface, which the exporter appends',
};

const WRONG_RIDS = [
  RID.slice(1),
  `${RID}/`,
  RID.replace('/zones/z1', ''),
  RID.replace('z1', '..'),
  RID.replace('G', 'g'),
];

const RID_PROBLEM =
  '4:10: stations[0].rid: expected /subscriptions/<subscription>/resourceGroups/<group>/zones/<zone>/telemetryStations/<name>';

const STATION_LINES = {
  'name: a/../b':
    '5:11: stations[0].name: expected no part "." or ".." between the slashes of "a/../b": proxies resolve them',
  'name: ""': '5:11: stations[0].name: expected a non-empty name other than "." and ".."',
  'name: 5': '5:11: stations[0].name: expected a string, got a number; quote it',
  'filters: { Resource-Types: [t] }':
    '5:16: stations[0].filters.Resource-Types: unknown key, did you mean resource_types?',
  'ttl: 5m': '5:5: stations[0].ttl: unknown key, did you mean cache.ttl?',
  'filters: { resource_ids: [a, ""] }':
    '5:34: stations[0].filters.resource_ids[1]: expected a non-empty string, got ""',
  'alertability: maybe': '5:19: stations[0].alertability: expected true or false, got "maybe"',
  'cache: { refresh: background }':
    '5:14: stations[0].cache.refresh: unknown key, expected one of ttl, max_stale, error_ttl',
  'metrics: { disabled: [telemetry_station_exporter_records] }':
    '5:27: stations[0].metrics.disabled[0]: expected the name of a metric family of a station, got "telemetry_station_exporter_records"; did you mean "telemetry_station_verified_resources"?',
  'labels: { 9a: b }':
    '5:15: stations[0].labels["9a"]: invalid key, expected a label name of letters, digits and underscores that does not start with a digit',
  'labels: { __a: b }':
    '5:15: stations[0].labels.__a: label names that start with __ are reserved, expected another one',
  'labels: { zone: b }':
    '5:15: stations[0].labels.zone: telemetry_station_info already has this label, expected another one',
  'labels: { team: a, display_name: b }':
    '5:24: stations[0].labels.display_name: telemetry_station_resource_firing already has this label, expected another one',
  ...Object.fromEntries(
    ['job', 'instance', 'pod', 'severity', 'alertname'].map((label) => [
      `labels: { ${label}: b }`,
      `5:15: stations[0].labels.${label}: ${ALERTING_LABEL}`,
    ]),
  ),
};

/** Lines of the file itself. */
const FILE_LINES = {
  'cache: 5': '6:8: cache: expected a mapping, got a number',
  'cache: { refresh: timer }': '6:19: cache.refresh: expected one of scrape, background, got "timer"',
  'metrics: { max_resources: -1 }': '6:27: metrics.max_resources: expected an integer of at least 0, got -1',
  'metrics: { disabled: [telemetry_station_upp] }':
    '6:23: metrics.disabled[0]: expected the name of a metric family, got "telemetry_station_upp"; did you mean "telemetry_station_up"?',
  'station_files: [a/*/b.yaml]': '6:17: station_files[0]: expected * only in the last part of the path',
  'cahce: {}': '6:1: cahce: unknown key, did you mean cache?',
  'states: { active: [A] }': '6:11: states.active: unknown key, did you mean inactive?',
  'states: { firing: [""] }': '6:20: states.firing[0]: expected a state: a non-empty string or a number, got ""',
};

const BRACES = '; write %7B and %7D for literal braces';
const STATION = '{station}, {upstream}, {subscription}, {resource_group}, {zone}, {telemetry_station}';

const NO_TEMPLATE =
  'expected an http or https URL without user, with placeholders after the host only, such as https://host:8443/path?station={station}';

/** Templates of the page of a station. */
const TEMPLATES = {
  'javascript:alert(1)': NO_TEMPLATE,
  '{station}': NO_TEMPLATE,
  'https://{station}/': NO_TEMPLATE,
  'https://user:hunter2@h/': NO_TEMPLATE,
  'https://\\\\{station}': NO_TEMPLATE,
  'https://h/a b': NO_TEMPLATE,
  'https://h/{resource_id}': `unknown placeholder {resource_id}, expected one of ${STATION}${BRACES}`,
  'https://h/{station': `unknown placeholder {, expected one of ${STATION}${BRACES}`,
  'https://h/}{station}': `unknown placeholder }, expected one of ${STATION}${BRACES}`,
};

const USED_NAME = 'the exporter already uses this name, expected another one';

/** Entries of resource_labels. */
const ENTRIES = {
  '{ match: { names: a }, labels: { a: b } }': '7:16: resource_labels[0].match.names: unknown key, did you mean name?',
  '{ alertable: no }': '7:18: resource_labels[0].alertable: expected true or false, got "no"',
  '{ match: {} }': '7:5: resource_labels[0].labels: missing, expected a mapping of labels, or alertable: false',
  '{ labels: { job: b } }': `7:17: resource_labels[0].labels.job: ${ALERTING_LABEL}`,
  '{ labels: { severity: b } }': `7:17: resource_labels[0].labels.severity: ${ALERTING_LABEL}`,
  '{ labels: { constructor: b } }': `7:17: resource_labels[0].labels.constructor: ${USED_NAME}`,
};

const withZone = (zone: string) =>
  stationWith('subscription: s', 'resource_group: g', `zone: ${zone}`, 'telemetry_station: t');

const ZONE_PROBLEM = '6:11: stations[0].zone: expected a non-empty name other than "." and ".."';

const PATH_MISTAKES: readonly Mistake[] = [
  ...WRONG_RIDS.map((rid): Mistake => [stationWith(`rid: ${rid}`), RID_PROBLEM]),
  ...['""', '.', '..'].map((zone): Mistake => [withZone(zone), ZONE_PROBLEM]),
  [
    stationWith(`rid: ${RID}`, 'subscription: x', 'zone: x'),
    '4:5: stations[0].rid: given together with subscription, zone, expected either rid or those keys',
  ],
  [
    stationWith('name: a'),
    '4:5: stations[0]: expected rid or all of subscription, resource_group, zone, telemetry_station, got none of them',
  ],
  [
    stationWith('zone: z1', 'telemetry_station: ts'),
    '4:5: stations[0].subscription: missing, expected together with zone, telemetry_station',
    '4:5: stations[0].resource_group: missing, expected together with zone, telemetry_station',
  ],
];

const EXPECTED = 'expected a mapping with the keys upstreams and stations';

/** Problems of several keys, and of the file as a whole. */
const FILE_MISTAKES: readonly Mistake[] = [
  ['', `1:1: the file is empty, ${EXPECTED}`],
  ['\n~', `2:1: the file is empty, ${EXPECTED}`],
  ['\n- a\n', `2:1: ${EXPECTED}, got a list`],
  [
    '# a comment\ncache: {}\n',
    '2:1: upstreams: missing, expected a mapping with one entry per account',
    '2:1: stations: expected at least one station, or station_files, got none',
  ],
  [
    'upstreams: {}\nstations: []\n',
    '1:12: upstreams: expected at least one upstream, got none',
    '2:11: stations: expected at least one station, or station_files, got none',
  ],
  [
    `upstreams: { "": { base_url: "http://h" }, a: { base_url: "http://h" } }\nstations: [{ upstream: a, rid: ${RID} }]`,
    '1:14: upstreams[""]: invalid key, expected a non-empty string',
  ],
  [withLink('name: a'), '7:5: links[0]: expected station, resource or both, got neither'],
  [
    withLink('name: a', 'resource: https://h/{id}'),
    /^8:15: links\[0\]\.resource: unknown placeholder \{id\}, expected one of \{station\}, .*\{resource_id\}, \{name\}, .*\{gpu_model\};/,
  ],
];

/** First configurations. */
const NEWCOMER_MISTAKES: readonly Mistake[] = [
  [withUrl('$URL'), '3:15: upstreams.main.base_url: must begin with http:// or https://'],
  [
    VALID.replace('url: ', 'url:'),
    '3:5: upstreams.main: expected a mapping, got a string; a space is missing after the colon',
  ],
  [
    VALID.replace('stations:', 'station:'),
    '1:1: stations: expected at least one station, or station_files, got none',
    '4:1: station: unknown key, did you mean stations?',
  ],
  [
    VALID.replace('  main:\n', '  - name: main\n'),
    '2:3: upstreams: expected a mapping with one entry per account, got a list',
  ],
  [VALID.replace('- rid', 'rid'), '5:3: stations: expected a list of stations, got a mapping'],
  [
    VALID.replace('upstreams:\n  main:\n    ', ''),
    '1:1: upstreams: missing, expected a mapping with one entry per account',
    '1:1: base_url: unknown key, did you mean base_url in an entry of upstreams?',
  ],
];

const AUTHORIZATION = 'authorization: { credentials: s }';
const HMAC = 'hmac: { access_key_id: a, secret_access_key: s }';
const ONE_SCHEME = 'given together with authorization, expected only one of authorization, basic_auth, hmac, oauth2';
const LONG = 'x'.repeat(1024);
/** Rules between several keys, and what a value means. */
const FURTHER_MISTAKES: readonly Mistake[] = [
  [
    upstreamWith(AUTHORIZATION, 'basic_auth: { username: u, password: s }', HMAC),
    `5:5: upstreams.main.basic_auth: ${ONE_SCHEME}`,
    `6:5: upstreams.main.hmac: ${ONE_SCHEME}`,
  ],
  [
    upstreamWith('http_headers: { AUTHORIZATION: { values: [a] } }', AUTHORIZATION),
    '4:21: upstreams.main.http_headers.AUTHORIZATION: this header is set by authorization, expected another one',
  ],
  [
    upstreamWith('http_headers: { date: { values: [a] }, X-Date: { values: [a] } }', HMAC),
    '4:21: upstreams.main.http_headers.date: this header is set by hmac, expected another one',
    '4:44: upstreams.main.http_headers.X-Date: this header is set by hmac, expected another one',
  ],
  [
    fleet('stations:', `  - rid: ${RID}`, '    upstream: mian', `  - { rid: ${RID}, name: other }`),
    '6:15: stations[0].upstream: expected the name of an upstream, got "mian"; did you mean "main"?',
    '7:5: stations[1].upstream: missing, expected one of "main", "second", because there are several upstreams',
  ],
  [
    withLine('states: { firing: [A, 3, B, A], pending: [3], inactive: ["3", B] }'),
    '6:29: states.firing[3]: expected each state once, got "A", which is also states.firing[0]',
    '6:43: states.pending[0]: expected each state once, got "3", which is also states.firing[1]',
    '6:58: states.inactive[0]: expected each state once, got "3", which is also states.firing[1]',
    '6:63: states.inactive[1]: expected each state once, got "B", which is also states.firing[2]',
  ],
  [
    withLine('states: { firing: [true, true] }'),
    '6:20: states.firing[0]: expected a state: a non-empty string or a number, got a boolean',
    '6:26: states.firing[1]: expected a state: a non-empty string or a number, got a boolean',
  ],
  [
    fleet(
      'cache: { ttl: 0, refresh: background }',
      'stations:',
      `  - { upstream: main, cache: { error_ttl: 0s }, rid: ${RID} }`,
    ),
    '4:15: cache.ttl: expected more than 0 because cache.refresh is background, got 0',
    '6:43: stations[0].cache.error_ttl: expected more than 0 because cache.refresh is background, got 0',
  ],
  [withUrl(`$\{URL}`), '3:15: upstreams.main.base_url: environment variable URL is not set'],
  [
    upstreamWith('refresh_timeout: 25d'),
    '4:22: upstreams.main.refresh_timeout: expected at most 24d20h31m23s647ms, got "25d"',
  ],
  [
    upstreamWith('timeout: 0.1ms'),
    '4:14: upstreams.main.timeout: expected a duration in whole milliseconds such as 90s, 1h30m or 250ms, got "0.1ms"',
  ],
  [
    withStationLine('cache: { ttl: 30d }'),
    '5:19: stations[0].cache.ttl: expected at most 24d20h31m23s647ms, got "30d"',
  ],
  [withZone('"\\ud800"'), ZONE_PROBLEM],
  [stationWith(`rid: "${RID}\\ud800"`), RID_PROBLEM],
  ...['\\0', '\\x85', '\\ud800'].map(
    (character): Mistake => [
      upstreamWith(`http_headers: { X: { values: ["${character}"] } }`),
      `4:35: upstreams.main.http_headers.X.values[0]: ${HEADER_TEXT}`,
    ],
  ),
  [
    fleet(
      'stations:',
      `  - { upstream: main, name: ts, rid: ${RID} }`,
      `  - { upstream: main, rid: ${RID} }`,
      '  - { upstream: main, subscription: a, resource_group: b, zone: c, telemetry_station: ts }',
      `  - { upstream: main, rid: ${RID}2 }`,
    ),
    '6:28: stations[1].rid: duplicate station name "ts", already used at conf/config.yaml:5:29, expected another `name`',
    '7:87: stations[2].telemetry_station: duplicate station name "ts", already used at conf/config.yaml:5:29, expected another `name`',
  ],
  [
    // Label values are cut after 1,024 bytes.
    fleet(
      'stations:',
      `  - { upstream: main, name: ${LONG}1, rid: ${RID} }`,
      `  - { upstream: main, name: ${LONG}2, rid: ${RID} }`,
    ),
    /stations\[1\]\.name: duplicate station name "x+.*", already used /,
  ],
  [
    fleet('stations:', `  - { upstream: constructor, rid: ${RID} }`),
    '5:17: stations[0].upstream: expected the name of an upstream, got "constructor"',
  ],
  [
    withEntries('{ match: { name: "a(?=b)" }, labels: { a: b } }'),
    '7:22: resource_labels[0].match.name: expected a regular expression in the syntax of RE2, got "a(?=b)": invalid or unsupported Perl syntax',
  ],
];

export const MISTAKES: readonly Mistake[] = [
  ...rows(UPSTREAM_LINES, upstreamWith),
  ...rows(URLS, (url) => withUrl(`"${url}"`), '3:15: upstreams.main.base_url: '),
  ...PATH_MISTAKES,
  ...rows(STATION_LINES, withStationLine),
  ...rows(FILE_LINES, withLine),
  ...rows(TEMPLATES, (template) => withLink('name: a', `station: "${template}"`), '8:14: links[0].station: '),
  ...rows(ENTRIES, withEntries),
  ...FILE_MISTAKES,
  ...NEWCOMER_MISTAKES,
  ...FURTHER_MISTAKES,
];
