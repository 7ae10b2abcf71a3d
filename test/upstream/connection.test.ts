import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { connectOnce } from '../../src/upstream/connection.ts';
import type { TlsOptions } from '../../src/upstream/options.ts';
import { issue } from './support/certificates.ts';
import { testClient } from './support/client.ts';
import { temporaryFile } from './support/files.ts';
import { shownName, startProxy } from './support/proxy.ts';
import { closedPort, listen, startRawService, startService } from './support/service.ts';

const authority = issue({ name: 'test authority' });
const forAddress = issue({ name: 'service', issuer: authority, hosts: ['127.0.0.1'] });
const forName = issue({ name: 'service', issuer: authority, hosts: ['monitor.example.com'] });
const expired = issue({ name: 'service', issuer: authority, hosts: ['127.0.0.1'], notAfter: new Date(Date.now() - 1000) });
const ourselves = issue({ name: 'exporter', issuer: authority });

const startSecure = (identity = forAddress, more = {}) =>
  startService((_request, response) => response.end('secure'), { ...identity, ...more });

const trusting = (overrides: Partial<TlsOptions> = {}): TlsOptions => ({
  caFile: temporaryFile('ca.pem', `# the authority\n${authority.cert}`),
  insecureSkipVerify: false,
  ...overrides,
});

describe('openPool, over TLS', () => {
  it('trusts the authority it is given', async () => {
    const { url } = await startSecure();
    await expect(testClient(url, { tls: trusting() }).get()).resolves.toBe('secure');
  });

  it.each([
    ['unknown authority', forAddress, undefined, /unable to verify the first certificate|unable to get local issuer/],
    ['self-signed', issue({ name: 'service', hosts: ['127.0.0.1'] }), undefined, /self-signed certificate/],
    ['expired', expired, trusting, /certificate has expired/],
    ['for another host', forName, trusting, /does not match certificate's altnames/],
  ])('fails as tls, not to be tried again, when the certificate is %s', async (_what, identity, tls, message) => {
    const { url } = await startSecure(identity);
    const { failure, observer } = testClient(url, { ...(tls === undefined ? {} : { tls: tls() }), maxRetries: 3 });
    expect(await failure()).toMatchObject({ reason: 'tls', message: expect.stringMatching(message) });
    expect(observer).toMatchObject({ outcomes: ['tls'], retries: 0 });
  });

  it('fails as tls when the service speaks no TLS', async () => {
    const { port } = await startRawService((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await testClient(new URL(`https://127.0.0.1:${port}`)).failure()).toMatchObject({ reason: 'tls' });
  });

  it('expects the configured server name, whatever Host it sends', async () => {
    const { url, requests } = await startSecure(forName);
    const tls = trusting({ serverName: 'monitor.example.com' });
    await expect(testClient(url, { tls, headers: [{ name: 'Host', value: { text: 'elsewhere' } }] }).get()).resolves.toBe('secure');
    expect(requests[0]?.socket).toHaveProperty('servername', 'monitor.example.com');
    expect(requests[0]?.headers.host).toBe('elsewhere');
  });

  it('accepts any certificate when told to', async () => {
    const { url } = await startSecure(expired);
    await expect(testClient(url, { tls: { insecureSkipVerify: true } }).get()).resolves.toBe('secure');
  });

  it('speaks no version below the lowest one allowed', async () => {
    const { url } = await startSecure(forAddress, { maxVersion: 'TLSv1.2' });
    await expect(testClient(url, { tls: trusting({ minVersion: 'TLSv1.2' }) }).get()).resolves.toBe('secure');
    expect(await testClient(url, { tls: trusting({ minVersion: 'TLSv1.3' }) }).failure()).toMatchObject({ reason: 'tls' });
  });

  it('shows its own certificate where it is asked for', async () => {
    const mutual = { ...forAddress, ca: authority.cert, requestCert: true, rejectUnauthorized: false };
    const { url } = await startService(({ socket }, response) => response.end(shownName(socket)), mutual);
    const certFile = temporaryFile('cert.pem', ourselves.cert);
    const keyFile = temporaryFile('key.pem', ourselves.key);
    await expect(testClient(url, { tls: trusting({ certFile, keyFile }) }).get()).resolves.toBe('exporter');
    await expect(testClient(url, { tls: trusting() }).get()).resolves.toBe('nobody');
  });

  it('reads its files again for each connection', async () => {
    const service = await startService((_request, response) => response.writeHead(200, { Connection: 'close' }).end('secure'), forAddress);
    const other = issue({ name: 'other authority' });
    const tls = trusting();
    const { get, failure } = testClient(service.url, { tls });
    await expect(get()).resolves.toBe('secure');
    await expect(get()).resolves.toBe('secure');
    writeFileSync(String(tls.caFile), other.cert);
    expect(await failure()).toMatchObject({ reason: 'tls' });
    writeFileSync(String(tls.caFile), other.cert + authority.cert);
    await expect(get()).resolves.toBe('secure');
  });

  it('fails as tls with the name of a file that cannot be read', async () => {
    const { url } = await startSecure();
    const tls = trusting();
    rmSync(String(tls.caFile));
    const message = `cannot read TLS file ${tls.caFile}: ENOENT`;
    expect(await testClient(url, { tls, maxRetries: 3 }).failure()).toMatchObject({
      reason: 'tls',
      message: expect.stringContaining(message),
    });
  });

  it.each(['caFile', 'certFile', 'keyFile'] as const)('fails as tls with the name of an unusable %s', async (name) => {
    const { url } = await startSecure();
    const files = { certFile: temporaryFile('cert.pem', ourselves.cert), keyFile: temporaryFile('key.pem', ourselves.key) };
    const broken = temporaryFile('broken.pem', '-----BEGIN NOTHING-----\n');
    const tls = trusting({ ...files, [name]: broken });
    const message = expect.stringContaining(`invalid TLS file ${broken}: `);
    expect(await testClient(url, { tls }).failure()).toMatchObject({ reason: 'tls', message });
  });

  it('fails as tls with both names when certificate and key do not belong together', async () => {
    const { url } = await startSecure();
    const [certFile, keyFile] = [temporaryFile('cert.pem', ourselves.cert), temporaryFile('key.pem', forName.key)];
    const message = expect.stringContaining(`invalid TLS file ${certFile} with ${keyFile}: `);
    expect(await testClient(url, { tls: trusting({ certFile, keyFile }) }).failure()).toMatchObject({ reason: 'tls', message });
  });

  it('leaves its files alone where no TLS is spoken', async () => {
    const { url } = await startService((_request, response) => response.end('plain'));
    await expect(testClient(url, { tls: { caFile: '/nowhere', insecureSkipVerify: false } }).get()).resolves.toBe('plain');
  });
});

describe('openPool, through a proxy', () => {
  it('tunnels to an http service, so that the proxy is shown no credential', async () => {
    const { url, requests } = await startService((_request, response) => response.end('plain'));
    const proxy = await startProxy();
    const auth = { scheme: 'authorization', type: 'Bearer', credentials: { text: 't0ken' } } as const;
    await expect(testClient(url, { proxyUrl: proxy.url, auth }).get('/a?b')).resolves.toBe('plain');
    expect(requests[0]).toMatchObject({ url: '/a?b', headers: { host: url.host, authorization: 'Bearer t0ken' } });
    expect(proxy).toMatchObject({ requests: [], tunnels: [{ target: url.host, headers: { host: url.host } }] });
    expect(proxy.tunnels[0]?.headers).not.toHaveProperty('authorization');
    expect(proxy.tunnels[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  it('tunnels to an https service under the same TLS settings, over one connection for many requests', async () => {
    const { url } = await startSecure(forName);
    const proxy = await startProxy();
    const { get } = testClient(url, { proxyUrl: proxy.url, concurrency: 1, tls: trusting({ serverName: 'monitor.example.com' }) });
    await expect(get()).resolves.toBe('secure');
    await expect(get()).resolves.toBe('secure');
    expect(proxy.tunnels).toHaveLength(1);
  });

  it('fails as tls when the service behind the proxy is not the one it should be', async () => {
    const { url } = await startSecure(forName);
    const proxy = await startProxy();
    expect(await testClient(url, { proxyUrl: proxy.url, tls: trusting() }).failure()).toMatchObject({ reason: 'tls' });
  });

  it.each([
    ['user:p%40ss', 'user:p@ss'],
    ['user', 'user:'],
  ])('shows the proxy the user information %j', async (userinfo, pair) => {
    const { url } = await startService((_request, response) => response.end('plain'));
    const proxy = await startProxy();
    await testClient(url, { proxyUrl: new URL(`http://${userinfo}@${proxy.url.host}`) }).get();
    expect(proxy.tunnels[0]?.headers['proxy-authorization']).toBe(`Basic ${Buffer.from(pair).toString('base64')}`);
  });

  it('speaks TLS with the proxy, trusts it by the same authority, and keeps its own certificate for the service', async () => {
    const mutual = { ca: authority.cert, requestCert: true, rejectUnauthorized: false };
    const { url } = await startService(({ socket }, response) => response.end(shownName(socket)), { ...forName, ...mutual });
    const proxy = await startProxy({ ...forAddress, ...mutual });
    const tls = trusting({
      serverName: 'monitor.example.com',
      certFile: temporaryFile('cert.pem', ourselves.cert),
      keyFile: temporaryFile('key.pem', ourselves.key),
    });
    await expect(testClient(url, { proxyUrl: proxy.url, tls }).get()).resolves.toBe('exporter');
    expect(proxy.tunnels).toMatchObject([{ shownName: 'nobody' }]);
  });

  it('adds the default port to the address it asks for', async () => {
    const proxy = await startProxy(undefined, 403);
    await testClient(new URL('https://monitor.example.com'), { proxyUrl: proxy.url }).failure();
    await testClient(new URL('http://monitor.example.com'), { proxyUrl: proxy.url }).failure();
    expect(proxy.tunnels.map(({ target }) => target)).toEqual(['monitor.example.com:443', 'monitor.example.com:80']);
  });

  it('fails as network, to be tried again, when the proxy refuses', async () => {
    const proxy = await startProxy(undefined, 407);
    const proxyUrl = new URL(`http://user:p4ss@${proxy.url.host}`);
    const { failure, observer } = testClient(new URL('http://monitor.example.com'), { proxyUrl, maxRetries: 1 });
    expect(await failure()).toMatchObject({
      reason: 'network',
      message: `proxy ${proxy.url.host} answered 407 to CONNECT monitor.example.com:80`,
    });
    expect(observer).toMatchObject({ outcomes: ['network', 'network'], retries: 1 });
  });

  it('fails as network when the proxy is not there, hangs up or speaks something else', async () => {
    const port = await closedPort();
    const refused = testClient(new URL('http://monitor.example.com'), { proxyUrl: new URL(`http://127.0.0.1:${port}`) });
    expect(await refused.failure()).toMatchObject({
      reason: 'network',
      message: `proxy 127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`,
    });
    for (const answer of [undefined, 'SSH-2.0\r\n']) {
      const { url: proxyUrl } = await startRawService((socket) => socket.end(answer ?? ''));
      const { failure } = testClient(new URL('https://monitor.example.com'), { proxyUrl });
      expect(await failure()).toMatchObject({ reason: 'network', message: expect.stringContaining(`proxy ${proxyUrl.host}: `) });
    }
  });

  it('times out when the proxy says nothing', async () => {
    const silent = createServer((socket) => socket.on('error', () => undefined));
    const proxyUrl = new URL(`http://127.0.0.1:${await listen(silent)}`);
    expect(await testClient(new URL('http://monitor.example.com'), { proxyUrl, timeoutMs: 30 }).failure()).toMatchObject({
      reason: 'timeout',
    });
  });

  it("fails as tls when the proxy's own certificate is not trusted", async () => {
    const proxy = await startProxy(forName);
    const { failure } = testClient(new URL('http://monitor.example.com'), { proxyUrl: proxy.url, tls: trusting(), maxRetries: 2 });
    expect(await failure()).toMatchObject({ reason: 'tls', message: expect.stringMatching(/^proxy .*altnames/) });
  });

  it('reaches the token endpoint through the same proxy and authority', async () => {
    const endpoint = await startService((_request, response) => response.end('{"access_token":"t"}'), forAddress);
    const { url } = await startService((request, response) => response.end(request.headers.authorization));
    const proxy = await startProxy();
    const tokenUrl = new URL('/token', endpoint.url);
    const auth = { scheme: 'oauth2', clientId: 'c', clientSecret: { text: 's' }, tokenUrl, scopes: [], endpointParams: {} } as const;
    const tls = trusting({ serverName: 'for the service alone' });
    await expect(testClient(url, { proxyUrl: proxy.url, auth, tls }).get()).resolves.toBe('Bearer t');
    expect(proxy.tunnels.map(({ target }) => target)).toEqual([tokenUrl.host, url.host]);
  });
});

describe('connectOnce', () => {
  it('connects under the same settings as requests, and sends nothing', async () => {
    const { url, requests } = await startSecure(forName);
    const proxy = await startProxy();
    const tls = trusting({ serverName: 'monitor.example.com' });
    const socket = await connectOnce(url, { timeoutMs: 10_000, tls, proxyUrl: proxy.url });
    expect(socket).toBeInstanceOf(TLSSocket);
    expect(shownName(socket)).toBe('service');
    socket.destroy();
    expect(proxy.tunnels).toMatchObject([{ target: url.host }]);
    expect(requests).toEqual([]);
  });

  it('fails as a request would', async () => {
    const { url } = await startSecure(expired);
    const failure = { reason: 'tls', message: `${url.host}: certificate has expired` };
    await expect(connectOnce(url, { timeoutMs: 10_000, tls: trusting() })).rejects.toMatchObject(failure);
    const port = await closedPort();
    await expect(connectOnce(new URL(`http://[::1]:${port}`), { timeoutMs: 10_000 })).rejects.toMatchObject({ reason: 'network' });
  });
});
