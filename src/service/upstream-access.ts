import type { CredentialWords, UpstreamAccess } from '../model/failure.ts';
import { keysOf, TLS_VERSIONS } from '../schema/scalar-schemas.ts';
import { enumeration } from '../text/quoted.ts';
import { SCHEME_NAMES } from './auth/schemes.ts';
import type { UpstreamOptions } from './upstream-options.ts';

export function upstreamAccess(options: UpstreamOptions): UpstreamAccess {
  const { auth, baseUrl, headers, tls } = options;
  return {
    service: baseUrl.host,
    isSecure: baseUrl.protocol === 'https:',
    tlsVersions: offeredVersions(tls?.min_version),
    hasCredentials: auth !== undefined || headers.length > 0 || tls?.cert_file !== undefined,
    words: credentialWords(options),
  };
}

/** Node offers TLS 1.2 and later by default. */
function offeredVersions(minimum: keyof typeof TLS_VERSIONS = 'TLS12'): string {
  const versions = keysOf(TLS_VERSIONS);
  return enumeration(versions.slice(versions.indexOf(minimum)));
}

const EXPECTED = `Configure one of ${enumeration(SCHEME_NAMES)} for the upstream.`;

function credentialWords({ auth, headers }: UpstreamOptions): CredentialWords {
  if (auth) return auth.words;
  return headers.length > 0
    ? { credentials: 'the values of http_headers', rejected: `Check http_headers. ${EXPECTED}` }
    : { credentials: 'the client certificate', rejected: EXPECTED };
}
