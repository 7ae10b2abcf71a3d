import * as z from 'zod';
import { isObject } from '../model/resource.ts';
import { AUTH_SCHEMES, authorization, basicAuth, hmac, httpHeaders, oauth2 } from './auth-schemas.ts';
import { type CrossProblem, crossChecked, given, implies, type Mapping } from './cross-check.ts';
import {
  anyCase,
  filePath,
  integer,
  proxyUrl,
  serviceUrl,
  size,
  text,
  timeoutDuration,
  tlsVersion,
} from './scalar-schemas.ts';

const tlsConfig = crossChecked(
  z.strictObject({
    ca_file: filePath.exactOptional().describe('CA certificates to trust (default: those of Node.js).'),
    cert_file: filePath.exactOptional().describe('Client certificate; requires `key_file`.'),
    key_file: filePath.exactOptional().describe('Private key of the client certificate; requires `cert_file`.'),
    server_name: text
      .exactOptional()
      .describe('Server name to verify in the certificate (default: the host of `base_url`).'),
    insecure_skip_verify: z.boolean().prefault(false).describe('Disable verification of the server certificate.'),
    min_version: tlsVersion.exactOptional().describe('Minimum TLS version.'),
  }),
  function* (value) {
    if (value.cert_file === undefined && value.key_file !== undefined) yield missingPair('cert_file', 'key_file');
    if (value.cert_file !== undefined && value.key_file === undefined) yield missingPair('key_file', 'cert_file');
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
      .number({ error: 'a number of at least 0' })
      .min(0, { error: 'a number of at least 0' })
      .prefault(0)
      .describe(
        'Maximum request rate to this upstream; 0 means no limit. Responses with status 429 temporarily lower the rate further, and their Retry-After stops all requests until then.',
      ),
    max_retries: integer(0, 20).prefault(2).describe('Maximum number of retries of a failed request.'),
    page_size: integer(1, 10_000).prefault(100).describe('Number of resources to request per page.'),
    max_page_bytes: size
      .prefault('16MiB')
      .describe('Maximum size of a response body; a larger one is an error and is not read into memory.'),
    list_style: z
      .enum(['repeat', 'comma'])
      .prefault('repeat')
      .describe('Encoding of list parameters: `repeat` the parameter for each entry, or separate entries by `comma`.'),
    authorization: authorization
      .exactOptional()
      .describe(
        'Credentials to send in the `Authorization` header. At most one of `authorization`, `basic_auth`, `hmac` and `oauth2` is allowed.',
      ),
    basic_auth: basicAuth.exactOptional().describe('HTTP basic authentication.'),
    hmac: hmac.exactOptional().describe('Request signing with an access key pair.'),
    oauth2: oauth2.exactOptional().describe('OAuth 2.0 client credentials grant.'),
    http_headers: httpHeaders.exactOptional().describe('Additional request headers, by name.'),
    tls_config: tlsConfig.exactOptional().describe('TLS settings.'),
    proxy_url: proxyUrl.exactOptional().describe('HTTP proxy to connect through.'),
  }),
  function* (value) {
    const schemes = AUTH_SCHEMES.filter((scheme) => value[scheme] !== undefined);
    yield* schemeProblems(schemes);
    if (isObject(value.http_headers)) yield* headerProblems(value.http_headers, schemes);
  },
).meta({ allOf: [...twoSchemes(), ...AUTH_SCHEMES.map(headersBeside)] });

/** The JSON Schema of `schemeProblems`. */
function twoSchemes() {
  return AUTH_SCHEMES.flatMap((first, at) =>
    AUTH_SCHEMES.slice(at + 1).map((second) => ({ not: given(first, second) })),
  );
}

/** The JSON Schema of `headerProblems`. */
function headersBeside(scheme: Scheme) {
  const pattern = `^(?!(?:${headersOf(scheme).map(anyCase).join('|')})$)`;
  return implies(given(scheme), { properties: { http_headers: { type: 'object', propertyNames: { pattern } } } });
}

type Scheme = (typeof AUTH_SCHEMES)[number];

/** The headers that the scheme sets. */
function headersOf(scheme: Scheme): readonly string[] {
  return scheme === 'hmac' ? ['authorization', 'date', 'x-date'] : ['authorization'];
}

function missingPair(key: string, given: string): CrossProblem {
  return { path: [key], message: `missing, expected together with ${given}` };
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
