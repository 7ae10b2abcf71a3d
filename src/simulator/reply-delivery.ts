import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { SimulatedReply } from './reply.ts';

interface Connection {
  readonly socket: Socket;
  readonly response: ServerResponse;
}

/** Sends the reply after its delay, unless the connection closes. `completing` is called before a complete reply is sent: the client may request again from then on. */
export function deliverReply(connection: Connection, reply: SimulatedReply, completing: () => void): void {
  if (reply.delayMs === 0) {
    send(connection, reply, completing);
    return;
  }
  const timer = setTimeout(() => send(connection, reply, completing), reply.delayMs);
  connection.response.once('close', () => clearTimeout(timer));
}

function send(
  { socket, response }: Connection,
  { status, headers, body, delivery }: SimulatedReply,
  completing: () => void,
): void {
  const head = { ...headers, 'content-length': body.length };
  const half = body.subarray(0, Math.floor(body.length / 2));
  switch (delivery.mode) {
    case 'complete':
      completing();
      response.writeHead(status, head).end(body);
      return;
    case 'hang':
      return;
    case 'headersOnly':
      response.writeHead(status, head).flushHeaders();
      return;
    case 'reset':
      if (delivery.at === 'start') reset(socket);
      else response.writeHead(status, head).write(half, () => reset(socket));
      return;
    case 'truncate':
      response.writeHead(status, head).write(half, () => socket.destroy());
      return;
    case 'drip':
      response.writeHead(status, head);
      sendByteByByte(response, body, delivery.everyMs);
      return;
    case 'endless':
      response.writeHead(status, headers);
      sendForever(response);
      return;
  }
}

/** A TLS socket cannot send RST. */
function reset(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}

function sendByteByByte(response: ServerResponse, body: Uint8Array, everyMs: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    response.write(body.subarray(sent, sent + 1));
    sent += 1;
    if (sent === body.length) response.end();
  }, everyMs);
  response.once('close', () => clearInterval(timer));
}

const CHUNK = Buffer.from(`${' '.repeat(65_535)}\n`);

/** Whitespace could still become JSON. */
function sendForever(response: ServerResponse): void {
  response.write(CHUNK, (error) => {
    if (!error) sendForever(response);
  });
}
