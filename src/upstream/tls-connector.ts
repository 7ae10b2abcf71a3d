import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { buildConnector } from 'undici';
import type { TlsOptions } from './options.ts';
import { RequestFailure } from './request-failure.ts';

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
export function tlsConnector(tls: TlsOptions | undefined, timeoutMs: number): Connector {
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
