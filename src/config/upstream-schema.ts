import * as z from 'zod';
import { AUTH_SCHEMES, authorization, basicAuth, hmac, httpHeaders, oauth2 } from './auth-schemas.ts';
import { type CrossProblem, crossChecked, isMapping, type Mapping } from './cross-check.ts';
import { filePath, proxyUrl, serviceUrl, size, text, timeoutDuration, tlsVersion, wholeNumber } from './scalar-schemas.ts';

const tlsConfig = crossChecked(
  z.strictObject({
    ca_file: filePath.exactOptional().describe('The authorities to trust, in place of those of the system.'),
    cert_file: filePath.exactOptional().describe('The client certificate.'),
    key_file: filePath.exactOptional().describe('The key of the client certificate; both or neither.'),
    server_name: text.exactOptional().describe('The name expected in the certificate of the server, in place of the host.'),
    insecure_skip_verify: z.boolean().prefault(false).describe('Accept any certificate.'),
    min_version: tlsVersion.exactOptional().describe('The oldest version of TLS to speak.'),
  }),
  function* (value) {
    if (value.cert_file === undefined && value.key_file !== undefined) yield missingPair('cert_file', 'key_file');
    if (value.cert_file !== undefined && value.key_file === undefined) yield missingPair('key_file', 'cert_file');
  },
);

export const upstream = crossChecked(
  z.strictObject({
    base_url: serviceUrl.describe('Where the service is; a path prefix is allowed.'),
    timeout: timeoutDuration.prefault('10s').describe('For one HTTP request, its body included.'),
    refresh_timeout: timeoutDuration
      .prefault('2m')
      .describe('For one whole refresh of a station with all its listings, whoever waits for it.'),
    concurrency: wholeNumber(1, 1000).prefault(8).describe('Requests in flight to this upstream, all stations together.'),
    requests_per_second: z
      .number({ error: 'a number of at least 0' })
      .min(0, { error: 'a number of at least 0' })
      .prefault(0)
      .describe(
        'Requests begun per second at most, all stations together; 0 for no ceiling. The service’s 429 and Retry-After lower the rate below it for a while.',
      ),
    max_retries: wholeNumber(0, 20).prefault(2).describe('How often a failed request is tried again.'),
    page_size: wholeNumber(1, 10_000).prefault(100).describe('Resources to ask for per request.'),
    max_page_bytes: size.prefault('16MiB').describe('A larger reply is an error and is never read into memory.'),
    list_style: z
      .enum(['repeat', 'comma'])
      .prefault('repeat')
      .describe('How lists are sent: each entry as a parameter of its own, or all in one, separated by commas.'),
    authorization: authorization
      .exactOptional()
      .describe(
        'Credentials in the header `Authorization`. At most one of `authorization`, `basic_auth`, `hmac` and `oauth2` may be given.',
      ),
    basic_auth: basicAuth.exactOptional().describe('A user name and a password.'),
    hmac: hmac.exactOptional().describe('Requests signed with an access key pair.'),
    oauth2: oauth2.exactOptional().describe('Tokens fetched with OAuth 2.0 client credentials.'),
    http_headers: httpHeaders.exactOptional().describe('Further headers of every request, by name.'),
    tls_config: tlsConfig.exactOptional().describe('How TLS connections are made.'),
    proxy_url: proxyUrl.exactOptional().describe('The HTTP proxy to go through.'),
  }),
  function* (value) {
    const schemes = AUTH_SCHEMES.filter((scheme) => value[scheme] !== undefined);
    yield* schemeProblems(schemes);
    if (isMapping(value.http_headers)) yield* headerProblems(value.http_headers, schemes);
  },
);

function missingPair(key: string, given: string): CrossProblem {
  return { path: [key], message: `missing, expected together with ${given}` };
}

function* schemeProblems([first, ...others]: readonly string[]): Iterable<CrossProblem> {
  for (const scheme of others) {
    yield { path: [scheme], message: `given together with ${first}, expected only one of ${AUTH_SCHEMES.join(', ')}`, atKey: true };
  }
}

function* headerProblems(headers: Mapping, [scheme]: readonly string[]): Iterable<CrossProblem> {
  if (scheme === undefined) return;
  const taken = scheme === 'hmac' ? ['authorization', 'date', 'x-date'] : ['authorization'];
  for (const name of Object.keys(headers).filter((key) => taken.includes(key.toLowerCase()))) {
    yield { path: ['http_headers', name], message: `${scheme} sets this header, expected another one`, atKey: true };
  }
}
