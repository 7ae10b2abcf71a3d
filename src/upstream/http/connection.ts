import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Socket } from 'node:net';
import { createSecureContext, type SecureContext, type SecureVersion } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { buildConnector, Client, Pool } from 'undici';
import { readRegularFile } from '../../files/regular-file.ts';
import { TLS_VERSIONS, type TlsOptions, withoutIdentity } from '../../model/upstream-options.ts';
import { proxySecrets, userInformation } from '../redaction.ts';
import { RequestFailure, transportFailure } from '../request-failure.ts';

interface RouteOptions {
  readonly timeoutMs: number;
  readonly tls?: TlsOptions | undefined;
  readonly proxyUrl?: URL | undefined;
}

export interface PoolOptions extends RouteOptions {
  readonly connections: number;
}

/** Connecting times out before the request does, although undici's timers are late by up to half a second: otherwise the pool would still be connecting when the next request starts. */
const CONNECT_SHARE = 0.9;

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
  const connectMs = Math.floor(timeoutMs * CONNECT_SHARE);
  const direct = tlsConnector(tls, connectMs);
  return proxyUrl === undefined ? direct : proxyConnector(proxyUrl, direct, tls, connectMs);
}

type Connector = buildConnector.connector;

/**
 * Connects with the given TLS settings, reading the certificate files anew for each connection.
 * The expected server name comes from the settings or the address, never from a request's Host header.
 */
function tlsConnector(tls: TlsOptions | undefined, timeoutMs: number): Connector {
  const plain = buildConnector({ timeout: timeoutMs });
  let latest: { readonly files: TlsFiles; readonly connect: Connector } | undefined;

  const secure = async ({ ca_file, cert_file, key_file, ...settings }: TlsOptions): Promise<Connector> => {
    const files = await Promise.all([ca_file, cert_file, key_file].map(readTlsFile));
    if (latest === undefined || !isDeepStrictEqual(latest.files, files)) {
      const { insecure_skip_verify, server_name, min_version } = settings;
      const connect = buildConnector({
        timeout: timeoutMs,
        secureContext: secureContext(files, min_version && TLS_VERSIONS[min_version]),
        rejectUnauthorized: !insecure_skip_verify,
        ...(server_name !== undefined && { servername: server_name }),
      });
      latest = { files, connect };
    }
    return latest.connect;
  };

  return (options, callback) => {
    const target = { ...options, servername: '' };
    const connected: buildConnector.Callback = (...[error, socket]) => {
      if (error === null) callback(null, readInSlices(socket));
      else callback(error, null);
    };
    if (tls === undefined || options.protocol !== 'https:') {
      plain(target, connected);
      return;
    }
    secure(tls).then(
      (connect) => connect(target, connected),
      (error) => callback(error, null),
    );
  };
}

/** Lines that are handed to the parser in one event-loop iteration: more than the headers of a usual reply have. */
const MAX_LINES = 500;

/** Bytes that are searched for lines at once. */
const MAX_READ_BYTES = 64 * 1024;

/**
 * Has the socket return at most this many lines in one event-loop iteration: undici's parser takes some microseconds for each line of
 * headers, trailers and chunks, reads all that has arrived, and goes on to the end of it when the headers are too long. A page of JSON
 * has few lines, and is returned as it arrives.
 */
function readInSlices(socket: Socket): Socket {
  const read = socket.read.bind(socket);
  let isPausing = false;
  const goOn = () => {
    isPausing = false;
    if (!socket.destroyed) socket.emit('readable');
  };
  socket.read = (size) => {
    // Node's streams call `read(0)` only to start reading, and ignore what it returns.
    if (size === 0) return read(0);
    if (isPausing) return null;
    // Not all that has arrived: the rest is put back, and would be copied again and again.
    const available = Math.min(socket.readableLength, MAX_READ_BYTES);
    const chunk: Buffer | null = read(available > 0 ? available : size);
    const end = chunk === null ? 0 : linesEnd(chunk);
    if (chunk === null || end === chunk.length) return chunk;
    socket.unshift(chunk.subarray(end));
    isPausing = true;
    setImmediate(goOn);
    return chunk.subarray(0, end);
  };
  return socket;
}

/** The index after the last line that may be returned; the length of a chunk with fewer. */
function linesEnd(chunk: Buffer): number {
  let end = 0;
  for (let lines = 0; lines < MAX_LINES; lines += 1) {
    const newline = chunk.indexOf(NEWLINE, end);
    if (newline < 0) return chunk.length;
    end = newline + 1;
  }
  return end;
}

const NEWLINE = 0x0a;

/** Authority, certificate and key. */
type TlsFiles = readonly (TlsFile | undefined)[];

interface TlsFile {
  readonly file: string;
  readonly content: Buffer;
}

async function readTlsFile(file: string | undefined): Promise<TlsFile | undefined> {
  if (file === undefined) return undefined;
  const content = await readRegularFile(file).catch((cause: Error) => {
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

/**
 * Connects through a CONNECT tunnel, for http services too, so that the proxy sees no request and no credential.
 * (undici's ProxyAgent fixes its TLS settings when it is created, but certificate files change.)
 */
function proxyConnector(url: URL, throughTunnel: Connector, tls: TlsOptions | undefined, timeoutMs: number): Connector {
  const options = { connect: tlsConnector(withoutIdentity(tls), timeoutMs), headersTimeout: timeoutMs };
  return (target, callback) => {
    openTunnel(url, options, target).then(
      (socket) => {
        if (target.protocol === 'https:') throughTunnel({ ...target, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: Error) => callback(transportFailure(`proxy ${url.host}`, error, proxySecrets(url)), null),
    );
  };
}

async function openTunnel(url: URL, options: Client.Options, target: buildConnector.Options): Promise<Socket> {
  const client = new Client(url.origin, options);
  const defaultPort = target.protocol === 'https:' ? 443 : 80;
  const authority = target.port === '' ? `${target.host}:${defaultPort}` : `${target.host}`;
  const credentials = userInformation(url);
  const headers = {
    host: authority,
    ...(credentials !== undefined && { 'proxy-authorization': `Basic ${credentials}` }),
  };
  try {
    const { statusCode, socket } = await client.connect({ path: authority, headers });
    // The client has detached the socket, which is the one its connector made.
    if (statusCode >= 200 && statusCode <= 299) return socket as Socket;
    socket.destroy();
    const message = `proxy ${url.host} answered ${statusCode} to CONNECT ${authority}`;
    throw new RequestFailure('network', message, { retryable: true });
  } finally {
    client.destroy();
  }
}
