import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { buildConnector, Client, Pool } from 'undici';
import { readRegularFile } from '../../files/regular-file.ts';
import { type TlsOptions, withoutIdentity } from '../../model/upstream-options.ts';
import { RequestFailure, transportFailure } from './request-failure.ts';
import { encodeBasicCredentials } from './signer.ts';

interface RouteOptions {
  readonly timeoutMs: number;
  readonly tls?: TlsOptions | undefined;
  readonly proxyUrl?: URL | undefined;
}

export interface PoolOptions extends RouteOptions {
  readonly connections: number;
}

/** Connecting times out slightly before the request does; otherwise the pool would still be connecting when the next request starts. */
const CONNECT_SHARE = 0.95;

export function openPool(origin: string, { connections, ...options }: PoolOptions): Pool {
  // `exchange` has one timer for all phases of a request.
  return new Pool(origin, {
    connections,
    pipelining: 1,
    connect: connector(options),
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** Opens one connection as a request would, with the same failures; the caller closes it. */
export function connectOnce({ protocol, host, hostname, port }: URL, options: RouteOptions): Promise<Socket> {
  const target = { protocol, host, hostname: hostname.replace(/^\[|\]$/g, ''), port };
  return new Promise((resolve, reject) => {
    connector(options)(target, (error, socket) =>
      error === null ? resolve(socket) : reject(transportFailure(host, error)),
    );
  });
}

function connector({ timeoutMs, tls, proxyUrl }: RouteOptions): Connector {
  const direct = tlsConnector(tls, timeoutMs);
  const connect =
    proxyUrl === undefined
      ? direct
      : proxyConnector({
          url: proxyUrl,
          toProxy: tlsConnector(withoutIdentity(tls), timeoutMs),
          throughTunnel: direct,
          timeoutMs,
        });
  return connectorWithTimeout(connect, Math.floor(timeoutMs * CONNECT_SHARE));
}

type Connector = buildConnector.connector;

interface TlsFiles {
  readonly ca: Buffer | undefined;
  readonly cert: Buffer | undefined;
  readonly key: Buffer | undefined;
}

/**
 * Connects with the given TLS settings, reading the certificate files anew for each connection.
 * The expected server name comes from the settings or the address, never from a request's Host header.
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
  return readRegularFile(file).catch((error: Error) => {
    throw new RequestFailure('tls', `cannot read TLS file ${file}: ${error.message}`, {}, { cause: error });
  });
}

function secureContext(tls: TlsOptions, { ca, cert, key }: TlsFiles): SecureContext {
  // Each file is parsed alone first: OpenSSL ignores an invalid ca and does not report which of the other two is invalid.
  if (ca !== undefined) parseTlsFile(`${tls.caFile}`, () => new X509Certificate(ca));
  if (cert !== undefined) parseTlsFile(`${tls.certFile}`, () => new X509Certificate(cert));
  if (key !== undefined) parseTlsFile(`${tls.keyFile}`, () => createPrivateKey(key));
  return parseTlsFile(`${tls.certFile} with ${tls.keyFile}`, () =>
    createSecureContext({ ca, cert, key, minVersion: tls.minVersion }),
  );
}

function parseTlsFile<T>(file: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new RequestFailure('tls', `invalid TLS file ${file}: ${String(error)}`, {}, { cause: error });
  }
}

interface ProxyOptions {
  readonly url: URL;
  /** Connects to the proxy itself. */
  readonly toProxy: Connector;
  /** Performs the TLS handshake with the service over the tunnel's socket. */
  readonly throughTunnel: Connector;
  readonly timeoutMs: number;
}

/**
 * Connects through a CONNECT tunnel, for http services too, so that the proxy sees no request and no credential.
 * (undici's ProxyAgent fixes its TLS settings when it is created, but certificate files change.)
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
    const authority =
      target.port === '' ? `${target.host}:${target.protocol === 'https:' ? 443 : 80}` : `${target.host}`;
    const { statusCode, socket } = await client.connect({
      path: authority,
      headers: { host: authority, ...proxyCredentials(url) },
    });
    if (statusCode < 200 || statusCode > 299) {
      socket.destroy();
      throw new RequestFailure('network', `proxy ${url.host} answered ${statusCode} to CONNECT ${authority}`, {
        retryable: true,
      });
    }
    // The client has detached the socket, which is the one its connector made.
    return socket as Socket;
  } finally {
    client.destroy();
  }
}

function proxyCredentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  return {
    'proxy-authorization': `Basic ${encodeBasicCredentials(decodeURIComponent(username), decodeURIComponent(password))}`,
  };
}

/** Fails after the timeout; a connection that is established later is closed. */
export function connectorWithTimeout(connect: Connector, timeoutMs: number): Connector {
  return (target, callback) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      callback(
        new RequestFailure('timeout', `${target.host}: no connection within ${timeoutMs} ms`, { retryable: true }),
        null,
      );
    }, timeoutMs);
    connect(target, (...outcome) => {
      clearTimeout(timer);
      if (late) outcome[1]?.destroy();
      else callback(...outcome);
    });
  };
}
