import { errors } from 'undici';
import { type FailureReason, ListingFailure } from '../station/failure.ts';

interface RetryAdvice {
  /** The same request may succeed a little later. */
  readonly retryable?: boolean;
  /** The service asked for at least this wait. */
  readonly retryAfterMs?: number | undefined;
  /** The service did not accept who we say we are. */
  readonly unauthorized?: boolean;
  /** The service gets more requests than it takes. */
  readonly throttled?: boolean;
  /** Less may be given where this much was not. */
  readonly tooLarge?: boolean;
}

/** One request failed for a reason outside this program; says too whether another try makes sense. */
export class RequestFailure extends ListingFailure {
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly unauthorized: boolean;
  readonly throttled: boolean;
  readonly tooLarge: boolean;

  constructor(reason: FailureReason, message: string, advice: RetryAdvice = {}, options?: ErrorOptions) {
    super(reason, message, options);
    this.retryable = advice.retryable ?? false;
    this.retryAfterMs = advice.retryAfterMs;
    this.unauthorized = advice.unauthorized ?? false;
    this.throttled = advice.throttled ?? false;
    this.tooLarge = advice.tooLarge ?? false;
  }
}

/** The failure behind an error of a connection; an error that nothing outside this program explains stays what it is. */
export function transportFailure<E>(peer: string, error: E): E | RequestFailure {
  const reason = errorReason(error);
  if (error instanceof RequestFailure || reason === undefined) return error;
  // The parser's error carries the reply along, which may repeat a secret.
  const cause = error instanceof errors.HTTPParserError ? undefined : error;
  return new RequestFailure(reason, `${peer}: ${errorText(error)}`, { retryable: reason !== 'tls' }, { cause });
}

const TIMEOUT = /^(ETIMEDOUT|ERR_SOCKET_CONNECTION_TIMEOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/;

/** OpenSSL's verification results, its handshake and key errors, and Node's own checks. */
const TLS =
  /^(EPROTO$|ERR_(TLS|SSL|OSSL)_|CERT_|CRL_|UNABLE_TO_|ERROR_IN_C|DEPTH_ZERO_|SELF_SIGNED_|INVALID_(CA|PURPOSE)$|PATH_LENGTH_|HOSTNAME_MISMATCH$)/;

/** What the HTTP library says of a reply that it did not think possible, such as a bare 101. */
const ASSERTION = 'ERR_ASSERTION';

/** The system's socket and name errors, and replies that are no HTTP or end too early. */
const NETWORK = /^(E[A-Z0-9]+$|EAI_|ERR_ASSERTION$|HTTPParserError$|UND_ERR_(SOCKET|HEADERS_OVERFLOW|RES_CONTENT_LENGTH_MISMATCH)$)/;

/** Why a connection or a request broke; undefined when nothing outside this program explains it. */
export function errorReason(error: unknown): Extract<FailureReason, 'timeout' | 'tls' | 'network'> | undefined {
  for (let link = error; link instanceof Error; link = link.cause) {
    // The parser's errors have no code of their own.
    const code = String(('code' in link && link.code) || link.name);
    if (TIMEOUT.test(code)) return 'timeout';
    if (TLS.test(code)) return 'tls';
    if (NETWORK.test(code)) return 'network';
  }
  return undefined;
}

export function statusReason(status: number): FailureReason {
  switch (status) {
    case 401:
      return 'auth';
    case 403:
      return 'forbidden';
    case 404:
      return 'not_found';
    case 429:
      return 'rate_limited';
    default:
      return 'status';
  }
}

/** The error's own words; a failed connection to several addresses has none but those of its parts. */
export function errorText(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(errorText).join('; ');
  if (error instanceof Error && 'code' in error && error.code === ASSERTION) return 'the reply breaks the rules of HTTP';
  // OpenSSL's message is a line of its log, with addresses and places in its source.
  if (error instanceof Error && 'library' in error && 'reason' in error) return `${error.library}: ${error.reason}`;
  return error instanceof Error ? error.message : String(error);
}
