import { Pool } from 'undici';
import { limitedConnector } from './limited-connector.ts';
import type { TlsOptions } from './options.ts';
import { proxyConnector } from './proxy-connector.ts';
import { tlsConnector, withoutIdentity } from './tls-connector.ts';

interface ConnectionOptions {
  readonly connections: number;
  readonly timeoutMs: number;
  readonly tls: TlsOptions | undefined;
  readonly proxyUrl: URL | undefined;
}

/** A connection fails a little before the request that waits for it, or the pool would still be waiting when the next request comes. */
const CONNECT_SHARE = 0.95;

/** The connections to one origin: no request made with it can go anywhere else. */
export function openPool(origin: string, { connections, timeoutMs, tls, proxyUrl }: ConnectionOptions): Pool {
  const direct = tlsConnector(tls, timeoutMs);
  const route =
    proxyUrl === undefined
      ? direct
      : proxyConnector({ url: proxyUrl, toProxy: tlsConnector(withoutIdentity(tls), timeoutMs), throughTunnel: direct, timeoutMs });
  const connect = limitedConnector(route, Math.floor(timeoutMs * CONNECT_SHARE));
  // Each request has one timer of its own for all its phases.
  return new Pool(origin, { connections, pipelining: 1, connect, headersTimeout: 0, bodyTimeout: 0 });
}
