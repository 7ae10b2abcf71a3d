import type { RequestListener, ServerOptions } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { isAcceptable } from './client-certificate.ts';
import type { TlsRules } from './rules.ts';

interface SecureServer {
  readonly server: Server;
  readonly secure: (rules: TlsRules) => void;
}

/** How long a client may take until its connection is encrypted. */
const HANDSHAKE_MS = 10_000;

/** A server whose certificates and other rules can change while it runs, but not whether clients are asked for a certificate. */
export function createSecureServer(limits: ServerOptions, first: TlsRules, handler: RequestListener): SecureServer {
  let rules = first;
  let current = new WeakSet<Socket>();
  const server = createServer(
    {
      ...limits,
      ...first.context,
      handshakeTimeout: HANDSHAKE_MS,
      requestCert: first.client.requested,
      // Node knows only the strictest rule: which certificate is good enough is decided below.
      rejectUnauthorized: false,
    },
    handler,
  );
  server.prependListener('secureConnection', (socket) => {
    if (isAcceptable(rules.client, socket)) current.add(socket);
    else socket.destroy();
  });
  server.prependListener('request', (request, response) => {
    if (!current.has(request.socket)) response.setHeader('Connection', 'close');
  });
  return {
    server,
    secure: (next) => {
      rules = next;
      current = new WeakSet();
      server.setSecureContext(next.context);
    },
  };
}
