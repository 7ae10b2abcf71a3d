import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { buildConnector, Client, Pool } from 'undici';
import type { TlsOptions } from './options.ts';
import { RequestFailure, transportFailure } from './request-failure.ts';
import { basicCredentials } from './signer.ts';

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
  return connectorWithTimeout(way, Math.floor(timeoutMs * CONNECT_SHARE));
}

type Connector = buildConnector.connector;

interface TlsFiles {
  readonly ca: Buffer | undefined;
  readonly cert: Buffer | undefined;
  readonly key: Buffer | undefined;
}

/**
 * Connects under the given settings, with the certificate files as they are when the connection is made.
 * Whom to expect there is told by the settings and the address alone, never by a request's Host header.
 */
function tlsConnector(tls: TlsOptions | undefined, timeoutMs: number): Connector {
  const plain = buildConnector({ timeout: timeoutMs });
  let latest: { readonly files: TlsFiles; readonly connect: Connector } | undefined;

  const secure = async (settings: TlsOptions): Promise<Connector> => {
    const files = await readFiles(settings);
    if (latest === undefined || !isDeepStrictEqual(latest.files, files)) {
      latest = { files, connect: secureConnector(settings, files, timeoutMs) };
    }
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

/** The same trust, without what identifies us to the service: for proxies and token endpoints. */
export function withoutIdentity(tls: TlsOptions | undefined): TlsOptions | undefined {
  if (tls === undefined) return undefined;
  const { certFile: _cert, keyFile: _key, serverName: _name, ...trust } = tls;
  return trust;
}

function secureConnector(tls: TlsOptions, files: TlsFiles, timeoutMs: number): Connector {
  return buildConnector({
    timeout: timeoutMs,
    secureContext: secureContext(tls, files),
    rejectUnauthorized: !tls.insecureSkipVerify,
    ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
  });
}

async function readFiles({ caFile, certFile, keyFile }: TlsOptions): Promise<TlsFiles> {
  const [ca, cert, key] = await Promise.all([caFile, certFile, keyFile].map(readTlsFile));
  return { ca, cert, key };
}

async function readTlsFile(file: string | undefined): Promise<Buffer | undefined> {
  if (file === undefined) return undefined;
  return readFile(file).catch((error: Error) => {
    throw new RequestFailure('tls', `cannot read the TLS file ${file}: ${error.message}`, {}, { cause: error });
  });
}

function secureContext(tls: TlsOptions, { ca, cert, key }: TlsFiles): SecureContext {
  // Each file is tried alone first: OpenSSL passes over an unusable ca and does not tell the other two apart.
  if (ca !== undefined) using(`${tls.caFile}`, () => new X509Certificate(ca));
  if (cert !== undefined) using(`${tls.certFile}`, () => new X509Certificate(cert));
  if (key !== undefined) using(`${tls.keyFile}`, () => createPrivateKey(key));
  return using(`${tls.certFile} with ${tls.keyFile}`, () => createSecureContext({ ca, cert, key, minVersion: tls.minVersion }));
}

function using<T>(file: string, use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw new RequestFailure('tls', `cannot use the TLS file ${file}: ${String(error)}`, {}, { cause: error });
  }
}

interface ProxyOptions {
  readonly url: URL;
  /** Opens the connection to the proxy itself. */
  readonly toProxy: Connector;
  /** Speaks TLS with the service, over the tunnel's socket. */
  readonly throughTunnel: Connector;
  readonly timeoutMs: number;
}

/**
 * Connects through a tunnel that the proxy opens, for http services too: so the proxy is sent no request and no credential.
 * (undici's ProxyAgent settles its TLS settings once and for all, but certificate files change.)
 */
function proxyConnector(proxy: ProxyOptions): Connector {
  return (target, callback) => {
    openTunnel(proxy, target).then(
      (socket) => {
        if (target.protocol === 'https:') proxy.throughTunnel({ ...target, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: Error) => callback(transportFailure(`proxy ${proxy.url.host}`, error), null),
    );
  };
}

async function openTunnel({ url, toProxy, timeoutMs }: ProxyOptions, target: buildConnector.Options): Promise<Socket> {
  const client = new Client(url.origin, { connect: toProxy, headersTimeout: timeoutMs });
  try {
    const authority = target.port === '' ? `${target.host}:${target.protocol === 'https:' ? 443 : 80}` : `${target.host}`;
    const { statusCode, socket } = await client.connect({ path: authority, headers: { host: authority, ...proxyCredentials(url) } });
    if (statusCode < 200 || statusCode > 299) {
      socket.destroy();
      throw new RequestFailure('network', `proxy ${url.host} answered ${statusCode} to CONNECT ${authority}`, { retryable: true });
    }
    // The socket has left the client, which hands over the very one that its connector made.
    return socket as Socket;
  } finally {
    client.destroy();
  }
}

function proxyCredentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  return { 'proxy-authorization': `Basic ${basicCredentials(decodeURIComponent(username), decodeURIComponent(password))}` };
}

/** Gives a connection up after the limit; one that is made after all is closed again. */
export function connectorWithTimeout(connect: Connector, limitMs: number): Connector {
  return (target, callback) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      callback(new RequestFailure('timeout', `${target.host}: no connection within ${limitMs} ms`, { retryable: true }), null);
    }, limitMs);
    connect(target, (...outcome) => {
      clearTimeout(timer);
      if (late) outcome[1]?.destroy();
      else callback(...outcome);
    });
  };
}
