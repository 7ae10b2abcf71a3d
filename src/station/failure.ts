/** Why a refresh failed: a closed set, because each one is a label value that rules depend on. */
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

/**
 * A listing could not be read to its end, for a reason outside this program.
 * The message is for operators: it may quote a bounded piece of the reply, never a credential.
 */
export class ListingFailure extends Error {
  override readonly name = 'ListingFailure';
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

interface Advice {
  readonly meaning: string;
  readonly advice: string;
}

/** What each reason means to those who run the exporter, and what they can do about it. */
export const FAILURE_ADVICE: Readonly<Record<FailureReason, Advice>> = {
  timeout: {
    meaning: 'The service did not answer in time.',
    advice:
      'If the service is slow, raise timeout (one request) or refresh_timeout (all pages of a station), or lower page_size. If nothing answers at all, look at firewalls on the way.',
  },
  network: {
    meaning: 'The connection to the service could not be made, or broke off.',
    advice: 'Compare base_url with where the service is, and look at name resolution, firewalls and proxy_url on the way there.',
  },
  tls: {
    meaning: 'The encrypted connection to the service could not be set up.',
    advice:
      'Look at tls_config: ca_file for an authority of your own, server_name for another name, cert_file and key_file for mutual TLS.',
  },
  auth: {
    meaning: 'The service does not accept the credentials (401).',
    advice:
      'Put valid credentials into the configuration or into the file that it names; files are read again by themselves. With hmac, compare the clocks too.',
  },
  forbidden: {
    meaning: 'The credentials are valid, but may not list this station (403).',
    advice: 'Have the account granted the permission to read the station, or use credentials of an account that has it.',
  },
  not_found: {
    meaning: 'The service knows no such station (404).',
    advice:
      'Compare subscription, resource_group, zone and telemetry_station (or rid) with the service, and the path in base_url. Some services answer so too when the account may not see the station.',
  },
  rate_limited: {
    meaning: 'The service takes no more requests for now (429).',
    advice:
      'Ask less often: raise cache.ttl, lower concurrency or requests_per_second, and see who else uses the same account. If the service can grant a higher limit, ask for it.',
  },
  status: {
    meaning: 'The service answered with an error.',
    advice:
      'A 5xx is a trouble of the service, which heals when the service does; a 4xx or a redirect mostly means that base_url leads to something else.',
  },
  body: {
    meaning: 'The service answered with something that is not the listing it should be.',
    advice:
      'Open base_url yourself: a sign-in page or the error page of a proxy in between is the usual cause. If the reply is only too large, raise max_page_bytes or lower page_size.',
  },
  internal: {
    meaning: 'The exporter itself is at fault.',
    advice: 'Please report it with the line of the log, which tells where it happened.',
  },
};
