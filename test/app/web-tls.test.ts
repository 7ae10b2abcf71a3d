import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ConnectionOptions, connect } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadTlsRules } from '../../src/app/web-access.ts';
import { tlsServer } from '../../src/config/web-schema.ts';
import type { TlsRules } from '../../src/web/access/rules.ts';
import { listen } from '../../src/web/server.ts';
import { issue } from '../upstream/support/certificates.ts';
import { temporaryFile } from '../upstream/support/files.ts';

const AUTHORITY = issue({ name: 'authority' });
const SERVER = issue({ name: 'server', issuer: AUTHORITY, hosts: ['127.0.0.1'] });
const OTHER = issue({ name: 'other' });
const INLINE = { cert: SERVER.cert, key: SERVER.key };

function load(config: object, folder = '.') {
  return loadTlsRules(tlsServer.parse(config), folder);
}

async function rulesOf(config: object): Promise<TlsRules> {
  const rules = await load({ ...INLINE, ...config });
  if ('context' in rules) return rules;
  throw new Error(rules.map(({ message }) => message).join('\n'));
}

/** What a client and a server with these rules agree on. */
async function agreed(config: object, client: ConnectionOptions) {
  const server = await listen((_request, response) => response.end(), [{ host: '127.0.0.1', port: 0 }], { tls: await rulesOf(config) });
  onTestFinished(() => server.close(0));
  return new Promise((resolve) => {
    const socket = connect({ port: server.addresses[0]?.port ?? 0, host: '127.0.0.1', ca: AUTHORITY.cert, ...client });
    socket.once('error', () => resolve('nothing'));
    socket.once('secureConnect', () => {
      resolve([socket.getProtocol(), socket.getCipher().name, Reflect.get(socket.getEphemeralKeyInfo() ?? {}, 'name')]);
      socket.destroy();
    });
  });
}

describe('loadTlsRules', () => {
  it('takes certificates and keys from files beside the configuration, by any path, or from the configuration', async () => {
    const certFile = temporaryFile('server.crt', SERVER.cert);
    const folder = dirname(certFile);
    writeFileSync(join(folder, 'server.key'), SERVER.key);
    writeFileSync(join(folder, 'clients.crt'), `${AUTHORITY.cert}${OTHER.cert}`);
    const files = { cert_file: certFile, key_file: 'server.key', client_ca_file: 'clients.crt', client_auth_type: 'RequestClientCert' };
    const inline = { ...INLINE, client_ca: `${AUTHORITY.cert}${OTHER.cert}`, client_auth_type: 'RequestClientCert' };
    expect(await load(files, folder)).toEqual(await load(inline));
    expect(await load({ ...files, cert: 'ignored beside the file' }, folder)).toEqual(await load(inline));
  });

  it.each([
    ['NoClientCert', { requested: false, required: false, verified: false }],
    ['RequestClientCert', { requested: true, required: false, verified: false }],
    ['RequireAnyClientCert', { requested: true, required: true, verified: false }],
    ['RequireClientCert', { requested: true, required: true, verified: false }],
    ['VerifyClientCertIfGiven', { requested: true, required: false, verified: true }],
    ['RequireAndVerifyClientCert', { requested: true, required: true, verified: true }],
  ])('knows the policy %s', async (client_auth_type, client) => {
    expect((await rulesOf({ client_auth_type })).client).toEqual(client);
  });

  it('asks clients for nothing unless told to, and hands on the names that are allowed', async () => {
    expect((await rulesOf({})).client).toEqual({ requested: false, required: false, verified: false });
    const config = { client_auth_type: 'RequireAnyClientCert', client_allowed_sans: ['a'] };
    expect((await rulesOf(config)).client).toEqual({ requested: true, required: true, verified: false, allowedSans: ['a'] });
  });

  it('tells which of the files cannot be read', async () => {
    const config = { cert_file: 'no.crt', key_file: 'no.key', client_ca_file: 'no.ca', client_auth_type: 'RequestClientCert' };
    expect(await load(config, '/nowhere')).toEqual(
      ['cert_file', 'key_file', 'client_ca_file'].map((key) => ({
        key,
        message: expect.stringMatching(/^cannot be read, expected a readable file: ENOENT: .*'\/nowhere\/no\.\w+'$/),
      })),
    );
  });

  const noCertificate = 'found no usable certificate, expected one or more in PEM';
  const noKey = 'found no usable key, expected one in PEM without a passphrase';
  const locked = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
  }).privateKey;

  it.each([
    ['no certificate', { cert: 'junk' }, [{ key: 'cert', message: noCertificate }]],
    ['a broken certificate', { cert: SERVER.cert.replace('MII', 'AAA') }, [{ key: 'cert', message: noCertificate }]],
    ['a broken second certificate', { cert: SERVER.cert + OTHER.cert.replace('MII', 'AAA') }, [{ key: 'cert', message: noCertificate }]],
    ['a key in its place', { cert: SERVER.key }, [{ key: 'cert', message: noCertificate }]],
    ['no key', { key: 'junk' }, [{ key: 'key', message: noKey }]],
    ['a locked key', { key: locked }, [{ key: 'key', message: noKey }]],
    ["another certificate's key", { key: OTHER.key }, [{ key: 'key', message: 'does not belong to the certificate, expected its key' }]],
    ['no authority', { client_ca: 'junk', client_auth_type: 'RequireAndVerifyClientCert' }, [{ key: 'client_ca', message: noCertificate }]],
    [
      'nothing that is right',
      { cert: 'junk', key: 'junk' },
      [
        { key: 'cert', message: noCertificate },
        { key: 'key', message: noKey },
      ],
    ],
  ])('tells %s', async (_what, config, findings) => {
    expect(await load({ ...INLINE, ...config })).toEqual(findings);
  });

  it('tells what OpenSSL does not accept', async () => {
    const weak = issue({ name: 'weak', namedCurve: 'secp112r1' });
    expect(await load({ cert: weak.cert, key: weak.key })).toEqual([
      { message: expect.stringMatching(/^cannot be used together: .*key too small/) },
    ]);
  });
});

describe('the rules of loadTlsRules, in force', () => {
  it('allow TLS 1.2 and 1.3 unless told otherwise', async () => {
    expect(await agreed({}, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' })).toBe('nothing');
    expect(await agreed({}, { maxVersion: 'TLSv1.2' })).toEqual(['TLSv1.2', expect.any(String), expect.any(String)]);
    expect(await agreed({}, {})).toEqual(['TLSv1.3', expect.any(String), expect.any(String)]);
  });

  it.each([
    ['TLS10', 'TLSv1'],
    ['TLS11', 'TLSv1.1'],
  ] as const)('allow %s when told to', async (min_version, version) => {
    const client = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
    expect(await agreed({ min_version }, client)).toEqual([version, expect.any(String), expect.any(String)]);
  });

  it('keep to the newest version allowed', async () => {
    expect(await agreed({ max_version: 'TLS12' }, {})).toEqual(['TLSv1.2', expect.any(String), expect.any(String)]);
    expect(await agreed({ max_version: 'TLS12' }, { minVersion: 'TLSv1.3' })).toBe('nothing');
  });

  it('keep to the cipher suites chosen, in their order, and those of TLS 1.3', async () => {
    const cipher_suites = ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'];
    const ciphers = 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384';
    const old = { maxVersion: 'TLSv1.2' } as const;
    expect(await agreed({ cipher_suites }, { ...old, ciphers })).toEqual(['TLSv1.2', 'ECDHE-ECDSA-AES256-GCM-SHA384', expect.any(String)]);
    expect(await agreed({ cipher_suites, prefer_server_cipher_suites: false }, { ...old, ciphers })).toEqual([
      'TLSv1.2',
      'ECDHE-ECDSA-AES128-GCM-SHA256',
      expect.any(String),
    ]);
    expect(await agreed({ cipher_suites }, { ...old, ciphers: 'ECDHE-ECDSA-CHACHA20-POLY1305' })).toBe('nothing');
    expect(await agreed({ cipher_suites }, {})).toEqual(['TLSv1.3', expect.any(String), expect.any(String)]);
  });

  it('keep to the curves chosen', async () => {
    const curve_preferences = ['CurveP384'];
    expect(await agreed({ curve_preferences }, { maxVersion: 'TLSv1.2' })).toEqual(['TLSv1.2', expect.any(String), 'secp384r1']);
    expect(await agreed({ curve_preferences }, { maxVersion: 'TLSv1.2', ecdhCurve: 'prime256v1' })).toBe('nothing');
  });
});
