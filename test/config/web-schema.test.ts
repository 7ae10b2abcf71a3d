import { describe, expect, it } from 'vitest';
import { checkYaml } from '../../src/config/checked-yaml.ts';
import { formatProblem } from '../../src/config/problem.ts';
import { webConfigSchema } from '../../src/config/web-schema.ts';

const HASH = '$2y$10$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze';

async function read(text: string) {
  const checked = await checkYaml(webConfigSchema, { file: 'web.yml', text });
  return checked.ok ? checked.value : checked.problems.map(formatProblem);
}

describe('webConfigSchema', () => {
  it.each([
    '{}',
    'tls_server_config:\nhttp_server_config:\nrate_limit:',
    'http_server_config: { headers: { X-XSS-Protection: "" } }',
  ])('reads %j as empty, which is TLS 1.2 and 1.3 in the order of the server', async (text) => {
    const tls_server_config = { min_version: 'TLS12', max_version: 'TLS13', prefer_server_cipher_suites: true };
    expect(await read(text)).toMatchObject({ tls_server_config, basic_auth_users: {}, rate_limit: { interval: 0 } });
  });

  it.each([
    ['', '1:1: the file is empty, expected a mapping'],
    ['null', '1:1: the file is empty, expected a mapping'],
    ['rate_limit: {}\nbasic_auth_users:\n', '2:18: basic_auth_users: expected a mapping, got null'],
    [
      'basic_auth_users: {}',
      '1:19: basic_auth_users: expected at least one user, got none; remove the key to allow everyone',
    ],
  ])('does not open the exporter to everyone by %j', async (text, problem) => {
    expect(await read(text)).toEqual([`web.yml:${problem}`]);
  });

  it('does not substitute environment variables', async () => {
    const headers = { 'Content-Security-Policy': `\${HOME} $\${x}` };
    expect(await read(JSON.stringify({ http_server_config: { headers } }))).toMatchObject({
      http_server_config: { headers },
    });
  });

  it('reports all problems with their positions and shows no hash', async () => {
    const problems = await read(`
tls_server_config:
  cert_fle: server.crt
  client_ca_file: clients.crt
  client_allowed_sans: [a]
  min_version: TLS13
  max_version: TLS12
  cipher_suites: [TLS_NULL]
http_server_config:
  headers:
    X-Frame-Options: allow
    Server: nginx
    Content-Security-Policy: "a\\nb"
basic_auth_users:
  alice: plain text
  bob: ${HASH.slice(0, -1)}
  carol:
`);
    expect(problems).toEqual([
      'web.yml:3:3: tls_server_config.cert_fle: unknown key, did you mean cert_file?',
      'web.yml:3:3: tls_server_config.cert_file: missing, expected cert_file or cert',
      'web.yml:3:3: tls_server_config.key_file: missing, expected key_file or key',
      'web.yml:4:19: tls_server_config.client_ca_file: given without a client_auth_type that requests certificates, expected both or neither',
      'web.yml:5:24: tls_server_config.client_allowed_sans: given without client_auth_type RequireAndVerifyClientCert or RequireAnyClientCert, expected one of them',
      'web.yml:6:16: tls_server_config.min_version: newer than max_version, expected the same or an older one',
      expect.stringMatching(
        /^web\.yml:8:19: tls_server_config\.cipher_suites\[0\]: expected one of TLS_AES_128_GCM_SHA256, .*, got "TLS_NULL"$/,
      ),
      'web.yml:11:22: http_server_config.headers.X-Frame-Options: expected one of deny, sameorigin, got "allow"',
      expect.stringMatching(
        /^web\.yml:12:5: http_server_config\.headers\.Server: unknown key, expected one of Content-Security-Policy, /,
      ),
      expect.stringMatching(
        /^web\.yml:13:30: http_server_config\.headers\.Content-Security-Policy: expected printable Latin-1 characters/,
      ),
      'web.yml:15:10: basic_auth_users.alice: expected a bcrypt hash as printed by `htpasswd -nB`',
      'web.yml:16:8: basic_auth_users.bob: expected a bcrypt hash as printed by `htpasswd -nB`',
      'web.yml:17:9: basic_auth_users: expected a bcrypt hash, got null',
    ]);
  });

  it('reports only the type of client authentication that does not exist', async () => {
    expect(await read('tls_server_config: { client_auth_type: Maybe, client_ca: a, cert: b, key: c }')).toEqual([
      expect.stringMatching(/^web\.yml:1:40: .*: expected one of NoClientCert, .*, got "Maybe"$/),
    ]);
  });

  it.each([HASH.replace('$2y$', '$2x$'), HASH.replace('$10$', '$32$'), `${HASH}e`, HASH.replace('MCes', 'MCfs')])(
    'rejects %s, which is not a bcrypt hash',
    async (hash) => {
      expect(await read(`basic_auth_users: { alice: '${hash}' }`)).toEqual([
        expect.stringContaining('expected a bcrypt hash'),
      ]);
    },
  );
});
