import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { proxySecrets, userInformation } from '../redaction.ts';
import { RequestFailure, transportFailure } from '../request-failure.ts';
import { readTlsFiles, secureContext, type TlsFiles } from './tls-files.ts';
import { type TlsOptions, withoutIdentity } from './tls-options.ts';

interface RouteOptions {
  readonly timeoutMs: number;
  readonly tls?: TlsOptions | undefined;
  readonly proxyUrl?: URL | undefined;
}

export interface PoolOptions extends RouteOptions {
  readonly connections: number;
}

/** Connecting ends before the request times out: otherwise the pool would still connect when the next request starts. */
const CONNECT_SHARE = 0.9;

/** Connections to an origin. */
export type ConnectionPool = Pick<Dispatcher, 'request' | 'destroy'>;

export function openPool(origin: string, { connections, ...route }: PoolOptions): ConnectionPool {
  // `exchange` has one timer for all phases of a request.
  return new Pool(origin, { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0, connect: connector(route) });
}

/** Opens one connection, which the caller closes. Sends no request of its own. */
export async function connectOnce({ protocol, host, hostname, port }: URL, route: RouteOptions): Promise<Socket> {
  const target = { protocol, host, hostname: hostname.replace(/^\[|\]$/g, ''), port };
  return new Promise((resolve, reject) => {
    connector(route)(target, (error, socket) =>
      error === null ? resolve(socket) : reject(transportFailure(error, { endpoint: host })),
    );
  });
}

type Connector = buildConnector.connector;

function connector({ timeoutMs, tls, proxyUrl }: RouteOptions): Connector {
  const connectMs = Math.floor(timeoutMs * CONNECT_SHARE);
  const connect = tlsConnector(tls, connectMs);
  if (proxyUrl === undefined) return connect;
  const connectToProxy = tlsConnector(withoutIdentity(tls), connectMs);
  return (target, callback) => {
    openTunnel(target, { proxyUrl, connect: connectToProxy, timeoutMs: connectMs }).then(
      (socket) => {
        if (target.protocol === 'https:') connect({ ...target, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error) => callback(error, null),
    );
  };
}

interface TunnelOptions {
  readonly proxyUrl: URL;
  readonly connect: Connector;
  readonly timeoutMs: number;
}

/** A CONNECT tunnel, for http services too, so that the proxy sees no request and no credential. */
async function openTunnel(
  { protocol, host = '', port }: buildConnector.Options,
  { proxyUrl, connect, timeoutMs }: TunnelOptions,
): Promise<Socket> {
  const credentials = userInformation(proxyUrl);
  const endpoint = `proxy ${proxyUrl.host}`;
  const defaultPort = protocol === 'https:' ? 443 : 80;
  const details = { proxy: proxyUrl.host };
  const request = {
    path: port === '' ? `${host}:${defaultPort}` : host,
    headers: { host, ...(credentials !== undefined && { 'proxy-authorization': `Basic ${credentials}` }) },
  };
  const client = new Client(proxyUrl.origin, { connect, headersTimeout: 0 });
  const signal = AbortSignal.timeout(timeoutMs);
  const { statusCode, socket } = await client.connect({ ...request, signal }).catch((error) => {
    if (!signal.aborted) throw transportFailure(error, { endpoint, secrets: proxySecrets(proxyUrl), ...details });
    throw new RequestFailure('timeout', `${endpoint}: no tunnel within ${timeoutMs} ms`, {
      retryable: true,
      ...details,
    });
  });
  if (statusCode === 200) return socket as Socket;
  socket.on('error', () => undefined).destroy();
  // The code that Node gives such an error: advice goes by it.
  const status = `${statusCode} ${STATUS_CODES[statusCode] ?? ''}`.trim();
  const cause = Object.assign(new Error(status), { code: 'ERR_PROXY_TUNNEL' });
  const message = `${endpoint} refused the tunnel to ${protocol}//${host}: ${status}`;
  throw new RequestFailure('network', message, { retryable: true, cause, ...details });
}

/** Reads the certificate files for each connection. The server name is that of the settings or the address, never of a Host header. */
function tlsConnector(tls: TlsOptions | undefined, timeoutMs: number): Connector {
  const plain = buildConnector({ timeout: timeoutMs });
  let latest: { readonly files: TlsFiles; readonly connect: Connector } | undefined;

  const secure = async (options: TlsOptions): Promise<Connector> => {
    const files = await readTlsFiles(options);
    if (latest === undefined || !isDeepStrictEqual(latest.files, files))
      latest = { files, connect: buildConnector(tlsSettings(options, files, timeoutMs)) };
    return latest.connect;
  };

  return (options, callback) => {
    const target = { ...options, servername: '' };
    if (tls === undefined || options.protocol !== 'https:') {
      plain(target, callback);
      return;
    }
    secure(tls).then(
      (connect) => connect(target, callback),
      (error) => callback(error, null),
    );
  };
}

function tlsSettings(tls: TlsOptions | undefined, files: TlsFiles, timeout: number): buildConnector.BuildOptions {
  if (tls === undefined) return { timeout };
  const { insecure_skip_verify, server_name, min_version } = tls;
  return {
    timeout,
    secureContext: secureContext(files, min_version),
    rejectUnauthorized: !insecure_skip_verify,
    ...(server_name !== undefined && { servername: server_name }),
  };
}
