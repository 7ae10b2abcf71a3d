import { lookup } from 'node:dns/promises';
import { isIP, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type FailureReason, ListingFailure } from '../model/failure.ts';
import type { UpstreamOptions } from '../model/upstream-options.ts';
import { connectOnce } from '../upstream/http/connection.ts';
import type { ConnectionFacts, DnsFacts, Failure, TlsSession } from './facts.ts';

type Lookup = (host: string) => Promise<readonly { readonly address: string }[]>;

interface Dependencies {
  readonly resolve: Lookup;
  readonly elapsedMs: () => number;
}

const realDependencies: Dependencies = {
  resolve: (host) => lookup(host, { all: true }),
  elapsedMs: () => performance.now(),
};

/** Connects once, with the settings of the client; sends no request. */
export async function probeConnection(
  options: UpstreamOptions,
  { resolve, elapsedMs }: Dependencies = realDependencies,
): Promise<ConnectionFacts> {
  const { baseUrl, proxyUrl = baseUrl } = options;
  const dns = await resolveHost(proxyUrl.hostname.replace(/^\[|\]$/g, ''), resolve, elapsedMs);
  const startedAt = elapsedMs();
  try {
    const session = await openSession(baseUrl, options);
    return { dns, error: undefined, durationMs: elapsedMs() - startedAt, session };
  } catch (error) {
    const durationMs = elapsedMs() - startedAt;
    const isTls = error instanceof ListingFailure && error.reason === 'tls';
    // Without verification the certificate can still be shown; no request is sent over such a connection.
    return { dns, error, durationMs, session: isTls ? await openUnverifiedSession(baseUrl, options) : undefined };
  }
}

/** Whether an http upstream failed in a way that its port answers TLS only, and does so. `failures`: of its stations. */
export async function speaksTls(options: UpstreamOptions, failures: readonly Failure[]): Promise<boolean> {
  const { protocol, hostname, port } = options.baseUrl;
  if (protocol !== 'http:' || !failures.some(mayExpectTls)) return false;
  return (await openUnverifiedSession(new URL(`https://${hostname}:${port || 80}`), options)) !== undefined;
}

/** A TLS port answers plain HTTP with a closed connection, with silence or with a 400. */
function mayExpectTls({ reason, replies }: Failure): boolean {
  return PLAIN_HTTP_REASONS.includes(reason) && replies.every(({ status }) => status === 400);
}

const PLAIN_HTTP_REASONS: readonly FailureReason[] = ['network', 'timeout', 'status'];

async function resolveHost(host: string, resolve: Lookup, elapsedMs: () => number): Promise<DnsFacts> {
  if (isIP(host) !== 0) return { addresses: [], error: undefined, durationMs: 0 };
  const startedAt = elapsedMs();
  try {
    const addresses = (await resolve(host)).map(({ address }) => address);
    return { addresses, error: undefined, durationMs: elapsedMs() - startedAt };
  } catch (error) {
    return { addresses: [], error, durationMs: elapsedMs() - startedAt };
  }
}

async function openUnverifiedSession(url: URL, options: UpstreamOptions): Promise<TlsSession | undefined> {
  const server_name = options.tls?.server_name;
  const tls = { insecure_skip_verify: true, ...(server_name !== undefined && { server_name }) };
  return openSession(url, { ...options, tls }).catch(() => undefined);
}

async function openSession(
  url: URL,
  options: Pick<UpstreamOptions, 'timeoutMs' | 'tls' | 'proxyUrl'>,
): Promise<TlsSession | undefined> {
  const socket = await connectOnce(url, options);
  try {
    return socket instanceof TLSSocket ? sessionOf(socket) : undefined;
  } finally {
    close(socket);
  }
}

/** Errors after the probe do not matter. */
function close(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.destroy();
}

function sessionOf(socket: TLSSocket): TlsSession {
  const { issuer, subject, subjectaltname, valid_to } = socket.getPeerCertificate();
  // Written as `DNS:a.example, IP Address:192.0.2.1`.
  const names =
    subjectaltname === undefined
      ? [nameOf(subject)]
      : subjectaltname.split(', ').map((name) => name.replace(/^[^:]*:/, ''));
  return { protocol: `${socket.getProtocol()}`, issuer: nameOf(issuer), names, validToMs: Date.parse(valid_to) };
}

/** A common name is optional. */
function nameOf({ CN, O, OU }: { readonly CN?: unknown; readonly O?: unknown; readonly OU?: unknown }): string {
  return `${[CN, O, OU, 'unknown issuer'].find((part) => part !== undefined)}`;
}
