import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { RequestFailure } from '../../../src/upstream/request-failure.ts';
import { codePoint } from '../../code-point.ts';
import { bearer, servedClient, testClient } from '../support/client.ts';
import { closed, closedPort, listen, startRawService } from '../support/service.ts';

const OK = 'HTTP/1.1 200 OK\r\n';

describe('exchange', () => {
  // Runs first, so that no timer of another test expires meanwhile.
  it('leaves no timer running', async () => {
    const { get } = await servedClient((_request, response) => response.end('{}'), { timeoutMs: 3_600_000 });
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    await get();
    expect(timers()).toBeLessThanOrEqual(before);
  });

  it('fails with reason network when the connection is refused', async () => {
    const port = await closedPort();
    const { failure, observer, sleeps } = testClient(new URL(`http://127.0.0.1:${port}`), { maxRetries: 2 });
    expect(await failure()).toMatchObject({
      reason: 'network',
      message: `127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`,
    });
    expect(observer).toMatchObject({ outcomes: ['network', 'network', 'network'], retries: 2 });
    expect(sleeps).toEqual([125, 250]);
  });

  it.each<[string, (socket: Socket) => void]>([
    [
      'is reset within the body',
      (socket) => socket.write(`${OK}Content-Length: 10\r\n\r\nabc`, () => socket.resetAndDestroy()),
    ],
    ['switches protocols', (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')],
    ['has endless headers', (socket) => socket.end(`${OK}X-Long: ${'x'.repeat(100_000)}\r\n\r\n`)],
  ])('fails with reason network, with retries, when the connection %s', async (_what, fault) => {
    const { url } = await startRawService((socket, connection) => {
      if (connection === 1) fault(socket);
      else socket.end(`${OK}Content-Length: 2\r\n\r\n{}`);
    });
    const { get, observer } = testClient(url, { maxRetries: 1 });
    expect(await get()).toBe('{}');
    expect(observer).toMatchObject({ outcomes: ['network', undefined], retries: 1 });
  });

  it('keeps the content of an invalid reply out of the failure and its causes', async () => {
    const { url } = await startRawService((socket) => socket.end('SSH-2.0 t0ken\r\n'));
    const client = testClient(url, { auth: bearer({ text: 't0ken' }) });
    expect(inspect(await client.failure(), { depth: null })).not.toContain('t0ken');
  });

  it('times out when no headers arrive', async () => {
    const { url } = await startRawService(() => undefined);
    const { failure, observer } = testClient(url, { timeoutMs: 300, maxRetries: 1 });
    expect(await failure()).toMatchObject({
      reason: 'timeout',
      message: `${url.host}: no complete reply within 300 ms`,
    });
    expect(observer).toMatchObject({ outcomes: ['timeout', 'timeout'], retries: 1 });
  });

  it('times out, or aborts, while the connection is not established', async () => {
    const silent = createServer(() => undefined);
    const url = new URL(`https://127.0.0.1:${await listen(silent)}`);
    expect(await testClient(url, { timeoutMs: 30 }).failure()).toMatchObject({ reason: 'timeout' });
    const controller = new AbortController();
    const outcome = testClient(url, { timeoutMs: 60_000 }).get('/list', { signal: controller.signal });
    await once(silent, 'connection');
    controller.abort('enough');
    await expect(outcome).rejects.toBe('enough');
  });

  it('rejects a body whose Content-Length is too large, and disconnects', async () => {
    const { failure, observer, requests, url } = await servedClient(
      (_request, response) => response.writeHead(200, { 'Content-Length': '1001' }).flushHeaders(),
      { maxPageBytes: 1000, maxRetries: 3 },
    );
    expect(await failure()).toMatchObject({
      reason: 'body',
      message: `${url.host}: body of 1001 bytes is larger than 1000 bytes`,
    });
    await closed(requests[0]?.socket);
    expect(observer).toMatchObject({ outcomes: ['body'], retries: 0 });
  });

  it('stops reading an endless body at the limit, and disconnects', async () => {
    let sent = 0;
    const { failure, requests, url } = await servedClient(
      (_request, response) => {
        const chunk = Buffer.alloc(64 * 1024, 'x');
        const pour = () => {
          sent += chunk.length;
          if (response.write(chunk)) setImmediate(pour);
          else response.once('drain', pour);
        };
        pour();
      },
      { maxPageBytes: 200_000 },
    );
    expect(await failure()).toMatchObject({
      reason: 'body',
      message: `${url.host}: body is larger than 200000 bytes`,
    });
    await closed(requests[0]?.socket);
    expect(sent).toBeLessThan(100_000_000);
  });

  it('accepts a body of exactly the limit', async () => {
    const { get } = await servedClient((_request, response) => response.end('1234567890'), { maxPageBytes: 10 });
    expect(await get()).toBe('1234567890');
  });

  it.each<[string, string, string, string]>([
    ['103 replies', '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', 'more than 16 informational replies'],
    [
      'chunks of one byte',
      `${OK}Transfer-Encoding: chunked\r\n\r\n`,
      '1\r\n \r\n',
      'the body has 4113 chunks in its first 4113 bytes',
    ],
  ])('disconnects from a service that floods it with %s, without a retry', async (_what, head, piece, problem) => {
    let disconnected = false;
    const { url } = await startRawService((socket) => {
      socket.write(head);
      const flood = () => socket.write(piece.repeat(1000), (error) => error || flood());
      flood();
      socket.on('close', () => {
        disconnected = true;
      });
    });
    const { failure, observer } = testClient(url, { maxRetries: 2 });
    expect((await failure()).message).toBe(`${url.host}: ${problem}`);
    await vi.waitFor(() => expect(disconnected).toBe(true), 30_000);
    expect(observer.retries).toBe(0);
  });

  it('accepts a few informational replies, and a body in many usual chunks', async () => {
    const { url } = await startRawService((socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(16));
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
      socket.write(`12c\r\n${'x'.repeat(300)}\r\n`.repeat(20_000));
      socket.end('0\r\n\r\n');
    });
    expect(await testClient(url, { maxPageBytes: 6_000_000 }).get()).toHaveLength(6_000_000);
  });

  it('rejects a body with a content-encoding, except identity', async () => {
    const { get, failure, requests } = await servedClient((request, response) =>
      response.writeHead(200, { 'Content-Encoding': request.url?.slice(1) }).end('{}'),
    );
    expect(await failure('/gzip')).toMatchObject({
      reason: 'body',
      message: expect.stringMatching(/the body is compressed or otherwise encoded, expected no content-encoding$/),
    });
    expect(await get('/Identity')).toBe('{}');
    expect(requests[0]?.headers).not.toHaveProperty('accept-encoding');
  });

  it('keeps the status of an error whose body is cut off, stalls or never ends', async () => {
    const { url } = await startRawService((socket, connection) => {
      socket.write(`HTTP/1.1 404 Not Found\r\nContent-Length: 10000000\r\n\r\nno such thing`);
      if (connection === 1) socket.end();
      if (connection === 3) socket.write('!'.repeat(200_000));
    });
    const { failure } = testClient(url, { timeoutMs: 2000 });
    const messages = [await failure(), await failure(), await failure()].map(({ message }) => message);
    expect(messages).toEqual([
      `${url.host} answered 404 Not Found: no such thing`,
      `${url.host} answered 404 Not Found: no such thing`,
      expect.stringMatching(/answered 404 Not Found: no such thing!{187}…$/),
    ]);
  });

  /** Invalid values, values of other headers and almost valid ones. */
  const value = fc.oneof(
    fc.constantFrom(...['', '0', '-1', '1.5', '1e9', '99999999999999999999', 'NaN', '5, 5', '٣', '\xff\xfe']),
    fc.constantFrom(...['Fri, 31 Dec 9999 23:59:59 GMT', 'Sun, 99 Foo -1 99:99:99', 'tomorrow', 'a\0b', 'a\rb']),
    fc.constantFrom(...['gzip', 'identity, gzip', 'gzip, chunked', 'close', 'upgrade', '__proto__', '//', '"']),
    fc.string({ unit: codePoint, maxLength: 20 }),
  );
  const name = fc.constantFrom(
    ...['Retry-After', 'Date', 'Content-Length', 'Content-Encoding', 'Transfer-Encoding', 'Connection', 'Keep-Alive'],
    ...['Location', 'Trailer', 'Upgrade', 'WWW-Authenticate', '__proto__', 'X Y', '', ':'],
  );
  const replies = fc.record({
    status: fc.constantFrom(...[200, 200, 204, 206, 302, 304, 401, 413, 429, 503, 999, 100, 101, 0]),
    headers: fc.array(fc.tuple(name, value), { maxLength: 6 }),
    length: fc.constantFrom('', ...[2, 1, 3, 1e15].map((bytes) => `Content-Length: ${bytes}\r\n`)),
    staysOpen: fc.boolean(),
  });

  it('reads the body or fails for a reason of the service, whatever the headers of the reply', async () => {
    const outcomes = fc.sample(replies, 150).map(async ({ status, headers, length, staysOpen }) => {
      const lines = headers.map(([header, content]) => `${header}: ${content}\r\n`).join('');
      const reply = Buffer.from(`HTTP/1.1 ${status} Reason\r\n${lines}${length}\r\n{}`, 'latin1');
      const { url } = await startRawService((socket) => (staysOpen ? socket.write(reply) : socket.end(reply)));
      const error = await testClient(url, { timeoutMs: 2000 })
        .get()
        .catch((reason: unknown) => reason);
      return error instanceof Error && !(error instanceof RequestFailure) ? { error, reply: `${reply}` } : undefined;
    });
    expect((await Promise.all(outcomes)).filter((bug) => bug !== undefined)).toEqual([]);
  });
});
