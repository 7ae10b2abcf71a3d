import { once } from 'node:events';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { bearer, servedClient, testClient } from '../support/client.ts';
import { listen, replying, startRawService, startService } from '../support/service.ts';

const OK = 'HTTP/1.1 200 OK\r\n';

describe('exchange', () => {
  // Runs first, so that no timer of another test expires meanwhile.
  it('leaves no timer running', async () => {
    const { get } = await servedClient(replying('{}'), { timeoutMs: 3_600_000 });
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    await get();
    expect(timers()).toBeLessThanOrEqual(before);
  });

  it.each([
    ['is reset within the body', `${OK}Content-Length: 10\r\n\r\nabc`],
    ['switches protocols', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ])('fails with reason network, with retries, when the connection %s', async (_what, reply) => {
    const { url } = await startRawService((socket, connection) => {
      if (connection === 1) socket.write(reply, () => socket.resetAndDestroy());
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

  it.each([
    { unusedProxy: undefined, note: '' },
    { unusedProxy: 'HTTPS_PROXY', note: '; HTTPS_PROXY is set, but not proxy_from_environment' },
  ])(
    'times out when no headers arrive, and only then names a proxy of the environment that is not used: $unusedProxy',
    async (row) => {
      const { unusedProxy, note } = row;
      const { url } = await startRawService(() => undefined);
      expect(await testClient(url, { timeoutMs: 300, unusedProxy }).failure()).toMatchObject({
        reason: 'timeout',
        message: `${url.host}: no complete reply within 300 ms${note}`,
      });
      const { failure } = await servedClient(replying('', 404), { unusedProxy });
      expect((await failure()).message).not.toContain('PROXY');
    },
  );

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

  it.each([
    { what: 'an endless body', head: '', problem: 'body is larger than 1048576 bytes' },
    {
      what: 'a body whose length is too large',
      head: 'Content-Length: 1048577\r\n',
      problem: 'body of 1048577 bytes is larger than 1048576 bytes',
    },
  ])('disconnects from a service that floods it with $what, without a retry', async ({ head, problem }) => {
    let disconnected = false;
    const { url } = await startRawService((socket) => {
      socket.write(`${OK}${head}\r\n`);
      const flood = () => socket.write('x'.repeat(1000), (error) => error || flood());
      flood();
      socket.on('close', () => {
        disconnected = true;
      });
    });
    const { failure, observer } = testClient(url, { maxRetries: 2 });
    expect(await failure()).toMatchObject({ reason: 'body', message: `${url.host}: ${problem}` });
    await vi.waitFor(() => expect(disconnected).toBe(true), 30_000);
    expect(observer.retries).toBe(0);
  });

  it('does not follow a redirect to another host, which sees neither credential nor request', async () => {
    const other = await startService(replying('{}'));
    const redirect = replying('', 307, { Location: other.url.href });
    const { failure } = await servedClient(redirect, { auth: bearer({ text: 't0ken' }) });
    expect(await failure()).toMatchObject({ reason: 'status', status: 307 });
    expect(other.requests).toEqual([]);
  });

  it('accepts a few informational replies, and a body of exactly the limit in many usual chunks', async () => {
    const maxPageBytes = 6_000_000;
    const { url } = await startRawService((socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(16));
      socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
      socket.write(`12c\r\n${'x'.repeat(300)}\r\n`.repeat(20_000));
      socket.end('0\r\n\r\n');
    });
    expect(await testClient(url, { maxPageBytes }).get()).toHaveLength(maxPageBytes);
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
      `${url.host} answered 404 Not Found: no such thing; requested /list`,
      `${url.host} answered 404 Not Found: no such thing; requested /list`,
      expect.stringMatching(/answered 404 Not Found: no such thing!{187}…; requested \/list$/),
    ]);
  });
});
