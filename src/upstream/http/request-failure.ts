import { type FailureReason, ListingFailure } from '../../model/failure.ts';
import { safeExcerpt } from './redaction.ts';

interface RetryAdvice {
  /** The same request may succeed later. */
  readonly retryable?: boolean;
  /** The minimum delay that the service requested. */
  readonly retryAfterMs?: number | undefined;
  /** The service rejected the credentials. */
  readonly unauthorized?: boolean;
  /** The service rejected the request because of its rate limit. */
  readonly throttled?: boolean;
  /** The service has no capacity (503): overload while it accepts other requests, otherwise an outage. */
  readonly overloaded?: boolean;
  /** A smaller page may succeed. */
  readonly tooLarge?: boolean;
}

/** One request failed for a reason outside this process; the properties decide whether and how it is retried. */
export class RequestFailure extends ListingFailure {
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly unauthorized: boolean;
  readonly throttled: boolean;
  readonly overloaded: boolean;
  readonly tooLarge: boolean;

  constructor(reason: FailureReason, message: string, advice: RetryAdvice = {}, options?: ErrorOptions) {
    super(reason, message, options);
    this.retryable = advice.retryable ?? false;
    this.retryAfterMs = advice.retryAfterMs;
    this.unauthorized = advice.unauthorized ?? false;
    this.throttled = advice.throttled ?? false;
    this.overloaded = advice.overloaded ?? false;
    this.tooLarge = advice.tooLarge ?? false;
  }
}

/** Translates errors of sockets, TLS and HTTP; any other error is a bug and is returned as it is. */
export function transportFailure<E>(endpoint: string, error: E, secrets: readonly string[] = []): E | RequestFailure {
  const reason = errorReason(error);
  if (error instanceof RequestFailure || reason === undefined) return error;
  // The parser's error contains the reply, which may repeat a secret.
  const cause = error instanceof Error && error.name === PARSER_ERROR ? undefined : error;
  // The text may contain names of the service's certificate.
  const message = `${endpoint}: ${safeExcerpt(errorText(error), secrets)}`;
  return new RequestFailure(reason, message, { retryable: reason !== 'tls' }, { cause });
}

const TIMEOUT = /^(ETIMEDOUT|ERR_SOCKET_CONNECTION_TIMEOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/;

/** OpenSSL's verification, handshake and key errors, and those of Node. */
const TLS =
  /^(EPROTO$|ERR_(TLS|SSL|OSSL)_|CERT_|CRL_|UNABLE_TO_|ERROR_IN_C|DEPTH_ZERO_|SELF_SIGNED_|INVALID_(CA|PURPOSE)$|PATH_LENGTH_|HOSTNAME_MISMATCH$)/;

/** The name of the errors of undici's parser. */
const PARSER_ERROR = 'HTTPParserError';

/** undici's error for a reply it considers impossible, such as a 101 that was not requested. */
const ASSERTION = 'ERR_ASSERTION';

/** Socket and DNS errors of the system, and replies that are not HTTP or end too early. */
const NETWORK =
  /^(E[A-Z0-9]+$|EAI_|ERR_ASSERTION$|HTTPParserError$|UND_ERR_(SOCKET|HEADERS_OVERFLOW|RES_CONTENT_LENGTH_MISMATCH)$)/;

/** The reason for an error of a connection or request; undefined when it has none outside this process. */
export function errorReason(error: unknown): Extract<FailureReason, 'timeout' | 'tls' | 'network'> | undefined {
  for (let link = error; link instanceof Error; link = link.cause) {
    // Errors of undici's parser have no code.
    const code = String(('code' in link && link.code) || link.name);
    if (TIMEOUT.test(code)) return 'timeout';
    if (TLS.test(code)) return 'tls';
    if (NETWORK.test(code)) return 'network';
  }
  return undefined;
}

/** The error's message; a failed connection to several addresses only has those of its attempts. */
export function errorText(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(errorText).join('; ');
  if (error instanceof Error && 'code' in error && error.code === ASSERTION) return 'the reply is not valid HTTP';
  // OpenSSL's message is a log line with memory addresses and source positions.
  if (error instanceof Error && 'library' in error && 'reason' in error) return `${error.library}: ${error.reason}`;
  return error instanceof Error ? error.message : String(error);
}
