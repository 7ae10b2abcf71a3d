import { codesOf, type Explanation, endpointsOf, type FailureContext } from './explanation.ts';
import { explainMissingClientCertificate } from './tls-explanation.ts';

/** Why no connection was established, or why it was closed early. */
export function explainNetworkFailure({ error, upstream, replies }: FailureContext): Explanation | undefined {
  const { service, proxy, isTls, ...rest } = endpointsOf(upstream);
  const host = proxy ?? service;
  const key = proxy === undefined ? 'base_url' : 'proxy_url';
  const codes = codesOf(error);
  const has = (...candidates: readonly string[]) => codes.some((code) => candidates.includes(code));
  if (has('ENOTFOUND', 'EAI_AGAIN')) {
    return {
      summary: 'unknown host',
      layer: 'connection',
      meaning: `The host name of ${host} cannot be resolved.`,
      advice: `Check the host in ${key}, and whether this host can resolve other names.`,
    };
  }
  if (has('ECONNREFUSED')) {
    return {
      summary: 'connection refused',
      layer: 'connection',
      meaning: `${host} refused the connection: no process listens on that port.`,
      advice: `Check the host and port in ${key}, and whether the server is running.`,
    };
  }
  if (has('EHOSTUNREACH', 'ENETUNREACH')) {
    return {
      summary: 'unreachable',
      layer: 'connection',
      meaning: `There is no route from this host to ${host}.`,
      advice: 'Check the routes and the network of this host. If outbound traffic needs a proxy, set proxy_url.',
    };
  }
  if (proxy !== undefined && upstream.connection.error !== undefined) {
    return {
      summary: 'refused by proxy',
      layer: 'connection',
      meaning: `The proxy ${proxy} did not open a tunnel to ${service}.`,
      advice:
        'For a 407, add user and password to proxy_url. For a 403, allow the service in the proxy. For a 502, 503 or 504, the proxy cannot reach the service.',
    };
  }
  // In TLS 1.3 the server rejects a client certificate only after the handshake has completed on our side.
  if (isTls && upstream.connection.session !== undefined && replies.length === 0) {
    return explainMissingClientCertificate({ service, ...rest });
  }
  return {
    summary: 'connection closed',
    layer: 'connection',
    meaning: `${host} closed the connection before the reply was complete.`,
    advice: 'If it recurs, check the load balancers, firewalls and proxies between the exporter and the service.',
  };
}

export function explainConnectTimeout({ upstream }: FailureContext): Explanation {
  const { service, proxy } = endpointsOf(upstream);
  return {
    summary: 'connect timeout',
    layer: 'connection',
    meaning: `No connection to ${proxy ?? service} was established within the timeout.`,
    advice:
      'The usual cause is a firewall that drops packets. Check the host and port too. If outbound traffic needs a proxy, set proxy_url.',
  };
}
