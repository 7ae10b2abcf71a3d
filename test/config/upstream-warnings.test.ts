import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';
import { temporaryFile } from '../service/support/files.ts';
import { upstreamWith } from './fixtures.ts';

/** The warnings of an upstream with these lines, without the name of the file; its folder has these files. */
async function warningsOf(lines: readonly string[], files: Readonly<Record<string, string>> = {}) {
  const text = upstreamWith(...lines);
  const file = temporaryFile('config.yaml', text);
  const folder = dirname(file);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  mkdirSync(join(folder, 'directory'));
  const result = await loadConfig({ file, text, env: { KEY: 'hunter2' } });
  if (!result.ok) throw new Error(result.problems.map(formatProblem).join('\n'));
  const relative = (all: readonly string[]) =>
    all.map((line) => line.replaceAll(`${folder}/`, '').replace('config.yaml:', ''));
  const [failing, insecure] = [relative(result.warnings), relative(result.securityWarnings)];
  expect([...failing, ...insecure].join()).not.toContain('hunter2');
  return { failing, insecure };
}

const INSTEAD = `in clear text, expected $\{NAME} from the environment`;

describe('upstreamWarnings', () => {
  it.each([
    [
      'authorization: { credentials_file: token }',
      `http_headers: { X-Key: { secrets: ["$\{KEY}"], files: [token] }, X-Tenant: { values: [a] } }`,
      `proxy_url: http://u:$\{KEY}@proxy:3128`,
    ],
    ['tls_config: { cert_file: token, key_file: token }'],
    // A variable behind an alias.
    [`basic_auth: { username: &name "$\{KEY}", password: *name }`],
    // Parameters of the token request are often not secret, and no keys of the upstream.
    [
      'oauth2: { client_id: c, client_secret_file: token, token_url: "http://t", endpoint_params: { credentials: a, credentials_file: b } }',
    ],
  ])('has no warning for %s', async (...lines) => {
    expect(await warningsOf(lines, { token: 'abc\n' })).toEqual({ failing: [], insecure: [] });
  });

  it('warns of files that are missing, empty, unreadable or directories, before requests fail', async () => {
    const lines = [
      'authorization: { credentials_file: missing }',
      'http_headers: { X: { files: [empty, directory, lines] } }',
    ];
    expect((await warningsOf(lines, { empty: ' \n', lines: 'a\nb\n' })).failing).toEqual([
      expect.stringMatching(/^4:40: upstreams\.main\.authorization\.credentials_file: missing cannot be read: ENOENT/),
      '5:34: upstreams.main.http_headers.X.files[0]: empty is empty, expected its content',
      expect.stringMatching(/^5:41: upstreams\.main\.http_headers\.X\.files\[1\]: directory cannot be read: EISDIR/),
      '5:52: upstreams.main.http_headers.X.files[2]: lines has 2 lines, expected one',
    ]);
  });

  it.each([
    ['credentials: Basic hunter2', '35: upstreams.main.authorization.credentials: value', 'Basic'],
    [
      'type: Token, credentials: token hunter2',
      '48: upstreams.main.authorization.credentials: value',
      'Token',
      'Token',
    ],
    ['credentials_file: token', '40: upstreams.main.authorization.credentials_file: content of token', 'Bearer'],
  ])('warns of a scheme in the credentials: %s', async (line, place, scheme, type = 'Bearer') => {
    expect((await warningsOf([`authorization: { ${line} }`], { token: 'Bearer hunter2\n' })).failing).toEqual([
      `4:${place} begins with "${scheme} ", expected only the credentials, because type adds "${type} "`,
    ]);
  });

  it.each([
    [
      'timeout: 1s',
      '3:5: upstreams.main: no credentials are configured, expected one of authorization, basic_auth, hmac, oauth2, http_headers or a client certificate',
    ],
    [
      'authorization: { credentials: hunter2 }',
      `4:35: upstreams.main.authorization.credentials: secret ${INSTEAD}, or credentials_file`,
    ],
    [
      'http_headers: { X: { secrets: [hunter2] } }',
      `4:36: upstreams.main.http_headers.X.secrets[0]: secret ${INSTEAD}, or files`,
    ],
    [
      'http_headers: { endpoint_params: { secrets: [hunter2] } }',
      `4:50: upstreams.main.http_headers.endpoint_params.secrets[0]: secret ${INSTEAD}, or files`,
    ],
  ])('warns of what is not secure: %s', async (line, warning) => {
    expect(await warningsOf([line])).toEqual({ failing: [], insecure: [warning] });
  });
});
