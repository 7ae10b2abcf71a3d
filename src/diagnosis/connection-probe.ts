import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import { type FailureFacts, type FailureReason, ListingFailure } from '../model/failure.ts';
import { connectOnce } from '../service/http/connection.ts';
import type { UpstreamOptions } from '../service/upstream-options.ts';
import type { TlsSession } from '../status/advice.ts';
import type { ConnectionFacts } from './facts.ts';

/** Connects once, with the settings of the client. Sends no request, except through a proxy one without credentials. */
export async function probeConnection(options: UpstreamOptions): Promise<ConnectionFacts> {
  const { baseUrl, proxyUrl = baseUrl } = options;
  const host = proxyUrl.hostname.replace(/^\[|\]$/g, '');
  const { value: found = [], ...lookedUp } = await timed(() => (isIP(host) === 0 ? lookup(host, { all: true }) : []));
  const { value: verified, ...connected } = await timed(() => openSession(baseUrl, options));
  const isTls = connected.error instanceof ListingFailure && connected.error.reason === 'tls';
  return {
    dns: { ...lookedUp, addresses: found.map(({ address }) => address) },
    ...connected,
    // Without verification the certificate can still be shown; no request is sent over such a connection.
    session: isTls ? await openUnverifiedSession(baseUrl, options) : verified,
  };
}

/** The value of a step or its error, and how long it took. */
async function timed<Value>(step: () => Value | Promise<Value>) {
  const startedMs = performance.now();
  let value: Value | undefined;
  let error: unknown;
  try {
    value = await step();
  } catch (thrown) {
    error = thrown;
  }
  return { value, error, durationMs: performance.now() - startedMs };
}

/** Whether an http upstream failed in a way that its port answers TLS only, and does so. `failures`: of its stations. */
export async function isTlsPort(options: UpstreamOptions, failures: readonly FailureFacts[]): Promise<boolean> {
  const { protocol, hostname, port } = options.baseUrl;
  if (protocol !== 'http:' || !failures.some(mayExpectTls)) return false;
  return (await openUnverifiedSession(new URL(`https://${hostname}:${port || 80}`), options)) !== undefined;
}

/** A TLS port answers plain HTTP with a closed connection, with silence or with a 400. */
function mayExpectTls({ reason, status = 400 }: FailureFacts): boolean {
  return PLAIN_HTTP_REASONS.includes(reason) && status === 400;
}

const PLAIN_HTTP_REASONS: readonly FailureReason[] = ['network', 'timeout', 'status'];

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
  if (socket === undefined) return undefined;
  // Errors after the probe do not matter.
  socket.on('error', () => undefined);
  try {
    return socket instanceof TLSSocket ? sessionOf(socket) : undefined;
  } finally {
    socket.destroy();
  }
}

function sessionOf(socket: TLSSocket): TlsSession {
  const { issuer, subject, subjectaltname, valid_to } = socket.getPeerCertificate();
  // Written as `DNS:a.example, IP Address:192.0.2.1`.
  const names =
    subjectaltname === undefined
      ? [issuerName(subject)]
      : subjectaltname.split(', ').map((name) => name.replace(/^[^:]*:/, ''));
  return { protocol: `${socket.getProtocol()}`, issuer: issuerName(issuer), names, validToMs: Date.parse(valid_to) };
}

/** A common name is optional. */
function issuerName({ CN, O, OU }: Partial<PeerCertificate['issuer']>): string {
  return `${CN ?? O ?? OU ?? 'unknown issuer'}`;
}
