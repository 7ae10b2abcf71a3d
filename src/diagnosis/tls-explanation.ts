import type { Explanation } from './explanation.ts';
import type { Session } from './facts.ts';

/** What is known of a connection that could not be encrypted as it should be. */
interface TlsCase {
  readonly codes: readonly string[];
  readonly service: string;
  readonly session: Session | undefined;
  readonly hasClientCertificate: boolean;
}

interface TlsRow {
  readonly code: RegExp;
  readonly tell: (about: TlsCase) => Explanation;
}

/** Certificates of large hosters have hundreds. */
const MAX_NAMES = 5;

/** The trouble behind the codes of OpenSSL, of Node's own checks and of files; undefined when none of them is known. */
export function explainTlsFailure(about: TlsCase): Explanation | undefined {
  return ROWS.find(({ code }) => about.codes.some((candidate) => code.test(candidate)))?.tell(about);
}

const ROWS: readonly TlsRow[] = [
  {
    code: /^(UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT)|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT)/,
    tell: ({ service, session }) => ({
      short: 'unknown authority',
      place: 'tls',
      what: `The certificate of ${service} was issued by an authority that is not trusted here${listed(session && [session.issuer])}.`,
      advice:
        'If the authority is your own, put its certificate into a file and name that as tls_config.ca_file. If it is a public one, the service leaves out an intermediate certificate: those who run it have to add it.',
    }),
  },
  {
    code: /^CERT_HAS_EXPIRED$/,
    tell: ({ service, session }) => ({
      short: 'expired',
      place: 'tls',
      what: `The certificate of ${service} has expired${session === undefined ? '' : `, on ${isoDay(session.validToMs)}`}.`,
      advice: 'Those who run the service have to renew it. Make sure too that the clock of this machine is right.',
    }),
  },
  {
    code: /^CERT_NOT_YET_VALID$/,
    tell: ({ service }) => ({
      short: 'not valid yet',
      place: 'tls',
      what: `The certificate of ${service} is not valid yet.`,
      advice: 'Look at the clock of this machine first: it is probably behind. Otherwise the service uses a certificate too early.',
    }),
  },
  {
    code: /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/,
    tell: ({ service, session }) => ({
      short: 'wrong host name',
      place: 'tls',
      what: `The certificate shown at ${service} is made out to another host name${listed(session?.names)}.`,
      advice: 'Use the name in the certificate in base_url; where that is not possible, name it as tls_config.server_name.',
    }),
  },
  {
    code: /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/,
    tell: ({ service }) => ({
      short: 'no TLS spoken',
      place: 'tls',
      what: `${service} does not speak TLS on this port, but base_url begins with https.`,
      advice: 'Compare scheme and port of base_url with the service: http:// for plain HTTP, or the port that TLS is spoken on.',
    }),
  },
  {
    code: /^ERR_SSL_(UNSUPPORTED_PROTOCOL|TLSV1_ALERT_PROTOCOL_VERSION|NO_PROTOCOLS_AVAILABLE)$/,
    tell: ({ service }) => ({
      short: 'no common version',
      place: 'tls',
      what: `${service} speaks no version of TLS that is allowed here.`,
      advice: 'See tls_config.min_version; better than lowering it is to have the service speak TLS 1.2 or newer.',
    }),
  },
  {
    // Newer versions of OpenSSL call SSLV3 what it is: SSL/TLS.
    code: /^ERR_SSL_(TLSV13_ALERT_CERTIFICATE_REQUIRED|(SSLV3|SSL\/TLS)_ALERT_HANDSHAKE_FAILURE)$/,
    tell: clientCertificate,
  },
  {
    code: /^ERR_SSL_[\w/]+_ALERT_\w*(CERTIFICATE|UNKNOWN_CA)/,
    tell: ({ service }) => ({
      short: 'client certificate refused',
      place: 'tls',
      what: `${service} does not accept the client certificate.`,
      advice: 'Look at tls_config.cert_file: whether it has expired, and whether the service trusts the authority that issued it.',
    }),
  },
  {
    code: /^(E[A-Z]+|ERR_OSSL_\w+|ERR_X509_\w+|ERR_INVALID_ARG_\w+)$/,
    tell: () => ({
      short: 'unusable file',
      place: 'tls',
      what: 'A file that tls_config names cannot be used.',
      advice: 'Look at the file: whether it is there, whether the exporter may read it, and whether it holds what it should, in PEM form.',
    }),
  },
];

/** Also what a connection means that the service drops as soon as it is encrypted. */
export function clientCertificate({ service, hasClientCertificate }: Pick<TlsCase, 'service' | 'hasClientCertificate'>): Explanation {
  if (hasClientCertificate) {
    return {
      short: 'client certificate refused',
      place: 'tls',
      what: `${service} ends the connection when it should be encrypted: it probably does not accept the client certificate.`,
      advice: 'Look at tls_config.cert_file: whether it has expired, and whether the service trusts the authority that issued it.',
    };
  }
  return {
    short: 'client certificate demanded',
    place: 'tls',
    what: `${service} ends the connection when it should be encrypted: it probably demands a client certificate.`,
    advice: 'Have a certificate issued for the exporter and name it with its key as tls_config.cert_file and tls_config.key_file.',
  };
}

function listed(names: readonly string[] | undefined): string {
  return names === undefined ? '' : `: ${names.slice(0, MAX_NAMES).join(', ')}`;
}

const DAY_MS = 86_400_000;

export function lifeText(untilMs: number, nowMs: number): string {
  const days = daysLeft(untilMs, nowMs);
  return days >= 0 ? `${days} days left` : `ended ${isoDay(untilMs)}`;
}

/** Whole days until then; negative when it has passed. */
export function daysLeft(untilMs: number, nowMs: number): number {
  return Math.floor((untilMs - nowMs) / DAY_MS);
}

export function isoDay(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}
