import * as z from 'zod';
import { type CrossProblem, crossChecked, type Mapping, mappingOf, type Unchecked } from '../schema/cross-check.ts';
import {
  headerSecret,
  headerValue,
  nonEmptyText,
  optionalKey,
  pemFile,
  proxyUrl,
  secretFile,
  TOKEN,
  tlsVersion,
} from '../schema/scalar-schemas.ts';
import { enumeration } from '../text/quoted.ts';
import { AUTH_SCHEMES, SCHEME_NAMES, type SchemeName } from './auth/schemes.ts';

/** Set by the exporter or by its connection. */
const RESERVED_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'cache-control',
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
  });

const header = crossChecked(
  z.strictObject({
    values: optionalKey(z.array(headerValue), 'Header values that are not secret.'),
    secrets: optionalKey(z.array(headerSecret), 'Header values that are secret.'),
    files: optionalKey(z.array(secretFile), 'Files to read header values from.'),
  }),
  function* (value) {
    const lists = [value.values, value.secrets, value.files];
    const empty = lists.every((list) => list === undefined || (Array.isArray(list) && list.length === 0));
    if (empty) yield { path: [], message: 'expected at least one entry in values, secrets or files, got none' };
  },
);

const httpHeaders = z.record(headerName, header);

type SchemeKeys = {
  [Name in SchemeName]: z.ZodExactOptional<(typeof AUTH_SCHEMES)[Name]['schema']>;
};

/** A key for each scheme; the help of the first one says how many are allowed. */
function schemeKeys(): SchemeKeys {
  const keys = SCHEME_NAMES.map((name, index) => {
    const { schema, description } = AUTH_SCHEMES[name];
    const limit = ` At most one of ${enumeration(SCHEME_NAMES.map((other) => `\`${other}\``))} is allowed.`;
    return [name, optionalKey(schema as z.ZodType, index === 0 ? `${description}${limit}` : description)];
  });
  return Object.fromEntries(keys);
}

const tlsConfig = crossChecked(
  z.strictObject({
    ca_file: optionalKey(pemFile, 'CA certificates to trust, root or intermediate (default: those of Node.js).'),
    cert_file: optionalKey(pemFile, 'Client certificate; requires `key_file`.'),
    key_file: optionalKey(pemFile, 'Private key of the client certificate; requires `cert_file`.'),
    server_name: optionalKey(
      nonEmptyText,
      'Server name to verify in the certificate (default: the host of `base_url`).',
    ),
    insecure_skip_verify: z.boolean().prefault(false).describe('Disable verification of the server certificate.'),
    min_version: optionalKey(
      tlsVersion,
      'Minimum TLS version; `TLS10` and `TLS11` also allow the weak keys and signatures that these need.',
    ),
  }),
  function* (value) {
    const pairs = [['cert_file', 'key_file'] as const, ['key_file', 'cert_file'] as const];
    for (const [key, other] of pairs)
      if (value[key] === undefined && value[other] !== undefined)
        yield { path: [key], message: `missing, expected together with ${other}` };
  },
).meta({ dependentRequired: { cert_file: ['key_file'], key_file: ['cert_file'] } });

/** How requests are authenticated and sent: the keys of an upstream that Prometheus has for its clients, too. */
export const HTTP_CLIENT_KEYS = {
  ...schemeKeys(),
  http_headers: optionalKey(httpHeaders, 'Additional request headers, by name.'),
  tls_config: optionalKey(tlsConfig, 'TLS settings.'),
  proxy_url: optionalKey(
    proxyUrl,
    'HTTP proxy to connect through, always by a tunnel (CONNECT): it neither sees requests nor answers them from a cache. By default, squid allows tunnels to port 443 only; add others to its `SSL_ports`.',
  ),
  proxy_from_environment: z
    .boolean()
    .prefault(false)
    .describe(
      'Connect through the proxy of the environment variable `HTTPS_PROXY` or `HTTP_PROXY`, unless `NO_PROXY` excepts the host.',
    ),
};

type HttpClientKeys = z.output<z.ZodObject<typeof HTTP_CLIENT_KEYS>>;

/** What does not fit together in these keys. */
export function* httpClientProblems(value: Unchecked<HttpClientKeys>): Iterable<CrossProblem> {
  const schemes = SCHEME_NAMES.filter((scheme) => value[scheme] !== undefined);
  yield* schemeProblems(schemes);
  if (value.proxy_from_environment === true && value.proxy_url !== undefined)
    yield {
      path: ['proxy_from_environment'],
      message: 'given together with proxy_url, expected only one of the two',
      atKey: true,
    };
  yield* headerProblems(mappingOf(value.http_headers), schemes);
}

/** For the JSON Schema. */
export const EITHER_PROXY = {
  not: {
    required: ['proxy_url', 'proxy_from_environment'],
    properties: { proxy_url: true, proxy_from_environment: { const: true } },
  },
};

/** A file with these keys alone. */
export const httpClientConfig = crossChecked(z.strictObject(HTTP_CLIENT_KEYS), httpClientProblems);

function* schemeProblems([first, ...others]: readonly string[]): Iterable<CrossProblem> {
  for (const scheme of others) {
    yield {
      path: [scheme],
      message: `given together with ${first}, expected only one of ${SCHEME_NAMES.join(', ')}`,
      atKey: true,
    };
  }
}

function* headerProblems(headers: Mapping, [scheme]: readonly SchemeName[]): Iterable<CrossProblem> {
  if (scheme === undefined) return;
  const taken = AUTH_SCHEMES[scheme].setsHeaders;
  for (const name of Object.keys(headers).filter((key) => taken.includes(key.toLowerCase()))) {
    yield {
      path: ['http_headers', name],
      message: `this header is set by ${scheme}, expected another one`,
      atKey: true,
    };
  }
}
