import { codesOf, type Explanation, endsOf, type FailureCase } from './explanation.ts';
import { clientCertificate } from './tls-explanation.ts';

/** Why no connection was made, or why it broke. */
export function explainNetworkFailure({ error, upstream, answers }: FailureCase): Explanation | undefined {
  const { service, proxy, isSecure, ...rest } = endsOf(upstream);
  const hop = proxy ?? service;
  const where = proxy === undefined ? 'base_url' : 'proxy_url';
  const codes = codesOf(error);
  const has = (...candidates: readonly string[]) => codes.some((code) => candidates.includes(code));
  if (has('ENOTFOUND', 'EAI_AGAIN')) {
    return {
      short: 'unknown name',
      place: 'connection',
      what: `The name of ${hop} cannot be resolved to an address.`,
      advice: `Compare the host in ${where} with the real one, and see whether this machine can resolve other names.`,
    };
  }
  if (has('ECONNREFUSED')) {
    return {
      short: 'refused',
      place: 'connection',
      what: `${hop} refuses the connection: nothing listens on that port.`,
      advice: `Compare host and port in ${where} with the real ones, and see whether what should listen there runs.`,
    };
  }
  if (has('EHOSTUNREACH', 'ENETUNREACH')) {
    return {
      short: 'unreachable',
      place: 'connection',
      what: `There is no way from this machine to ${hop}.`,
      advice: 'Look at the routes and the network of this machine; where only a proxy leads outside, name it as proxy_url.',
    };
  }
  if (proxy !== undefined && upstream.connection.error !== undefined) {
    return {
      short: 'the proxy refuses',
      place: 'connection',
      what: `The proxy ${proxy} does not let us through to ${service}.`,
      advice:
        'After a 407 put user and password into proxy_url; after a 403 have the service allowed in the proxy; after a 502, 503 or 504 the proxy itself cannot reach the service.',
    };
  }
  // In the newest version of TLS a client learns only afterwards that its certificate does not do.
  if (isSecure && upstream.connection.session !== undefined && answers.length === 0) return clientCertificate({ service, ...rest });
  return {
    short: 'broken off',
    place: 'connection',
    what: `${hop} breaks the connection off before its reply is complete.`,
    advice: 'If it happens again and again, see what stands between here and the service: a load balancer, a firewall, a proxy.',
  };
}

export function noConnection({ upstream }: FailureCase): Explanation {
  const { service, proxy } = endsOf(upstream);
  return {
    short: 'no connection in time',
    place: 'connection',
    what: `No connection to ${proxy ?? service} comes about within the timeout.`,
    advice:
      'A firewall that drops packets silently is the usual cause. Compare host and port too; where only a proxy leads outside, name it as proxy_url.',
  };
}
