import type { Socket } from 'node:net';
import { type buildConnector, Pool } from 'undici';
import { limitedConnector } from './limited-connector.ts';
import type { TlsOptions } from './options.ts';
import { proxyConnector } from './proxy-connector.ts';
import { tlsConnector, withoutIdentity } from './tls-connector.ts';
import { transportFailure } from './transport-failure.ts';

interface RouteOptions {
  readonly timeoutMs: number;
  readonly tls?: TlsOptions | undefined;
  readonly proxyUrl?: URL | undefined;
}

interface PoolOptions extends RouteOptions {
  readonly connections: number;
}

/** A connection fails a little before the request that waits for it, or the pool would still be waiting when the next request comes. */
const CONNECT_SHARE = 0.95;

/** The connections to one origin: no request made with it can go anywhere else. */
export function openPool(origin: string, { connections, ...options }: PoolOptions): Pool {
  // Each request has one timer of its own for all its phases.
  return new Pool(origin, { connections, pipelining: 1, connect: route(options), headersTimeout: 0, bodyTimeout: 0 });
}

/** One connection as a request would get it, for whoever wants to look at it, and has to close it. Rejects as a request would. */
export function connectOnce({ protocol, host, hostname, port }: URL, options: RouteOptions): Promise<Socket> {
  const target = { protocol, host, hostname: hostname.replace(/^\[|\]$/g, ''), port };
  return new Promise((resolve, reject) => {
    route(options)(target, (error, socket) => (error === null ? resolve(socket) : reject(transportFailure(host, error))));
  });
}

function route({ timeoutMs, tls, proxyUrl }: RouteOptions): buildConnector.connector {
  const direct = tlsConnector(tls, timeoutMs);
  const way =
    proxyUrl === undefined
      ? direct
      : proxyConnector({ url: proxyUrl, toProxy: tlsConnector(withoutIdentity(tls), timeoutMs), throughTunnel: direct, timeoutMs });
  return limitedConnector(way, Math.floor(timeoutMs * CONNECT_SHARE));
}
