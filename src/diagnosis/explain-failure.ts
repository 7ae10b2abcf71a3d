import { FAILURE_ADVICE, type FailureReason, ListingFailure } from '../model/failure.ts';
import { explainAuthFailure, explainForbidden } from './credential-explanation.ts';
import { codesOf, type Explanation, endpointsOf, type FailureContext } from './explanation.ts';
import { explainConnectTimeout, explainNetworkFailure } from './network-explanation.ts';
import { explainTlsFailure } from './tls-explanation.ts';

/** The most specific explanation; the general one of the reason where the cause is unknown. */
export function explainFailure(context: FailureContext): Explanation {
  return specificExplanation(context) ?? generalExplanation(context.reason);
}

/** The reason under which the client reports the error. */
export function failureReason(error: unknown): FailureReason {
  return error instanceof ListingFailure ? error.reason : 'internal';
}

function generalExplanation(reason: FailureReason): Explanation {
  return { summary: reason, layer: reason === 'tls' ? 'tls' : undefined, ...FAILURE_ADVICE[reason] };
}

function specificExplanation(context: FailureContext): Explanation | undefined {
  const { upstream } = context;
  if (upstream.speaksTls) return explainPlainHttp(context);
  switch (context.reason) {
    case 'network':
      return explainNetworkFailure(context);
    case 'timeout':
      return failureReason(upstream.connection.error) === 'timeout' ? explainConnectTimeout(context) : undefined;
    case 'tls':
      return explainTlsFailure({
        codes: codesOf(context.error),
        session: upstream.connection.session,
        ...endpointsOf(upstream),
      });
    case 'auth':
      return explainAuthFailure(context);
    case 'forbidden':
      return explainForbidden(context);
    default:
      return undefined;
  }
}

function explainPlainHttp({ upstream }: FailureContext): Explanation {
  const { service } = endpointsOf(upstream);
  return {
    summary: 'port expects TLS',
    layer: 'tls',
    meaning: `${service} expects TLS on this port, but base_url is an http URL.`,
    advice: 'Start base_url with https://.',
  };
}
