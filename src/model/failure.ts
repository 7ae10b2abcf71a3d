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
  readonly replyStatus?: number | undefined;
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
  /** The status of the reply that is the failure, whichever server sent it. */
  readonly replyStatus: number | undefined;

  constructor(
    reason: FailureReason,
    message: string,
    { isPostponed = false, replyStatus, ...options }: ListingFailureOptions = {},
  ) {
    super(message, options);
    this.reason = reason;
    this.isPostponed = isPostponed;
    this.replyStatus = replyStatus;
  }
}

/** Maximum number of records, by their keys in the configuration. */
export interface RecordLimits {
  /** Maximum for one station, all its listings together. */
  readonly records_per_station: number;
  /** Maximum for all stations. */
  readonly records: number;
}

export type RecordLimit = keyof RecordLimits;

export const RECORD_LIMITS: readonly RecordLimit[] = ['records_per_station', 'records'];

/** More records than may be kept in memory. */
export class RecordLimitFailure extends ListingFailure {
  constructor(limit: RecordLimit, records: number) {
    const whose = limit === 'records' ? 'all stations together have' : 'the station has';
    super(
      'body',
      `${whose} more than ${records} records, which is limits.${limit}: raise it together with the heap, or request less`,
    );
  }
}

/** What is shown of a failure. */
export interface FailureSummary {
  readonly reason: FailureReason;
  readonly message: string;
  /** The status of the reply that is the failure. */
  readonly status?: number | undefined;
}

/** Why a refresh failed; anything but a ListingFailure is a bug of the exporter. */
export function failureOf(error: unknown): FailureSummary & { readonly error: unknown } {
  if (error instanceof ListingFailure)
    return { reason: error.reason, message: error.message, status: error.replyStatus, error };
  return { reason: 'internal', message: error instanceof Error ? error.message : String(error), error };
}

interface Advice {
  /** What went wrong, in a few words. */
  readonly short: string;
  readonly meaning: string;
  readonly advice: string;
}

/** What each reason means and what to do: shown on pages, by `check --live` and in the documentation. */
export const FAILURE_ADVICE: Readonly<Record<FailureReason, Advice>> = {
  timeout: {
    short: 'timeout',
    meaning: 'The service did not answer in time.',
    advice:
      'If the service never answers, check base_url, and the firewalls and proxies in between. If one page takes too long, raise timeout or lower page_size. If all pages of a station take too long, raise refresh_timeout or concurrency.',
  },
  network: {
    short: 'connection failed',
    meaning: 'The connection to the service failed or was closed early.',
    advice: 'Check base_url, DNS, firewalls and proxy_url.',
  },
  tls: {
    short: 'TLS handshake failed',
    meaning: 'The TLS handshake with the service failed.',
    advice:
      'Check tls_config: ca_file for a private CA, server_name for a different host name, cert_file and key_file for mutual TLS.',
  },
  auth: {
    short: '401 Unauthorized',
    meaning: 'The service rejected the credentials (401).',
    advice:
      'Update the credentials in the configuration or in the file it names; credential files are reread automatically. With hmac, check the clock too.',
  },
  forbidden: {
    short: '403 Forbidden',
    meaning: 'The credentials are valid, but have no permission to list this station (403).',
    advice: 'Grant the account read permission on the station, or use an account that has it.',
  },
  not_found: {
    short: '404 Not Found',
    meaning: 'The service does not know this station (404).',
    advice:
      'Check subscription, resource_group, zone and telemetry_station (or rid), and the path in base_url. Some services also return 404 for a missing permission.',
  },
  rate_limited: {
    short: '429 Too Many Requests',
    meaning: 'The service is limiting requests (429).',
    advice:
      'Send fewer requests: raise cache.ttl or page_size, or remove products. Check which other clients use the account, and whether its limit can be raised.',
  },
  status: {
    short: 'error status',
    meaning: 'The service returned an error status.',
    advice:
      'A 5xx is a failure of the service: the exporter retries; report it to the service if it persists. A 4xx or a redirect usually means that base_url is wrong.',
  },
  body: {
    short: 'not a listing',
    meaning: 'The reply is not a listing.',
    advice:
      'Open base_url in a browser: the usual cause is a sign-in page or the error page of a proxy. If the reply is too large, raise max_page_bytes or lower page_size; if there are too many records, see limits.',
  },
  internal: {
    short: 'internal error',
    meaning: 'Internal error (exporter bug).',
    advice: 'Report it with the log line, which contains the stack trace.',
  },
};

/** A failure to authenticate without a reply. */
export const NOT_SENT: Advice = {
  short: 'no credentials',
  meaning: 'The credentials could not be read or obtained, so no request was sent.',
  advice: 'Check the file or the token endpoint that the message names; credential files are reread automatically.',
};

/** Who does not reply at all: the whole service, or one station while others of the same host are answered. */
export type Silence = 'service' | 'station';

/** A timeout without a single reply: more time would not help. */
const SILENT: Readonly<Record<Silence, Advice>> = {
  service: {
    short: 'timeout',
    meaning: 'The service does not answer at all.',
    advice:
      'Check base_url, whether the service is running, and the firewalls and proxies in between. Raise timeout only if the service is known to be slow.',
  },
  station: {
    short: 'timeout',
    meaning: 'The service does not answer for this station, but does for others on the same host.',
    advice:
      'Report the station to the operators of the service, with its path and the time: network and host work. Raise timeout only if this station is known to be slow.',
  },
};

/** The advice of one failure: of an error status only what applies to it. */
export function failureAdvice(
  { reason, status }: Pick<FailureSummary, 'reason' | 'status'>,
  silence?: Silence,
): Advice {
  if (reason === 'auth' && status === undefined) return NOT_SENT;
  if (reason === 'timeout' && silence !== undefined) return SILENT[silence];
  const general = FAILURE_ADVICE[reason];
  if (reason !== 'status' || status === undefined) return general;
  const advice =
    status >= 500
      ? 'This is a failure of the service: the exporter retries; report it to the service if it persists.'
      : 'This status usually means that base_url is wrong.';
  return { ...general, advice };
}
