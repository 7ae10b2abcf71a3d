import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfigInSteps } from '../../src/config/load.ts';
import { formatProblem } from '../../src/config/problem.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { upstreamWith } from './fixtures.ts';

/** The warnings of an upstream with these lines, without the position of the folder, which has these files. */
async function warningsOf(
  lines: readonly string[],
  files: Readonly<Record<string, string>> = {},
  env: Record<string, string> = {},
) {
  const file = temporaryFile('config.yaml', upstreamWith(...lines));
  const folder = dirname(file);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, 'directory'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  symlinkSync('loop', join(folder, 'loop'));
  const result = await loadConfigInSteps({ file, text: upstreamWith(...lines), env });
  if (!result.ok) throw new Error(result.problems.map(formatProblem).join('\n'));
  const relative = (all: readonly string[]) =>
    all.map((line) => line.replaceAll(`${folder}/`, '').replace('config.yaml:', ''));
  return { failing: relative(result.warnings), insecure: relative(result.securityWarnings) };
}

describe('upstreamWarnings', () => {
  it('has no warning for credentials from files and from the environment', async () => {
    const lines = [
      'authorization: { credentials_file: token }',
      `http_headers: { X-Key: { secrets: ["$\{KEY}"], files: [key] }, X-Tenant: { values: [a] } }`,
      `proxy_url: http://u:$\{KEY}@proxy:3128`,
    ];
    expect(await warningsOf(lines, { token: 'abc\n', key: 'def' }, { KEY: 'hunter2' })).toEqual({
      failing: [],
      insecure: [],
    });
  });

  it('warns of a secret file that is too large to be read, before requests fail', async () => {
    const lines = ['authorization: { credentials_file: token }'];
    expect((await warningsOf(lines, { token: 'a'.repeat(1024 * 1024 + 1) })).failing).toEqual([
      '4:40: upstreams.main.authorization.credentials_file: token cannot be read: larger than 1048576 bytes',
    ]);
  });

  it('warns of files that are missing, empty, unreadable, directories or pipes', async () => {
    const lines = [
      'authorization: { credentials_file: missing }',
      'http_headers: { X: { files: [empty, directory, loop] } }',
      'tls_config: { ca_file: pipe }',
    ];
    expect((await warningsOf(lines, { empty: ' \n' })).failing).toEqual([
      '4:40: upstreams.main.authorization.credentials_file: missing does not exist; requests fail until it does',
      '5:34: upstreams.main.http_headers.X.files[0]: empty is empty, expected its content',
      '5:41: upstreams.main.http_headers.X.files[1]: directory is a directory, expected a file',
      expect.stringMatching(/^5:52: upstreams\.main\.http_headers\.X\.files\[2\]: loop cannot be read: ELOOP/),
      '6:28: upstreams.main.tls_config.ca_file: pipe cannot be read: not a regular file',
    ]);
  });

  it.each([
    [
      'credentials: Bearer hunter2',
      'credentials: value begins with "Bearer ", expected only the credentials, because type adds "Bearer "',
    ],
    [
      'credentials: bearer hunter2',
      'credentials: value begins with "Bearer ", expected only the credentials, because type adds "Bearer "',
    ],
    [
      'credentials: Basic hunter2',
      'credentials: value begins with "Basic ", expected only the credentials, because type adds "Bearer "',
    ],
    [
      'type: Token, credentials: token hunter2',
      'credentials: value begins with "Token ", expected only the credentials, because type adds "Token "',
    ],
    [
      'credentials_file: token',
      'credentials_file: content of token begins with "Bearer ", expected only the credentials, because type adds "Bearer "',
    ],
  ])('warns of a scheme in the credentials without showing them: %s', async (line, warning) => {
    const { failing } = await warningsOf([`authorization: { ${line} }`], { token: 'Bearer hunter2\n' });
    expect(failing).toEqual([expect.stringMatching(/^4:\d+: upstreams\.main\.authorization\./)]);
    expect(failing[0]).toContain(warning);
    expect(failing[0]).not.toContain('hunter2');
  });

  it('warns of no credentials at all, and not of a client certificate or a header', async () => {
    expect((await warningsOf([])).insecure).toEqual([
      '3:5: upstreams.main: no credentials are configured, expected one of authorization, basic_auth, hmac, oauth2, http_headers or a client certificate',
    ]);
    expect((await warningsOf(['tls_config: { cert_file: c, key_file: k }'])).insecure).toEqual([]);
    expect((await warningsOf(['http_headers: { X: { values: [a] } }'])).insecure).toEqual([]);
  });

  it.each([
    ['authorization: { credentials: hunter2 }', 'authorization.credentials: secret', 'credentials_file'],
    ['basic_auth: { username: u, password: hunter2 }', 'basic_auth.password: secret', 'password_file'],
    [
      'hmac: { access_key_id: a, secret_access_key: hunter2 }',
      'hmac.secret_access_key: secret',
      'secret_access_key_file',
    ],
    ['http_headers: { X: { secrets: [hunter2] } }', 'http_headers.X.secrets[0]: secret', 'files'],
    [
      'http_headers: { endpoint_params: { secrets: [hunter2] } }',
      'http_headers.endpoint_params.secrets[0]: secret',
      'files',
    ],
  ])('warns of a secret in clear text: %s', async (line, place, instead) => {
    const { insecure } = await warningsOf([line]);
    expect(insecure).toEqual([
      expect.stringContaining(
        `upstreams.main.${place} in clear text, expected $\{NAME} from the environment, or ${instead}`,
      ),
    ]);
    expect(insecure.join()).not.toContain('hunter2');
  });

  it('does not warn of an empty password and of parameters of the token request', async () => {
    expect((await warningsOf(['basic_auth: { username: u, password: "" }'])).insecure).toEqual([]);
    const oauth2 =
      'oauth2: { client_id: c, client_secret_file: f, token_url: "http://t", endpoint_params: { audience: a } }';
    expect((await warningsOf([oauth2])).insecure).toEqual([]);
  });

  it('does not take parameters of the token request for keys of the upstream', async () => {
    const params = 'endpoint_params: { credentials: a, credentials_file: b, base_url: "http://h/subscriptions/s" }';
    const oauth2 = `oauth2: { client_id: c, client_secret_file: secret, token_url: "http://t", ${params} }`;
    expect(await warningsOf([oauth2], { secret: 'abc' })).toEqual({ failing: [], insecure: [] });
  });

  it('recognizes a variable behind an alias', async () => {
    const lines = [`basic_auth: { username: &name "$\{NAME}", password: *name }`];
    expect((await warningsOf(lines, {}, { NAME: 'n' })).insecure).toEqual([]);
  });

  it('warns of a base_url that contains the path of a station', async () => {
    const text = upstreamWith('authorization: { credentials_file: token }').replace(
      'example.com',
      'example.com/v1/subscriptions/s',
    );
    const result = await loadConfigInSteps({
      file: temporaryFile('token', 'a').replace(/token$/, 'config.yaml'),
      text,
      env: {},
    });
    expect(result).toMatchObject({
      ok: true,
      warnings: [
        expect.stringMatching(
          /:3:15: upstreams\.main\.base_url: contains the path of a station, expected only the URL before \/subscriptions$/,
        ),
      ],
    });
  });
});
