import { once } from 'node:events';
import { Agent, type RequestListener, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen, type RunningServer } from '../../src/web/server.ts';
import { eventually } from './eventually.ts';
import { ask, LOOPBACK, openConnection } from './http-client.ts';

const hello: RequestListener = (_request, response) => response.end('hello');

async function start(
  handler: RequestListener,
  addresses: Parameters<typeof listen>[1],
  limits?: NonNullable<Parameters<typeof listen>[2]>['limits'],
): Promise<{ server: RunningServer; port: number }> {
  const server = await listen(handler, addresses, limits && { limits });
  onTestFinished(() => server.close(0));
  return { server, port: server.addresses[0]?.port ?? 0 };
}

async function freePort(): Promise<number> {
  const server = await listen(hello, [LOOPBACK]);
  await server.close(0);
  return server.addresses[0]?.port ?? 0;
}

/** A server whose responses wait for the test. */
async function startHeld(): Promise<{ server: RunningServer; port: number; held: ServerResponse[] }> {
  const held: ServerResponse[] = [];
  return { ...(await start((_request, response) => held.push(response), [LOOPBACK])), held };
}

describe('listen', () => {
  it('serves on every address and tells where', async () => {
    const { server } = await start(hello, [LOOPBACK, { host: 'localhost', port: 0 }]);
    expect(server.addresses).toEqual([
      { address: '127.0.0.1', port: expect.any(Number) },
      { address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/), port: expect.any(Number) },
    ]);
    expect((await ask(server.addresses[0]?.port ?? 0, '/')).body).toBe('hello');
  });

  it('serves on all interfaces without a host', async () => {
    const { server, port } = await start(hello, [{ port: 0 }]);
    expect(server.addresses[0]?.address).toMatch(/^(::|0\.0\.0\.0)$/);
    expect((await ask(port, '/')).body).toBe('hello');
  });

  it('leaves nothing open when one address is taken, and names it', async () => {
    const { port: taken } = await start(hello, [LOOPBACK]);
    const free = await freePort();
    const failure = listen(hello, [
      { ...LOOPBACK, port: free },
      { ...LOOPBACK, port: taken },
    ]);
    await expect(failure).rejects.toThrow(`cannot listen on "127.0.0.1:${taken}": listen EADDRINUSE`);
    await expect(ask(free, '/')).rejects.toThrow('ECONNREFUSED');
  });

  it('names an IPv6 address in brackets when it cannot listen', async () => {
    await expect(listen(hello, [{ host: '2001:db8::1', port: 1 }])).rejects.toThrow('cannot listen on "[2001:db8::1]:1": ');
  });

  it('cuts off a client that does not finish its headers', async () => {
    const { port } = await start(hello, [LOOPBACK], { headersTimeout: 20, connectionsCheckingInterval: 10 });
    const { received } = openConnection(port, 'GET / HTTP/1.1\r\nHost:');
    expect(await received).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  });

  it('cuts off a client that says nothing', async () => {
    const { port } = await start(hello, [LOOPBACK], { headersTimeout: 20, connectionsCheckingInterval: 10 });
    expect(await openConnection(port, '').received).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  });

  it('cuts off a client that drips a body', async () => {
    const { port } = await start(() => {}, [LOOPBACK], { headersTimeout: 20, requestTimeout: 40, connectionsCheckingInterval: 10 });
    const { received } = openConnection(port, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nx');
    expect(await received).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  });

  it('ends a connection that stays idle after its answer', async () => {
    const { port } = await start(hello, [LOOPBACK], { keepAliveTimeout: 20 });
    expect(await openConnection(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n').received).toMatch(/hello$/);
  });

  it('accepts only so many connections', async () => {
    const { port } = await start(hello, [LOOPBACK], { maxConnections: 2 });
    const kept = [openConnection(port, ''), openConnection(port, '')];
    for (const { socket } of kept) await once(socket, 'connect');
    expect(await openConnection(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n').received).toBe('');
    kept[0]?.socket.destroy();
    await eventually(async () => expect((await ask(port, '/')).body).toBe('hello'));
  });

  it('serves only so many requests of one connection, however many were sent ahead', async () => {
    let asked = 0;
    const { port } = await start(
      (_request, response) => {
        asked += 1;
        response.end('hello');
      },
      [LOOPBACK],
    );
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    let answers = '';
    socket.on('data', (text) => {
      answers += text;
    });
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(5000));
    await eventually(() => expect(answers.match(/HTTP\/1\.1 503 /g)).toHaveLength(4900));
    socket.destroy();
    expect(answers.match(/HTTP\/1\.1 200 /g)).toHaveLength(100);
    expect(asked).toBe(100);
  });

  it.each([
    'GET / HTTP/9.9\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'NONSENSE / HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\u0016\u0003\u0001',
  ])('answers the malformed request %j with 400 and lives on', async (bytes) => {
    const { port } = await start(hello, [LOOPBACK]);
    expect(await openConnection(port, bytes).received).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect((await ask(port, '/')).body).toBe('hello');
  });

  it('ends a connection that wants a tunnel', async () => {
    const { port } = await start(hello, [LOOPBACK]);
    expect(await openConnection(port, 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n').received).toBe('');
    expect((await ask(port, '/')).body).toBe('hello');
  });

  it('keeps an idle connection longer than a minute', async () => {
    const { port } = await start(hello, [LOOPBACK]);
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const [response] = await once(request({ host: '127.0.0.1', port, agent }).end(), 'response');
    response.resume();
    expect(response.headers['keep-alive']).toBe('timeout=120, max=100');
  });
});

describe('RunningServer.close', () => {
  it('accepts no more connections', async () => {
    const { server, port } = await start(hello, [LOOPBACK]);
    await server.close(60_000);
    await expect(ask(port, '/')).rejects.toThrow('ECONNREFUSED');
  });

  it('closes idle connections at once', async () => {
    const { server, port } = await start(hello, [LOOPBACK]);
    const { socket, received } = openConnection(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'readable');
    const unused = openConnection(port, '');
    await once(unused.socket, 'connect');
    await ask(port, '/');
    await server.close(60_000);
    expect(await received).toMatch(/\r\n\r\nhello$/);
    expect(await unused.received).toBe('');
  });

  it('lets responses in flight finish and tells their clients that it was the last', async () => {
    const { server, port, held } = await startHeld();
    const { received } = openConnection(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => expect(held).toHaveLength(1));
    const closed = server.close(60_000);
    held[0]?.end('late');
    expect(await received).toMatch(/^HTTP\/1\.1 200 OK\r\nConnection: close\r\n[\s\S]*\r\n\r\nlate$/);
    await closed;
  });

  it('lets a response finish whose headers were out already', async () => {
    const { server, port, held } = await startHeld();
    const { socket, received } = openConnection(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => expect(held).toHaveLength(1));
    held[0]?.write('first ');
    await once(socket, 'readable');
    const closed = server.close(60_000);
    held[0]?.end('last');
    await closed;
    expect(await received).toMatch(/first [\s\S]*last/);
  });

  it('cuts nothing off a response that was handed over but is still on its way', async () => {
    const body = Buffer.alloc(32 * 1024 * 1024, 'x');
    const { server, port, held } = await startHeld();
    const socket = connect(port, '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => expect(held).toHaveLength(1));
    held[0]?.end(body);
    await once(socket, 'readable');
    const closed = server.close(60_000);
    const received = await text(socket);
    await closed;
    expect(received.length - received.indexOf('\r\n\r\n') - 4).toBe(body.length);
  });

  it('answers pipelined requests of a busy connection, also those that arrive while it drains', async () => {
    const { server, port, held } = await startHeld();
    const { socket, received } = openConnection(port, 'GET /1 HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => expect(held).toHaveLength(1));
    held[0]?.write('one ');
    await once(socket, 'readable');
    const closed = server.close(60_000);
    socket.write('GET /2 HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => expect(held).toHaveLength(2));
    held[0]?.end();
    held[1]?.end('two');
    await closed;
    expect(await received).toMatch(/one [\s\S]*Connection: close[\s\S]*two$/);
  });

  it('cuts off what is left after the grace time', async () => {
    const { server, port, held } = await startHeld();
    const { received } = openConnection(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => expect(held).toHaveLength(1));
    await server.close(1);
    expect(await received).toBe('');
  });

  it('can be hurried by a second call with less grace', async () => {
    const { server, port, held } = await startHeld();
    const { received } = openConnection(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => expect(held).toHaveLength(1));
    const patient = server.close(3_600_000);
    await server.close(1);
    await patient;
    expect(await received).toBe('');
  });
});
