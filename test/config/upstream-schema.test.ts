import { describe, expect, it } from 'vitest';
import { loaded, problemsOf, upstreamWith } from './fixtures.ts';

const upstreamOf = (...lines: string[]) => loaded(upstreamWith(...lines)).config.upstreams['main'];

describe('upstream', () => {
  it.each([
    ['timeout: 0', 'timeout: found "0", expected more than 0'],
    ['timeout: 0s', 'timeout: found "0s", expected more than 0'],
    ['refresh_timeout: 25d', 'refresh_timeout: found "25d", expected at most 24d20h31m23s647ms'],
    ['timeout: 5', 'timeout: found a number, expected a duration such as 90s, 1h30m or 250ms'],
    ['timeout: 10 minutes', 'timeout: found "10 minutes", expected a duration of whole milliseconds such as 90s, 1h30m or 250ms'],
    [
      `timeout: ${'x'.repeat(100)}`,
      `timeout: found "${'x'.repeat(60)}…", expected a duration of whole milliseconds such as 90s, 1h30m or 250ms`,
    ],
    ['timeout: 0.1ms', 'timeout: found "0.1ms", expected a duration of whole milliseconds such as 90s, 1h30m or 250ms'],
    ['timeout:', 'timeout: found nothing, expected a duration such as 90s, 1h30m or 250ms'],
    ['concurrency: 0', 'concurrency: found 0, expected a whole number from 1 to 1000'],
    ['concurrency: 1001', 'concurrency: found 1001, expected a whole number from 1 to 1000'],
    ['concurrency: 0.5', 'concurrency: found 0.5, expected a whole number from 1 to 1000'],
    ['concurrency: [1]', 'concurrency: found a list, expected a whole number from 1 to 1000'],
    ['requests_per_second: -1', 'requests_per_second: found -1, expected a number of at least 0'],
    ['requests_per_second: .inf', 'requests_per_second: found Infinity, expected a number of at least 0'],
    ['max_retries: 21', 'max_retries: found 21, expected a whole number from 0 to 20'],
    ['page_size: 10001', 'page_size: found 10001, expected a whole number from 1 to 10000'],
    ['max_page_bytes: 100', 'max_page_bytes: found a number, expected a size such as 16MiB or 1MB'],
    ['max_page_bytes: 0B', 'max_page_bytes: found "0B", expected a size of whole bytes such as 16MiB or 1MB'],
    ['max_page_bytes: 16 MiB', 'max_page_bytes: found "16 MiB", expected a size of whole bytes such as 16MiB or 1MB'],
    ['list_style: commas', 'list_style: found "commas", expected one of repeat, comma; did you mean "comma"?'],
    ['list_style: { a: 1 }', 'list_style: found a mapping, expected one of repeat, comma'],
    ['proxy_url: socks5://p', 'proxy_url: found a string that is no http or https URL, expected one such as https://host:8443'],
    ['proxy_url: http://p/path', 'proxy_url: found a URL with a path, a query or a fragment, expected none of them'],
    ['proxy_url: http://p?q', 'proxy_url: found a URL with a path, a query or a fragment, expected none of them'],
    ['proxy_url: http://u:100%@p', 'proxy_url: found a stray % in the user or the password, expected %25 for it'],
    ['proxy_url: true', 'proxy_url: found a boolean, expected an http or https URL'],
  ])('refuses %s', (line, problem) => {
    const column = line.includes(': ') ? line.indexOf(': ') + 7 : line.length + 5;
    expect(problemsOf(upstreamWith(line))).toEqual([`4:${column}: upstreams.main.${problem}`]);
  });

  it.each([
    ['ftp://h', 'found a string that is no http or https URL, expected one such as https://host:8443'],
    ['monitor.example.com', 'found a string that is no http or https URL, expected one such as https://host:8443'],
    ['http://', 'found a string that is no http or https URL, expected one such as https://host:8443'],
    ['https://user@h', 'found a URL with a user or a password, expected none: use basic_auth'],
    ['https://user:hunter2@h', 'found a URL with a user or a password, expected none: use basic_auth'],
    ['https://h?', 'found a URL with a query or a fragment, expected neither'],
    ['https://h#', 'found a URL with a query or a fragment, expected neither'],
  ])('refuses the address %s', (url, problem) => {
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
  ])('wants one source of the secret of %s', (scheme, key, rest) => {
    expect(problemsOf(upstreamWith(`${scheme}: { ${rest} }`))).toEqual([
      `4:${scheme.length + 7}: upstreams.main.${scheme}: ${key} is missing, expected ${key} or ${key}_file`,
    ]);
    expect(
      problemsOf(upstreamWith(`${scheme}:`, `  ${key}: a`, `  ${key}_file: b`, ...rest.split(', ').map((line) => `  ${line}`))),
    ).toEqual([`6:7: upstreams.main.${scheme}.${key}_file: given together with ${key}, expected only one of the two`]);
    expect(upstreamOf(`${scheme}: { ${rest}, ${key}_file: /f }`)).toHaveProperty([scheme, `${key}_file`], '/f');
  });

  it('allows one scheme of authentication, and tells each one too many', () => {
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
      '28: upstreams.main.authorization.type: found Basic, expected another scheme: use basic_auth',
    ],
    [
      'authorization: { type: basic, credentials: c }',
      '28: upstreams.main.authorization.type: found Basic, expected another scheme: use basic_auth',
    ],
    [
      'authorization: { type: Bearer hunter2, credentials: c }',
      '28: upstreams.main.authorization.type: found characters that a scheme cannot have, expected one word such as Bearer',
    ],
    ['authorization: { credentials: "" }', '35: upstreams.main.authorization.credentials: found "", expected a string that is not empty'],
    [
      'authorization: { credentials: "hunter2\\n" }',
      '35: upstreams.main.authorization.credentials: found a character that a header cannot carry, expected printable Latin-1 characters, spaces and tabs',
    ],
    [
      'basic_auth: { username: "a:b", password: "" }',
      '29: upstreams.main.basic_auth.username: found a colon, expected a user name without one',
    ],
    ['basic_auth: { password: "" }', '17: upstreams.main.basic_auth.username: missing, expected a string'],
    [
      'hmac: { access_key_id: "a\\"b", secret_access_key: s }',
      '28: upstreams.main.hmac.access_key_id: found a character that cannot stand in the header, expected printable ASCII without quotes and backslashes',
    ],
    [
      'hmac: { access_key_id: "a\\n", secret_access_key: s }',
      '28: upstreams.main.hmac.access_key_id: found a character that cannot stand in the header, expected printable ASCII without quotes and backslashes',
    ],
    [
      'hmac: { access_key_id: a, secret_access_key: s, signed_headers: [] }',
      '69: upstreams.main.hmac.signed_headers: found an empty list, expected at least one entry',
    ],
    [
      'hmac: { access_key_id: a, secret_access_key: s, signed_headers: [date, date] }',
      '69: upstreams.main.hmac.signed_headers: found an entry twice, expected each at most once',
    ],
    [
      'hmac: { access_key_id: a, secret_access_key: s, signed_headers: [request_line] }',
      '70: upstreams.main.hmac.signed_headers[0]: found "request_line", expected one of x-date, date, host, request-line, @request-target; did you mean "request-line"?',
    ],
    ['tls_config: { cert_file: c }', '17: upstreams.main.tls_config.key_file: missing, expected together with cert_file'],
    ['tls_config: { key_file: c }', '17: upstreams.main.tls_config.cert_file: missing, expected together with key_file'],
    [
      'tls_config: { min_version: TLS1.2 }',
      '32: upstreams.main.tls_config.min_version: found "TLS1.2", expected one of TLS10, TLS11, TLS12, TLS13; did you mean "TLS12"?',
    ],
  ])('refuses %s', (line, problem) => {
    expect(problemsOf(upstreamWith(line))).toEqual([`4:${problem}`]);
  });

  it.each([
    ['"b d": { values: [a] }', 'http_headers["b d"]: invalid key, expected the name of an HTTP header', 21],
    ['Host: { values: [a] }', 'http_headers.Host: the exporter sets this header itself, expected another one', 21],
    ['content-LENGTH: { values: [a] }', 'http_headers.content-LENGTH: the exporter sets this header itself, expected another one', 21],
    ['X: {}', 'http_headers.X: found no value, expected at least one in values, secrets or files', 24],
    ['X: { values: [], files: [] }', 'http_headers.X: found no value, expected at least one in values, secrets or files', 24],
    ['X: { values: 5 }', 'http_headers.X.values: found a number, expected a list', 34],
    [
      'X: { values: ["a\\0"] }',
      'http_headers.X.values[0]: found a character that a header cannot carry, expected printable Latin-1 characters, spaces and tabs',
      35,
    ],
    [
      'X: { secrets: ["漢"] }',
      'http_headers.X.secrets[0]: found a character that a header cannot carry, expected printable Latin-1 characters, spaces and tabs',
      36,
    ],
    ['X: hunter2', 'http_headers.X: found a string, expected a mapping', 24],
  ])('refuses the header %s', (header, problem, column) => {
    expect(problemsOf(upstreamWith(`http_headers: { ${header} }`))).toEqual([`4:${column}: upstreams.main.${problem}`]);
  });

  it('leaves the headers of a scheme to the scheme', () => {
    const headers = 'http_headers: { AUTHORIZATION: { values: [a] }, X-Date: { values: [a] }, date: { values: [a] } }';
    expect(upstreamOf(headers)?.http_headers).toHaveProperty('AUTHORIZATION');
    expect(problemsOf(upstreamWith(headers, 'basic_auth: { username: u, password: p }'))).toEqual([
      '4:21: upstreams.main.http_headers.AUTHORIZATION: basic_auth sets this header, expected another one',
    ]);
    expect(problemsOf(upstreamWith(headers, 'hmac: { access_key_id: a, secret_access_key: s }'))).toEqual([
      '4:21: upstreams.main.http_headers.AUTHORIZATION: hmac sets this header, expected another one',
      '4:53: upstreams.main.http_headers.X-Date: hmac sets this header, expected another one',
      '4:78: upstreams.main.http_headers.date: hmac sets this header, expected another one',
    ]);
  });

  it('fills in the defaults of what is given', () => {
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
  ])('tells two schemes at once even beside %s', (line) => {
    const schemes = ['authorization: { credentials: [] }', 'basic_auth: { username: 5, password: p }'];
    const problems = problemsOf(upstreamWith(...schemes, line));
    expect(problems).toContainEqual(expect.stringMatching(/^5:5: upstreams\.main\.basic_auth: given together with authorization/));
    expect(problems.length).toBeGreaterThan(3);
  });
});
