import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { ConnectionOptions } from 'node:tls';

/** An unused port of the loopback interface. */
export const LOOPBACK = { host: '127.0.0.1', port: 0 };

export interface Answer {
  readonly status: number | undefined;
  /** Without the date, which no test knows. */
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Asking {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** Over an encrypted connection, with these options. */
  readonly tls?: ConnectionOptions;
}

/** The whole answer, its body as the bytes on the wire read as Latin-1 where they are compressed. */
export async function ask(port: number, path: string, { method = 'GET', headers = {}, tls }: Asking = {}): Promise<Answer> {
  const options = { host: '127.0.0.1', port, path, method, headers, agent: false };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const asking = tls === undefined ? request(options, resolve) : secureRequest({ ...options, ...tls }, resolve);
    asking.on('error', reject).end();
  });
  const body = await buffer(response);
  const { date: _date, ...rest } = response.headers;
  const encoding = response.headers['content-encoding'] === undefined ? 'utf8' : 'latin1';
  return { status: response.statusCode, headers: rest, body: body.toString(encoding) };
}

export interface RawConnection {
  readonly socket: Socket;
  /** Everything received until the other side ended or broke the connection. */
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
    // What came before the break is the answer.
  }
  return received;
}
