import { isNotableClockDifference } from '../model/clock.ts';
import type { Failure, FailureReason, UpstreamAccess } from '../model/failure.ts';

/** What a problem means and what to do about it. */
export interface Advice {
  /** What went wrong, in a few words. */
  readonly short: string;
  readonly meaning: string;
  readonly advice: string;
}

/** What is known beside a failure. */
export interface Circumstances {
  /** How the upstream is accessed; undefined: unknown. */
  readonly access?: UpstreamAccess | undefined;
  /** Who does not reply at all: the whole service, or one station while others of the upstream are answered. */
  readonly silence?: 'service' | 'station' | undefined;
  /** The station has been listed with this configuration. */
  readonly hasListed?: boolean;
}

export interface Rule extends Partial<Advice> {
  /** Matches one of the codes of the failure. */
  readonly code?: RegExp;
  /** Found in what the other side replied, which the message quotes. */
  readonly replyPattern?: RegExp;
  readonly when?: (circumstances: Circumstances & { readonly failure: Failure }) => boolean;
}

/** On a 503. */
export const UNAVAILABLE_ADVICE =
  'If the service is in maintenance, wait: refreshes continue when it accepts requests. If it is overloaded, send fewer requests: raise cache.ttl. Otherwise report it to the service.';

/** Neither a proxy nor a token endpoint failed. */
function isOfService({ proxy, tokenRequest }: Failure): boolean {
  return proxy === undefined && tokenRequest === undefined;
}

/** Stands for the status, where it is known. */
export const ERROR_STATUS = 'error status';

const HTTP2_ADVICE = 'Set {key} to a port with HTTP/1.1, such as that of the gateway, instead of the gRPC port.';

const CLIENT_CERTIFICATE_ADVICE =
  'Set tls_config.cert_file and tls_config.key_file. If they are set, check whether the certificate has expired, and whether the service trusts its issuer.';

const TOO_LONG_MEANING = 'The service, or a proxy before it, accepts no request that is so long ({status}).';

const TOO_LONG_ADVICE =
  'Shorten it, with fewer resource_ids in the filters, or shorter http_headers and tokens; or raise the limit of the proxy (nginx: large_client_header_buffers).';

const CLOSED = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/;

const ALTNAME = /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/;

const TLS_ON_PORT: Rule = {
  replyPattern: /plain HTTP|HTTP request to an HTTPS/i,
  short: 'TLS on this port',
  meaning: 'This port of {service} uses TLS, but {key} is an http URL ({status}).',
  advice: 'Use https:// in {key}.',
};

/** Of replies of a token endpoint; its other failures are those of any server. */
export const TOKEN_RULES: readonly Rule[] = [
  TLS_ON_PORT,
  {
    when: ({ failure: { status } }) => status === 400 || status === 401,
    short: ERROR_STATUS,
    meaning: '{service} rejected the client or its request.',
    advice:
      'Check oauth2.client_id, the client secret, oauth2.scopes and endpoint_params. A file with the secret is reread automatically.',
  },
  {
    when: ({ failure: { status = 0 } }) => status >= 300 && status < 400,
    short: ERROR_STATUS,
    meaning: '{service} redirects token requests, and redirects are not followed.',
    advice: 'Set oauth2.token_url to the URL that issues tokens, not to that of a sign-in page.',
  },
  {
    when: ({ failure: { status } }) => status === 403,
    short: ERROR_STATUS,
    meaning: '{service} denies access (403).',
    advice:
      'Allow the client to request tokens with the client credentials grant, and this host in the proxies and firewalls in between.',
  },
  {
    when: ({ failure: { status } }) => status === 404 || status === 405,
    short: ERROR_STATUS,
    meaning: '{service} accepts no token requests at this path.',
    advice: 'Check the path of oauth2.token_url.',
  },
  {
    when: ({ failure: { status } }) => status === 429,
    short: ERROR_STATUS,
    meaning: '{service} is limiting token requests (429).',
    advice: 'Check which other clients use the account: the exporter keeps each token until shortly before it expires.',
  },
  {
    when: ({ failure: { status = 0 } }) => status >= 500,
    short: ERROR_STATUS,
    meaning: '{service} fails.',
    advice: 'The exporter retries: report it to the operators of the token endpoint if it persists.',
  },
  {
    when: ({ failure: { status, tokenRequest } }) => status !== undefined || tokenRequest?.reason === 'body',
    short: 'no access token',
    meaning: '{service} returned no access token.',
    advice: 'Check oauth2.token_url: the usual cause is a sign-in page or the error page of a proxy.',
  },
];

/** The last one of a reason is the general one, which applies to all other failures: a rule has its texts where it has none. */
export const RULES: Readonly<Record<FailureReason, readonly [...Rule[], Rule & Advice]>> = {
  timeout: [
    {
      when: ({ failure }) => failure.proxy !== undefined,
      short: 'proxy timeout',
      meaning: '{host} opened no tunnel to {service} within the timeout.',
      advice: 'Check the host and port in proxy_url, and whether the proxy works and can reach {service}.',
    },
    {
      code: /^(UND_ERR_CONNECT_TIMEOUT|ERR_SOCKET_CONNECTION_TIMEOUT|ETIMEDOUT)$/,
      short: 'connect timeout',
      meaning: 'No connection to {host} was established within the timeout.',
      advice:
        'The usual cause is a firewall that drops packets. Check the host and port in {key} too. If outbound traffic needs a proxy, set proxy_url.',
    },
    {
      when: ({ failure }) => failure.tokenRequest !== undefined,
      meaning: '{service} did not answer in time.',
      advice:
        'Check {key}, whether the token endpoint is running, and the firewalls and proxies in between. Raise timeout only if it is known to be slow.',
    },
    // Where nothing is answered, more time would not help.
    {
      when: ({ silence }) => silence === 'station',
      meaning: 'The service does not answer for this station, but does for others of the upstream.',
      advice:
        'Report the station to the operators of the service, with its path and the time: network and host work. Raise timeout only if this station is known to be slow.',
    },
    {
      when: ({ silence }) => silence === 'service',
      meaning: 'The service does not answer at all.',
      advice:
        'Check base_url, whether the service is running, and the firewalls and proxies in between. Raise timeout only if the service is known to be slow.',
    },
    {
      short: 'timeout',
      meaning: 'The service did not answer in time.',
      advice:
        'If the service never answers, check base_url, and the firewalls and proxies in between. If one page takes too long, raise timeout or lower page_size. If all pages of a station take too long, raise refresh_timeout or concurrency.',
    },
  ],
  network: [
    {
      code: /^(ENOTFOUND|EAI_AGAIN)$/,
      short: 'unknown host',
      meaning: 'The host name of {host} cannot be resolved.',
      advice: 'Check the host in {key}, and whether this host can resolve other names.',
    },
    {
      code: /^ECONNREFUSED$/,
      short: 'connection refused',
      meaning: '{host} refused the connection: no process listens on that port.',
      advice: 'Check the host and port in {key}, and whether the server is running.',
    },
    {
      code: /^ERR_PROXY_TUNNEL$/,
      short: 'refused by proxy',
      meaning: '{host} did not open a tunnel to {service}.',
      advice:
        'For a 407, check the user and password in proxy_url. For a 403, allow the host and its port in the proxy: by default, squid allows tunnels to port 443 only. For a 502, 503 or 504, the proxy cannot reach it.',
    },
    {
      code: /^ERR_HTTP2_ERROR$/,
      short: 'HTTP/2 on this port',
      meaning: 'This port of {host} speaks HTTP/2 (gRPC), and the exporter speaks HTTP/1.1.',
      advice: HTTP2_ADVICE,
    },
    {
      code: /^ERR_REPLY_CUT$/,
      short: 'reply cut off',
      meaning: 'The reply ends in the middle, although HTTP calls it complete: a server behind a proxy closed early.',
      advice:
        'Set proxy_http_version 1.1 in nginx, which otherwise passes such replies on as complete ones. If it recurs, look for the time in the logs of the service and of the proxies; if only large pages are cut off, lower page_size.',
    },
    {
      code: CLOSED,
      when: ({ failure }) => !isOfService(failure),
      short: 'connection closed',
      meaning: '{host} closed the connection before the reply was complete.',
      advice:
        'If it recurs, check the load balancers, firewalls and proxies in between. If every request fails, {key} may need https://.',
    },
    {
      code: CLOSED,
      short: 'connection closed',
      meaning: '{host} closed the connection before the reply was complete.',
      // In TLS 1.3 the server rejects a client certificate only after the handshake has completed on our side.
      advice:
        'If it recurs, check the load balancers, firewalls and proxies between the exporter and the service. If every request fails, base_url may need https://, or the service requires a client certificate: set tls_config.cert_file and tls_config.key_file, or check whether they have expired.',
    },
    {
      short: 'connection failed',
      meaning: 'The connection to {host} failed or was closed early.',
      advice: 'Check {key} (https:// for a port with TLS), DNS, routes, firewalls and proxy_url.',
    },
  ],
  tls: [
    {
      code: /^(UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT)/,
      short: 'untrusted issuer',
      meaning: 'The certificate of {host} was issued by an untrusted authority.',
      advice:
        'For a private CA, set tls_config.ca_file to its certificate. For a public one, the service does not send an intermediate certificate: its operators have to add it.',
    },
    {
      code: /^CERT_HAS_EXPIRED$/,
      short: 'certificate expired',
      meaning: 'The certificate of {host} has expired.',
      advice: 'The operators of the service have to renew it. Check the clock of this host too.',
    },
    {
      code: /^CERT_NOT_YET_VALID$/,
      short: 'certificate not yet valid',
      meaning: 'The certificate of {host} is not yet valid.',
      advice:
        'Check the clock of this host first: it is probably behind. Otherwise the service uses the certificate too early.',
    },
    {
      // The server name of tls_config is that of the service.
      code: ALTNAME,
      when: ({ failure }) => !isOfService(failure),
      short: 'host name mismatch',
      meaning: 'The certificate of {host} was issued for another host name.',
      advice: 'Use a host name of the certificate in {key}.',
    },
    {
      code: ALTNAME,
      short: 'host name mismatch',
      meaning: 'The certificate of {host} was issued for another host name.',
      advice: 'Use a host name of the certificate in {key}, or set tls_config.server_name to one.',
    },
    {
      code: /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/,
      short: 'no TLS on this port',
      meaning: '{host} does not use TLS on this port, but {key} is an https URL.',
      advice: 'Check the scheme and port of {key}: http:// for plain HTTP, or the port with TLS.',
    },
    {
      code: /^ERR_SSL_\w+_ALERT_NO_APPLICATION_PROTOCOL$/,
      short: 'HTTP/2 on this port',
      meaning:
        '{host} refused the TLS handshake, because only HTTP/1.1 was offered (ALPN): this port probably speaks HTTP/2 (gRPC).',
      advice: HTTP2_ADVICE,
    },
    {
      code: /^ERR_SSL_(\w+_ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|WRONG_SSL_VERSION)$/,
      short: 'TLS version refused',
      meaning: '{host} uses none of the TLS versions that were offered: {tlsVersions}.',
      advice:
        'Set tls_config.min_version to a version that the server uses, or better have newer versions enabled there.',
    },
    {
      code: /^UNSPECIFIED$/,
      short: 'certificate refused',
      meaning: 'OpenSSL refuses the certificate of {host}, or one of its issuers.',
      advice:
        'The message has the reason, such as a weak signature (SHA-1), a short key, or a name that the issuer may not certify: have the certificate issued anew.',
    },
    {
      code: /^ERR_SSL_[\w/]+_ALERT_\w*(CERTIFICATE|UNKNOWN_CA|HANDSHAKE_FAILURE)/,
      short: 'client certificate required',
      meaning:
        '{host} closed the connection during the TLS handshake: it probably requires a client certificate, or rejects the one that is configured.',
      advice: CLIENT_CERTIFICATE_ADVICE,
    },
    {
      // EPROTO is a failed handshake, of no cause that is known here.
      code: /^((?!EPROTO)E[A-Z]+|ERR_OSSL_\w+|ERR_TLS_FILE)$/,
      short: 'unusable TLS file',
      meaning: 'A file of tls_config cannot be used.',
      advice:
        'Check that the file exists, is readable by the exporter and contains the expected PEM data: the message says what is wrong in it.',
    },
    {
      short: 'TLS handshake failed',
      meaning: 'The TLS handshake with {host} failed.',
      advice:
        'Check tls_config: ca_file for a private CA, server_name for a different host name, cert_file and key_file for mutual TLS, min_version for an old service.',
    },
  ],
  auth: [
    {
      when: ({ access, failure }) => access?.hasCredentials === false && failure.isAnswered === true,
      short: 'no credentials',
      meaning: 'The service requires credentials (401), and no credentials are configured.',
      advice: '{rejected}',
    },
    {
      when: ({ failure }) => !failure.isAnswered,
      short: 'no credentials',
      meaning: 'The credentials could not be read or obtained, so no request was sent.',
      advice: '{unobtainable}',
    },
    {
      when: ({ failure }) => isNotableClockDifference(failure.clockDifferenceMs),
      short: 'clock difference',
      meaning:
        "The service rejected the signature (401). The local clock is {clockDifference} the service's, which is enough to invalidate signatures.",
      advice: 'Synchronize the clock of this host (NTP). If it is correct, the clock of the service is wrong.',
    },
    {
      when: ({ access }) => access?.words.isIssued === true,
      replyPattern: /\b(expired|not yet (valid|active)|(valid|active) yet|before issued|nbf|iat)\b/i,
      short: 'token expired',
      meaning:
        'The service rejected {credentials} as expired or not yet valid (401), although the token endpoint issued it just before.',
      advice:
        'Compare the clocks of the token endpoint and of the service (NTP). If both are correct, have tokens issued that live longer.',
    },
    {
      short: '401 Unauthorized',
      meaning: 'The service rejected {credentials} (401).',
      advice: '{rejected}',
    },
  ],
  forbidden: [
    {
      when: ({ failure }) => failure.isHtml === true,
      meaning:
        'A proxy or firewall denies this host access to {service} (403): the reply is an HTML page, not one of the service.',
      advice: 'Have the access allowed there: the permissions of the account do not matter yet. Check base_url too.',
    },
    {
      when: ({ access }) => access?.hasCredentials === false,
      meaning: 'The service denies access (403), and no credentials are configured.',
      advice: '{rejected}',
    },
    {
      when: ({ access }) => access?.words.isIssued === true,
      // Also in insufficient_scope.
      replyPattern: /(?<![a-z])scopes?(?![a-z])/i,
      meaning: 'The service accepted {credentials}, but it lacks a scope (403).',
      advice: 'Add the scope that the service names to oauth2.scopes, and allow the client to request it.',
    },
    {
      when: ({ failure }) => failure.isJson === false,
      meaning:
        '{service}, or a proxy or firewall before it, denies access (403): the reply, which is no JSON, does not say which.',
      advice:
        'Have the access of this host allowed in the proxies and firewalls, and grant the account read permission on the station.',
    },
    {
      short: '403 Forbidden',
      meaning: 'The service accepted {credentials}, but the account has no permission to list this station (403).',
      advice: 'Grant the account read permission on the station, or use an account that has it.',
    },
  ],
  not_found: [
    {
      when: ({ hasListed }) => hasListed === true,
      short: 'no longer found (404)',
      meaning: 'The service does not know this station any more (404): it has listed it before.',
      advice:
        'Check whether the telemetry station was deleted or renamed, and if so remove it from the configuration. Otherwise check the path in base_url, and permissions: some services return 404 for a missing one.',
    },
    {
      short: '404 Not Found',
      meaning: 'The service does not know this station (404).',
      advice:
        'Check subscription, resource_group, zone and telemetry_station (or rid), and the path in base_url. Some services also return 404 for a missing permission.',
    },
  ],
  rate_limited: [
    {
      short: '429 Too Many Requests',
      meaning: 'The service is limiting requests (429).',
      advice:
        'Send fewer requests: raise cache.ttl, or remove products. Check which other clients use the account, and whether its limit can be raised.',
    },
  ],
  status: [
    {
      replyPattern: /SSL certificate/i,
      short: 'client certificate required',
      meaning: '{service} requires a client certificate, or rejects the one that is configured ({status}).',
      advice: CLIENT_CERTIFICATE_ADVICE,
    },
    TLS_ON_PORT,
    {
      when: ({ failure: { status } }) => status === 414 || status === 431,
      meaning: TOO_LONG_MEANING,
      advice: TOO_LONG_ADVICE,
    },
    {
      replyPattern: /(header|cookie|URI|request line) too (large|long)/i,
      meaning: TOO_LONG_MEANING,
      advice: TOO_LONG_ADVICE,
    },
    {
      when: ({ failure: { status } }) => status === 421,
      meaning: 'The server does not serve the host name of the request, {service} (421).',
      advice:
        'Use the name of the service in base_url: it is sent as Host. If tls_config.server_name is set, it must be the same name.',
    },
    {
      when: ({ failure: { status, rpcCode } }) => status === 400 && rpcCode === 3,
      meaning: 'It is the right service, but it rejects a parameter of the request (400).',
      advice: 'Check page_size and the filters of the station: the reply may name the field.',
    },
    {
      when: ({ failure: { status } }) => status === 409 || status === 499,
      meaning: 'The service aborted the request ({status}).',
      advice: 'The exporter retries: report it to the operators of the service if it persists.',
    },
    {
      when: ({ failure: { status } }) => status === 501,
      meaning: 'The server does not implement this listing ({status}).',
      advice:
        'Check the path in base_url, and with the operators of the service whether it offers the listing. The exporter does not retry.',
    },
    {
      when: ({ failure: { status } }) => status === 413,
      meaning: 'Even the smallest page is too large for {service} ({status}).',
      advice: 'A record, or ten of them, are larger than a reply may be: have the message limit of the service raised.',
    },
    {
      when: ({ failure: { status = 0, rpcCode } }) => status < 500 && rpcCode !== undefined,
      meaning: 'It is the right service, but it rejects the request ({status}).',
      advice:
        'Check page_size and the filters of the station, and report the reply to the operators of the service if they are correct.',
    },
    {
      when: ({ access, failure: { status } }) => status === 400 && access?.isSecure === true,
      advice:
        'This status usually means that base_url is wrong. If the service requires a client certificate, set tls_config.cert_file and tls_config.key_file.',
    },
    { when: ({ failure: { status } }) => status === 503, advice: UNAVAILABLE_ADVICE },
    {
      when: ({ failure: { status = 0 } }) => status >= 500,
      advice: 'This is a failure of the service: the exporter retries; report it to the service if it persists.',
    },
    {
      when: ({ failure: { status } }) => status !== undefined,
      advice: 'This status usually means that base_url is wrong.',
    },
    {
      short: ERROR_STATUS,
      meaning: 'The service returned an error status.',
      advice:
        'A 5xx is a failure of the service: the exporter retries; report it to the service if it persists. A 4xx or a redirect usually means that base_url is wrong.',
    },
  ],
  body: [
    {
      replyPattern: /empty reply/,
      short: 'empty reply',
      meaning: 'The reply is empty.',
      advice:
        'Check the path in base_url, and the proxies between the exporter and the service: a listing without resources is not empty.',
    },
    {
      short: 'not a listing',
      meaning: 'The reply is not a listing.',
      advice:
        'Open base_url in a browser: the usual cause is a sign-in page or the error page of a proxy. If the reply is too large, raise max_page_bytes or lower page_size; if there are too many records, see limits.',
    },
  ],
  internal: [
    {
      short: 'internal error',
      meaning: 'Internal error (exporter bug).',
      advice: 'Report it with the log line, which contains the stack trace.',
    },
  ],
};
