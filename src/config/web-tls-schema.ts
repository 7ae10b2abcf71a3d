import * as z from 'zod';
import { type CrossFinding, crossChecked, type Unchecked } from './cross-check.ts';
import { filePath, filledSecret, text } from './scalar-schemas.ts';
import { CIPHER_SUITES, CLIENT_AUTH_TYPES, CURVES, namesOf, TLS_VERSIONS } from './web-tls-names.ts';

const tlsKeys = z.strictObject({
  cert: text.exactOptional(),
  key: filledSecret.exactOptional(),
  client_ca: text.exactOptional(),
  cert_file: filePath.exactOptional(),
  key_file: filePath.exactOptional(),
  client_ca_file: filePath.exactOptional(),
  client_auth_type: z.enum(namesOf(CLIENT_AUTH_TYPES)).exactOptional(),
  client_allowed_sans: z.array(text).exactOptional(),
  min_version: z.enum(namesOf(TLS_VERSIONS)).prefault('TLS12'),
  max_version: z.enum(namesOf(TLS_VERSIONS)).prefault('TLS13'),
  cipher_suites: z.array(z.enum(namesOf(CIPHER_SUITES))).prefault([]),
  prefer_server_cipher_suites: z.boolean().prefault(true),
  curve_preferences: z.array(z.enum(namesOf(CURVES))).prefault([]),
});

export type TlsServerConfig = z.output<typeof tlsKeys>;

export const tlsServer = crossChecked(tlsKeys, function* (tls) {
  yield* identityFindings(tls);
  yield* clientFindings(tls);
  const versions: readonly unknown[] = namesOf(TLS_VERSIONS);
  const [min, max] = [versions.indexOf(tls.min_version), versions.indexOf(tls.max_version)];
  if (min > max && max !== -1) yield { path: ['min_version'], message: 'newer than max_version, expected the same or an older one' };
});

/** Whether connections are encrypted: a minimum version alone, say, does not switch that on. */
export function isTlsEnabled(tls: Unchecked<TlsServerConfig>): boolean {
  const { cert, cert_file, key, key_file, client_ca, client_ca_file, client_auth_type } = tls;
  return [cert, cert_file, key, key_file, client_ca, client_ca_file, client_auth_type].some((value) => value !== undefined);
}

function* identityFindings(tls: Unchecked<TlsServerConfig>): Iterable<CrossFinding> {
  for (const key of ['cert', 'key'] as const) {
    if (!isTlsEnabled(tls) || tls[key] !== undefined || tls[`${key}_file`] !== undefined) continue;
    yield { path: [`${key}_file`], message: `missing, expected ${key}_file or ${key}` };
  }
}

function* clientFindings(tls: Unchecked<TlsServerConfig>): Iterable<CrossFinding> {
  const { requested, required } = clientAuth(tls.client_auth_type);
  for (const key of ['client_ca', 'client_ca_file'] as const) {
    if (requested || tls[key] === undefined) continue;
    yield { path: [key], message: 'given without a client_auth_type that asks for certificates, expected both or none' };
  }
  if (!required && tls.client_allowed_sans !== undefined) {
    const message = 'given though no certificate is required, expected with RequireAndVerifyClientCert or RequireAnyClientCert';
    yield { path: ['client_allowed_sans'], message };
  }
}

/** What is no policy at all is told elsewhere, and not judged here. */
function clientAuth(type: unknown): (typeof CLIENT_AUTH_TYPES)[keyof typeof CLIENT_AUTH_TYPES] {
  const known = namesOf(CLIENT_AUTH_TYPES).find((name) => name === (type ?? 'NoClientCert'));
  return CLIENT_AUTH_TYPES[known ?? 'RequireAndVerifyClientCert'];
}
