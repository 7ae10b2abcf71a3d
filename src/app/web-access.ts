import { createPrivateKey, X509Certificate } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { createSecureContext, DEFAULT_CIPHERS } from 'node:tls';
import { checkYaml } from '../config/checked-yaml.ts';
import { contentOf } from '../config/file-content.ts';
import { formatProblem, formatProblems, type Problem, unreadable } from '../config/problem.ts';
import { CIPHER_SUITES, CURVES, isTlsEnabled, type TlsServerConfig, webConfigSchema } from '../config/web-schema.ts';
import type { YamlDocument } from '../config/yaml-document.ts';
import { TLS_VERSIONS } from '../schema/scalar-schemas.ts';
import { type AccessRules, OPEN_ACCESS, type TlsRules } from '../web/access/rules.ts';
import type { RulesResult } from '../web/access/watch-rules.ts';

/** Loads the web configuration file; without one, access is open. */
export async function loadAccessRules(file: string | undefined): Promise<RulesResult> {
  if (file === undefined) return { ok: true, rules: OPEN_ACCESS };
  const content = await contentOf(file);
  if (!content.ok) return { ok: false, problems: [formatProblem(unreadable(file, content.error))] };
  const checked = await checkYaml(webConfigSchema, { file, text: content.text });
  if (!checked.ok) return { ok: false, problems: formatProblems(checked.problems) };
  const { tls_server_config, http_server_config, basic_auth_users, rate_limit } = checked.value;
  const tls = isTlsEnabled(tls_server_config)
    ? await loadTlsRules(tls_server_config, dirname(file), checked.document)
    : undefined;
  if (tls?.ok === false) return { ok: false, problems: formatProblems(tls.problems) };
  const { interval: intervalMs, burst } = rate_limit;
  const rules = {
    headers: http_server_config.headers,
    users: new Map(Object.entries(basic_auth_users)),
    ...(tls && { tls: tls.rules }),
    ...(intervalMs > 0 && { rate: { intervalMs, burst } }),
  };
  return { ok: true, rules };
}

/** The warnings of a valid web configuration file that restricts less, or more, than it seems to. */
export function accessWarnings(file: string | undefined, { users, tls, rate }: AccessRules): readonly string[] {
  if (file === undefined) return [];
  const warnings: string[] = [];
  if (users.size === 0 && tls === undefined)
    warnings.push('everyone has access, because there are neither basic_auth_users nor tls_server_config');
  if (tls?.client.verified && tls.context.ca === undefined)
    warnings.push(
      'tls_server_config.client_auth_type verifies certificates without a client_ca_file, so that those of every public authority are accepted',
    );
  if (rate?.burst === 0)
    warnings.push('rate_limit without burst rejects every request, expected a burst of at least 1');
  return warnings.map((warning) => `${file}: ${warning}`);
}

type LoadedTls =
  | { readonly ok: true; readonly rules: TlsRules }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Loads the certificates and keys; relative file names are resolved against the folder. */
async function loadTlsRules(config: TlsServerConfig, folder: string, document: YamlDocument): Promise<LoadedTls> {
  const problems: Problem[] = [];
  const read = async (name: 'cert' | 'key' | 'client_ca', text = '', check: (text: string) => string | undefined) => {
    const file = config[`${name}_file`];
    const content = file === undefined ? { ok: true as const, text } : await contentOf(resolve(folder, file));
    const message = content.ok ? check(content.text) : `cannot be read: ${content.error.message}`;
    const path = ['tls_server_config', file === undefined ? name : `${name}_file`];
    if (message !== undefined) problems.push(document.problemAt(path, message));
    return content.ok ? content.text : '';
  };
  const cert = await read('cert', config.cert, certificateProblem);
  const key = await read('key', config.key?.reveal(), keyProblem);
  const hasAuthority = config.client_ca !== undefined || config.client_ca_file !== undefined;
  const authority = hasAuthority && { ca: await read('client_ca', config.client_ca, certificateProblem) };
  if (problems.length > 0) return { ok: false, problems };
  // Every option, including defaults: an omitted option would keep its old value when the rules change.
  const context = {
    minVersion: TLS_VERSIONS[config.min_version],
    maxVersion: TLS_VERSIONS[config.max_version],
    ciphers: ciphers(config),
    honorCipherOrder: config.prefer_server_cipher_suites,
    ecdhCurve: config.curve_preferences.map((name) => CURVES[name]).join(':') || 'auto',
    cert,
    key,
    ...authority,
  };
  const error = errorOf(() => createSecureContext(context));
  if (error) {
    const problem = document.problemAt(['tls_server_config'], `cannot be used together: ${error.message}`);
    return { ok: false, problems: [problem] };
  }
  const { client_auth_type: type = 'NoClientCert', client_allowed_sans: allowedSans } = config;
  const client = {
    requested: type !== 'NoClientCert',
    required: type.startsWith('Require'),
    verified: type.includes('Verify'),
    ...(allowedSans && { allowedSans }),
  };
  return { ok: true, rules: { context, client } };
}

/** Every certificate is checked, because Node skips those that it cannot parse. */
function certificateProblem(text: string): string | undefined {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [''];
  const isInvalid = blocks.some((block) => errorOf(() => new X509Certificate(block)));
  return isInvalid ? 'contains no valid certificate, expected one or more in PEM format' : undefined;
}

function keyProblem(text: string): string | undefined {
  const error = errorOf(() => createPrivateKey(text));
  return error && 'contains no valid key, expected a PEM key without a passphrase';
}

/** As in Go, cipher_suites applies up to TLS 1.2: the TLS 1.3 suites are always enabled. */
function ciphers({ cipher_suites, min_version }: TlsServerConfig): string {
  const configured = cipher_suites.map((name) => CIPHER_SUITES[name]);
  const isOld = min_version < 'TLS12';
  // TLS 1.0 and 1.1 support no suite of the intermediate list.
  const defaults = isOld ? DEFAULT_CIPHERS.split(':') : INTERMEDIATE_SUITES;
  const names = new Set([...TLS13_SUITES, ...(configured.length === 0 ? defaults : configured)]);
  // OpenSSL negotiates TLS 1.0 and 1.1 only at security level 0.
  return [...names, ...(isOld ? ['@SECLEVEL=0'] : [])].join(':');
}

const TLS13_SUITES = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** Mozilla's intermediate list for TLS 1.2, without DHE, whose key exchange costs the server much more CPU than the client. */
const INTERMEDIATE_SUITES = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
];

function errorOf(work: () => unknown): Error | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
