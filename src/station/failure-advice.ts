import type { FailureReason } from './failure.ts';

/** What each reason means to an operator and what to do about it, for pages, commands and documents; the keys are those of the configuration. */
export const FAILURE_ADVICE: Readonly<Record<FailureReason, { readonly meaning: string; readonly advice: string }>> = {
  timeout: {
    meaning: 'No connection or no whole reply came within timeout, or the refresh did not end within refresh_timeout.',
    advice:
      'Look whether the service is slow or something on the way drops packets. Where replies are slow, raise timeout or lower page_size; where listings are long, raise refresh_timeout or concurrency.',
  },
  network: {
    meaning: 'The name cannot be resolved, the connection cannot be made or breaks off, or the proxy refuses it.',
    advice: 'From the machine that the exporter runs on, look at base_url, name resolution, firewalls and proxy_url.',
  },
  tls: {
    meaning: 'The certificate is not trusted, not valid now or for another name, or a file of tls_config cannot be used.',
    advice: 'Look at the certificate, at ca_file and server_name of tls_config, and at the local clock.',
  },
  auth: {
    meaning: 'The credentials cannot be read or are refused (401), be it by the token endpoint of oauth2.',
    advice:
      'Put valid ones into the file, which is read again by itself, or into the configuration and reload. With hmac compare the clocks: the message tells when they are more than a minute apart.',
  },
  forbidden: {
    meaning: 'The credentials are accepted but may not list this station (403).',
    advice: 'Have the permission granted to this account, or give the station an upstream with another one.',
  },
  not_found: {
    meaning: 'The service knows no such station, or nothing at that address (404).',
    advice: 'Compare subscription, resource_group, zone and telemetry_station with the service letter by letter, and the path of base_url.',
  },
  rate_limited: {
    meaning: 'The service still answered 429 after the retries, or asks for a longer wait than the refresh has left.',
    advice: 'Ask for less: a larger page_size, a longer ttl, fewer products; then requests_per_second below what the service allows.',
  },
  status: {
    meaning: 'The service answered with another status that is no success: an error of its own (5xx), a rejected request, or a redirect.',
    advice:
      'The message names the status. A 5xx heals when the service does. For a 400 look at filters and list_style; for a redirect, which is never followed, set base_url to where it leads.',
  },
  body: {
    meaning: 'The reply is not the JSON it should be, is larger than max_page_bytes, or is compressed although that was not asked for.',
    advice:
      'The page of a proxy or gateway in between is the usual cause: look at base_url and proxy_url. Where a reply is too large, lower page_size or raise max_page_bytes.',
  },
  internal: {
    meaning: 'The exporter itself is at fault; other stations go on.',
    advice: 'Please report it with the line of the log, which has the stack.',
  },
};
