import * as z from 'zod';
import { isObject } from '../model/values.ts';
import { crossChecked, type Unchecked } from '../schema/cross-check.ts';
import {
  duration,
  filledSecret,
  integer,
  keysOf,
  nonEmptyText,
  pemFile,
  textMatching,
  tlsVersion,
} from '../schema/scalar-schemas.ts';

/** OpenSSL names of Go's cipher suites. */
export const CIPHER_SUITES = {
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
} as const;

/** OpenSSL names of Go's curves. */
export const CURVES = {
  CurveP256: 'prime256v1',
  CurveP384: 'secp384r1',
  CurveP521: 'secp521r1',
  X25519: 'X25519',
} as const;

/** Each of these keys enables TLS; others, such as `min_version`, do not. */
const enablingKeys = z
  .strictObject({
    cert: nonEmptyText,
    key: filledSecret,
    client_ca: nonEmptyText,
    cert_file: pemFile,
    key_file: pemFile,
    client_ca_file: pemFile,
    client_auth_type: z.enum([
      'NoClientCert',
      'RequestClientCert',
      'RequireAnyClientCert',
      'RequireClientCert',
      'VerifyClientCertIfGiven',
      'RequireAndVerifyClientCert',
    ]),
  })
  .partial();

const tlsKeys = enablingKeys.extend({
  client_allowed_sans: z.array(nonEmptyText).optional(),
  min_version: tlsVersion.prefault('TLS12'),
  max_version: tlsVersion.prefault('TLS13'),
  cipher_suites: z.array(z.enum(keysOf(CIPHER_SUITES))).prefault([]),
  prefer_server_cipher_suites: z.boolean().prefault(true),
  curve_preferences: z.array(z.enum(keysOf(CURVES))).prefault([]),
});

export type TlsServerConfig = z.output<typeof tlsKeys>;

export function isTlsEnabled(tls: Unchecked<TlsServerConfig>): boolean {
  return keysOf(enablingKeys.shape).some((key) => tls[key] !== undefined);
}

const tlsServer = crossChecked(tlsKeys, function* (tls) {
  for (const key of ['cert', 'key'] as const) {
    if (isTlsEnabled(tls) && tls[key] === undefined && tls[`${key}_file`] === undefined)
      yield { path: [`${key}_file`], message: `missing, expected ${key}_file or ${key}` };
  }
  const type = tls.client_auth_type ?? 'NoClientCert';
  for (const key of ['client_ca', 'client_ca_file'] as const) {
    if (type === 'NoClientCert' && tls[key] !== undefined)
      yield {
        path: [key],
        message: 'given without a client_auth_type that requests certificates, expected both or neither',
      };
  }
  // Not for an unknown type, which the schema reports.
  const isOptional = ['NoClientCert', 'RequestClientCert', 'VerifyClientCertIfGiven'].some((name) => name === type);
  if (isOptional && tls.client_allowed_sans !== undefined) {
    const message =
      'given without client_auth_type RequireAndVerifyClientCert or RequireAnyClientCert, expected one of them';
    yield { path: ['client_allowed_sans'], message };
  }
  const versions: readonly unknown[] = tlsVersion.options;
  const [min, max] = [versions.indexOf(tls.min_version), versions.indexOf(tls.max_version)];
  if (min > max && max !== -1)
    yield { path: ['min_version'], message: 'newer than max_version, expected the same or an older one' };
});

/** Node sends the headers of responses as Latin-1. */
const responseHeader = textMatching(
  z.string(),
  /^[\t\x20-\x7e\x80-\xff]*$/,
  'expected printable Latin-1 characters, spaces and tabs',
).exactOptional();

const responseHeaders = z.strictObject({
  'Content-Security-Policy': responseHeader,
  'Strict-Transport-Security': responseHeader,
  'X-Content-Type-Options': z.enum(['nosniff']).exactOptional(),
  'X-Frame-Options': z.enum(['deny', 'sameorigin']).exactOptional(),
  'X-XSS-Protection': responseHeader,
});

const BCRYPT = /^\$2[aby]\$(?:0[4-9]|[12]\d|3[01])\$[./A-Za-z\d]{21}[.Oeu][./A-Za-z\d]{30}[.CGKOSWaeimquy26]$/;

/** The message must not show the value. */
const bcryptHash = z.string({ error: 'a bcrypt hash' }).refine((hash) => BCRYPT.test(hash), {
  error: 'expected a bcrypt hash as printed by `htpasswd -nB`',
});

/** The web configuration file, in the format of the Prometheus exporter toolkit. */
export const webConfigSchema = z.strictObject({
  tls_server_config: sparse(tlsServer, [null, '']).prefault({}),
  http_server_config: sparse(
    z.strictObject({
      // Accepted for compatibility and ignored: the server speaks HTTP/1.1.
      http2: z.boolean().prefault(true),
      headers: sparse(responseHeaders, [null, '']).prefault({}),
    }),
  ).prefault({}),
  // A file that was cut off or not filled in yet must not open the exporter to everyone.
  basic_auth_users: z
    .record(z.string(), bcryptHash)
    .refine((users) => Object.keys(users).length > 0, {
      error: 'expected at least one user, got none; remove the key to allow everyone',
    })
    .default({}),
  rate_limit: sparse(z.strictObject({ interval: duration.prefault(0), burst: integer(0).prefault(0) })).prefault({}),
});

/** As in the toolkit, a key without a value counts as absent. */
function sparse<Schema extends z.ZodType>(schema: Schema, blanks: readonly unknown[] = [null]) {
  return z.preprocess((value) => {
    if (!isObject(value)) return value ?? {};
    return Object.fromEntries(Object.entries(value).filter(([, inner]) => !blanks.includes(inner)));
  }, schema);
}
