import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Body } from '../../src/metrics/segment.ts';
import { writeBody } from '../../src/web/body.ts';
import { eventually } from './eventually.ts';
import { bodyOf } from './fake-exporter.ts';
import { ask } from './http-client.ts';

/** A server that answers each request with the chunks; the promises tell what the writing of each failed with. */
async function serve(
  body: Body,
  gzip: boolean,
  { readingMs, wait }: { readingMs?: number; wait?: (request: IncomingMessage) => Promise<unknown> } = {},
) {
  const failures: Promise<unknown>[] = [];
  const server = createServer(async (request, response) => {
    await wait?.(request);
    failures.push(writeBody(response, body, gzip, readingMs).catch((error: unknown) => error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, port: (server.address() as AddressInfo).port, failures };
}

/** More than the buffers between two sockets hold, and hard to compress. */
const LARGE = Array.from({ length: 64 }, () => Buffer.from(randomBytes(256 * 1024).toString('base64')));

describe('writeBody', () => {
  it.each([true, false])('writes large bodies whole and in order, gzip: %s', async (gzip) => {
    const { port } = await serve(bodyOf(...LARGE), gzip);
    const { body } = await ask(port, '/');
    const plain = gzip ? gunzipSync(Buffer.from(body, 'latin1')).toString() : body;
    expect(plain === Buffer.concat(LARGE).toString()).toBe(true);
  });

  it.each([
    [true, 'destroy'],
    [false, 'destroy'],
    [true, 'resetAndDestroy'],
    [false, 'resetAndDestroy'],
  ] as const)('stops quietly when the client goes away half way, gzip: %s, by %s', async (gzip, leave) => {
    const { server, port, failures } = await serve(bodyOf(...LARGE), gzip);
    const client = connect(port, '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(server, 'request');
    await once(client, 'readable');
    client[leave]();
    expect(await Promise.all(failures)).toEqual([undefined]);
  });

  it('cuts off a client that takes nothing', async () => {
    const { server, port, failures } = await serve(bodyOf(...LARGE), false, { readingMs: 50 });
    const client = connect(port, '127.0.0.1');
    client.on('error', () => undefined);
    client.pause();
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const [socket] = await once(server, 'connection');
    await once(socket, 'close');
    expect(await Promise.all(failures)).toEqual([undefined]);
    client.destroy();
  });

  it('writes nothing to a client that is gone, pipelined or not', async () => {
    const { server, port, failures } = await serve(bodyOf(...LARGE), false, {
      wait: (request) => new Promise((resolve) => request.once('close', resolve)),
    });
    const client = connect(port, '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2));
    await once(server, 'request');
    client.destroy();
    await eventually(() => expect(failures).toHaveLength(2));
    expect(await Promise.all(failures)).toEqual([undefined, undefined]);
  });

  it('rejects when the body itself fails', async () => {
    const broken = {
      plainLength: 1,
      gzipLength: 1,
      gzip: () => ['text where bytes belong'].map((text) => ({ length: 1, subarray: () => ({ text }) })),
    };
    const { server, port, failures } = await serve(broken as unknown as Body, true);
    server.on('request', (_request, response) => void Promise.all(failures).then(() => response.destroy()));
    await expect(ask(port, '/')).rejects.toThrow();
    expect(await Promise.all(failures)).toEqual([expect.any(TypeError)]);
  });
});
