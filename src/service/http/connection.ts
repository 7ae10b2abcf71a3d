import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, type SecureVersion } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { TLS_VERSIONS } from '../../schema/scalar-schemas.ts';
import { proxySecrets, userInformation } from '../redaction.ts';
import { RequestFailure, transportFailure } from '../request-failure.ts';
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
  const settings = { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 };
  const { proxyUrl, tls } = route;
  return proxyUrl === undefined
    ? new Pool(origin, { ...settings, connect: tlsConnector(tls, connectMs(route)) })
    : new ProxiedPool(origin, settings, { ...route, proxyUrl });
}

function connectMs({ timeoutMs }: RouteOptions): number {
  return Math.floor(timeoutMs * CONNECT_SHARE);
}

/** Opens one connection, which the caller closes. Through a proxy it sends a request without credentials, and resolves with undefined. */
export async function connectOnce(url: URL, route: RouteOptions): Promise<Socket | undefined> {
  const { protocol, host, hostname, port, origin } = url;
  if (route.proxyUrl !== undefined) {
    await requestOnce(openPool(origin, { ...route, connections: 1 }), url, route.timeoutMs);
    return undefined;
  }
  const target = { protocol, host, hostname: hostname.replace(/^\[|\]$/g, ''), port };
  return new Promise((resolve, reject) => {
    tlsConnector(route.tls, connectMs(route))(target, (error, socket) =>
      error === null ? resolve(socket) : reject(transportFailure(host, error)),
    );
  });
}

async function requestOnce(pool: ConnectionPool, { host, pathname }: URL, timeoutMs: number): Promise<void> {
  try {
    const { body } = await pool.request({ method: 'HEAD', path: pathname, headersTimeout: timeoutMs });
    await body.dump();
  } catch (error) {
    throw transportFailure(host, error);
  } finally {
    await pool.destroy();
  }
}

/** Connects through a CONNECT tunnel, for http services too, so that the proxy sees no request and no credential. */
class ProxiedPool implements ConnectionPool {
  readonly #origin: string;
  readonly #settings: Pool.Options;
  readonly #route: RouteOptions & { readonly proxyUrl: URL };
  /** The TLS settings of an agent do not change: it is replaced when a certificate file did. */
  #latest: { readonly files: TlsFiles; readonly agent: ProxyAgent } | undefined;

  constructor(origin: string, settings: Pool.Options, route: RouteOptions & { readonly proxyUrl: URL }) {
    this.#origin = origin;
    this.#settings = settings;
    this.#route = route;
  }

  async request({ headers, ...options }: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
    const agent = await this.#agent();
    try {
      return await agent.request({ ...options, headers: groupedHeaders(headers), origin: this.#origin });
    } catch (error) {
      throw this.#isRefusal(error, options.signal) ? this.#refusal(error) : error;
    }
  }

  async destroy(): Promise<void> {
    await this.#latest?.agent.destroy();
  }

  async #agent(): Promise<ProxyAgent> {
    const { tls } = this.#route;
    const files = this.#origin.startsWith('https:') ? await readTlsFiles(tls) : [];
    const former = this.#latest;
    if (former && isDeepStrictEqual(former.files, files)) return former.agent;
    // Throws for invalid files: the former agent is used again once they are as before.
    const agent = this.#newAgent(files);
    this.#latest = { files, agent };
    // Its requests in progress end.
    void former?.agent.close();
    return agent;
  }

  #newAgent(files: TlsFiles): ProxyAgent {
    const { proxyUrl, tls } = this.#route;
    const timeoutMs = connectMs(this.#route);
    const connect = namedConnector(proxyUrl, tlsConnector(withoutIdentity(tls), timeoutMs));
    const credentials = userInformation(proxyUrl);
    return new ProxyAgent({
      ...this.#settings,
      uri: proxyUrl.origin,
      proxyTunnel: true,
      requestTls: tlsSettings(tls, files, timeoutMs),
      clientFactory: ({ origin }) => new Pool(origin, { connect, headersTimeout: timeoutMs }),
      ...(credentials !== undefined && { token: `Basic ${credentials}` }),
    });
  }

  /** undici aborts the requests that waited for a tunnel. */
  #isRefusal(error: unknown, signal: Dispatcher.RequestOptions['signal']): error is Error {
    const isOurs = signal instanceof AbortSignal && signal.aborted;
    return !isOurs && error instanceof Error && 'code' in error && error.code === 'UND_ERR_ABORTED';
  }

  #refusal(cause: Error): RequestFailure {
    const { proxyUrl } = this.#route;
    const message = `proxy ${proxyUrl.host} refused the tunnel to ${this.#origin}: ${cause.message}`;
    return new RequestFailure('network', message, { retryable: true, cause });
  }
}

/** A ProxyAgent would send only the last value of a header that a list repeats. */
function groupedHeaders(headers: Dispatcher.RequestOptions['headers']): Record<string, string | string[]> {
  const grouped: Record<string, string | string[]> = {};
  const list = Array.isArray(headers) ? headers : [];
  for (let at = 0; at + 1 < list.length; at += 2) {
    const name = String(list[at]);
    const value = String(list[at + 1]);
    const others = grouped[name];
    grouped[name] = others === undefined ? value : [others, value].flat();
  }
  return grouped;
}

/** Names the proxy in its failures. */
function namedConnector(proxyUrl: URL, connect: Connector): Connector {
  return (target, callback) =>
    connect(target, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback(transportFailure(`proxy ${proxyUrl.host}`, error, proxySecrets(proxyUrl)), null);
    });
}

type Connector = buildConnector.connector;

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
    secureContext: secureContext(files, min_version && TLS_VERSIONS[min_version]),
    rejectUnauthorized: !insecure_skip_verify,
    ...(server_name !== undefined && { servername: server_name }),
  };
}

/** Authority, certificate and key. */
type TlsFiles = readonly (TlsFile | undefined)[];

interface TlsFile {
  readonly file: string;
  readonly content: Buffer;
}

function readTlsFiles(tls: TlsOptions | undefined): Promise<TlsFiles> {
  return Promise.all([tls?.ca_file, tls?.cert_file, tls?.key_file].map(readTlsFile));
}

async function readTlsFile(file: string | undefined): Promise<TlsFile | undefined> {
  if (file === undefined) return undefined;
  const content = await readFile(file).catch((cause: Error) => {
    throw new RequestFailure('tls', `cannot read TLS file ${file}: ${cause.message}`, { cause });
  });
  return { file, content };
}

function secureContext([ca, cert, key]: TlsFiles, minVersion: SecureVersion | undefined): SecureContext {
  // Each file is parsed alone first: OpenSSL ignores an invalid ca and does not report which of the other two is invalid.
  for (const one of [ca, cert]) if (one) parseTlsFile(one.file, () => new X509Certificate(one.content));
  if (key !== undefined) parseTlsFile(key.file, () => createPrivateKey(key.content));
  return parseTlsFile(`${cert?.file} with ${key?.file}`, () =>
    createSecureContext({ ca: ca?.content, cert: cert?.content, key: key?.content, minVersion }),
  );
}

function parseTlsFile<T>(file: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new RequestFailure('tls', `invalid TLS file ${file}: ${String(cause)}`, { cause });
  }
}
