import { type FailureReason, failureAdvice, failureOf, NOT_SENT } from '../model/failure.ts';
import type { CredentialWords } from '../service/auth/scheme.ts';
import { SCHEME_NAMES } from '../service/auth/schemes.ts';
import type { UpstreamOptions } from '../service/upstream-options.ts';
import { enumeration } from '../text/quoted.ts';
import { clockDifferenceText, isNotableClockDifference, type StationFailure, type UpstreamFacts } from './facts.ts';

/** What a failure means and what to do about it. */
export interface Explanation {
  /** Fits a table cell. */
  readonly summary: string;
  /** The TLS handshake failed, or the first request because of it. */
  readonly isTls: boolean;
  readonly meaning: string;
  readonly advice: string;
}

/** The explanation of the first rule that applies; the general one of the reason where none does. */
export function explainFailure(failure: StationFailure, upstream: UpstreamFacts): Explanation {
  const { reason } = failure;
  const circumstances = circumstancesOf(failure, upstream);
  const words = wordsOf(upstream);
  const codes = codesOf(failure.error);
  const rules = upstream.speaksTls ? [PLAIN_HTTP] : (RULES[reason] ?? []);
  const rule = rules.find(
    ({ code, when }) =>
      (code === undefined || codes.some((candidate) => code.test(candidate))) &&
      (when === undefined || circumstances[when]),
  );
  const { summary, isTls, meaning, advice } = {
    summary: reason,
    isTls: reason === 'tls',
    ...failureAdvice(failure),
    ...rule,
  };
  const filled = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: keyof typeof words) => words[name] ?? '');
  return { summary: filled(summary), isTls, meaning: filled(meaning), advice: filled(advice) };
}

/** Why the connection failed; undefined when it did not. */
export function explainConnection(upstream: UpstreamFacts): Explanation | undefined {
  const { connection, failures } = upstream;
  if (connection.error !== undefined) return explainFailure({ ...failureOf(connection.error), replies: [] }, upstream);
  // With TLS 1.3 some failures appear only after the first request.
  return failures.map((failure) => explainFailure(failure, upstream)).find(({ isTls }) => isTls);
}

/** Whether requests carry anything that identifies the client. */
export function hasCredentials({ auth, headers, tls }: Pick<UpstreamOptions, 'auth' | 'headers' | 'tls'>): boolean {
  return auth !== undefined || headers.length > 0 || tls?.cert_file !== undefined;
}

export function isoDate(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

interface ExplanationRule {
  /** Error codes of OpenSSL, Node or the file system. */
  readonly code?: RegExp;
  readonly when?: keyof ReturnType<typeof circumstancesOf>;
  readonly isTls?: true;
  /** The texts contain names of words in braces. */
  readonly summary?: string;
  readonly meaning?: string;
  readonly advice?: string;
}

const PLAIN_HTTP: ExplanationRule = {
  isTls: true,
  summary: 'port expects TLS',
  meaning: '{service} expects TLS on this port, but base_url is an http URL.',
  advice: 'Start base_url with https://.',
};

const CLIENT_CERTIFICATE: ExplanationRule = {
  isTls: true,
  summary: 'client certificate {certificateState}',
  meaning:
    '{service} closed the connection during the TLS handshake: it probably {certificateProblem} client certificate.',
  advice: '{certificateAdvice}',
};

const CLIENT_CERTIFICATE_ADVICE =
  'Check whether tls_config.cert_file has expired, and whether the service trusts its issuer.';

/** The first rule that applies explains the failure. */
const RULES: Readonly<Partial<Record<FailureReason, readonly ExplanationRule[]>>> = {
  network: [
    {
      code: /^(ENOTFOUND|EAI_AGAIN)$/,
      summary: 'unknown host',
      meaning: 'The host name of {host} cannot be resolved.',
      advice: 'Check the host in {key}, and whether this host can resolve other names.',
    },
    {
      code: /^ECONNREFUSED$/,
      summary: 'connection refused',
      meaning: '{host} refused the connection: no process listens on that port.',
      advice: 'Check the host and port in {key}, and whether the server is running.',
    },
    {
      code: /^(EHOSTUNREACH|ENETUNREACH)$/,
      summary: 'unreachable',
      meaning: 'There is no route from this host to {host}.',
      advice: 'Check the routes and the network of this host. If outbound traffic needs a proxy, set proxy_url.',
    },
    {
      when: 'isRefusedByProxy',
      summary: 'refused by proxy',
      meaning: 'The proxy {host} did not open a tunnel to {service}.',
      advice:
        'For a 407, add user and password to proxy_url. For a 403, allow the service in the proxy. For a 502, 503 or 504, the proxy cannot reach the service.',
    },
    { when: 'isClosedAfterHandshake', ...CLIENT_CERTIFICATE },
    {
      summary: 'connection closed',
      meaning: '{host} closed the connection before the reply was complete.',
      advice: 'If it recurs, check the load balancers, firewalls and proxies between the exporter and the service.',
    },
  ],
  timeout: [
    {
      when: 'isConnectTimeout',
      summary: 'connect timeout',
      meaning: 'No connection to {host} was established within the timeout.',
      advice:
        'The usual cause is a firewall that drops packets. Check the host and port too. If outbound traffic needs a proxy, set proxy_url.',
    },
    {
      when: 'areOthersAnswered',
      meaning: 'The service does not answer for this station, but does for others of the upstream.',
      advice:
        'Report the station to the operators of the service, with its path and the time. Raise timeout only if this station is known to be slow.',
    },
  ],
  tls: [
    {
      code: /^(UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT)/,
      summary: 'untrusted issuer',
      meaning: 'The certificate of {service} was issued by an untrusted authority{issuer}.',
      advice:
        'For a private CA, set tls_config.ca_file to its certificate. For a public one, the service does not send an intermediate certificate: its operators have to add it.',
    },
    {
      code: /^CERT_HAS_EXPIRED$/,
      summary: 'expired',
      meaning: 'The certificate of {service} expired{expiry}.',
      advice: 'The operators of the service have to renew it. Check the clock of this host too.',
    },
    {
      code: /^CERT_NOT_YET_VALID$/,
      summary: 'not yet valid',
      meaning: 'The certificate of {service} is not yet valid.',
      advice:
        'Check the clock of this host first: it is probably behind. Otherwise the service uses the certificate too early.',
    },
    {
      code: /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
      summary: 'host name mismatch',
      meaning: 'The certificate of {service} was issued for another host name{names}.',
      advice: 'Use a host name of the certificate in base_url, or set tls_config.server_name to one.',
    },
    {
      code: /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/,
      summary: 'no TLS on this port',
      meaning: '{service} does not use TLS on this port, but base_url is an https URL.',
      advice: 'Check the scheme and port of base_url: http:// for plain HTTP, or the TLS port of the service.',
    },
    {
      code: /^ERR_SSL_(UNSUPPORTED_PROTOCOL|TLSV1_ALERT_PROTOCOL_VERSION|NO_PROTOCOLS_AVAILABLE)$/,
      summary: 'no common TLS version',
      meaning: '{service} supports no TLS version that the configuration allows.',
      advice: 'Have the service support TLS 1.2 or newer, or lower tls_config.min_version.',
    },
    {
      // OpenSSL 3.2 renamed SSLV3 to SSL/TLS in these codes.
      code: /^ERR_SSL_(TLSV13_ALERT_CERTIFICATE_REQUIRED|(SSLV3|SSL\/TLS)_ALERT_HANDSHAKE_FAILURE)$/,
      ...CLIENT_CERTIFICATE,
    },
    {
      code: /^ERR_SSL_[\w/]+_ALERT_\w*(CERTIFICATE|UNKNOWN_CA)/,
      summary: 'client certificate rejected',
      meaning: '{service} rejected the client certificate.',
      advice: CLIENT_CERTIFICATE_ADVICE,
    },
    {
      // EPROTO is a failed handshake, of no cause that is known here.
      code: /^((?!EPROTO)E[A-Z]+|ERR_OSSL_\w+|ERR_X509_\w+|ERR_INVALID_ARG_\w+)$/,
      summary: 'unusable file',
      meaning: 'A file of tls_config cannot be used.',
      advice: 'Check that the file exists, is readable by the exporter and contains the expected PEM data.',
    },
  ],
  auth: [
    {
      when: 'hasNoCredentials',
      summary: 'no credentials',
      meaning: 'The service requires credentials (401), and no credentials are configured.',
      advice: '{rejected}',
    },
    {
      when: 'isNotSent',
      summary: NOT_SENT.short,
      meaning: NOT_SENT.meaning,
      advice: '{unobtainable}',
    },
    {
      when: 'isClockDifferent',
      summary: 'clock difference',
      meaning:
        "The service rejected the signature (401). The local clock is {clockDifference} the service's, which is enough to invalidate signatures.",
      advice: 'Synchronize the clock of this host (NTP). If it is correct, the clock of the service is wrong.',
    },
    { meaning: 'The service rejected {credentials} (401).', advice: '{rejected}' },
  ],
  forbidden: [
    {
      when: 'hasNoCredentials',
      meaning: 'The service denies access (403), and no credentials are configured.',
      advice: '{rejected}',
    },
    {
      meaning: 'The service accepted {credentials}, but the account has no permission to list this station (403).',
    },
  ],
};

/** What the rules depend on. */
function circumstancesOf({ replies }: StationFailure, upstream: UpstreamFacts) {
  const { options, connection, clockDifferenceMs = 0 } = upstream;
  return {
    isRefusedByProxy: options.proxyUrl !== undefined && connection.error !== undefined,
    /** In TLS 1.3 the server rejects a client certificate only after the handshake has completed on our side. */
    isClosedAfterHandshake: connection.session !== undefined && replies.length === 0,
    isConnectTimeout: failureOf(connection.error).reason === 'timeout',
    areOthersAnswered: replies.length === 0 && upstream.replies.length > 0,
    hasNoCredentials: !hasCredentials(options),
    isNotSent: !replies.some(({ status }) => status === 401),
    isClockDifferent: options.auth?.dependsOnClock === true && isNotableClockDifference(clockDifferenceMs),
  };
}

/** Certificates of large hosting providers have hundreds. */
const MAX_CERTIFICATE_NAMES = 5;

/** What the texts of the rules name. */
function wordsOf({ options, connection, clockDifferenceMs = 0 }: UpstreamFacts) {
  const { baseUrl, proxyUrl, tls } = options;
  const { session } = connection;
  const isRejected = tls?.cert_file !== undefined;
  return {
    service: baseUrl.host,
    /** The host connected to first, and its key in the configuration. */
    host: (proxyUrl ?? baseUrl).host,
    key: proxyUrl === undefined ? 'base_url' : 'proxy_url',
    issuer: session && `: ${session.issuer}`,
    names: session && `: ${session.names.slice(0, MAX_CERTIFICATE_NAMES).join(', ')}`,
    expiry: session && ` on ${isoDate(session.validToMs)}`,
    certificateState: isRejected ? 'rejected' : 'required',
    certificateProblem: isRejected ? 'rejects the' : 'requires a',
    certificateAdvice: isRejected
      ? CLIENT_CERTIFICATE_ADVICE
      : 'Obtain a client certificate and set tls_config.cert_file and tls_config.key_file.',
    clockDifference: clockDifferenceText(clockDifferenceMs),
    unobtainable: 'Check that the credential file exists, is not empty and is readable by the exporter.',
    ...credentialWords(options),
  };
}

/** The codes of an error and its causes, outermost first. */
function codesOf(error: unknown): readonly string[] {
  const codes: string[] = [];
  for (let link = error; link instanceof Error; link = link.cause) {
    if ('code' in link && typeof link.code === 'string') codes.push(link.code);
  }
  return codes;
}

const EXPECTED = `Configure one of ${enumeration(SCHEME_NAMES)} for the upstream.`;

/** The credentials in the words of the configuration, and what to do when they are rejected. */
function credentialWords({ auth, headers }: UpstreamOptions): CredentialWords {
  if (auth) return auth.words;
  return headers.length > 0
    ? { credentials: 'the values of http_headers', rejected: `Check http_headers. ${EXPECTED}` }
    : { credentials: 'the client certificate', rejected: EXPECTED };
}
