import * as z from 'zod';
import { SIGNED_HEADERS } from '../model/upstream-options.ts';
import { type CrossProblem, crossChecked, given, type Mapping, mappingOf, nonEmptyList } from './cross-check.ts';
import {
  anyCase,
  editorPattern,
  filePath,
  filledSecret,
  headerSecret,
  headerValue,
  integer,
  nonEmptyText,
  optionalKey,
  proxyUrl,
  secret,
  serviceUrl,
  size,
  textMatching,
  timeoutDuration,
  tlsVersion,
} from './scalar-schemas.ts';

/** A token of RFC 9110: a header name or an authentication scheme. */
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;

/** One request in a quarter of an hour: the wait for the next one has to fit into a timer. */
const MIN_REQUESTS_PER_SECOND = 0.001;

const RATE = `a number of at least ${MIN_REQUESTS_PER_SECOND}, or 0 for no limit`;

/** Set by the exporter or by its connection. */
const RESERVED_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'www-authenticate',
]);

const headerName = z
  .string()
  .regex(TOKEN, { error: 'an HTTP header name', abort: true })
  .refine((name) => !RESERVED_HEADERS.has(name.toLowerCase()), {
    error: 'this header is set by the exporter, expected another one',
  })
  .meta({ pattern: without([...RESERVED_HEADERS], TOKEN) });

const header = crossChecked(
  z.strictObject({
    values: optionalKey(z.array(headerValue), 'Header values that are not secret.'),
    secrets: optionalKey(z.array(headerSecret), 'Header values that are secret.'),
    files: optionalKey(z.array(filePath), 'Files to read header values from.'),
  }),
  function* (value) {
    const lists = [value.values, value.secrets, value.files];
    const empty = lists.every((list) => list === undefined || (Array.isArray(list) && list.length === 0));
    if (empty) yield { path: [], message: 'expected at least one entry in values, secrets or files, got none' };
  },
).meta({ anyOf: ['values', 'secrets', 'files'].map(nonEmptyList) });

const httpHeaders = z.record(headerName, header);

/** An upstream uses at most one of these. */
export const AUTH_SCHEMES = ['authorization', 'basic_auth', 'hmac', 'oauth2'] as const;

const authorization = withSecret(
  'credentials',
  z.strictObject({
    type: z
      .string()
      .refine((type) => TOKEN.test(type), { error: 'expected an authentication scheme such as Bearer' })
      .refine((type) => type.toLowerCase() !== 'basic', {
        error: 'expected a scheme other than Basic; use basic_auth instead',
      })
      .meta({ pattern: editorPattern(without(['basic'], TOKEN)) })
      .prefault('Bearer')
      .describe('Authentication scheme of the `Authorization` header.'),
    credentials: optionalKey(headerSecret, 'Credentials to send after the scheme.'),
    credentials_file: optionalKey(filePath, 'File to read the credentials from, instead of `credentials`.'),
  }),
);

const basicAuth = withSecret(
  'password',
  z.strictObject({
    username: textMatching(nonEmptyText, /^[^:]*$/, 'expected a user name without a colon').describe('User name.'),
    password: optionalKey(secret, 'Password.'),
    password_file: optionalKey(filePath, 'File to read the password from, instead of `password`.'),
  }),
);

const hmac = withSecret(
  'secret_access_key',
  z.strictObject({
    access_key_id: textMatching(
      nonEmptyText,
      /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/,
      'expected printable ASCII without quotes and backslashes',
    ).describe('Access key ID.'),
    secret_access_key: optionalKey(filledSecret, 'Secret access key.'),
    secret_access_key_file: optionalKey(
      filePath,
      'File to read the secret access key from, instead of `secret_access_key`.',
    ),
    signed_headers: z
      .array(z.enum(SIGNED_HEADERS))
      .min(1, { error: 'at least one entry' })
      .refine((entries) => new Set(entries).size === entries.length, {
        error: 'expected each entry at most once, got a duplicate',
      })
      .meta({ uniqueItems: true })
      .prefault(['x-date'])
      .describe('Request parts that the signature covers, in this order.'),
  }),
);

const oauth2 = withSecret(
  'client_secret',
  z.strictObject({
    client_id: nonEmptyText.describe('Client ID.'),
    client_secret: optionalKey(filledSecret, 'Client secret.'),
    client_secret_file: optionalKey(filePath, 'File to read the client secret from, instead of `client_secret`.'),
    token_url: serviceUrl.describe('URL of the token endpoint.'),
    scopes: z.array(nonEmptyText).prefault([]).describe('Scopes to request.'),
    endpoint_params: z
      .record(nonEmptyText, secret)
      .prefault({})
      .describe('Additional parameters of the token request.'),
  }),
);

/** Requires either the secret or the file that contains it. */
function withSecret<Schema extends z.ZodType>(key: string, schema: Schema): Schema {
  const fileKey = `${key}_file`;
  return crossChecked(schema, function* (value: Mapping) {
    const given = [key, fileKey].filter((name) => value[name] !== undefined);
    if (given.length === 0) yield { path: [], message: `expected ${key} or ${fileKey}, got neither` };
    if (given.length === 2)
      yield { path: [fileKey], message: `given together with ${key}, expected only one of the two`, atKey: true };
  }).meta({ oneOf: [given(key), given(fileKey)] });
}

/** The source of a regular expression for tokens other than these, in any case. */
function without(names: readonly string[], token: RegExp): string {
  return token.source.replace('^', `^(?!(?:${names.map(anyCase).join('|')})$)`);
}

const tlsConfig = crossChecked(
  z.strictObject({
    ca_file: optionalKey(filePath, 'CA certificates to trust (default: those of Node.js).'),
    cert_file: optionalKey(filePath, 'Client certificate; requires `key_file`.'),
    key_file: optionalKey(filePath, 'Private key of the client certificate; requires `cert_file`.'),
    server_name: optionalKey(
      nonEmptyText,
      'Server name to verify in the certificate (default: the host of `base_url`).',
    ),
    insecure_skip_verify: z.boolean().prefault(false).describe('Disable verification of the server certificate.'),
    min_version: optionalKey(tlsVersion, 'Minimum TLS version.'),
  }),
  function* (value) {
    const pairs = [['cert_file', 'key_file'] as const, ['key_file', 'cert_file'] as const];
    for (const [key, other] of pairs)
      if (value[key] === undefined && value[other] !== undefined)
        yield { path: [key], message: `missing, expected together with ${other}` };
  },
).meta({ dependentRequired: { cert_file: ['key_file'], key_file: ['cert_file'] } });

export const upstream = crossChecked(
  z.strictObject({
    base_url: serviceUrl.describe('Base URL of the service, optionally with a path prefix.'),
    timeout: timeoutDuration.prefault('10s').describe('Timeout of one HTTP request, including the response body.'),
    refresh_timeout: timeoutDuration
      .prefault('2m')
      .describe('Timeout of one refresh of a station, including all its listings.'),
    concurrency: integer(1, 1000).prefault(8).describe('Maximum number of concurrent requests to this upstream.'),
    requests_per_second: z
      .number({ error: RATE })
      .min(0, { error: RATE, abort: true })
      .refine((rate) => rate === 0 || rate >= MIN_REQUESTS_PER_SECOND, { error: `expected ${RATE}` })
      .meta({ anyOf: [{ const: 0 }, { minimum: MIN_REQUESTS_PER_SECOND }] })
      .prefault(0)
      .describe(
        'Maximum request rate to this upstream; 0 means no limit. A 429 response temporarily lowers the rate further, and its Retry-After pauses all requests.',
      ),
    max_retries: integer(0, 20).prefault(2).describe('Maximum number of retries of a failed request.'),
    page_size: integer(1, 10_000).prefault(100).describe('Number of resources to request per page.'),
    max_page_bytes: size
      .prefault('16MiB')
      .describe(
        'Maximum size of a response body; a larger one is an error, as is a page of more than about 80,000 records.',
      ),
    list_style: z
      .enum(['repeat', 'comma'])
      .prefault('repeat')
      .describe('Encoding of list parameters: `repeat` the parameter for each entry, or separate entries by `comma`.'),
    authorization: optionalKey(
      authorization,
      'Credentials to send in the `Authorization` header. At most one of `authorization`, `basic_auth`, `hmac` and `oauth2` is allowed.',
    ),
    basic_auth: optionalKey(basicAuth, 'HTTP basic authentication.'),
    hmac: optionalKey(hmac, 'Request signing with an access key pair.'),
    oauth2: optionalKey(oauth2, 'OAuth 2.0 client credentials grant.'),
    http_headers: optionalKey(httpHeaders, 'Additional request headers, by name.'),
    tls_config: optionalKey(tlsConfig, 'TLS settings.'),
    proxy_url: optionalKey(proxyUrl, 'HTTP proxy to connect through.'),
  }),
  function* (value) {
    const schemes = AUTH_SCHEMES.filter((scheme) => value[scheme] !== undefined);
    yield* schemeProblems(schemes);
    yield* headerProblems(mappingOf(value.http_headers), schemes);
  },
);

type Scheme = (typeof AUTH_SCHEMES)[number];

/** The headers that the scheme sets. */
function headersOf(scheme: Scheme): readonly string[] {
  return scheme === 'hmac' ? ['authorization', 'date', 'x-date'] : ['authorization'];
}

function* schemeProblems([first, ...others]: readonly string[]): Iterable<CrossProblem> {
  for (const scheme of others) {
    yield {
      path: [scheme],
      message: `given together with ${first}, expected only one of ${AUTH_SCHEMES.join(', ')}`,
      atKey: true,
    };
  }
}

function* headerProblems(headers: Mapping, [scheme]: readonly Scheme[]): Iterable<CrossProblem> {
  if (scheme === undefined) return;
  const taken = headersOf(scheme);
  for (const name of Object.keys(headers).filter((key) => taken.includes(key.toLowerCase()))) {
    yield {
      path: ['http_headers', name],
      message: `this header is set by ${scheme}, expected another one`,
      atKey: true,
    };
  }
}
