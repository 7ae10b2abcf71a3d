import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

export interface SimulatedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly delayMs: number;
  readonly deliver: Delivery;
}

/** Transmits a reply, or a part of it. */
export type Delivery = (response: ServerResponse, reply: SimulatedReply) => void;

export function jsonReply(status: number, value: unknown, headers: SimulatedReply['headers'] = {}): SimulatedReply {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify(value)),
    delayMs: 0,
    deliver: completely,
  };
}

/** An error as a gRPC gateway prints it: a google.rpc.Status. */
export function statusReply(status: number, message: string, headers?: SimulatedReply['headers']): SimulatedReply {
  return jsonReply(status, { code: RPC_CODES[status] ?? 2, message, details: [] }, headers);
}

const RPC_CODES: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  405: 12,
  429: 8,
  500: 13,
  503: 14,
};

/** Below this size gateways do not compress: that of nginx. */
const MIN_COMPRESSED_BYTES = 20;

/** As a gateway compresses it, at the speed of nginx, for a client that accepts gzip. */
export function compressedReply({ headers: accepted }: IncomingMessage, reply: SimulatedReply): SimulatedReply {
  const acceptsGzip = /\bgzip\b/.test(String(accepted['accept-encoding']));
  const { headers, body } = reply;
  if (!acceptsGzip || body.length < MIN_COMPRESSED_BYTES || 'content-encoding' in headers) return reply;
  const added = { 'content-encoding': 'gzip', vary: 'Accept-Encoding' };
  return { ...reply, headers: { ...headers, ...added }, body: gzipSync(body, { level: 1 }) };
}

/** Sends the reply after its delay, unless the connection closes. */
export function deliverReply(response: ServerResponse, reply: SimulatedReply): void {
  if (reply.delayMs === 0) {
    reply.deliver(response, reply);
    return;
  }
  const timer = setTimeout(reply.deliver, reply.delayMs, response, reply);
  response.once('close', () => clearTimeout(timer));
}

const completely: Delivery = (response, reply) => startReply(response, reply).end(reply.body);

export const never: Delivery = () => undefined;

export const reset: Delivery = ({ req }) => req.socket.resetAndDestroy();

export const truncated: Delivery = (response, reply) => {
  const half = reply.body.subarray(0, Math.floor(reply.body.length / 2));
  startReply(response, reply).write(half, () => response.destroy());
};

function startReply(response: ServerResponse, { status, headers, body }: SimulatedReply): ServerResponse {
  return response.writeHead(status, { ...headers, 'content-length': body.length });
}
