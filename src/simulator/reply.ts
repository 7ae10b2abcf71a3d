import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface SimulatedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly delayMs: number;
  readonly deliver: Delivery;
}

/** Transmits a reply; `completing` is called before a complete one is sent: the client may request again from then on. */
export type Delivery = (connection: Connection, reply: SimulatedReply, completing: () => void) => void;

interface Connection {
  readonly socket: Socket;
  readonly response: ServerResponse;
}

export function textReply(status: number, contentType: string, text: string): SimulatedReply {
  return {
    status,
    headers: { 'content-type': contentType },
    body: Buffer.from(text),
    delayMs: 0,
    deliver: completely,
  };
}

export function jsonReply(status: number, value: unknown): SimulatedReply {
  return textReply(status, 'application/json', JSON.stringify(value));
}

/** An error as a gRPC gateway prints it: a google.rpc.Status. */
export function statusReply(status: number, message: string): SimulatedReply {
  const [code, reason] = RPC_CODES.get(status) ?? [2, 'UNKNOWN'];
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'monitor' }];
  return jsonReply(status, { code, message, details });
}

export function withHeaders(reply: SimulatedReply, headers: Readonly<Record<string, string>>): SimulatedReply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

const RPC_CODES: ReadonlyMap<number, readonly [code: number, reason: string]> = new Map([
  [400, [3, 'INVALID_ARGUMENT']],
  [401, [16, 'UNAUTHENTICATED']],
  [403, [7, 'PERMISSION_DENIED']],
  [404, [5, 'NOT_FOUND']],
  [405, [12, 'UNIMPLEMENTED']],
  [408, [1, 'CANCELLED']],
  [429, [8, 'RESOURCE_EXHAUSTED']],
  [500, [13, 'INTERNAL']],
  [501, [12, 'UNIMPLEMENTED']],
  [503, [14, 'UNAVAILABLE']],
  [504, [4, 'DEADLINE_EXCEEDED']],
]);

/** Sends the reply after its delay, unless the connection closes. */
export function deliverReply(connection: Connection, reply: SimulatedReply, completing: () => void): void {
  const deliver = () => reply.deliver(connection, reply, completing);
  if (reply.delayMs === 0) {
    deliver();
    return;
  }
  const timer = setTimeout(deliver, reply.delayMs);
  connection.response.once('close', () => clearTimeout(timer));
}

const completely: Delivery = ({ response }, reply, completing) => {
  completing();
  start(response, reply).end(reply.body);
};

export const never: Delivery = () => undefined;

export const headersOnly: Delivery = ({ response }, reply) => start(response, reply).flushHeaders();

export const resetAtStart: Delivery = ({ socket }) => reset(socket);

export const resetWithinBody: Delivery = ({ socket, response }, reply) =>
  void start(response, reply).write(half(reply.body), () => reset(socket));

export const truncated: Delivery = ({ socket, response }, reply) =>
  void start(response, reply).write(half(reply.body), () => socket.destroy());

export function byteByByte(everyMs: number): Delivery {
  return ({ response }, reply) => {
    start(response, reply);
    let sent = 0;
    const timer = setInterval(() => {
      response.write(reply.body.subarray(sent, sent + 1));
      sent += 1;
      if (sent === reply.body.length) response.end();
    }, everyMs);
    response.once('close', () => clearInterval(timer));
  };
}

const CHUNK = Buffer.from(`${' '.repeat(65_535)}\n`);

/** Whitespace could still become JSON. */
export const endless: Delivery = ({ response }, { status, headers }) => {
  response.writeHead(status, headers);
  const send = () => response.write(CHUNK, (error) => error ?? send());
  send();
};

function start(response: ServerResponse, { status, headers, body }: SimulatedReply): ServerResponse {
  return response.writeHead(status, { ...headers, 'content-length': body.length });
}

function half(body: Uint8Array): Uint8Array {
  return body.subarray(0, Math.floor(body.length / 2));
}

/** A TLS socket cannot send RST. */
function reset(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}
