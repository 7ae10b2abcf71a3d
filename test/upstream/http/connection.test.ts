import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import type { TlsOptions } from '../../../src/model/upstream-options.ts';
import { connectOnce } from '../../../src/upstream/http/connection.ts';
import { issue } from '../support/certificates.ts';
import { bearer, oauth2, testClient } from '../support/client.ts';
import { temporaryFile } from '../support/files.ts';
import { shownName, startProxy } from '../support/proxy.ts';
import { closedPort, listen, startRawService, startService } from '../support/service.ts';

const authority = issue({ name: 'test authority' });
const forAddress = issue({ name: 'service', issuer: authority, hosts: ['127.0.0.1'] });
const forName = issue({ name: 'service', issuer: authority, hosts: ['monitor.example.com'] });
const expired = issue({
  name: 'service',
  issuer: authority,
  hosts: ['127.0.0.1'],
  notAfter: new Date(Date.now() - 1000),
});
const ourselves = issue({ name: 'exporter', issuer: authority });

const startSecure = (identity = forAddress, more = {}) =>
  startService((_request, response) => response.end('secure'), { ...identity, ...more });

const trusting = (overrides: Partial<TlsOptions> = {}): TlsOptions => ({
  caFile: temporaryFile('ca.pem', `# the authority\n${authority.cert}`),
  insecureSkipVerify: false,
  ...overrides,
});

describe('openPool with TLS', () => {
  it('trusts the configured certificate authority', async () => {
    const { url } = await startSecure();
    await expect(testClient(url, { tls: trusting() }).get()).resolves.toBe('secure');
  });

  it.each([
    ['unknown authority', forAddress, undefined, /unable to verify the first certificate|unable to get local issuer/],
    ['self-signed', issue({ name: 'service', hosts: ['127.0.0.1'] }), undefined, /self-signed certificate/],
    ['expired', expired, trusting, /certificate has expired/],
    ['for another host', forName, trusting, /does not match certificate's altnames/],
  ])('fails with reason tls, without a retry, when the certificate is %s', async (_what, identity, tls, message) => {
    const { url } = await startSecure(identity);
    const { failure, observer } = testClient(url, { ...(tls === undefined ? {} : { tls: tls() }), maxRetries: 3 });
    expect(await failure()).toMatchObject({ reason: 'tls', message: expect.stringMatching(message) });
    expect(observer).toMatchObject({ outcomes: ['tls'], retries: 0 });
  });

  it('does not show names of a certificate that repeat a secret', async () => {
    const { url } = await startSecure(
      issue({ name: 'service', issuer: authority, hosts: ['my-secret-token.example.com'] }),
    );
    const auth = bearer({ text: 'my-secret-token' });
    const error = await testClient(url, { tls: trusting({ serverName: 'monitor.example.com' }), auth }).failure();
    expect(error.message).toMatch(/: not shown, because it repeats a secret or a part of one$/);
  });

  it('fails with reason tls when the service does not use TLS', async () => {
    const { port } = await startRawService((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await testClient(new URL(`https://127.0.0.1:${port}`)).failure()).toMatchObject({ reason: 'tls' });
  });

  it('verifies the configured server name, whatever the Host header', async () => {
    const { url, requests } = await startSecure(forName);
    const tls = trusting({ serverName: 'monitor.example.com' });
    await expect(
      testClient(url, { tls, headers: [{ name: 'Host', value: { text: 'elsewhere' } }] }).get(),
    ).resolves.toBe('secure');
    expect(requests[0]?.socket).toHaveProperty('servername', 'monitor.example.com');
    expect(requests[0]?.headers.host).toBe('elsewhere');
  });

  it('accepts any certificate with insecure_skip_verify', async () => {
    const { url } = await startSecure(expired);
    await expect(testClient(url, { tls: { insecureSkipVerify: true } }).get()).resolves.toBe('secure');
  });

  it('uses no TLS version below min_version', async () => {
    const { url } = await startSecure(forAddress, { maxVersion: 'TLSv1.2' });
    await expect(testClient(url, { tls: trusting({ minVersion: 'TLSv1.2' }) }).get()).resolves.toBe('secure');
    expect(await testClient(url, { tls: trusting({ minVersion: 'TLSv1.3' }) }).failure()).toMatchObject({
      reason: 'tls',
    });
  });

  it('presents the client certificate when the server requests it', async () => {
    const mutual = { ...forAddress, ca: authority.cert, requestCert: true, rejectUnauthorized: false };
    const { url } = await startService(({ socket }, response) => response.end(shownName(socket)), mutual);
    const certFile = temporaryFile('cert.pem', ourselves.cert);
    const keyFile = temporaryFile('key.pem', ourselves.key);
    await expect(testClient(url, { tls: trusting({ certFile, keyFile }) }).get()).resolves.toBe('exporter');
    await expect(testClient(url, { tls: trusting() }).get()).resolves.toBe('none');
  });

  it('reads certificate files again for each connection', async () => {
    const service = await startService(
      (_request, response) => response.writeHead(200, { Connection: 'close' }).end('secure'),
      forAddress,
    );
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

  it.each<[string, { caFile?: string; certFile?: string; keyFile?: string }, string]>([
    ['a file that cannot be read', { caFile: '/nowhere/ca.pem' }, 'cannot read TLS file /nowhere/ca.pem: ENOENT'],
    ['an invalid authority', { caFile: 'broken' }, 'invalid TLS file caFile: '],
    ['an invalid certificate', { certFile: 'broken' }, 'invalid TLS file certFile: '],
    ['an invalid key', { keyFile: 'broken' }, 'invalid TLS file keyFile: '],
    ['a certificate and key that do not match', { keyFile: forName.key }, 'invalid TLS file certFile with keyFile: '],
  ])('fails with reason tls and names %s', async (_what, changes, message) => {
    const { url } = await startSecure();
    const contents = { certFile: ourselves.cert, keyFile: ourselves.key, ...changes };
    const files = Object.fromEntries(
      Object.entries(contents).map(([name, content]) => [
        name,
        content.startsWith('/') ? content : temporaryFile(name, content),
      ]),
    );
    const failure = await testClient(url, { tls: trusting(files), maxRetries: 3 }).failure();
    expect(failure).toMatchObject({ reason: 'tls' });
    expect(failure.message.replaceAll(/\S+\/(caFile|certFile|keyFile)\b/g, '$1')).toContain(message);
  });

  it('does not read certificate files without TLS', async () => {
    const { url } = await startService((_request, response) => response.end('plain'));
    await expect(testClient(url, { tls: { caFile: '/nowhere', insecureSkipVerify: false } }).get()).resolves.toBe(
      'plain',
    );
  });
});

describe('openPool through a proxy', () => {
  it('tunnels to an http service, so that the proxy sees no credential', async () => {
    const { url, requests } = await startService((_request, response) => response.end('plain'));
    const proxy = await startProxy();
    const auth = bearer({ text: 't0ken' });
    await expect(testClient(url, { proxyUrl: proxy.url, auth }).get('/a?b')).resolves.toBe('plain');
    expect(requests[0]).toMatchObject({ url: '/a?b', headers: { host: url.host, authorization: 'Bearer t0ken' } });
    expect(proxy).toMatchObject({ requests: [], tunnels: [{ target: url.host, headers: { host: url.host } }] });
    expect(proxy.tunnels[0]?.headers).not.toHaveProperty('authorization');
    expect(proxy.tunnels[0]?.headers).not.toHaveProperty('proxy-authorization');
  });

  it('tunnels to an https service with the same TLS settings, reusing the connection', async () => {
    const { url } = await startSecure(forName);
    const proxy = await startProxy();
    const { get } = testClient(url, {
      proxyUrl: proxy.url,
      concurrency: 1,
      tls: trusting({ serverName: 'monitor.example.com' }),
    });
    await expect(get()).resolves.toBe('secure');
    await expect(get()).resolves.toBe('secure');
    expect(proxy.tunnels).toHaveLength(1);
  });

  it.each([
    ['user:p%40ss', 'user:p@ss'],
    ['user', 'user:'],
  ])('sends the proxy the credentials %j of its URL', async (userinfo, pair) => {
    const { url } = await startService((_request, response) => response.end('plain'));
    const proxy = await startProxy();
    await testClient(url, { proxyUrl: new URL(`http://${userinfo}@${proxy.url.host}`) }).get();
    expect(proxy.tunnels[0]?.headers['proxy-authorization']).toBe(`Basic ${Buffer.from(pair).toString('base64')}`);
  });

  it('connects to an https proxy with the same authorities, without the client certificate', async () => {
    const mutual = { ca: authority.cert, requestCert: true, rejectUnauthorized: false };
    const { url } = await startService(({ socket }, response) => response.end(shownName(socket)), {
      ...forName,
      ...mutual,
    });
    const proxy = await startProxy({ ...forAddress, ...mutual });
    const tls = trusting({
      serverName: 'monitor.example.com',
      certFile: temporaryFile('cert.pem', ourselves.cert),
      keyFile: temporaryFile('key.pem', ourselves.key),
    });
    await expect(testClient(url, { proxyUrl: proxy.url, tls }).get()).resolves.toBe('exporter');
    expect(proxy.tunnels).toMatchObject([{ shownName: 'none' }]);
  });

  it('adds the default port to the CONNECT request', async () => {
    const proxy = await startProxy(undefined, 403);
    await testClient(new URL('https://monitor.example.com'), { proxyUrl: proxy.url }).failure();
    await testClient(new URL('http://monitor.example.com'), { proxyUrl: proxy.url }).failure();
    expect(proxy.tunnels.map(({ target }) => target)).toEqual(['monitor.example.com:443', 'monitor.example.com:80']);
  });

  it('fails with reason network, with retries, when the proxy rejects CONNECT', async () => {
    const proxy = await startProxy(undefined, 407);
    const proxyUrl = new URL(`http://user:p4ss@${proxy.url.host}`);
    const { failure, observer } = testClient(new URL('http://monitor.example.com'), { proxyUrl, maxRetries: 1 });
    expect(await failure()).toMatchObject({
      reason: 'network',
      message: `proxy ${proxy.url.host} answered 407 to CONNECT monitor.example.com:80`,
    });
    expect(observer).toMatchObject({ outcomes: ['network', 'network'], retries: 1 });
  });

  it('fails with reason network when the proxy is unreachable, disconnects or does not speak HTTP', async () => {
    const port = await closedPort();
    const refused = testClient(new URL('http://monitor.example.com'), {
      proxyUrl: new URL(`http://127.0.0.1:${port}`),
    });
    expect(await refused.failure()).toMatchObject({
      reason: 'network',
      message: `proxy 127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`,
    });
    for (const answer of [undefined, 'SSH-2.0\r\n']) {
      const { url: proxyUrl } = await startRawService((socket) => socket.end(answer ?? ''));
      const { failure } = testClient(new URL('https://monitor.example.com'), { proxyUrl });
      expect(await failure()).toMatchObject({
        reason: 'network',
        message: expect.stringContaining(`proxy ${proxyUrl.host}: `),
      });
    }
  });

  it('times out when the proxy does not answer', async () => {
    const silent = createServer((socket) => socket.on('error', () => undefined));
    const proxyUrl = new URL(`http://127.0.0.1:${await listen(silent)}`);
    expect(
      await testClient(new URL('http://monitor.example.com'), { proxyUrl, timeoutMs: 30 }).failure(),
    ).toMatchObject({
      reason: 'timeout',
    });
  });

  it('fails with reason tls when the certificate of the proxy is not trusted', async () => {
    const proxy = await startProxy(forName);
    const { failure } = testClient(new URL('http://monitor.example.com'), {
      proxyUrl: proxy.url,
      tls: trusting(),
      maxRetries: 2,
    });
    expect(await failure()).toMatchObject({ reason: 'tls', message: expect.stringMatching(/^proxy .*altnames/) });
  });

  it('reaches the token endpoint through the same proxy and authority', async () => {
    const endpoint = await startService((_request, response) => response.end('{"access_token":"t"}'), forAddress);
    const { url } = await startService((request, response) => response.end(request.headers.authorization));
    const proxy = await startProxy();
    const tokenUrl = new URL('/token', endpoint.url);
    const auth = oauth2(tokenUrl);
    const tls = trusting({ serverName: 'for the service alone' });
    await expect(testClient(url, { proxyUrl: proxy.url, auth, tls }).get()).resolves.toBe('Bearer t');
    expect(proxy.tunnels.map(({ target }) => target)).toEqual([tokenUrl.host, url.host]);
  });
});

describe('connectOnce', () => {
  it('connects with the settings of requests without sending one', async () => {
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

  it('fails like a request', async () => {
    const { url } = await startSecure(expired);
    const failure = { reason: 'tls', message: `${url.host}: certificate has expired` };
    await expect(connectOnce(url, { timeoutMs: 10_000, tls: trusting() })).rejects.toMatchObject(failure);
    const port = await closedPort();
    await expect(connectOnce(new URL(`http://[::1]:${port}`), { timeoutMs: 10_000 })).rejects.toMatchObject({
      reason: 'network',
    });
  });
});
