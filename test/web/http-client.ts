import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { ConnectionOptions } from 'node:tls';

/** An unused port of the loopback interface. */
export const LOOPBACK = { host: '127.0.0.1', port: 0 };

export interface HttpResponse {
  readonly status: number | undefined;
  /** Without the date. */
  readonly headers: IncomingHttpHeaders;
  /** Compressed bytes are decoded as Latin-1. */
  readonly body: string;
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** Uses https with these options. */
  readonly tls?: ConnectionOptions;
  readonly signal?: AbortSignal;
  /** Address of the client; the loopback network has more than one. */
  readonly localAddress?: string;
}

export async function httpRequest(
  port: number,
  path: string,
  { method = 'GET', headers = {}, tls, ...connection }: RequestOptions = {},
): Promise<HttpResponse> {
  const options = { host: '127.0.0.1', port, path, method, headers, agent: false, ...connection };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = tls === undefined ? request(options, resolve) : secureRequest({ ...options, ...tls }, resolve);
    sent.on('error', reject).end();
  });
  const body = await buffer(response);
  const { date: _date, ...rest } = response.headers;
  const encoding = response.headers['content-encoding'] === undefined ? 'utf8' : 'latin1';
  return { status: response.statusCode, headers: rest, body: body.toString(encoding) };
}

export interface RawConnection {
  readonly socket: Socket;
  /** Everything received until the server closes or resets the connection. */
  readonly received: Promise<string>;
}

export function openConnection(port: number, bytes: string): RawConnection {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  return { socket, received: receive(socket) };
}

async function receive(socket: Socket): Promise<string> {
  let received = '';
  try {
    for await (const chunk of socket.setEncoding('utf8')) received += chunk;
  } catch {
    // A reset ends the response.
  }
  return received;
}
