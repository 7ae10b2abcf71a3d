import type { X509Certificate } from 'node:crypto';
import type { Server, ServerOptions } from 'node:http';
import { createServer } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ClientRules, TlsRules } from './rules.ts';

export interface UpdatableServer {
  readonly server: Server;
  readonly updateTls: (rules: TlsRules) => void;
}

const HANDSHAKE_TIMEOUT_MS = 10_000;

/** A server whose TLS rules can change while it runs, except whether a client certificate is requested. */
export function createSecureServer(limits: ServerOptions, initial: TlsRules): UpdatableServer {
  let rules = initial;
  let current = new WeakSet<Socket>();
  const server = createServer({
    ...limits,
    ...initial.context,
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    requestCert: initial.client.requested,
    // Node would reject every untrusted certificate; the rules decide below.
    rejectUnauthorized: false,
  });
  server.prependListener('secureConnection', (socket) => {
    if (isClientAllowed(rules.client, socket)) current.add(socket);
    else socket.destroy();
  });
  server.prependListener('request', (request, response) => {
    if (!current.has(request.socket)) response.setHeader('Connection', 'close');
  });
  return {
    server,
    updateTls: (next) => {
      rules = next;
      current = new WeakSet();
      server.setSecureContext(next.context);
    },
  };
}

/** Whether the client certificate satisfies the rules, after the handshake. */
export function isClientAllowed(
  rules: ClientRules,
  socket: Pick<TLSSocket, 'authorized' | 'getPeerX509Certificate'>,
): boolean {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return !rules.required;
  if (rules.verified && !socket.authorized) return false;
  return rules.allowedSans === undefined || rules.allowedSans.some((san) => hasSan(certificate, san));
}

/** An exact match without wildcards, except that an IP address matches in any notation. */
function hasSan(certificate: X509Certificate, san: string): boolean {
  return subjectAltNames(certificate).includes(san) || (isIP(san) !== 0 && certificate.checkIP(san) !== undefined);
}

/** DNS names, e-mail addresses and URIs; Node quotes and escapes a name that contains a comma. */
function subjectAltNames({ subjectAltName = '' }: X509Certificate): readonly string[] {
  return subjectAltName.split(', ').flatMap((entry) => {
    const [, value] = /^(?:DNS|email|URI):(.*)$/.exec(entry) ?? [];
    if (value === undefined) return [];
    return [value.startsWith('"') ? String(JSON.parse(value)) : value];
  });
}
