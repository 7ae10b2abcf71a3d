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

interface ListingFailureOptions extends ErrorOptions {
  readonly isPostponed?: boolean;
  readonly status?: number | undefined;
  readonly replyStatus?: number | undefined;
  readonly clockDifferenceMs?: number | undefined;
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
  /** The same of whichever server replied, such as a token endpoint. */
  readonly replyStatus: number | undefined;
  /** How far the local clock is ahead of the service's, where that may be why it rejected the request. */
  readonly clockDifferenceMs: number | undefined;

  constructor(
    reason: FailureReason,
    message: string,
    { isPostponed = false, status, replyStatus = status, clockDifferenceMs, ...options }: ListingFailureOptions = {},
  ) {
    super(message, options);
    this.reason = reason;
    this.isPostponed = isPostponed;
    this.status = status;
    this.replyStatus = replyStatus;
    this.clockDifferenceMs = clockDifferenceMs;
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
export interface FailureFacts extends FailureSummary {
  /** Of the error and its causes, outermost first: codes of OpenSSL, Node, undici or the file system. */
  readonly codes?: readonly string[];
  /** The reply with the status is the service's own. */
  readonly isAnswered?: boolean;
  readonly clockDifferenceMs?: number | undefined;
}

/** Why a refresh failed; anything but a ListingFailure is a bug of the exporter. */
export function failureOf(error: unknown): FailureFacts & { readonly error: unknown } {
  const codes = codesOf(error);
  if (!(error instanceof ListingFailure)) {
    const message = error instanceof Error ? error.message : String(error);
    return { reason: 'internal', message, codes, isAnswered: false, error };
  }
  const { reason, message, status, replyStatus, clockDifferenceMs } = error;
  return { reason, message, status: replyStatus, isAnswered: status !== undefined, clockDifferenceMs, codes, error };
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
  /** The host connected to first, and its key in the configuration. */
  readonly host: string;
  readonly key: 'base_url' | 'proxy_url';
  /** Requests carry something that identifies the client. */
  readonly hasCredentials: boolean;
  readonly words: CredentialWords;
}

/** The credentials in the words of the configuration, and what to do about them. */
export interface CredentialWords {
  readonly credentials: string;
  readonly rejected: string;
  readonly unobtainable?: string;
}
