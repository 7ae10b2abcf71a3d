import { lookup } from 'node:dns/promises';
import { isIP, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { ListingFailure } from '../station/failure.ts';
import { connectOnce } from '../upstream/connection.ts';
import type { UpstreamOptions } from '../upstream/options.ts';
import type { ConnectionFacts, NameFacts, Session } from './facts.ts';

type Lookup = (host: string) => Promise<readonly { readonly address: string }[]>;

interface Dependencies {
  readonly resolve: Lookup;
  readonly elapsedMs: () => number;
}

const realDependencies: Dependencies = { resolve: (host) => lookup(host, { all: true }), elapsedMs: () => performance.now() };

/** Connects once as the client does, and looks at the connection; no request is sent. */
export async function probeConnection(
  options: UpstreamOptions,
  { resolve, elapsedMs }: Dependencies = realDependencies,
): Promise<ConnectionFacts> {
  const { baseUrl, proxyUrl = baseUrl } = options;
  const name = await nameFacts(proxyUrl.hostname.replace(/^\[|\]$/g, ''), resolve, elapsedMs);
  const startedAt = elapsedMs();
  try {
    const session = await lookAt(baseUrl, options);
    return { name, error: undefined, ms: elapsedMs() - startedAt, session };
  } catch (error) {
    const ms = elapsedMs() - startedAt;
    const isTls = error instanceof ListingFailure && error.reason === 'tls';
    // What is not trusted can be looked at all the same, as long as nothing is told to it.
    return { name, error, ms, session: isTls ? await lookUnverified(baseUrl, options) : undefined };
  }
}

/** Whether TLS is spoken where an http URL leads to. */
export async function speaksTls(options: UpstreamOptions): Promise<boolean> {
  const { hostname, port } = options.baseUrl;
  return (await lookUnverified(new URL(`https://${hostname}:${port || 80}`), options)) !== undefined;
}

async function nameFacts(host: string, resolve: Lookup, elapsedMs: () => number): Promise<NameFacts> {
  if (isIP(host) !== 0) return { addresses: [], error: undefined, ms: 0 };
  const startedAt = elapsedMs();
  try {
    const addresses = (await resolve(host)).map(({ address }) => address);
    return { addresses, error: undefined, ms: elapsedMs() - startedAt };
  } catch (error) {
    return { addresses: [], error, ms: elapsedMs() - startedAt };
  }
}

async function lookUnverified(url: URL, options: UpstreamOptions): Promise<Session | undefined> {
  const serverName = options.tls?.serverName;
  const tls = { insecureSkipVerify: true, ...(serverName !== undefined && { serverName }) };
  return lookAt(url, { ...options, tls }).catch(() => undefined);
}

async function lookAt(url: URL, options: Pick<UpstreamOptions, 'timeoutMs' | 'tls' | 'proxyUrl'>): Promise<Session | undefined> {
  const socket = await connectOnce(url, options);
  try {
    return socket instanceof TLSSocket ? sessionOf(socket) : undefined;
  } finally {
    close(socket);
  }
}

/** An error after the look is nobody's. */
function close(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.destroy();
}

function sessionOf(socket: TLSSocket): Session {
  const { issuer, subject, subjectaltname, valid_to } = socket.getPeerCertificate();
  // Written as `DNS:a.example, IP Address:192.0.2.1`.
  const names = subjectaltname === undefined ? [nameOf(subject)] : subjectaltname.split(', ').map((name) => name.replace(/^[^:]*:/, ''));
  return { protocol: `${socket.getProtocol()}`, issuer: nameOf(issuer), names, validToMs: Date.parse(valid_to) };
}

/** An authority need not have a common name. */
function nameOf({ CN, O, OU }: { readonly CN?: unknown; readonly O?: unknown; readonly OU?: unknown }): string {
  return `${[CN, O, OU, 'somebody without a name'].find((part) => part !== undefined)}`;
}
