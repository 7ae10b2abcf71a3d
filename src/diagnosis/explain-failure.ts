import { FAILURE_ADVICE, type FailureReason, ListingFailure } from '../station/failure.ts';
import { NOTABLE_CLOCK_DIFFERENCE_MS } from '../upstream/hmac.ts';
import { clockWords } from './clock-difference.ts';
import { codesOf, type Explanation, endsOf, type FailureCase } from './explanation.ts';
import { explainNetworkFailure, noConnection } from './network-explanation.ts';
import { explainTlsFailure } from './tls-explanation.ts';

/** The most that can be said about a failure. */
export function explainFailure(about: FailureCase): Explanation {
  return special(about) ?? general(about.reason);
}

function general(reason: FailureReason): Explanation {
  const { meaning, advice } = FAILURE_ADVICE[reason];
  return { short: reason, place: reason === 'tls' ? 'tls' : undefined, what: meaning, advice };
}

function special(about: FailureCase): Explanation | undefined {
  if (about.upstream.speaksTls) return plainToTls(about);
  switch (about.reason) {
    case 'network':
      return explainNetworkFailure(about);
    case 'timeout':
      return failureReason(about.upstream.connection.error) === 'timeout' ? noConnection(about) : undefined;
    case 'tls':
      return explainTlsFailure({ codes: codesOf(about.error), session: about.upstream.connection.session, ...endsOf(about.upstream) });
    case 'auth':
      return explainAuthFailure(about);
    default:
      return undefined;
  }
}

function plainToTls({ upstream }: FailureCase): Explanation {
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

/** What stands behind credentials that were not accepted, where it is more than that. */
function explainAuthFailure({ upstream, answers, clockMs = 0 }: FailureCase): Explanation | undefined {
  if (!answers.some(({ status }) => status === 401)) {
    return {
      short: 'not available',
      place: undefined,
      what: 'The credentials could not be had, so the service was not asked.',
      advice:
        'Look at the file that holds them: whether it is there, not empty, and whether the exporter may read it. With oauth2, look at token_url and the client secret.',
    };
  }
  if (upstream.options.auth?.scheme !== 'hmac' || Math.abs(clockMs) <= NOTABLE_CLOCK_DIFFERENCE_MS) return undefined;
  return {
    short: 'clock',
    place: undefined,
    what: `The service does not accept the signature (401), and the clock of this machine is ${clockWords(clockMs)} the service's: that alone makes it reject signatures.`,
    advice: 'Set the clock of this machine, best by NTP. If it is right, the clock of the service is wrong.',
  };
}
