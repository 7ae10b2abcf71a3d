import { type FailureReason, ListingFailure } from '../station/failure.ts';
import { FAILURE_ADVICE } from '../station/failure-advice.ts';
import { authTrouble } from './auth-trouble.ts';
import { codesOf } from './error-codes.ts';
import { networkTrouble, noConnection } from './network-trouble.ts';
import { tlsTrouble } from './tls-trouble.ts';
import { endsOf, type FailureCase, type Trouble } from './trouble.ts';

/** The most that can be said about a failure. */
export function troubleOf(about: FailureCase): Trouble {
  return special(about) ?? general(about.reason);
}

function general(reason: FailureReason): Trouble {
  const { meaning, advice } = FAILURE_ADVICE[reason];
  return { short: reason, place: reason === 'tls' ? 'tls' : undefined, what: meaning, advice };
}

function special(about: FailureCase): Trouble | undefined {
  if (about.upstream.speaksTls) return plainToTls(about);
  switch (about.reason) {
    case 'network':
      return networkTrouble(about);
    case 'timeout':
      return failureReason(about.upstream.connection.error) === 'timeout' ? noConnection(about) : undefined;
    case 'tls':
      return tlsTrouble({ codes: codesOf(about.error), session: about.upstream.connection.session, ...endsOf(about.upstream) });
    case 'auth':
      return authTrouble(about);
    default:
      return undefined;
  }
}

function plainToTls({ upstream }: FailureCase): Trouble {
  const { service } = endsOf(upstream);
  return {
    short: 'none, though TLS is spoken there',
    place: 'tls',
    what: `${service} speaks TLS on this port, but base_url begins with http.`,
    advice: 'Begin base_url with https://.',
  };
}

/** As the client would tell it. */
export function failureReason(error: unknown): FailureReason {
  return error instanceof ListingFailure ? error.reason : 'internal';
}
