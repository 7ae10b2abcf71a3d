import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectSecure } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { listen } from '../../src/web/server.ts';
import { eventually } from './eventually.ts';
import { hello, REQUEST, startHeld, startServer } from './held-server.ts';
import { httpRequest, openConnection } from './http-client.ts';
import { SERVER_TLS } from './running-app.ts';

/** A server with requests whose responses the test ends, the first of which has begun. */
async function startBusy(requests = 1) {
  const started = await startHeld();
  const connection = openConnection(started.port, REQUEST.repeat(requests));
  await eventually(() => expect(started.held).toHaveLength(1));
  return { ...started, ...connection };
}

describe('listen', () => {
  it('names an IPv6 address in brackets when it cannot listen', async () => {
    await expect(listen(hello, [{ host: '2001:db8::1', port: 1 }])).rejects.toThrow(
      'cannot listen on "[2001:db8::1]:1": ',
    );
  });

  it('responds 408 to a client that sends no complete request', async () => {
    const limits = { headersTimeout: 20, requestTimeout: 40, connectionsCheckingInterval: 10 };
    const { port } = await startServer(() => {}, { limits });
    expect(await openConnection(port, 'GET / HTTP/1.1\r\nHost:').received).toMatch(
      /^HTTP\/1\.1 408 Request Timeout\r\n/,
    );
  });
});

describe('RunningServer.close', () => {
  it('closes idle connections at once', async () => {
    const { server, port } = await startServer(hello);
    const { socket, received } = openConnection(port, REQUEST);
    await once(socket, 'readable');
    const unused = openConnection(port, '');
    await once(unused.socket, 'connect');
    await httpRequest(port, '/');
    await server.close(60_000);
    expect(await received).toMatch(/\r\n\r\nhello$/);
    expect(await unused.received).toBe('');
  });

  it('lets responses in flight finish, with Connection: close', async () => {
    const { server, received, held } = await startBusy();
    const closed = server.close(60_000);
    held[0]?.end('late');
    expect(await received).toMatch(/^HTTP\/1\.1 200 OK\r\nConnection: close\r\n[\s\S]*\r\n\r\nlate$/);
    await closed;
  });

  it.each([
    ['plain', undefined],
    ['encrypted', SERVER_TLS],
  ])('lets the client read a response that is already handed to the socket (%s)', async (_kind, tls) => {
    const body = Buffer.alloc(32 * 1024 * 1024, 'x');
    const { server, port } = await startServer((_request, response) => response.end(body), { tls });
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false };
    const socket = tls ? connectSecure(options) : connect(options);
    socket.write(REQUEST);
    await once(socket, 'readable');
    const closed = server.close(60_000);
    const received = await text(socket);
    await closed;
    expect(received.length - received.indexOf('\r\n\r\n') - 4).toBe(body.length);
  });

  it('serves the pipelined requests of a busy connection', async () => {
    const { server, socket, received, held } = await startBusy(2);
    held[0]?.write('one ');
    await once(socket, 'readable');
    const closed = server.close(60_000);
    held[0]?.end();
    await eventually(() => expect(held).toHaveLength(2));
    held[1]?.end('two');
    await closed;
    expect(await received).toMatch(/one [\s\S]*Connection: close[\s\S]*two$/);
  });

  it('closes the remaining connections after the grace period, which a second call can shorten', async () => {
    const { server, received } = await startBusy();
    const patient = server.close(3_600_000);
    await server.close(1);
    await patient;
    expect(await received).toBe('');
  });
});
