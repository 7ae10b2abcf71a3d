import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, DEFAULT_CIPHERS, type SecureContext } from 'node:tls';
import { TLS_VERSIONS } from '../../schema/scalar-schemas.ts';
import { errorText, RequestFailure } from '../request-failure.ts';
import type { TlsOptions } from './tls-options.ts';

/** Authority, certificate and key. */
export type TlsFiles = readonly (TlsFile | undefined)[];

interface TlsFile {
  readonly file: string;
  readonly content: Buffer;
}

export function readTlsFiles(tls: TlsOptions | undefined): Promise<TlsFiles> {
  return Promise.all([tls?.ca_file, tls?.cert_file, tls?.key_file].map(readTlsFile));
}

async function readTlsFile(file: string | undefined): Promise<TlsFile | undefined> {
  if (file === undefined) return undefined;
  const content = await readFile(file).catch((cause: Error) => {
    throw new RequestFailure('tls', `cannot read TLS file ${file}: ${cause.message}`, { cause });
  });
  return { file, content };
}

/** Throws a RequestFailure that names the file with what is wrong in it. */
export function secureContext([ca, cert, key]: TlsFiles, version: TlsOptions['min_version']): SecureContext {
  // Each file is parsed alone first: OpenSSL ignores what is invalid in ca, and does not report which of the other two is invalid.
  for (const one of [ca, cert]) if (one) checkCertificates(one);
  if (key) checkKey(key);
  const options = {
    ca: ca?.content,
    cert: cert?.content,
    key: key?.content,
    minVersion: version && TLS_VERSIONS[version],
    // An intermediate authority in ca_file is trusted without its root, as by curl and Prometheus.
    allowPartialTrustChain: ca !== undefined,
    // OpenSSL 3 allows these versions at security level 0 only.
    ...((version === 'TLS10' || version === 'TLS11') && { ciphers: `${DEFAULT_CIPHERS}:@SECLEVEL=0` }),
  };
  return attempt(`${cert?.file} with ${key?.file}`, '', () => createSecureContext(options));
}

const CERTIFICATE = /^-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/;

function checkCertificates({ file, content }: TlsFile): void {
  const blocks = pemBlocks(content);
  const certificates = blocks.filter((block) => CERTIFICATE.test(block));
  for (const [index, certificate] of certificates.entries())
    attempt(
      file,
      `certificate ${index + 1} of ${certificates.length} is damaged: `,
      () => new X509Certificate(certificate),
    );
  if (certificates.length > 0) return;
  if (blocks.some((block) => block.startsWith('-----BEGIN PKCS7-----')))
    throw converted(file, 'PKCS #7', 'pkcs7 -print_certs');
  if (isDer(content))
    throw isParsed(() => new X509Certificate(content))
      ? converted(file, 'DER', 'x509 -inform der')
      : converted(file, 'PKCS #12', 'pkcs12 -nokeys');
  throw unusable(file, 'it has no certificate, expected -----BEGIN CERTIFICATE-----');
}

function checkKey({ file, content }: TlsFile): void {
  const blocks = pemBlocks(content).filter((block) => /^-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(block));
  if (blocks.some((block) => /^-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/m.test(block)))
    throw unusable(
      file,
      `its key has a passphrase, expected none: openssl pkey -in ${file} -out ${file}.pem removes it`,
    );
  if (blocks.length > 0) {
    attempt(file, 'its key is damaged: ', () => createPrivateKey(content));
    return;
  }
  if (isDer(content)) {
    const isKey = (['pkcs8', 'pkcs1', 'sec1'] as const).some((type) =>
      isParsed(() => createPrivateKey({ key: content, format: 'der', type })),
    );
    throw isKey ? converted(file, 'DER', 'pkey -inform der') : converted(file, 'PKCS #12', 'pkcs12 -nocerts -noenc');
  }
  throw unusable(file, 'it has no private key, expected -----BEGIN PRIVATE KEY-----');
}

/** From each line that begins one, to the next. */
function pemBlocks(content: Buffer): readonly string[] {
  const parts = content.toString('latin1').split(/^(?=-----BEGIN )/m);
  return parts.filter((part) => part.startsWith('-----BEGIN '));
}

/** The tag of a sequence, with which certificates, keys and PKCS #12 begin. */
function isDer(content: Buffer): boolean {
  return content[0] === 0x30;
}

function isParsed(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

function attempt<T>(file: string, problem: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw unusable(file, `${problem}${errorText(error)}`);
  }
}

function converted(file: string, format: string, command: string): RequestFailure {
  const openssl = `openssl ${command} -in ${file} -out ${file}.pem`;
  return unusable(file, `it is in the format ${format}, expected PEM: ${openssl} converts it`);
}

function unusable(file: string, problem: string): RequestFailure {
  // Advice goes by the code.
  const cause = Object.assign(new Error(problem), { code: 'ERR_TLS_FILE' });
  return new RequestFailure('tls', `invalid TLS file ${file}: ${problem}`, { cause });
}
