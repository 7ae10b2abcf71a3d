import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ClientRules, TlsRules } from '../../../src/web/access/rules.ts';
import { isClientAllowed } from '../../../src/web/access/secure-server.ts';
import { listen } from '../../../src/web/server.ts';
import { type Issued, issue } from '../../service/support/certificates.ts';
import { httpRequest, LOOPBACK } from '../http-client.ts';

const SERVERS = issue({ name: 'servers' });
const CLIENTS = issue({ name: 'clients' });
const NO_CLIENTS: ClientRules = { requested: false, required: false, verified: false };
const VERIFIED: ClientRules = { requested: true, required: true, verified: true };

function rules(changes: { context?: TlsRules['context']; client?: ClientRules } = {}): TlsRules {
  const { cert, key } = issue({ name: 'server', issuer: SERVERS, hosts: ['127.0.0.1'] });
  return { context: { cert, key, ca: CLIENTS.cert, ...changes.context }, client: changes.client ?? NO_CLIENTS };
}

/** A server that responds `hello`; `handled` counts its requests. */
async function start(tls: TlsRules) {
  let handled = 0;
  const server = await listen(
    (_request, response) => {
      handled += 1;
      response.end('hello');
    },
    [LOOPBACK],
    { tls },
  );
  onTestFinished(() => server.close(0));
  const port = server.addresses[0]?.port ?? 0;
  const get = (options: ConnectionOptions = {}) => httpRequest(port, '/', { tls: { ca: SERVERS.cert, ...options } });
  return { server, port, get, handled: () => handled };
}

function certificateOf({ cert, key }: Issued): ConnectionOptions {
  return { cert, key };
}

describe('createSecureServer', () => {
  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'refuses every other client before it reads the request (%s)',
    async (maxVersion) => {
      const { get, handled } = await start(rules({ client: VERIFIED }));
      const foreign = issue({ name: 'foreign authority' });
      const refused = [
        {},
        certificateOf(issue({ name: 'client' })),
        certificateOf(issue({ name: 'client', issuer: { ...foreign, name: 'clients' } })),
        certificateOf(issue({ name: 'client', issuer: SERVERS })),
        certificateOf(issue({ name: 'client', issuer: CLIENTS, notAfter: new Date(Date.now() - 1000) })),
      ];
      for (const options of refused) await expect(get({ ...options, maxVersion })).rejects.toThrow();
      expect(handled()).toBe(0);
      expect((await get({ ...certificateOf(issue({ name: 'client', issuer: CLIENTS })), maxVersion })).body).toBe(
        'hello',
      );
    },
  );

  it('checks a resumed session by the certificate of the original session', async () => {
    const { port } = await start(rules({ client: { ...VERIFIED, allowedSans: ['a.example.com'] } }));
    const options = {
      port,
      host: '127.0.0.1',
      ca: SERVERS.cert,
      ...certificateOf(issue({ name: 'a', issuer: CLIENTS, hosts: ['a.example.com'] })),
    };
    const first = connect(options);
    const [session] = await once(first, 'session');
    first.destroy();
    const second = connect({ ...options, session });
    second.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const [response] = await once(second, 'data');
    expect(second.isSessionReused()).toBe(true);
    expect(String(response)).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  it('uses a new certificate for new connections, and closes open ones after their next response', async () => {
    const { server, port, get } = await start(rules());
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: SERVERS.cert });
    onTestFinished(() => agent.destroy());
    const keptAlive = async () => {
      const [response] = await once(request({ host: '127.0.0.1', port, agent }).end(), 'response');
      const serial = (response.socket as TLSSocket).getPeerX509Certificate()?.serialNumber;
      await once(response.resume(), 'end');
      return { connection: response.headers.connection, serial };
    };
    const before = await keptAlive();
    expect(before.connection).toBe('keep-alive');
    server.updateTls(rules());
    expect((await keptAlive()).connection).toBe('close');
    const after = await keptAlive();
    expect(after.connection).toBe('keep-alive');
    expect(after.serial).not.toBe(before.serial);
    expect((await get()).body).toBe('hello');
  });

  it('applies changed client rules', async () => {
    const { server, get } = await start(rules({ client: VERIFIED }));
    const client = certificateOf(issue({ name: 'client', issuer: CLIENTS }));
    expect((await get(client)).body).toBe('hello');
    server.updateTls(rules({ client: VERIFIED, context: { ca: issue({ name: 'new clients' }).cert } }));
    await expect(get(client)).rejects.toThrow();
    server.updateTls(rules({ client: { ...VERIFIED, allowedSans: ['a.example.com'] } }));
    await expect(get(client)).rejects.toThrow();
  });
});

const OPTIONAL = { requested: true, required: false, verified: false };

function connection(pem: string | undefined, authorized = false) {
  return { authorized, getPeerX509Certificate: () => (pem === undefined ? undefined : new X509Certificate(pem)) };
}

/**
 * Has the names a.example.com, *.b.example.com, 192.0.2.7, 2001:db8::1, ops@example.com, spiffe://example.com/plain and the one URI
 * `spiffe://example.com/a,b, DNS:forged.example.com`.
 */
const NAMED = `-----BEGIN CERTIFICATE-----
MIIB6jCCAZCgAwIBAgIUWPqTlpZa0gF71WywqYc84wOsdSAwCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFbmFtZXMwHhcNMjYxMTE1MDM0NjI0WhcNMjYxMTE2MDM0NjI0
WjAQMQ4wDAYDVQQDDAVuYW1lczBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMBS
E5wqfjK45Vb599WlTAcoC9FwazCbjX/h8KLxEpkkqdJbkkYtswxyylkZUo3XIIh2
Ir4d88Bp6oePu0zB3TijgccwgcQwgaIGA1UdEQSBmjCBl4INYS5leGFtcGxlLmNv
bYIPKi5iLmV4YW1wbGUuY29thwTAAAIHhxAgAQ24AAAAAAAAAAAAAAABgQ9vcHNA
ZXhhbXBsZS5jb22GMHNwaWZmZTovL2V4YW1wbGUuY29tL2EsYiwgRE5TOmZvcmdl
ZC5leGFtcGxlLmNvbYYac3BpZmZlOi8vZXhhbXBsZS5jb20vcGxhaW4wHQYDVR0O
BBYEFHSr9OP0EMJ15Bqi65E75IV9N5sUMAoGCCqGSM49BAMCA0gAMEUCIHtbanqA
biRkxbqzUgKZNLyfe70rg59Xg+vUjPL7eNbeAiEA6Fux8allDTD6qVlnhsbFw+pT
DAx+RyAYufNJKetoPt4=
-----END CERTIFICATE-----
`;

describe('isClientAllowed', () => {
  const own = issue({ name: 'self-signed' }).cert;

  it.each([
    ['a certificate is optional', OPTIONAL, [true, true, true]],
    ['any certificate is required', { ...OPTIONAL, required: true }, [false, true, true]],
    ['a presented certificate is verified', { ...OPTIONAL, verified: true }, [true, false, true]],
    ['a verified certificate is required', VERIFIED, [false, false, true]],
  ])('when %s, checks no certificate, an untrusted one and a trusted one', (_case, clientRules, allowed) => {
    const connections = [connection(undefined), connection(own, false), connection(own, true)];
    expect(connections.map((socket) => isClientAllowed(clientRules, socket))).toEqual(allowed);
  });

  it.each([
    'a.example.com',
    '*.b.example.com',
    '192.0.2.7',
    '2001:db8::1',
    '2001:0DB8:0:0::1',
    'ops@example.com',
    'spiffe://example.com/plain',
    'spiffe://example.com/a,b, DNS:forged.example.com',
  ])('allows a certificate by its name %s', (san) => {
    expect(isClientAllowed({ ...VERIFIED, allowedSans: ['other', san] }, connection(NAMED, true))).toBe(true);
    expect(isClientAllowed({ ...VERIFIED, allowedSans: [san] }, connection(NAMED, false))).toBe(false);
  });

  it.each([
    'forged.example.com',
    'A.example.com',
    'x.b.example.com',
    'example.com',
    'names',
    '192.0.2.8',
    '2001:db8::2',
    'DNS:a.example.com',
    '"spiffe://example.com/plain"',
    '',
  ])('refuses a certificate without the name %s', (san) => {
    expect(isClientAllowed({ ...VERIFIED, allowedSans: [san] }, connection(NAMED, true))).toBe(false);
  });

  it('refuses a certificate without names, and every certificate when no name is allowed', () => {
    expect(isClientAllowed({ ...VERIFIED, allowedSans: ['self-signed'] }, connection(own, true))).toBe(false);
    expect(isClientAllowed({ ...VERIFIED, allowedSans: [] }, connection(NAMED, true))).toBe(false);
  });
});
