import { TLSSocket } from 'node:tls';
import { ListingFailure } from '../model/failure.ts';
import { connectOnce } from '../service/http/connection.ts';
import type { UpstreamOptions } from '../service/upstream-options.ts';
import type { ConnectionResult, TlsSession } from './check-result.ts';

/** Connects once, with the settings of the client, and sends no request. */
export async function checkConnection(options: UpstreamOptions): Promise<ConnectionResult> {
  const startedMs = performance.now();
  try {
    const session = await openSession(options);
    return { session, error: undefined, durationMs: performance.now() - startedMs };
  } catch (error) {
    const durationMs = performance.now() - startedMs;
    const isTls = error instanceof ListingFailure && error.reason === 'tls';
    return { session: isTls ? await openUnverifiedSession(options) : undefined, error, durationMs };
  }
}

/** The certificate can still be shown; no request is sent over such a connection. */
async function openUnverifiedSession(options: UpstreamOptions): Promise<TlsSession | undefined> {
  const server_name = options.tls?.server_name;
  const tls = { insecure_skip_verify: true, ...(server_name !== undefined && { server_name }) };
  return openSession({ ...options, tls }).catch(() => undefined);
}

/** undefined: plain HTTP. */
async function openSession(options: UpstreamOptions): Promise<TlsSession | undefined> {
  const socket = await connectOnce(options.baseUrl, options);
  // Errors after the check do not matter.
  socket.on('error', () => undefined);
  try {
    return socket instanceof TLSSocket ? sessionOf(socket) : undefined;
  } finally {
    socket.destroy();
  }
}

function sessionOf(socket: TLSSocket): TlsSession {
  const { issuer, valid_to } = socket.getPeerCertificate();
  // A common name is optional.
  const { CN, O } = issuer as Partial<typeof issuer>;
  return {
    protocol: `${socket.getProtocol()}`,
    issuer: `${CN ?? O ?? 'unknown issuer'}`,
    validToMs: Date.parse(valid_to),
  };
}
