import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { TlsRules } from '../../src/web/access/rules.ts';
import { createSecureServer } from '../../src/web/access/secure-server.ts';
import { Connections } from '../../src/web/connections.ts';
import { eventually } from './eventually.ts';
import { hello, REQUEST } from './held-server.ts';
import { httpRequest, openConnection } from './http-client.ts';
import { SERVER_TLS } from './running-app.ts';

/** A server with so many connections at most; `opened` waits until this many are open. */
async function startLimited(max: number, handler: RequestListener = hello, tls?: TlsRules) {
  const reached: unknown[][] = [];
  const connections = new Connections(max, { limitReached: (...limit) => reached.push(limit) });
  const server = tls ? createSecureServer({}, tls).server : createServer();
  connections.guard(server, handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    connections.closeAll();
  });
  const open = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
  const opened = (count: number) => eventually(async () => expect(await open()).toBe(count));
  return { port: (server.address() as AddressInfo).port, reached, opened };
}

/** A connection after its first response. */
async function idle(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.write(REQUEST);
  await once(socket, 'data');
  return socket;
}

describe('Connections', () => {
  it('refuses a connection above the limit while all others are busy', async () => {
    const held: ServerResponse[] = [];
    const { port, reached } = await startLimited(2, (_request, response) => held.push(response));
    const busy = [openConnection(port, REQUEST), openConnection(port, REQUEST)];
    await eventually(() => expect(held).toHaveLength(2));
    expect(await openConnection(port, REQUEST).received).toBe('');
    expect(reached).toEqual([['max_connections', '127.0.0.1']]);
    for (const response of held) response.end('late');
    for (const { socket } of busy) await once(socket, 'data');
    // They are idle now.
    openConnection(port, REQUEST);
    await eventually(() => expect(held).toHaveLength(3));
  });

  it('closes the connection that has been idle for the longest time for a new one above the limit', async () => {
    const { port, reached, opened } = await startLimited(3);
    const first = await idle(port);
    const second = await idle(port);
    openConnection(port, '');
    await opened(3);
    // The first one is used again, so the second one has been idle for longer.
    first.write(REQUEST);
    await once(first, 'data');
    const closed = once(second, 'close');
    expect((await httpRequest(port, '/')).body).toBe('hello');
    await closed;
    expect(reached).toEqual([['max_connections', '127.0.0.1']]);
    first.write(REQUEST);
    await once(first, 'data');
    first.destroy();
  });

  it('closes idle TLS connections, and those that do not shake hands, for new ones above the limit', async () => {
    const { port, opened } = await startLimited(2, hello, SERVER_TLS);
    const silent = openConnection(port, '');
    await opened(1);
    const secure = connectSecure({ port, host: '127.0.0.1', rejectUnauthorized: false });
    secure.write(REQUEST);
    await once(secure, 'data');
    const get = async () => (await httpRequest(port, '/', { tls: { rejectUnauthorized: false } })).body;
    expect(await get()).toBe('hello');
    expect(await silent.received).toBe('');
    await opened(1);
    openConnection(port, '');
    await opened(2);
    const closed = once(secure, 'close');
    expect(await get()).toBe('hello');
    await closed;
  });

  it('handles the requests of a connection one after another', async () => {
    const held: ServerResponse[] = [];
    const { port, reached } = await startLimited(1, (_request, response) => held.push(response));
    const { socket } = openConnection(port, REQUEST.repeat(4));
    for (const count of [1, 2, 3, 4]) {
      await eventually(() => expect(held).toHaveLength(count));
      held.at(-1)?.end('done');
      await once(socket, 'readable');
    }
    socket.write(REQUEST);
    await eventually(() => expect(held).toHaveLength(5));
    expect(reached).toEqual([]);
    socket.destroy();
  });

  it('closes a connection that sends more requests without waiting for responses, and handles none of them', async () => {
    const held: ServerResponse[] = [];
    const { port, reached } = await startLimited(1, (_request, response) => held.push(response));
    expect(await openConnection(port, REQUEST.repeat(5)).received).toBe('');
    expect(held).toHaveLength(1);
    expect(reached).toEqual([['pipelined_requests', '127.0.0.1']]);
  });

  it('handles no request of a connection that is closed before its turn', async () => {
    const held: ServerResponse[] = [];
    const { port, opened } = await startLimited(1, (_request, response) => held.push(response));
    const { socket } = openConnection(port, REQUEST.repeat(2));
    await eventually(() => expect(held).toHaveLength(1));
    // All of the response is handed over but its end.
    held[0]?.writeHead(200, { 'Content-Length': 4 }).write('done');
    await once(socket, 'readable');
    socket.destroy();
    await opened(0);
    held[0]?.end();
    openConnection(port, REQUEST);
    await eventually(() => expect(held).toHaveLength(2));
    expect(held[1]?.req.socket.destroyed).toBe(false);
  });

  it('has no limit for 0', async () => {
    const { port, opened } = await startLimited(0);
    const kept = Array.from({ length: 20 }, () => openConnection(port, ''));
    await opened(20);
    expect((await httpRequest(port, '/')).body).toBe('hello');
    for (const { socket } of kept) socket.destroy();
    await opened(0);
  });
});
