import { describe, expect, it } from 'vitest';
import { loaded, problemsOf, upstreamWith } from './fixtures.ts';

const upstreamOf = (...lines: string[]) => loaded(upstreamWith(...lines)).config.upstreams['main'];

describe('upstream', () => {
  it.each([
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
    ['proxy_url: http://u:100%@p', 'proxy_url: invalid percent-encoding in the user or password, expected %25 for a literal %'],
    ['proxy_url: true', 'proxy_url: expected an http or https URL, got a boolean'],
  ])('rejects %s', (line, problem) => {
    const column = line.includes(': ') ? line.indexOf(': ') + 7 : line.length + 5;
    expect(problemsOf(upstreamWith(line))).toEqual([`4:${column}: upstreams.main.${problem}`]);
  });

  it.each([
    ['ftp://h', 'must begin with http:// or https://'],
    ['monitor.example.com', 'must begin with http:// or https://'],
    ['127.0.0.1:8080', 'must begin with http:// or https://'],
    ['http://', 'expected an http or https URL such as https://host:8443'],
    ['https://user@h', 'expected a URL without user and password; use basic_auth instead'],
    ['https://user:hunter2@h', 'expected a URL without user and password; use basic_auth instead'],
    ['https://h?', 'expected a URL without query and fragment'],
    ['https://h#', 'expected a URL without query and fragment'],
  ])('rejects the URL %s', (url, problem) => {
    const text = `upstreams: { main: { base_url: "${url}" } }\nstations: [{ rid: /subscriptions/a/resourceGroups/b/zones/c/telemetryStations/d }]`;
    expect(problemsOf(text)).toEqual([`1:32: upstreams.main.base_url: ${problem}`]);
    expect(problemsOf(upstreamWith(`oauth2: { client_id: c, client_secret: s, token_url: "${url}" }`))).toEqual([
      `4:58: upstreams.main.oauth2.token_url: ${problem}`,
    ]);
  });

  it.each([
    ['authorization', 'credentials', 'type: Bearer'],
    ['basic_auth', 'password', 'username: u'],
    ['hmac', 'secret_access_key', 'access_key_id: a'],
    ['oauth2', 'client_secret', 'client_id: c, token_url: "http://t"'],
  ])('requires exactly one source of the secret of %s', (scheme, key, rest) => {
    expect(problemsOf(upstreamWith(`${scheme}: { ${rest} }`))).toEqual([
      `4:${scheme.length + 7}: upstreams.main.${scheme}: expected ${key} or ${key}_file, got neither`,
    ]);
    expect(
      problemsOf(upstreamWith(`${scheme}:`, `  ${key}: a`, `  ${key}_file: b`, ...rest.split(', ').map((line) => `  ${line}`))),
    ).toEqual([`6:7: upstreams.main.${scheme}.${key}_file: given together with ${key}, expected only one of the two`]);
    expect(upstreamOf(`${scheme}: { ${rest}, ${key}_file: /f }`)).toHaveProperty([scheme, `${key}_file`], '/f');
  });

  it('rejects more than one authentication scheme', () => {
    const schemes = [
      'oauth2: { client_id: c, client_secret: s, token_url: "http://t" }',
      'hmac: { access_key_id: a, secret_access_key: s }',
      'authorization: { credentials: c }',
    ];
    expect(problemsOf(upstreamWith(...schemes))).toEqual([
      '4:5: upstreams.main.oauth2: given together with authorization, expected only one of authorization, basic_auth, hmac, oauth2',
      '5:5: upstreams.main.hmac: given together with authorization, expected only one of authorization, basic_auth, hmac, oauth2',
    ]);
  });

  it.each([
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
    ['authorization: { credentials: "" }', '35: upstreams.main.authorization.credentials: expected a non-empty string, got ""'],
    [
      'authorization: { credentials: "hunter2\\n" }',
      '35: upstreams.main.authorization.credentials: expected printable Latin-1 characters, spaces and tabs',
    ],
    ['basic_auth: { username: "a:b", password: "" }', '29: upstreams.main.basic_auth.username: expected a user name without a colon'],
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
  ])('rejects %s', (line, problem) => {
    expect(problemsOf(upstreamWith(line))).toEqual([`4:${problem}`]);
  });

  it.each([
    ['"b d": { values: [a] }', 'http_headers["b d"]: invalid key, expected an HTTP header name', 21],
    ['Host: { values: [a] }', 'http_headers.Host: this header is set by the exporter, expected another one', 21],
    ['content-LENGTH: { values: [a] }', 'http_headers.content-LENGTH: this header is set by the exporter, expected another one', 21],
    ['X: {}', 'http_headers.X: expected at least one entry in values, secrets or files, got none', 24],
    ['X: { values: [], files: [] }', 'http_headers.X: expected at least one entry in values, secrets or files, got none', 24],
    ['X: { values: 5 }', 'http_headers.X.values: expected a list, got a number', 34],
    ['X: { values: ["a\\0"] }', 'http_headers.X.values[0]: expected printable Latin-1 characters, spaces and tabs', 35],
    ['X: { secrets: ["漢"] }', 'http_headers.X.secrets[0]: expected printable Latin-1 characters, spaces and tabs', 36],
    ['X: hunter2', 'http_headers.X: expected a mapping, got a string', 24],
  ])('rejects the header %s', (header, problem, column) => {
    expect(problemsOf(upstreamWith(`http_headers: { ${header} }`))).toEqual([`4:${column}: upstreams.main.${problem}`]);
  });

  it('rejects headers that the authentication scheme sets', () => {
    const headers = 'http_headers: { AUTHORIZATION: { values: [a] }, X-Date: { values: [a] }, date: { values: [a] } }';
    expect(upstreamOf(headers)?.http_headers).toHaveProperty('AUTHORIZATION');
    expect(problemsOf(upstreamWith(headers, 'basic_auth: { username: u, password: p }'))).toEqual([
      '4:21: upstreams.main.http_headers.AUTHORIZATION: this header is set by basic_auth, expected another one',
    ]);
    expect(problemsOf(upstreamWith(headers, 'hmac: { access_key_id: a, secret_access_key: s }'))).toEqual([
      '4:21: upstreams.main.http_headers.AUTHORIZATION: this header is set by hmac, expected another one',
      '4:53: upstreams.main.http_headers.X-Date: this header is set by hmac, expected another one',
      '4:78: upstreams.main.http_headers.date: this header is set by hmac, expected another one',
    ]);
  });

  it('fills in the defaults of nested mappings', () => {
    expect(upstreamOf('hmac: { access_key_id: a, secret_access_key: s }')?.hmac?.signed_headers).toEqual(['x-date']);
    expect(upstreamOf('authorization: { credentials: c }')?.authorization?.type).toBe('Bearer');
    expect(upstreamOf('tls_config: {}')?.tls_config).toEqual({ insecure_skip_verify: false });
    expect(upstreamOf('basic_auth: { username: u, password: "" }')?.basic_auth?.password?.reveal()).toBe('');
    expect(upstreamOf('oauth2: { client_id: c, client_secret: s, token_url: "http://t/x" }')?.oauth2).toMatchObject({
      token_url: new URL('http://t/x'),
      scopes: [],
      endpoint_params: {},
    });
  });

  it.each([
    'base_url: 5',
    'timeout: x',
    'concurrency: 0.5',
    'requests_per_second: .nan',
    'max_page_bytes: x',
    'list_style: x',
    'unknown: 1',
    'http_headers: { "b d": 1, Host: 1, X: 1 }',
    'http_headers: 5',
    'tls_config: { min_version: 5, cert_file: [] }',
    'proxy_url: x',
    'hmac: 5',
    'hmac: { signed_headers: [x], access_key_id: 5 }',
  ])('reports two schemes in spite of %s', (line) => {
    const schemes = ['authorization: { credentials: [] }', 'basic_auth: { username: 5, password: p }'];
    const problems = problemsOf(upstreamWith(...schemes, line));
    expect(problems).toContainEqual(expect.stringMatching(/^5:5: upstreams\.main\.basic_auth: given together with authorization/));
    expect(problems.length).toBeGreaterThan(3);
  });
});
