import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { eventually } from './eventually.ts';
import { hello, REQUEST, startHeld, startServer } from './held-server.ts';
import { httpRequest, openConnection } from './http-client.ts';
import { SERVER_TLS } from './running-app.ts';

/** A connection after its first response. */
async function idle(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.write(REQUEST);
  await once(socket, 'data');
  return socket;
}

describe('Connections', () => {
  it.each([
    ['max_connections', { maxConnections: 2 }, undefined],
    ['max_connections_per_address', { maxConnectionsPerAddress: 2 }, 'late'],
  ])('refuses a connection above %s while all others are busy', async (limit, limits, answerToOtherAddress) => {
    const { port, otherPort, held, reached } = await startHeld({ limits });
    const busy = [openConnection(port, REQUEST), openConnection(otherPort, REQUEST)];
    await eventually(() => expect(held).toHaveLength(2));
    expect(await openConnection(port, REQUEST).received).toBe('');
    expect(reached).toEqual([[limit, '127.0.0.1']]);
    const other = httpRequest(port, '/', { localAddress: '127.0.0.2' }).then(
      ({ body }) => body,
      () => undefined,
    );
    // Its request is either held or refused.
    await eventually(() => expect(held.length + reached.length).toBe(4));
    for (const response of held) response.end('late');
    for (const { socket } of busy) await once(socket, 'data');
    expect(await other).toBe(answerToOtherAddress);
  });

  it('closes the connection that has been idle for the longest time for a new one above the limit', async () => {
    const { port, reached, opened } = await startServer(hello, { limits: { maxConnections: 3 } });
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
    const { port, opened } = await startServer(hello, { limits: { maxConnections: 2 }, tls: SERVER_TLS });
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

  it('closes an idle connection of the same address for a new one above its limit', async () => {
    const { port, opened } = await startServer(hello, { limits: { maxConnectionsPerAddress: 2 } });
    const other = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
    await opened(1);
    const idleOnes = [openConnection(port, ''), openConnection(port, '')];
    await opened(3);
    expect((await httpRequest(port, '/')).body).toBe('hello');
    expect(await idleOnes[0]?.received).toBe('');
    await opened(2);
    expect([other.closed, idleOnes[1]?.socket.closed]).toEqual([false, false]);
    other.destroy();
  });

  it('has no limits for 0', async () => {
    const { port, opened } = await startServer(hello, { limits: { maxConnections: 0, maxConnectionsPerAddress: 0 } });
    const kept = Array.from({ length: 20 }, () => openConnection(port, ''));
    await opened(20);
    expect((await httpRequest(port, '/')).body).toBe('hello');
    for (const { socket } of kept) socket.destroy();
    await opened(0);
  });

  it('handles pipelined requests one after another', async () => {
    const { port, held } = await startHeld();
    const { received } = openConnection(
      port,
      `${REQUEST.repeat(2)}GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    );
    for (const [at, text] of ['one', 'two', 'three'].entries()) {
      await eventually(() => expect(held).toHaveLength(at + 1));
      // A request of another connection is handled meanwhile.
      const other = openConnection(port, REQUEST);
      await eventually(() => expect(held).toHaveLength(at + 2));
      held.pop()?.end();
      other.socket.destroy();
      held[at]?.end(text);
    }
    expect((await received).match(/^(?:one|two|three)/gm)).toEqual(['one', 'two', 'three']);
  });

  it('closes a connection with more than ten waiting pipelined requests', async () => {
    const { port, held, reached } = await startHeld();
    openConnection(port, REQUEST.repeat(11));
    await eventually(() => expect(held).toHaveLength(1));
    expect(await openConnection(port, REQUEST.repeat(5000)).received).toBe('');
    expect(held).toHaveLength(2);
    expect(reached).toEqual([['pipelined_requests', '127.0.0.1']]);
    held[0]?.end();
    await eventually(() => expect(held).toHaveLength(3));
  });

  it('does not handle pipelined requests of a client that has disconnected', async () => {
    const { port, held, opened } = await startHeld();
    const { socket } = openConnection(port, REQUEST.repeat(5));
    await eventually(() => expect(held).toHaveLength(1));
    socket.destroy();
    await opened(0);
    openConnection(port, REQUEST);
    await opened(1);
    await eventually(() => expect(held).toHaveLength(2));
  });
});
