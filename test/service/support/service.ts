import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server as HttpServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createRawServer, type Server, type Socket } from 'node:net';
import type { TlsOptions as ServerTlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';
import type { Reply } from '../../../src/service/request-failure.ts';

/** An HTTP service on a real port, closed when the test ends. */
export async function startService(answer: RequestListener, tls?: ServerTlsOptions) {
  /** In order of arrival. */
  const requests: IncomingMessage[] = [];
  const server = createHttpServer(tls).on('request', (request, response) => {
    requests.push(request);
    answer(request, response);
  });
  const port = await listen(server);
  return { url: new URL(`${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`), port, requests };
}

/** Gives every request the same answer. */
export function replying(body: string | Uint8Array, status = 200, headers = {}): RequestListener {
  return (_request, response) => response.writeHead(status, headers).end(body);
}

/** What a real gateway replied, in a file of `test/service/gateway`. */
export function gatewayAnswer(name: string): Reply {
  const [head = '', body = ''] = readFileSync(`test/service/gateway/${name}.http`, 'utf8').split('\n\n');
  const [statusLine = '', ...lines] = head.split('\n');
  const headers = lines.map((line) => line.split(': ')).filter(([header]) => header !== 'Content-Length');
  const lowerCase = headers.map(([header = '', value]) => [header.toLowerCase(), value]);
  return { status: Number(statusLine.split(' ')[1]), headers: Object.fromEntries(lowerCase), body: Buffer.from(body) };
}

export function gatewayReply(name: string): RequestListener {
  const { body, status, headers } = gatewayAnswer(name);
  return replying(body, status, headers);
}

/** With TLS if that is given: then a client that does not shake hands is no error. */
export function createHttpServer(tls: ServerTlsOptions | undefined): HttpServer {
  const server: HttpServer = tls === undefined ? createServer() : createTlsServer(tls);
  return server.on('tlsClientError', () => undefined);
}

/** A raw TCP service: handles each connection once its request starts to arrive. */
export async function startRawService(answer: (socket: Socket, connection: number) => void): Promise<{ url: URL }> {
  let connections = 0;
  const server = createRawServer((socket) => {
    connections += 1;
    const connection = connections;
    socket.on('error', () => undefined);
    socket.once('data', () => answer(socket, connection));
  });
  const port = await listen(server);
  return { url: new URL(`http://127.0.0.1:${port}`) };
}

export async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Linux and macOS take the ports of connections and of listeners on port 0 from above these. */
const FIXED_PORTS = { first: 12_000, count: 20_000 };

/** A port without a listener, which nothing else takes before the test uses it. */
export async function closedPort(): Promise<number> {
  for (;;) {
    const port = FIXED_PORTS.first + randomInt(FIXED_PORTS.count);
    const server = createRawServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

export async function closed(socket: Socket | undefined): Promise<void> {
  if (socket?.closed === false) await new Promise((resolve) => socket.on('close', resolve));
}
