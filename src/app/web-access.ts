import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { createSecureContext, DEFAULT_CIPHERS, type SecureContextOptions } from 'node:tls';
import { checkYaml } from '../config/checked-yaml.ts';
import { formatProblem } from '../config/problem.ts';
import { TLS_VERSIONS } from '../config/scalar-schemas.ts';
import {
  CIPHER_SUITES,
  CLIENT_AUTH_TYPES,
  CURVES,
  isTlsEnabled,
  type TlsServerConfig,
  type WebConfig,
  webConfigSchema,
} from '../config/web-schema.ts';
import type { RulesResult } from '../web/access/follow.ts';
import { type AccessRules, type ClientRules, OPEN_ACCESS, type TlsRules } from '../web/access/rules.ts';

/** The rules as the web configuration file says them now; without a file everyone may ask. */
export async function loadAccessRules(file: string | undefined): Promise<RulesResult> {
  if (file === undefined) return { ok: true, rules: OPEN_ACCESS };
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const message = `cannot be read, expected a readable file: ${(error as Error).message}`;
    return { ok: false, problems: [formatProblem({ file, line: 1, column: 1, path: '', message })] };
  }
  const checked = checkYaml(webConfigSchema, { file, text });
  if (!checked.ok) return { ok: false, problems: checked.problems.map(formatProblem) };
  const { tls_server_config: config } = checked.value;
  const tls = isTlsEnabled(config) ? await loadTlsRules(config, dirname(file)) : undefined;
  if (tls === undefined || 'context' in tls) return { ok: true, rules: accessRules(checked.value, tls) };
  const problems = tls.map(({ key, message }) => checked.problemAt(['tls_server_config', ...(key ? [key] : [])], message));
  return { ok: false, problems: problems.map(formatProblem) };
}

function accessRules({ http_server_config, basic_auth_users, rate_limit }: WebConfig, tls: TlsRules | undefined): AccessRules {
  const { interval: intervalMs, burst } = rate_limit;
  return {
    headers: http_server_config.headers,
    users: new Map(Object.entries(basic_auth_users)),
    ...(tls && { tls }),
    ...(intervalMs > 0 && { rate: { intervalMs, burst } }),
  };
}

/** What is wrong with the value of one key, or with all of them together. */
export interface TlsProblem {
  readonly key?: string;
  readonly message: string;
}

/** A text in PEM and the key that gave it, itself or the name of its file. */
interface Pem {
  readonly key: string;
  readonly text: string;
  /** Why the file could not be read. */
  readonly unread?: string;
}

/** The rules with the contents of the files that they name; relative names start from the folder. */
export async function loadTlsRules(config: TlsServerConfig, folder: string): Promise<TlsRules | readonly TlsProblem[]> {
  const cert = await pemOf('cert', config.cert, config.cert_file, folder);
  const key = await pemOf('key', config.key?.reveal(), config.key_file, folder);
  const trusting = config.client_ca !== undefined || config.client_ca_file !== undefined;
  const ca = trusting ? await pemOf('client_ca', config.client_ca, config.client_ca_file, folder) : undefined;
  const findings = [
    ...mistakes(cert, certificateMistake),
    ...mistakes(key, (text) => keyMistake(text, cert.text)),
    ...(ca ? mistakes(ca, certificateMistake) : []),
  ];
  if (findings.length > 0) return findings;
  const context = { ...handshakeOptions(config), cert: cert.text, key: key.text, ...(ca && { ca: ca.text }) };
  const refusal = failureOf(() => createSecureContext(context));
  return refusal ? [{ message: `cannot be used together: ${refusal.message}` }] : { context, client: clientRules(config) };
}

/** Of the two, the file comes first. */
async function pemOf(name: string, text = '', file: string | undefined, folder: string): Promise<Pem> {
  if (file === undefined) return { key: name, text };
  const key = `${name}_file`;
  try {
    return { key, text: await readFile(resolve(folder, file), 'utf8') };
  } catch (error) {
    return { key, text: '', unread: `cannot be read, expected a readable file: ${(error as Error).message}` };
  }
}

function mistakes({ key, text, unread }: Pem, mistake: (text: string) => string | undefined): readonly TlsProblem[] {
  const message = unread ?? mistake(text);
  return message === undefined ? [] : [{ key, message }];
}

/** Every one is looked at: Node passes over those it cannot read. */
function certificateMistake(text: string): string | undefined {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [''];
  const failure = failureOf(() => blocks.map((block) => new X509Certificate(block)));
  return failure && 'found no usable certificate, expected one or more in PEM';
}

function keyMistake(text: string, cert: string): string | undefined {
  if (failureOf(() => createPrivateKey(text))) return 'found no usable key, expected one in PEM without a passphrase';
  if (certificateMistake(cert) !== undefined) return undefined;
  const belongs = new X509Certificate(cert).checkPrivateKey(createPrivateKey(text));
  return belongs ? undefined : 'does not belong to the certificate, expected its key';
}

/** Each is given, defaults too: what is left out would stay as it was when the rules change. */
function handshakeOptions(config: TlsServerConfig): SecureContextOptions {
  return {
    minVersion: TLS_VERSIONS[config.min_version],
    maxVersion: TLS_VERSIONS[config.max_version],
    ciphers: ciphers(config),
    honorCipherOrder: config.prefer_server_cipher_suites,
    ecdhCurve: config.curve_preferences.map((name) => CURVES[name]).join(':') || 'auto',
  };
}

/** As in Go, the choice is about TLS 1.2 and older: the suites of TLS 1.3 are always there. */
function ciphers({ cipher_suites, min_version }: TlsServerConfig): string {
  const chosen = cipher_suites.map((name) => CIPHER_SUITES[name]);
  const names = chosen.length === 0 ? [DEFAULT_CIPHERS] : [...new Set([...TLS13_SUITES, ...chosen])];
  // OpenSSL takes part in the oldest versions only when told that their signatures will do.
  return [...names, ...(min_version < 'TLS12' ? ['@SECLEVEL=0'] : [])].join(':');
}

const TLS13_SUITES = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

function clientRules({ client_auth_type = 'NoClientCert', client_allowed_sans: allowedSans }: TlsServerConfig): ClientRules {
  return { ...CLIENT_AUTH_TYPES[client_auth_type], ...(allowedSans && { allowedSans }) };
}

function failureOf(work: () => unknown): Error | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
