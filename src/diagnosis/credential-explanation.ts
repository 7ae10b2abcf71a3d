import type { UpstreamOptions } from '../model/upstream-options.ts';
import { clockDifferenceText, isNotableClockDifference } from './clock-difference.ts';
import type { Explanation, FailureContext } from './explanation.ts';

/** Explains a failure of reason `auth`, in the terms of the authentication scheme in use. */
export function explainAuthFailure({
  upstream: { options },
  replies,
  clockDifferenceMs = 0,
}: FailureContext): Explanation {
  const { what, unreadable, rejected } = credentialsOf(options);
  if (!hasCredentials(options)) {
    return explanation(
      'no credentials',
      'The service requires credentials (401), and no credentials are configured.',
      rejected,
    );
  }
  if (!replies.some(({ status }) => status === 401)) {
    return explanation(
      'no credentials',
      'The credentials could not be read or obtained, so no request was sent.',
      unreadable,
    );
  }
  if (options.auth?.scheme !== 'hmac' || !isNotableClockDifference(clockDifferenceMs)) {
    return explanation('auth', `The service rejected ${what} (401).`, rejected);
  }
  return explanation(
    'clock difference',
    `The service rejected the signature (401). The local clock is ${clockDifferenceText(clockDifferenceMs)} the service's, which is enough to invalidate signatures.`,
    'Synchronize the clock of this host (NTP). If it is correct, the clock of the service is wrong.',
  );
}

/** Explains a failure of reason `forbidden`. */
export function explainForbidden({ upstream: { options } }: FailureContext): Explanation {
  if (!hasCredentials(options)) {
    return explanation(
      'forbidden',
      'The service denies access (403), and no credentials are configured.',
      credentialsOf(options).rejected,
    );
  }
  return explanation(
    'forbidden',
    `The service accepted ${credentialsOf(options).what}, but the account has no permission to list this station (403).`,
    'Grant the account read permission on the station, or use an account that has it.',
  );
}

/** Whether requests carry anything that identifies the client. */
export function hasCredentials({ auth, headers, tls }: Pick<UpstreamOptions, 'auth' | 'headers' | 'tls'>): boolean {
  return auth !== undefined || headers.length > 0 || tls?.certFile !== undefined;
}

interface Credentials {
  readonly what: string;
  /** What to do when they cannot be read or obtained. */
  readonly unreadable: string;
  /** What to do when the service rejects them. */
  readonly rejected: string;
}

const CHECK_FILE = 'Check that the credential file exists, is not empty and is readable by the exporter.';

/** In the words of the configuration. */
function credentialsOf({ auth, headers, tls }: UpstreamOptions): Credentials {
  const reread = 'Credential files are reread automatically.';
  switch (auth?.scheme) {
    case 'authorization':
      return {
        what: `the ${auth.type} credentials of authorization`,
        unreadable: CHECK_FILE,
        rejected: `Check whether they have expired, and replace authorization.credentials or the content of its file. ${reread}`,
      };
    case 'basic':
      return {
        what: 'the user name and password of basic_auth',
        unreadable: CHECK_FILE,
        rejected: `Check basic_auth.username and the password. ${reread}`,
      };
    case 'hmac':
      return {
        what: 'the signature of hmac',
        unreadable: CHECK_FILE,
        rejected: `Check hmac.access_key_id, the secret access key, and whether the service expects other signed_headers. ${reread}`,
      };
    case 'oauth2':
      return {
        what: 'the access token of oauth2',
        unreadable: `Check oauth2.token_url, client_id and the client secret. ${CHECK_FILE}`,
        rejected:
          'The token endpoint issued a token that the service rejects: check oauth2.scopes and endpoint_params.',
      };
    default:
      return withoutScheme(headers.length > 0, tls?.certFile !== undefined);
  }
}

function withoutScheme(hasHeaders: boolean, hasCertificate: boolean): Credentials {
  const expected = 'Configure one of authorization, basic_auth, hmac and oauth2 for the upstream.';
  if (hasHeaders)
    return { what: 'the values of http_headers', unreadable: CHECK_FILE, rejected: `Check http_headers. ${expected}` };
  const what = hasCertificate ? 'the client certificate' : 'the request';
  return { what, unreadable: CHECK_FILE, rejected: expected };
}

function explanation(summary: string, meaning: string, advice: string): Explanation {
  return { summary, layer: undefined, meaning, advice };
}
