import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Reply } from './reply.ts';

/** One exchange on a connection. */
interface Exchange {
  readonly socket: Socket;
  readonly response: ServerResponse;
}

/**
 * Sends the reply when its time has come; nothing of it outlives the connection. `completing` is called before the last byte of a
 * whole reply goes: from then on the client may ask again.
 */
export function deliver(exchange: Exchange, reply: Reply, completing: () => void): void {
  if (reply.delayMs === 0) {
    send(exchange, reply, completing);
    return;
  }
  const timer = setTimeout(() => send(exchange, reply, completing), reply.delayMs);
  exchange.response.once('close', () => clearTimeout(timer));
}

function send({ socket, response }: Exchange, { status, headers, body, delivery }: Reply, completing: () => void): void {
  const head = { ...headers, 'content-length': body.length };
  const half = body.subarray(0, Math.floor(body.length / 2));
  switch (delivery.how) {
    case 'whole':
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
      drip(response, body, delivery.everyMs);
      return;
    case 'endless':
      response.writeHead(status, headers);
      pour(response);
      return;
  }
}

/** A TLS connection can only be dropped. */
function reset(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}

function drip(response: ServerResponse, body: Uint8Array, everyMs: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    response.write(body.subarray(sent, sent + 1));
    sent += 1;
    if (sent === body.length) response.end();
  }, everyMs);
  response.once('close', () => clearInterval(timer));
}

const CHUNK = Buffer.from(`${' '.repeat(65_535)}\n`);

/** What may yet become JSON, as fast as the client takes it, for ever. */
function pour(response: ServerResponse): void {
  response.write(CHUNK, (error) => {
    if (!error) pour(response);
  });
}
