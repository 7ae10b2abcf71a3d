import type { CredentialWords, UpstreamAccess } from '../model/failure.ts';
import { enumeration } from '../text/quoted.ts';
import { SCHEME_NAMES } from './auth/schemes.ts';
import type { UpstreamOptions } from './upstream-options.ts';

export function upstreamAccess(options: UpstreamOptions): UpstreamAccess {
  const { auth, baseUrl, headers, tls } = options;
  return {
    service: baseUrl.host,
    hasCredentials: auth !== undefined || headers.length > 0 || tls?.cert_file !== undefined,
    words: credentialWords(options),
  };
}

const EXPECTED = `Configure one of ${enumeration(SCHEME_NAMES)} for the upstream.`;

function credentialWords({ auth, headers }: UpstreamOptions): CredentialWords {
  if (auth) return auth.words;
  return headers.length > 0
    ? { credentials: 'the values of http_headers', rejected: `Check http_headers. ${EXPECTED}` }
    : { credentials: 'the client certificate', rejected: EXPECTED };
}
