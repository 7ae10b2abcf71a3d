import { describe, expect, it } from 'vitest';
import { expectProblems, loaded, problemsOf, upstreamWith } from './fixtures.ts';
import { CREDENTIAL_MISTAKES, HEADER_MISTAKES, UPSTREAM_MISTAKES, URL_MISTAKES } from './mistakes.ts';

const upstreamOf = (...lines: string[]) => loaded(upstreamWith(...lines)).config.upstreams['main'];

describe('upstream', () => {
  it.each(UPSTREAM_MISTAKES)('rejects %s', (line, problem) => {
    const column = line.includes(': ') ? line.indexOf(': ') + 7 : line.length + 5;
    expectProblems(upstreamWith(line), `4:${column}: upstreams.main.${problem}`);
  });

  it.each(URL_MISTAKES)('rejects the URL %s', (url, problem) => {
    const text = `upstreams: { main: { base_url: "${url}" } }\nstations: [{ rid: /subscriptions/a/resourceGroups/b/zones/c/telemetryStations/d }]`;
    expectProblems(text, `1:32: upstreams.main.base_url: ${problem}`);
    expectProblems(
      upstreamWith(`oauth2: { client_id: c, client_secret: s, token_url: "${url}" }`),
      `4:58: upstreams.main.oauth2.token_url: ${problem}`,
    );
  });

  it.each([
    ['authorization', 'credentials', 'type: Bearer'],
    ['basic_auth', 'password', 'username: u'],
    ['hmac', 'secret_access_key', 'access_key_id: a'],
    ['oauth2', 'client_secret', 'client_id: c, token_url: "http://t"'],
  ])('requires exactly one source of the secret of %s', (scheme, key, rest) => {
    expectProblems(
      upstreamWith(`${scheme}: { ${rest} }`),
      `4:${scheme.length + 7}: upstreams.main.${scheme}: expected ${key} or ${key}_file, got neither`,
    );
    expect(
      problemsOf(
        upstreamWith(`${scheme}:`, `  ${key}: a`, `  ${key}_file: b`, ...rest.split(', ').map((line) => `  ${line}`)),
      ),
    ).toEqual([`6:7: upstreams.main.${scheme}.${key}_file: given together with ${key}, expected only one of the two`]);
    expect(upstreamOf(`${scheme}: { ${rest}, ${key}_file: /f }`)).toHaveProperty([scheme, `${key}_file`], '/f');
  });

  it('rejects more than one authentication scheme', () => {
    const schemes = [
      'oauth2: { client_id: c, client_secret: s, token_url: "http://t" }',
      'hmac: { access_key_id: a, secret_access_key: s }',
      'authorization: { credentials: c }',
    ];
    expectProblems(
      upstreamWith(...schemes),
      '4:5: upstreams.main.oauth2: given together with authorization, expected only one of authorization, basic_auth, hmac, oauth2',
      '5:5: upstreams.main.hmac: given together with authorization, expected only one of authorization, basic_auth, hmac, oauth2',
    );
  });

  it.each(CREDENTIAL_MISTAKES)('rejects %s', (line, problem) => {
    expectProblems(upstreamWith(line), `4:${problem}`);
  });

  it.each(HEADER_MISTAKES)('rejects the header %s', (header, problem, column) => {
    expectProblems(upstreamWith(`http_headers: { ${header} }`), `4:${column}: upstreams.main.${problem}`);
  });

  it('rejects headers that the authentication scheme sets', () => {
    const headers = 'http_headers: { AUTHORIZATION: { values: [a] }, X-Date: { values: [a] }, date: { values: [a] } }';
    expect(upstreamOf(headers)?.http_headers).toHaveProperty('AUTHORIZATION');
    expectProblems(
      upstreamWith(headers, 'basic_auth: { username: u, password: p }'),
      '4:21: upstreams.main.http_headers.AUTHORIZATION: this header is set by basic_auth, expected another one',
    );
    expectProblems(
      upstreamWith(headers, 'hmac: { access_key_id: a, secret_access_key: s }'),
      '4:21: upstreams.main.http_headers.AUTHORIZATION: this header is set by hmac, expected another one',
      '4:53: upstreams.main.http_headers.X-Date: this header is set by hmac, expected another one',
      '4:78: upstreams.main.http_headers.date: this header is set by hmac, expected another one',
    );
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
    expect(problems).toContainEqual(
      expect.stringMatching(/^5:5: upstreams\.main\.basic_auth: given together with authorization/),
    );
    expect(problems.length).toBeGreaterThan(3);
  });
});
