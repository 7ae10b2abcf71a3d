import { isoDate } from './certificate-lifetime.ts';
import type { Explanation } from './explanation.ts';
import type { TlsSession } from './facts.ts';

interface TlsFailure {
  readonly codes: readonly string[];
  readonly service: string;
  readonly session: TlsSession | undefined;
  readonly hasClientCertificate: boolean;
}

interface Rule {
  readonly code: RegExp;
  readonly explain: (failure: TlsFailure) => Omit<Explanation, 'layer'>;
}

/** Certificates of large hosting providers have hundreds. */
const MAX_NAMES = 5;

/** By the error codes of OpenSSL, Node and the file system; undefined when none of them is known. */
export function explainTlsFailure(failure: TlsFailure): Explanation | undefined {
  const rule = RULES.find(({ code }) => failure.codes.some((candidate) => code.test(candidate)));
  return rule && { layer: 'tls', ...rule.explain(failure) };
}

/** Also used when the service closes the connection right after the handshake. */
export function explainMissingClientCertificate(
  failure: Pick<TlsFailure, 'service' | 'hasClientCertificate'>,
): Explanation {
  return { layer: 'tls', ...clientCertificateProblem(failure) };
}

const RULES: readonly Rule[] = [
  {
    code: /^(UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT)/,
    explain: ({ service, session }) => ({
      summary: 'untrusted issuer',
      meaning: `The certificate of ${service} was issued by an untrusted authority${listed(session && [session.issuer])}.`,
      advice:
        'For a private CA, set tls_config.ca_file to its certificate. For a public one, the service does not send an intermediate certificate: its operators have to add it.',
    }),
  },
  {
    code: /^CERT_HAS_EXPIRED$/,
    explain: ({ service, session }) => ({
      summary: 'expired',
      meaning: `The certificate of ${service} expired${session === undefined ? '' : ` on ${isoDate(session.validToMs)}`}.`,
      advice: 'The operators of the service have to renew it. Check the clock of this host too.',
    }),
  },
  {
    code: /^CERT_NOT_YET_VALID$/,
    explain: ({ service }) => ({
      summary: 'not yet valid',
      meaning: `The certificate of ${service} is not yet valid.`,
      advice:
        'Check the clock of this host first: it is probably behind. Otherwise the service uses the certificate too early.',
    }),
  },
  {
    code: /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    explain: ({ service, session }) => ({
      summary: 'host name mismatch',
      meaning: `The certificate of ${service} was issued for another host name${listed(session?.names)}.`,
      advice: 'Use a host name of the certificate in base_url, or set tls_config.server_name to one.',
    }),
  },
  {
    code: /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/,
    explain: ({ service }) => ({
      summary: 'no TLS on this port',
      meaning: `${service} does not use TLS on this port, but base_url is an https URL.`,
      advice: 'Check the scheme and port of base_url: http:// for plain HTTP, or the TLS port of the service.',
    }),
  },
  {
    code: /^ERR_SSL_(UNSUPPORTED_PROTOCOL|TLSV1_ALERT_PROTOCOL_VERSION|NO_PROTOCOLS_AVAILABLE)$/,
    explain: ({ service }) => ({
      summary: 'no common TLS version',
      meaning: `${service} supports no TLS version that the configuration allows.`,
      advice: 'Have the service support TLS 1.2 or newer, or lower tls_config.min_version.',
    }),
  },
  {
    // OpenSSL 3.2 renamed SSLV3 to SSL/TLS in these codes.
    code: /^ERR_SSL_(TLSV13_ALERT_CERTIFICATE_REQUIRED|(SSLV3|SSL\/TLS)_ALERT_HANDSHAKE_FAILURE)$/,
    explain: clientCertificateProblem,
  },
  {
    code: /^ERR_SSL_[\w/]+_ALERT_\w*(CERTIFICATE|UNKNOWN_CA)/,
    explain: ({ service }) => ({
      summary: 'client certificate rejected',
      meaning: `${service} rejected the client certificate.`,
      advice: CLIENT_CERTIFICATE_ADVICE,
    }),
  },
  {
    code: /^(E[A-Z]+|ERR_OSSL_\w+|ERR_X509_\w+|ERR_INVALID_ARG_\w+)$/,
    explain: () => ({
      summary: 'unusable file',
      meaning: 'A file of tls_config cannot be used.',
      advice: 'Check that the file exists, is readable by the exporter and contains the expected PEM data.',
    }),
  },
];

const CLIENT_CERTIFICATE_ADVICE =
  'Check whether tls_config.cert_file has expired, and whether the service trusts its issuer.';

function clientCertificateProblem({
  service,
  hasClientCertificate,
}: Pick<TlsFailure, 'service' | 'hasClientCertificate'>) {
  if (hasClientCertificate) {
    return {
      summary: 'client certificate rejected',
      meaning: `${service} closed the connection during the TLS handshake: it probably rejects the client certificate.`,
      advice: CLIENT_CERTIFICATE_ADVICE,
    };
  }
  return {
    summary: 'client certificate required',
    meaning: `${service} closed the connection during the TLS handshake: it probably requires a client certificate.`,
    advice: 'Obtain a client certificate and set tls_config.cert_file and tls_config.key_file.',
  };
}

function listed(names: readonly string[] | undefined): string {
  return names === undefined ? '' : `: ${names.slice(0, MAX_NAMES).join(', ')}`;
}
