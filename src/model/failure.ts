/** Why a refresh failed: a closed set, because each reason is a label value that alerting rules depend on. */
export const FAILURE_REASONS = [
  'timeout',
  'network',
  'tls',
  'auth',
  'forbidden',
  'not_found',
  'rate_limited',
  'status',
  'body',
  'internal',
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

/** The reason why a station is not up before its first attempt: that of no attempt. */
export const NOT_TRIED_REASON = 'not_tried';

/** Why a station is not up: a closed set as well. */
export const DOWN_REASONS = [NOT_TRIED_REASON, ...FAILURE_REASONS] as const;

/** What explains a failure beside its reason, its message and its causes; it contains no secrets. */
export interface FailureDetails {
  /** The status of the reply that is the failure, whichever server sent it. */
  readonly replyStatus?: number | undefined;
  /** The gRPC code in that reply, which has the form of google.rpc.Status. */
  readonly rpcCode?: number | undefined;
  /** The body of that reply is JSON, as that of a gateway. */
  readonly isJson?: boolean;
  /** It is an HTML page. */
  readonly isHtml?: boolean;
  /** How far the local clock is ahead of the service's, where that may be why it rejected the request. */
  readonly clockDifferenceMs?: number | undefined;
  /** The host of the proxy, where it failed itself, and not the server behind it. */
  readonly proxy?: string | undefined;
  /** Of a request for a token: the host of the token endpoint, and the reason that the failure has at a service. */
  readonly tokenRequest?: { readonly host: string; readonly reason: FailureReason } | undefined;
}

interface ListingFailureOptions extends FailureDetails, ErrorOptions {
  readonly isPostponed?: boolean;
  readonly status?: number | undefined;
}

/**
 * A listing could not be read to its end, for a reason outside this process.
 * The message is for operators: it may quote a bounded excerpt of the reply, never a credential.
 */
export class ListingFailure extends Error {
  override readonly name = 'ListingFailure';
  readonly reason: FailureReason;
  /** `Retry-After` exceeds the time that the refresh has: a station with data keeps it and is refreshed later. */
  readonly isPostponed: boolean;
  /** The status of the service's reply that is the failure. */
  readonly status: number | undefined;
  readonly details: FailureDetails;

  constructor(
    reason: FailureReason,
    message: string,
    { isPostponed = false, status, cause, ...details }: ListingFailureOptions = {},
  ) {
    super(message, { cause });
    this.reason = reason;
    this.isPostponed = isPostponed;
    this.status = status;
    this.details = { replyStatus: status, ...details };
  }
}

/** Maximum number of records, by their keys in the configuration. */
export interface RecordLimits {
  readonly records_per_station: number;
  readonly records: number;
}

export type RecordLimit = keyof RecordLimits;

export const RECORD_LIMITS: readonly RecordLimit[] = ['records_per_station', 'records'];

export class RecordLimitFailure extends ListingFailure {
  constructor(limit: RecordLimit, records: number) {
    const whose = limit === 'records' ? 'all stations together have' : 'the station has';
    super(
      'body',
      `${whose} more than ${records} records, which is limits.${limit}: raise it together with the heap, or request less`,
    );
  }
}

export interface FailureSummary {
  readonly reason: FailureReason;
  readonly message: string;
  readonly status?: number | undefined;
}

/** What explains a failure; it contains no secrets. */
export interface Failure extends FailureSummary, Omit<FailureDetails, 'replyStatus'> {
  /** Of the error and its causes, outermost first: codes of OpenSSL, Node, undici or the file system. */
  readonly codes?: readonly string[];
  /** The reply with the status is the service's own. */
  readonly isAnswered?: boolean;
}

/** Why a refresh failed; anything but a ListingFailure is a bug of the exporter. */
export function failureOf(error: unknown): Failure & { readonly error: unknown } {
  const codes = codesOf(error);
  if (!(error instanceof ListingFailure)) {
    const message = error instanceof Error ? error.message : String(error);
    return { reason: 'internal', message, codes, isAnswered: false, error };
  }
  const { reason, message, details } = error;
  const { replyStatus, ...others } = details;
  return { reason, message, status: replyStatus, isAnswered: error.status !== undefined, ...others, codes, error };
}

function codesOf(error: unknown): readonly string[] {
  const codes: string[] = [];
  for (let link = error; link instanceof Error; link = link.cause) {
    if ('code' in link && typeof link.code === 'string') codes.push(link.code);
  }
  return codes;
}

/** How an upstream is reached and authenticated, in the words of explanations; it contains no secrets. */
export interface UpstreamAccess {
  readonly service: string;
  readonly isSecure: boolean;
  /** What a TLS handshake offers. */
  readonly tlsVersions: string;
  /** Requests carry something that identifies the client. */
  readonly hasCredentials: boolean;
  readonly words: CredentialWords;
}

/** The credentials in the words of the configuration, and what to do about them. */
export interface CredentialWords {
  readonly credentials: string;
  readonly rejected: string;
  readonly unobtainable?: string;
  /** A token endpoint issues them, again after each 401. */
  readonly isIssued?: boolean;
}
