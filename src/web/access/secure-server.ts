import type { X509Certificate } from 'node:crypto';
import type { RequestListener, ServerOptions } from 'node:http';
import { createServer, type Server } from 'node:https';
import { isIP, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ClientRules, TlsRules } from './rules.ts';

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

/** Whether a connection may stay, its handshake done. */
export function isAcceptable(rules: ClientRules, socket: Pick<TLSSocket, 'authorized' | 'getPeerX509Certificate'>): boolean {
  const certificate = socket.getPeerX509Certificate();
  if (certificate === undefined) return !rules.required;
  if (rules.verified && !socket.authorized) return false;
  return rules.allowedSans === undefined || rules.allowedSans.some((san) => isNamed(certificate, san));
}

/** Exactly so, wildcards are not resolved; an IP address may be written in any of its ways. */
function isNamed(certificate: X509Certificate, san: string): boolean {
  return subjectNames(certificate).includes(san) || (isIP(san) !== 0 && certificate.checkIP(san) !== undefined);
}

/** The host names, e-mail addresses and URIs of the certificate. In a name that holds a comma, Node quotes it and escapes the comma. */
function subjectNames({ subjectAltName = '' }: X509Certificate): readonly string[] {
  return subjectAltName.split(', ').flatMap((entry) => {
    const [, value] = /^(?:DNS|email|URI):(.*)$/.exec(entry) ?? [];
    if (value === undefined) return [];
    return [value.startsWith('"') ? String(JSON.parse(value)) : value];
  });
}
