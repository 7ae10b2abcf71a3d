import { createPrivateKey, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../../../src/model/failure.ts';
import { explain } from '../../../src/problems/advice.ts';
import { TLS_VERSIONS } from '../../../src/schema/scalar-schemas.ts';
import { connectOnce } from '../../../src/service/http/connection.ts';
import type { TlsOptions } from '../../../src/service/http/tls-options.ts';
import { type Issued, issue } from '../support/certificates.ts';
import { bearer, oauth2, servedClient, testClient } from '../support/client.ts';
import { temporaryFile } from '../support/files.ts';
import { shownName, startProxy } from '../support/proxy.ts';
import { closedPort, replying, startRawService, startService } from '../support/service.ts';

const authority = issue({ name: 'test authority' });
const forAddress = issue({ name: 'service', issuer: authority, hosts: ['127.0.0.1'] });
const forName = issue({ name: 'service', issuer: authority, hosts: ['monitor.example.com'] });
const ourselves = issue({ name: 'exporter', issuer: authority });

const startSecure = (identity = forAddress, more = {}) => startService(replying('secure'), { ...identity, ...more });

const trusting = (overrides: Partial<TlsOptions> = {}): TlsOptions => ({
  ca_file: temporaryFile('ca.pem', `# the authority\n${authority.cert}`),
  insecure_skip_verify: false,
  ...overrides,
});

/** The certificate and key of the exporter. */
const identity = () => ({
  cert_file: temporaryFile('cert.pem', ourselves.cert),
  key_file: temporaryFile('key.pem', ourselves.key),
});

/** Without its second line. */
const damaged = (pem: string) => pem.replace(/(?<=-----\n).*\n/, '');

const encrypted = (key: string) =>
  createPrivateKey(key).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' });

const derOf = (key: string) => createPrivateKey(key).export({ type: 'pkcs8', format: 'der' });

const MUTUAL = { ca: authority.cert, requestCert: true, rejectUnauthorized: false };

describe('openPool with TLS', () => {
  it('accepts any certificate with insecure_skip_verify', async () => {
    const { url } = await startSecure(forName);
    expect(await testClient(url, { tls: { insecure_skip_verify: true } }).get()).toBe('secure');
  });

  it.each([
    ['unknown authority', forAddress, undefined, /unable to verify the first certificate|unable to get local issuer/],
    ['for another host', forName, trusting, /does not match certificate's altnames/],
  ])('fails with reason tls, without a retry, when the certificate is %s', async (_what, issued, tls, message) => {
    const { url } = await startSecure(issued);
    const { failure, observer } = testClient(url, { ...(tls && { tls: tls() }), maxRetries: 3 });
    expect(await failure()).toMatchObject({ reason: 'tls', message: expect.stringMatching(message) });
    expect(observer).toMatchObject({ outcomes: ['tls'], retries: 0 });
  });

  it('does not show names of a certificate that repeat a secret', async () => {
    const { url } = await startSecure(
      issue({ name: 'service', issuer: authority, hosts: ['my-secret-token.example.com'] }),
    );
    const auth = bearer({ text: 'my-secret-token' });
    const error = await testClient(url, { tls: trusting({ server_name: 'monitor.example.com' }), auth }).failure();
    expect(error.message).toMatch(/: not shown, because it repeats a secret$/);
  });

  it('sends and verifies the configured server name, whatever the Host header', async () => {
    const { url, requests } = await startSecure(forName);
    const tls = trusting({ server_name: 'monitor.example.com' });
    await testClient(url, { tls, headers: [{ name: 'Host', value: { text: 'elsewhere' } }] }).get();
    expect(requests[0]?.socket).toHaveProperty('servername', 'monitor.example.com');
    expect(requests[0]?.headers.host).toBe('elsewhere');
  });

  it('uses no TLS version below min_version', async () => {
    const { url } = await startSecure(forAddress, { maxVersion: 'TLSv1.2' });
    expect(await testClient(url, { tls: trusting({ min_version: 'TLS12' }) }).get()).toBe('secure');
    expect(await testClient(url, { tls: trusting({ min_version: 'TLS13' }) }).failure()).toMatchObject({
      reason: 'tls',
    });
  });

  it.each(['TLS10', 'TLS11'] as const)('connects to a server that has nothing newer than %s', async (min_version) => {
    const version = TLS_VERSIONS[min_version];
    const old = { minVersion: version, maxVersion: version, ciphers: 'ALL:@SECLEVEL=0' };
    const { url } = await startSecure(forAddress, old);
    expect(await testClient(url, { tls: trusting({ min_version }) }).get()).toBe('secure');
    expect(await testClient(url, { tls: trusting() }).failure()).toMatchObject({ reason: 'tls' });
  });

  it('trusts an intermediate authority without its root', async () => {
    const intermediate = issue({ name: 'intermediate', issuer: authority, isAuthority: true });
    const { url } = await startSecure(issue({ name: 'service', issuer: intermediate, hosts: ['127.0.0.1'] }));
    const tls = (ca: Issued) => ({ tls: trusting({ ca_file: temporaryFile('ca.pem', ca.cert) }) });
    expect(await testClient(url, tls(intermediate)).get()).toBe('secure');
    expect(await testClient(url, tls(authority)).failure()).toMatchObject({ reason: 'tls' });
  });

  it('reads certificate files again for each connection', async () => {
    const { url } = await startService(replying('secure', 200, { Connection: 'close' }), forAddress);
    const tls = trusting();
    const { get, failure } = testClient(url, { tls });
    expect(await get()).toBe('secure');
    writeFileSync(String(tls.ca_file), issue({ name: 'other authority' }).cert);
    expect(await failure()).toMatchObject({ reason: 'tls' });
    writeFileSync(String(tls.ca_file), authority.cert);
    expect(await get()).toBe('secure');
  });

  it.each<[string, () => Partial<TlsOptions>, RegExp]>([
    ['a file that cannot be read', () => ({ ca_file: '/nowhere/ca.pem' }), /cannot read TLS file \S+\/ca\.pem: ENOENT/],
    ['an invalid authority', () => ({ ca_file: temporaryFile('broken', 'broken') }), /invalid TLS file \S+\/broken: /],
    [
      'a certificate and key that do not match',
      () => ({ ...identity(), key_file: temporaryFile('other', forName.key) }),
      /invalid TLS file \S+\/cert\.pem with \S+\/other: /,
    ],
    [
      'which certificate is damaged',
      () => ({ ca_file: temporaryFile('ca.pem', `${authority.cert}\n${damaged(ourselves.cert)}`) }),
      /invalid TLS file \S+\/ca\.pem: certificate 2 of 2 is damaged: /,
    ],
    [
      'the command that converts an authority in DER',
      () => ({ ca_file: temporaryFile('ca.der', new X509Certificate(authority.cert).raw) }),
      /format DER, expected PEM: openssl x509 -inform der -in (\S+ca\.der) -out \1\.pem converts it/,
    ],
    [
      'the command that converts a PKCS #7 file',
      () => ({ ca_file: temporaryFile('ca.p7b', authority.cert.replaceAll('CERTIFICATE', 'PKCS7')) }),
      /format PKCS #7, expected PEM: openssl pkcs7 -print_certs -in \S+ca\.p7b /,
    ],
    [
      'the command that converts a PKCS #12 file',
      () => ({ ...identity(), cert_file: temporaryFile('client.p12', Buffer.from([0x30, 0x00])) }),
      /format PKCS #12, expected PEM: openssl pkcs12 -nokeys -in \S+client\.p12 /,
    ],
    [
      'a file without a certificate',
      () => ({ ca_file: temporaryFile('ca.pem', authority.key) }),
      /ca\.pem: it has no certificate, expected -----BEGIN CERTIFICATE-----/,
    ],
    [
      'the command that removes a passphrase',
      () => ({ ...identity(), key_file: temporaryFile('client.key', encrypted(ourselves.key)) }),
      /client\.key: its key has a passphrase, expected none: openssl pkey -in \S+client\.key -out \S+ removes it/,
    ],
    [
      'the command that converts a key in DER',
      () => ({ ...identity(), key_file: temporaryFile('key.der', derOf(ourselves.key)) }),
      /format DER, expected PEM: openssl pkey -inform der -in \S+key\.der /,
    ],
    [
      'the command that converts a key in a PKCS #12 file',
      () => ({ ...identity(), key_file: temporaryFile('client.p12', Buffer.from([0x30, 0x00])) }),
      /format PKCS #12, expected PEM: openssl pkcs12 -nocerts -noenc -in \S+client\.p12 /,
    ],
    [
      'a damaged key',
      () => ({ ...identity(), key_file: temporaryFile('key.pem', damaged(ourselves.key)) }),
      /key\.pem: its key is damaged: /,
    ],
    [
      'a file without a key',
      () => ({ ...identity(), key_file: temporaryFile('key.pem', ourselves.cert) }),
      /key\.pem: it has no private key, expected -----BEGIN PRIVATE KEY-----/,
    ],
  ])('fails with reason tls and names %s', async (_what, files, message) => {
    const { url } = await startSecure();
    const { failure } = testClient(url, { tls: trusting(files()) });
    expect(await failure()).toMatchObject({ reason: 'tls', message: expect.stringMatching(message) });
  });

  it('does not read certificate files without TLS', async () => {
    const tls = { ca_file: '/nowhere', insecure_skip_verify: false };
    const { get } = await servedClient(replying('plain'), { tls });
    expect(await get()).toBe('plain');
  });
});

describe('openPool through a proxy', () => {
  it('tunnels to an http service, so that the proxy sees no credential', async () => {
    const proxy = await startProxy();
    const options = { proxyUrl: proxy.url, auth: bearer({ text: 't0ken' }) };
    const { get, url, requests } = await servedClient(replying('plain'), options);
    expect(await get('/a?b')).toBe('plain');
    expect(requests[0]).toMatchObject({ url: '/a?b', headers: { host: url.host, authorization: 'Bearer t0ken' } });
    expect(proxy).toMatchObject({ requests: [], tunnels: [{ target: url.host, headers: { host: url.host } }] });
    expect(proxy.tunnels[0]?.headers).not.toHaveProperty('authorization');
    expect(proxy.tunnels[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  it('verifies the name of the service, whatever the Host header', async () => {
    const { url } = await startSecure(forAddress);
    const proxy = await startProxy();
    const headers = [{ name: 'Host', value: 'elsewhere' }];
    expect(await testClient(url, { proxyUrl: proxy.url, tls: trusting(), headers }).get()).toBe('secure');
    const other = await startSecure(forName);
    const failure = await testClient(other.url, { proxyUrl: proxy.url, tls: trusting() }).failure();
    expect(failure).toMatchObject({ reason: 'tls', message: expect.stringMatching(/altnames/) });
  });

  it('connects to an https proxy with the same authorities, without the client certificate', async () => {
    const { url } = await startService(({ socket }, response) => response.end(shownName(socket)), {
      ...forName,
      ...MUTUAL,
    });
    const proxy = await startProxy({ ...forAddress, ...MUTUAL });
    const tls = trusting({ server_name: 'monitor.example.com', ...identity() });
    expect(await testClient(url, { proxyUrl: proxy.url, tls }).get()).toBe('exporter');
    expect(proxy.tunnels).toMatchObject([{ shownName: 'none' }]);
  });

  it.each([
    ['http', '', ':80', undefined],
    ['https', 'user:p%40ss@', ':443', 'user:p@ss'],
    ['https', 'user@', ':443', 'user:'],
  ])(
    'sends a proxy the authority of an %s service and the user information %j, and retries a 407',
    async (protocol, userinfo, port, pair) => {
      const proxy = await startProxy(undefined, 407);
      const proxyUrl = new URL(`http://${userinfo}${proxy.url.host}`);
      const { failure, observer } = testClient(new URL(`${protocol}://monitor.example.com`), {
        proxyUrl,
        maxRetries: 1,
      });
      const target = `monitor.example.com${port}`;
      expect(await failure()).toMatchObject({
        reason: 'network',
        message: `proxy ${proxy.url.host} refused the tunnel to ${protocol}://monitor.example.com: 407 Proxy Authentication Required`,
      });
      expect(observer).toMatchObject({ outcomes: ['network', 'network'], retries: 1 });
      expect(proxy.tunnels[0]).toMatchObject({ target });
      expect(proxy.tunnels[0]?.headers['proxy-authorization']).toBe(
        pair && `Basic ${Buffer.from(pair).toString('base64')}`,
      );
    },
  );

  it('names the proxy when it is unreachable or has a certificate that is not trusted', async () => {
    const failureThrough = (proxyUrl: URL) =>
      testClient(new URL('http://monitor.example.com'), { proxyUrl, tls: trusting() }).failure();
    expect(await failureThrough(new URL(`http://127.0.0.1:${await closedPort()}`))).toMatchObject({
      reason: 'network',
      message: expect.stringMatching(/^proxy 127.* connect ECONNREFUSED/),
    });
    expect(await failureThrough((await startProxy(forName)).url)).toMatchObject({
      reason: 'tls',
      message: expect.stringMatching(/^proxy 127.*altnames/),
    });
  });

  it.each([
    { userinfo: 'user:p%40ssw0rd', repeated: 'p@ssw0rd' },
    { userinfo: 'key-of-the-proxy', repeated: 'key-of-the-proxy' },
  ])('does not show a reply that repeats $repeated of a proxy', async ({ userinfo, repeated }) => {
    const proxy = await startProxy();
    const proxyUrl = new URL(`http://${userinfo}@${proxy.url.host}`);
    const { failure } = await servedClient(replying(`unexpected ${repeated} in the request`, 400), { proxyUrl });
    expect((await failure()).message).toMatch(/answered 400 Bad Request: not shown, because it repeats a secret/);
    const endpoint = await startService(replying(`no: ${repeated}`, 403));
    const { failure: tokenFailure } = testClient(endpoint.url, { proxyUrl, auth: oauth2(endpoint.url) });
    expect((await tokenFailure()).message).toMatch(/answered 403 Forbidden: not shown, because it repeats a secret/);
  });

  it('reaches the token endpoint through the same proxy and authority', async () => {
    const endpoint = await startService(replying('{"access_token":"t"}'), forAddress);
    const proxy = await startProxy();
    const tokenUrl = new URL('/token', endpoint.url);
    const auth = oauth2(tokenUrl);
    const tls = trusting({ server_name: 'for the service alone' });
    const { get, url } = await servedClient((request, response) => response.end(request.headers.authorization), {
      proxyUrl: proxy.url,
      auth,
      tls,
    });
    expect(await get()).toBe('Bearer t');
    expect(proxy.tunnels.map(({ target }) => target)).toEqual([tokenUrl.host, url.host]);
  });
});

describe('connectOnce', () => {
  it('names a proxy that accepts the connection and hangs', async () => {
    const proxyUrl = (await startRawService(() => undefined)).url;
    const failure = failureOf(
      await connectOnce(new URL('http://monitor.example.com'), { timeoutMs: 100, proxyUrl }).catch((error) => error),
    );
    expect(failure).toMatchObject({
      reason: 'timeout',
      message: `proxy ${proxyUrl.host}: no tunnel within 90 ms`,
      proxy: proxyUrl.host,
    });
    expect(explain(failure, { silence: 'service' })).toMatchObject({
      short: 'proxy timeout',
      advice: expect.stringMatching(/^Check the host and port in proxy_url/),
    });
  });

  it('connects through a proxy with the settings of requests, without sending one', async () => {
    const { url, requests } = await startSecure(forName);
    const proxy = await startProxy();
    const tls = trusting({ server_name: 'monitor.example.com' });
    const socket = await connectOnce(url, { timeoutMs: 60_000, tls, proxyUrl: proxy.url });
    expect(shownName(socket)).toBe('service');
    socket.destroy();
    expect(proxy.tunnels).toHaveLength(1);
    expect(requests).toEqual([]);
  });
});
