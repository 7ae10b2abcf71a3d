import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { OPEN_ACCESS } from '../../src/web/access/rules.ts';
import { eventually } from '../web/eventually.ts';
import { bodyOf } from '../web/fake-exporter.ts';
import { RIGHT } from '../web/hashes.ts';
import { startApp } from '../web/running-app.ts';

const REQUEST = 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n';

const access = () => ({ ...OPEN_ACCESS, users: new Map([['alice', RIGHT]]) });
const basic = (credentials: string) => ({ authorization: `Basic ${Buffer.from(credentials).toString('base64')}` });

/** Connections that wait for the first byte of the response, and then do nothing. */
async function occupy(port: number, count: number, bytes: string): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(
    sockets.map(async (socket) => {
      socket.write(bytes);
      await once(socket, 'readable');
    }),
  );
  return sockets;
}

describe('createApp under connections that are held', () => {
  it('closes the connection of a client that is not authenticated, so that it keeps no one out', async () => {
    const { port, request, limits } = await startApp({}, { access }, undefined, { maxConnections: 100 });
    const sockets = await occupy(port, 100, REQUEST);
    for (const socket of sockets) socket.resume();
    await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')));
    expect((await request('/metrics', { headers: basic('alice:right') })).status).toBe(200);
    expect(limits).toEqual([]);
  });

  it.each(['GET /%zz', 'GET http://[/', 'POST /'])(
    'closes the connection of a client that sends %s and no password',
    async (line) => {
      const { port } = await startApp({}, { access });
      const [socket] = await occupy(port, 1, `${line} HTTP/1.1\r\nHost: a\r\n\r\n`);
      await once(socket?.resume() as Socket, 'close');
    },
  );

  it('lets new clients in beside as many idle connections as are allowed', async () => {
    const { port, request, limits } = await startApp({}, {}, undefined, { maxConnections: 100 });
    const sockets = await occupy(port, 100, REQUEST);
    for (let client = 0; client < 20; client += 1) expect((await request('/metrics')).status).toBe(200);
    expect(new Set(limits)).toEqual(new Set(['max_connections']));
    expect(sockets.filter(({ destroyed }) => !destroyed).length).toBeGreaterThanOrEqual(80);
  });

  it('starts one scrape for a connection with pipelined requests that does not read, and serves others', async () => {
    const body = bodyOf(...Array.from({ length: 64 }, () => Buffer.from(randomBytes(192 * 1024).toString('base64'))));
    let scrapes = 0;
    const scrape = async () => {
      scrapes += 1;
      return body;
    };
    const { port, request } = await startApp({ scrape });
    await occupy(port, 1, REQUEST.repeat(11));
    await occupy(port, 20, REQUEST.repeat(11));
    expect(scrapes).toBe(21);
    expect((await request('/metrics', { headers: { 'accept-encoding': 'gzip' } })).status).toBe(200);
  });

  it('verifies a first login while twenty other addresses send wrong passwords', async () => {
    const { request } = await startApp({}, { access });
    let isOver = false;
    const failed = new Set<string>();
    const attack = async (localAddress: string, connection: number) => {
      for (let guess = 0; !isOver; guess += 1) {
        const headers = basic(`alice:${localAddress} ${connection} ${guess}`);
        if ((await request('/metrics', { headers, localAddress })).status === 401) failed.add(localAddress);
      }
    };
    // Two connections of each address at once, more than are queued.
    const attacks = Array.from({ length: 40 }, (_, index) => attack(`127.0.1.${1 + (index % 20)}`, index));
    await eventually(() => expect(failed.size).toBe(20)).finally(() => {
      isOver = failed.size < 20;
    });
    const { status } = await request('/metrics', { headers: basic('alice:right') });
    isOver = true;
    await Promise.all(attacks);
    expect(status).toBe(200);
  });
});
