import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ClientRules, TlsRules } from '../../../src/web/access/rules.ts';
import { listen } from '../../../src/web/server.ts';
import { type Issued, issue } from '../../upstream/support/certificates.ts';
import { eventually } from '../eventually.ts';
import { ask, LOOPBACK } from '../http-client.ts';

const SERVERS = issue({ name: 'servers' });
const CLIENTS = issue({ name: 'clients' });
const NO_CLIENTS: ClientRules = { requested: false, required: false, verified: false };
const VERIFIED: ClientRules = { requested: true, required: true, verified: true };

function rules(changes: { context?: TlsRules['context']; client?: ClientRules } = {}): TlsRules {
  const { cert, key } = issue({ name: 'server', issuer: SERVERS, hosts: ['127.0.0.1'] });
  return { context: { cert, key, ca: CLIENTS.cert, ...changes.context }, client: changes.client ?? NO_CLIENTS };
}

/** A server that greets; `asked` counts what reached its handler. */
async function start(tls: TlsRules) {
  let asked = 0;
  const server = await listen(
    (_request, response) => {
      asked += 1;
      response.end('hello');
    },
    [LOOPBACK],
    { tls },
  );
  onTestFinished(() => server.close(0));
  const port = server.addresses[0]?.port ?? 0;
  const get = (options: ConnectionOptions = {}) => ask(port, '/', { tls: { ca: SERVERS.cert, ...options } });
  return { server, port, get, asked: () => asked };
}

function shown({ cert, key }: Issued): ConnectionOptions {
  return { cert, key };
}

describe('createSecureServer', () => {
  it('serves over TLS with the certificate, and not without', async () => {
    const { port, get } = await start(rules());
    expect((await get()).body).toBe('hello');
    await expect(get({ ca: CLIENTS.cert })).rejects.toThrow('unable to verify the first certificate');
    await expect(ask(port, '/')).rejects.toThrow();
  });

  it('serves a client that shows a trusted certificate', async () => {
    const { get } = await start(rules({ client: VERIFIED }));
    expect((await get(shown(issue({ name: 'client', issuer: CLIENTS })))).body).toBe('hello');
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('refuses every other client before its request is read, over %s', async (maxVersion) => {
    const { get, asked } = await start(rules({ client: VERIFIED }));
    const foreign = issue({ name: 'foreign authority' });
    const refused = [
      {},
      shown(issue({ name: 'client' })),
      shown(issue({ name: 'client', issuer: foreign })),
      shown(issue({ name: 'client', issuer: { ...foreign, name: 'clients' } })),
      shown(issue({ name: 'client', issuer: SERVERS })),
      shown(issue({ name: 'client', issuer: CLIENTS, notAfter: new Date(Date.now() - 1000) })),
    ];
    for (const options of refused) await expect(get({ ...options, maxVersion })).rejects.toThrow();
    expect(asked()).toBe(0);
    expect((await get({ ...shown(issue({ name: 'client', issuer: CLIENTS })), maxVersion })).body).toBe('hello');
  });

  it('refuses a trusted certificate whose names are not allowed', async () => {
    const { get, asked } = await start(rules({ client: { ...VERIFIED, allowedSans: ['prometheus.example.com', '192.0.2.7'] } }));
    for (const hosts of [[], ['other.example.com'], ['192.0.2.8']]) {
      await expect(get(shown(issue({ name: 'prometheus.example.com', issuer: CLIENTS, hosts })))).rejects.toThrow();
    }
    expect(asked()).toBe(0);
    for (const hosts of [['other.example.com', 'prometheus.example.com'], ['192.0.2.7']]) {
      expect((await get(shown(issue({ name: 'any', issuer: CLIENTS, hosts })))).body).toBe('hello');
    }
  });

  it('judges a resumed session by the certificate that the first one showed', async () => {
    const { port } = await start(rules({ client: { ...VERIFIED, allowedSans: ['a.example.com'] } }));
    const options = {
      port,
      host: '127.0.0.1',
      ca: SERVERS.cert,
      ...shown(issue({ name: 'a', issuer: CLIENTS, hosts: ['a.example.com'] })),
    };
    const first = connect(options);
    const [session] = await once(first, 'session');
    first.destroy();
    const second = connect({ ...options, session });
    second.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const [answer] = await once(second, 'data');
    expect(second.isSessionReused()).toBe(true);
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  it('speaks no older version than the rules allow', async () => {
    const { get } = await start(rules({ context: { minVersion: 'TLSv1.3' } }));
    await expect(get({ maxVersion: 'TLSv1.2' })).rejects.toThrow(/alert protocol version/i);
    expect((await get({ minVersion: 'TLSv1.3' })).body).toBe('hello');
  });

  it('shows a new certificate to new connections, and ends those there are with their next answer', async () => {
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
    server.secure(rules());
    expect((await keptAlive()).connection).toBe('close');
    const after = await keptAlive();
    expect(after.connection).toBe('keep-alive');
    expect(after.serial).not.toBe(before.serial);
    expect((await get()).body).toBe('hello');
  });

  it('follows changed rules about clients', async () => {
    const { server, get } = await start(rules({ client: VERIFIED }));
    const client = shown(issue({ name: 'client', issuer: CLIENTS }));
    expect((await get(client)).body).toBe('hello');
    server.secure(rules({ client: VERIFIED, context: { ca: issue({ name: 'new clients' }).cert } }));
    await expect(get(client)).rejects.toThrow();
    server.secure(rules({ client: { ...VERIFIED, required: false } }));
    expect((await get()).body).toBe('hello');
    server.secure(rules({ client: { ...VERIFIED, allowedSans: ['a.example.com'] } }));
    await expect(get(client)).rejects.toThrow();
  });

  it('survives what is no handshake', async () => {
    const { port, get } = await start(rules());
    for (const bytes of ['GET / HTTP/1.1\r\nHost: a\r\n\r\n', Buffer.from('160301ffff', 'hex'), Buffer.alloc(20_000, 0x16)]) {
      const socket = connectPlain(port, '127.0.0.1').on('error', () => undefined);
      socket.end(bytes);
      await once(socket.resume(), 'close');
    }
    expect((await get()).body).toBe('hello');
  });

  it('lets responses in flight finish when it closes, and cuts off a handshake that never ends', async () => {
    const held: (() => void)[] = [];
    const server = await listen((_request, response) => held.push(() => response.end('late')), [LOOPBACK], { tls: rules() });
    const port = server.addresses[0]?.port ?? 0;
    const answer = ask(port, '/', { tls: { ca: SERVERS.cert } });
    await eventually(() => expect(held).toHaveLength(1));
    const stuck = connectPlain(port, '127.0.0.1').on('error', () => undefined);
    await once(stuck, 'connect');
    const cut = once(stuck.resume(), 'close');
    const patient = server.close(3_600_000);
    held[0]?.();
    expect((await answer).body).toBe('late');
    await server.close(1);
    await patient;
    await cut;
  });
});
