import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ConnectionOptions, connect } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { accessWarnings, loadAccessRules } from '../../src/app/web-access.ts';
import { OPEN_ACCESS, type TlsRules } from '../../src/web/access/rules.ts';
import { listen } from '../../src/web/server.ts';
import { issue } from '../service/support/certificates.ts';
import { temporaryFile } from '../service/support/files.ts';

const HASH = '$2y$10$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze';

function load(text: string, file = temporaryFile('web.yml', '')) {
  writeFileSync(file, text);
  return loadAccessRules(file);
}

describe('loadAccessRules', () => {
  it('allows open access without a file, with an empty mapping, and with a TLS version only', async () => {
    expect(await loadAccessRules(undefined)).toEqual({ ok: true, rules: OPEN_ACCESS });
    expect(await load('{}')).toEqual({ ok: true, rules: OPEN_ACCESS });
    expect(await load('tls_server_config: { min_version: TLS13 }')).toEqual({ ok: true, rules: OPEN_ACCESS });
  });

  it('returns users, headers and the rate limit of the file', async () => {
    const result = await load(`
http_server_config: { headers: { X-Frame-Options: deny } }
basic_auth_users: { alice: ${HASH}, constructor: ${HASH} }
rate_limit: { interval: 1s, burst: 5 }
`);
    const users = new Map([
      ['alice', HASH],
      ['constructor', HASH],
    ]);
    expect(result).toEqual({
      ok: true,
      rules: { headers: { 'X-Frame-Options': 'deny' }, users, rate: { intervalMs: 1000, burst: 5 } },
    });
  });

  it('reports a file that cannot be read', async () => {
    expect(await loadAccessRules('/nowhere/web.yml')).toEqual({
      ok: false,
      problems: [expect.stringMatching(/^\/nowhere\/web\.yml:1:1: cannot be read: ENOENT/)],
    });
  });

  it('reports problems of certificate files at the keys that name them', async () => {
    const client = 'client_ca_file: /nowhere/ca.crt\n  client_auth_type: RequestClientCert';
    const file = temporaryFile('web.yml', `tls_server_config:\n  cert_file: missing.crt\n  key: junk\n  ${client}\n`);
    expect(await loadAccessRules(file)).toEqual({
      ok: false,
      problems: [
        expect.stringMatching(
          `^${file}:2:14: tls_server_config.cert_file: cannot be read: .*${dirname(file)}/missing.crt'$`,
        ),
        `${file}:3:8: tls_server_config.key: contains no valid key, expected a PEM key without a passphrase`,
        expect.stringMatching(
          /:4:19: tls_server_config\.client_ca_file: cannot be read: ENOENT: .*'\/nowhere\/ca\.crt'$/,
        ),
      ],
    });
    expect(await loadTls({ key: OTHER.key })).toEqual({
      ok: false,
      problems: [expect.stringMatching(/:1:22: tls_server_config: cannot be used together: .*key values mismatch/)],
    });
  });
});

const AUTHORITY = issue({ name: 'authority' });
const SERVER = issue({ name: 'server', issuer: AUTHORITY, hosts: ['127.0.0.1'] });
const RSA_SERVER = issue({ name: 'server', issuer: AUTHORITY, hosts: ['127.0.0.1'], modulusLength: 2048 });
const OTHER = issue({ name: 'other' });
const INLINE = { cert: SERVER.cert, key: SERVER.key };

function loadTls(config: object, file?: string) {
  return load(JSON.stringify({ tls_server_config: { ...INLINE, ...config } }), file);
}

async function rulesOf(config: object, file?: string): Promise<TlsRules> {
  const result = await loadTls(config, file);
  if (result.ok && result.rules.tls) return result.rules.tls;
  throw new Error(JSON.stringify(result));
}

/** The protocol that a client negotiates with a server under these rules. */
async function negotiated(config: object, client: ConnectionOptions) {
  const server = await listen((_request, response) => response.end(), [{ host: '127.0.0.1', port: 0 }], {
    tls: await rulesOf(config),
  });
  onTestFinished(() => server.close(0));
  return new Promise((resolve) => {
    const socket = connect({ port: server.addresses[0]?.port ?? 0, host: '127.0.0.1', ca: AUTHORITY.cert, ...client });
    socket.once('error', () => resolve('none'));
    socket.once('secureConnect', () => {
      resolve(socket.getProtocol());
      socket.destroy();
    });
  });
}

describe('loadAccessRules with tls_server_config', () => {
  it('loads certificates and keys from relative and absolute paths, or from the configuration', async () => {
    const certFile = temporaryFile('server.crt', SERVER.cert);
    const folder = dirname(certFile);
    writeFileSync(join(folder, 'server.key'), SERVER.key);
    writeFileSync(join(folder, 'clients.crt'), `${AUTHORITY.cert}${OTHER.cert}`);
    const files = {
      cert: 'ignored because of cert_file',
      cert_file: certFile,
      key: 'ignored because of key_file',
      key_file: 'server.key',
      client_ca_file: 'clients.crt',
      client_auth_type: 'RequestClientCert',
    };
    const inline = { client_ca: `${AUTHORITY.cert}${OTHER.cert}`, client_auth_type: 'RequestClientCert' };
    expect(await rulesOf(files, join(folder, 'web.yml'))).toEqual(await rulesOf(inline));
  });

  it.each(
    Object.entries<readonly string[]>({
      NoClientCert: [],
      RequestClientCert: ['requested'],
      RequireAnyClientCert: ['requested', 'required'],
      RequireClientCert: ['requested', 'required'],
      VerifyClientCertIfGiven: ['requested', 'verified'],
      RequireAndVerifyClientCert: ['requested', 'required', 'verified'],
    }),
  )('supports the client_auth_type %s, and passes on client_allowed_sans', async (client_auth_type, expected) => {
    const sans = expected.includes('required') ? { client_allowed_sans: ['a'] } : {};
    const { allowedSans, ...client } = (await rulesOf({ client_auth_type, ...sans })).client;
    expect(Object.entries(client).flatMap(([name, is]) => (is ? [name] : []))).toEqual(expected);
    expect(allowedSans).toEqual(sans.client_allowed_sans);
  });

  it.each([
    { what: 'a text without certificates', cert: 'junk' },
    { what: 'a broken certificate after a valid one', cert: SERVER.cert + OTHER.cert.replace('MII', 'AAA') },
  ])('reports $what', async ({ cert }) => {
    expect(await loadTls({ cert })).toEqual({
      ok: false,
      problems: [
        expect.stringMatching(/: tls_server_config\.cert: contains no valid certificate, expected one or more/),
      ],
    });
  });
});

describe('loadAccessRules, in a TLS server', () => {
  const { cert, key } = RSA_SERVER;
  const old = { maxVersion: 'TLSv1.2' } as const;
  const weak = { ciphers: 'DEFAULT@SECLEVEL=0' };
  const cipher_suites = ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'];

  it.each<readonly [what: string, config: object, client: ConnectionOptions, expected: string]>([
    ['no TLS 1.1 by default', {}, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ...weak }, 'none'],
    [
      'TLS 1.0 with min_version',
      { min_version: 'TLS10' },
      { minVersion: 'TLSv1', maxVersion: 'TLSv1', ...weak },
      'TLSv1',
    ],
    [
      'no suite that is not configured',
      { cipher_suites },
      { ...old, ciphers: 'ECDHE-ECDSA-CHACHA20-POLY1305' },
      'none',
    ],
    ['TLS 1.3 although suites are configured', { cipher_suites }, {}, 'TLSv1.3'],
    ['no suite without forward secrecy by default', { cert, key }, { ...old, ciphers: 'AES128-GCM-SHA256' }, 'none'],
    ['suites of the intermediate list', { cert, key }, { ...old, ciphers: 'ECDHE-RSA-CHACHA20-POLY1305' }, 'TLSv1.2'],
  ])('negotiates %s', async (_, config, client, expected) => {
    expect(await negotiated(config, client)).toBe(expected);
  });

  it('prefers suites and curves as configured', async () => {
    const preferences = { max_version: 'TLS12', prefer_server_cipher_suites: false, curve_preferences: ['CurveP384'] };
    expect((await rulesOf({ cipher_suites, ...preferences })).context).toMatchObject({
      maxVersion: 'TLSv1.2',
      ciphers: expect.stringMatching(/:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256$/),
      honorCipherOrder: false,
      ecdhCurve: 'secp384r1',
    });
  });
});

describe('accessWarnings', () => {
  const { cert, key } = issue({ name: 'server' });
  const warningsOf = (rules: Partial<TlsRules['context']>, verified = false) =>
    accessWarnings('web.yml', {
      ...OPEN_ACCESS,
      tls: { context: { cert, key, ...rules }, client: { requested: verified, required: verified, verified } },
    });

  it('warns of client certificates that are verified without an authority', () => {
    expect(warningsOf({}, true)).toEqual([
      'web.yml: tls_server_config.client_auth_type verifies certificates without a client_ca_file, so that those of every public authority are accepted',
    ]);
    expect(warningsOf({ ca: cert }, true)).toEqual([]);
    expect(warningsOf({})).toEqual([]);
  });

  it('warns of a rate limit that rejects every request', () => {
    const warnings = (burst: number) =>
      accessWarnings('web.yml', { ...OPEN_ACCESS, users: new Map([['a', HASH]]), rate: { intervalMs: 1000, burst } });
    expect(warnings(0)).toEqual([
      'web.yml: rate_limit without burst rejects every request, expected a burst of at least 1',
    ]);
    expect(warnings(1)).toEqual([]);
  });

  it('warns of a file that allows everyone, and not without a file', () => {
    expect(accessWarnings('web.yml', OPEN_ACCESS)).toEqual([expect.stringContaining('everyone has access')]);
    expect(accessWarnings(undefined, OPEN_ACCESS)).toEqual([]);
  });
});
