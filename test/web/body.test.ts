import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Body } from '../../src/exposition/exposition.ts';
import { writeBody } from '../../src/web/scrape.ts';
import { bodyOf } from './fake-exporter.ts';
import { httpRequest } from './http-client.ts';

/** A server that responds with the body; each promise resolves to the error of the write, if any. */
async function serve(body: Body, gzip: boolean, timeoutMs?: number) {
  const failures: Promise<unknown>[] = [];
  const server = createServer((_request, response) => {
    failures.push(writeBody(response, body, gzip, timeoutMs).catch((error: unknown) => error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, port: (server.address() as AddressInfo).port, failures };
}

/** More than the socket buffers hold, and barely compressible. */
const LARGE = Array.from({ length: 64 }, () => Buffer.from(randomBytes(256 * 1024).toString('base64')));

describe('writeBody', () => {
  it.each([true, false])('writes a large body completely and in order (gzip: %s)', async (gzip) => {
    const { port } = await serve(bodyOf(...LARGE), gzip);
    const { body } = await httpRequest(port, '/');
    const plain = gzip ? gunzipSync(Buffer.from(body, 'latin1')).toString() : body;
    expect(plain === Buffer.concat(LARGE).toString()).toBe(true);
  });

  it.each([true, false])('resolves when the client disconnects in the middle of the body (gzip: %s)', async (gzip) => {
    const { server, port, failures } = await serve(bodyOf(...LARGE), gzip);
    const client = connect(port, '127.0.0.1');
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(server, 'request');
    await once(client, 'readable');
    client.resetAndDestroy();
    expect(await Promise.all(failures)).toEqual([undefined]);
  });

  it.each([true, false])('closes the connection of a client that does not read (gzip: %s)', async (gzip) => {
    const { server, port, failures } = await serve(bodyOf(...LARGE), gzip, 50);
    const client = connect(port, '127.0.0.1');
    client.on('error', () => undefined);
    client.pause();
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const [socket] = await once(server, 'connection');
    await once(socket, 'close');
    expect(await Promise.all(failures)).toEqual([undefined]);
    client.destroy();
  });
});
