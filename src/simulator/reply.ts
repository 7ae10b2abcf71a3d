/** How a reply is transmitted. */
export type ReplyDelivery =
  | { readonly mode: 'complete' }
  | { readonly mode: 'hang' }
  | { readonly mode: 'reset'; readonly at: 'start' | 'body' }
  | { readonly mode: 'drip'; readonly everyMs: number }
  | { readonly mode: 'truncate' }
  | { readonly mode: 'endless' }
  | { readonly mode: 'headersOnly' };

export interface SimulatedReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly delayMs: number;
  readonly delivery: ReplyDelivery;
}

export function textReply(status: number, contentType: string, text: string): SimulatedReply {
  return {
    status,
    headers: { 'content-type': contentType },
    body: Buffer.from(text),
    delayMs: 0,
    delivery: { mode: 'complete' },
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
