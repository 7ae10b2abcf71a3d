import * as z from 'zod';
import { type CrossProblem, crossChecked, type Mapping, mappingOf } from '../schema/cross-check.ts';
import {
  filePath,
  headerSecret,
  headerValue,
  integer,
  nonEmptyText,
  optionalKey,
  proxyUrl,
  serviceUrl,
  size,
  TOKEN,
  timeoutDuration,
  tlsVersion,
} from '../schema/scalar-schemas.ts';
import { enumeration } from '../text/quoted.ts';
import { AUTH_SCHEMES, SCHEME_NAMES, type SchemeName } from './auth/schemes.ts';

/** One request in a quarter of an hour: the wait for the next one has to fit into a timer. */
const MIN_REQUESTS_PER_SECOND = 0.001;

const RATE = `a number of at least ${MIN_REQUESTS_PER_SECOND}, or 0 for no limit`;

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
    files: optionalKey(z.array(filePath), 'Files to read header values from.'),
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
    ca_file: optionalKey(filePath, 'CA certificates to trust, root or intermediate (default: those of Node.js).'),
    cert_file: optionalKey(filePath, 'Client certificate; requires `key_file`.'),
    key_file: optionalKey(filePath, 'Private key of the client certificate; requires `cert_file`.'),
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

export const upstream = crossChecked(
  z.strictObject({
    base_url: serviceUrl.describe('Base URL of the service, optionally with a path prefix.'),
    timeout: timeoutDuration.prefault('10s').describe('Timeout of one HTTP request, including the response body.'),
    refresh_timeout: timeoutDuration
      .prefault('2m')
      .describe(
        'Timeout of one refresh of a station, including all its listings, without the time in which requests wait for admission.',
      ),
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
        'Maximum size of a response body, decompressed; a larger one is an error, as is a page of more than about 80,000 records.',
      ),
    list_style: z
      .enum(['repeat', 'comma'])
      .prefault('repeat')
      .describe(
        'Encoding of list parameters: `repeat` the parameter for each entry, or separate entries, which have none themselves, by `comma`.',
      ),
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
  }),
  function* (value) {
    const schemes = SCHEME_NAMES.filter((scheme) => value[scheme] !== undefined);
    yield* schemeProblems(schemes);
    if (value.proxy_from_environment === true && value.proxy_url !== undefined)
      yield {
        path: ['proxy_from_environment'],
        message: 'given together with proxy_url, expected only one of the two',
        atKey: true,
      };
    yield* headerProblems(mappingOf(value.http_headers), schemes);
  },
).meta({
  not: {
    required: ['proxy_url', 'proxy_from_environment'],
    properties: { proxy_url: true, proxy_from_environment: { const: true } },
  },
});

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
