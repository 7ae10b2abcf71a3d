import { getHeapStatistics } from 'node:v8';
import type { Config } from '../config/schema.ts';
import type { Secret } from '../config/secret.ts';
import type { Build } from '../metrics/own-metrics.ts';
import type { RecordLimits } from '../model/failure.ts';
import type { AuthOptions, SecretSource, UpstreamOptions } from '../model/upstream-options.ts';

type UpstreamConfig = Config['upstreams'][string];

/** The User-Agent header of requests to the service. */
export function userAgentOf({ version }: Pick<Build, 'version'>): string {
  return `telemetry-station-exporter/${version}`;
}

/** Maps the configuration of an upstream to the options of its client. */
export function upstreamOptions(name: string, config: UpstreamConfig, userAgent: string): UpstreamOptions {
  return {
    name,
    baseUrl: config.base_url,
    timeoutMs: config.timeout,
    concurrency: config.concurrency,
    requestsPerSecond: config.requests_per_second,
    maxRetries: config.max_retries,
    pageSize: config.page_size,
    maxPageBytes: config.max_page_bytes,
    listStyle: config.list_style,
    headers: headerOptions(config.http_headers ?? {}),
    userAgent,
    auth: authOptions(config),
    tls: config.tls_config,
    proxyUrl: config.proxy_url,
  };
}

const KIB = 1024;

/** The program itself, and the young generation of the heap. */
const RESERVED_HEAP_BYTES = 96 * KIB * KIB;

/** The history of a station takes 75 KiB after a day, and more if the messages of failures differ. */
const HEAP_BYTES_PER_STATION = 128 * KIB;

/** A record takes 400 to 530 bytes of the heap, and of a station that changes completely up to three generations are in memory at once. */
const HEAP_BYTES_PER_RECORD = 1.5 * KIB;

/** Records at least, however small the heap is. */
const MIN_RECORDS = 1000;

/** `stations`: how many this process has. */
export function recordLimits(
  { limits }: Pick<Config, 'limits'>,
  stations: number,
  heapBytes = getHeapStatistics().heap_size_limit,
): RecordLimits {
  const freeBytes = heapBytes - RESERVED_HEAP_BYTES - stations * HEAP_BYTES_PER_STATION;
  const records = limits.records ?? Math.max(MIN_RECORDS, Math.floor(freeBytes / HEAP_BYTES_PER_RECORD));
  // One station must not take everything.
  return { records, records_per_station: limits.records_per_station ?? Math.ceil(records * 0.75) };
}

function authOptions({ authorization, basic_auth, hmac, oauth2 }: UpstreamConfig): AuthOptions | undefined {
  if (authorization)
    return {
      scheme: 'authorization',
      ...authorization,
      secret: secretSource(authorization.credentials, authorization.credentials_file),
    };
  if (basic_auth)
    return { scheme: 'basic', ...basic_auth, secret: secretSource(basic_auth.password, basic_auth.password_file) };
  if (hmac)
    return { scheme: 'hmac', ...hmac, secret: secretSource(hmac.secret_access_key, hmac.secret_access_key_file) };
  if (oauth2) {
    const secret = secretSource(oauth2.client_secret, oauth2.client_secret_file);
    const params = Object.entries(oauth2.endpoint_params).map(([name, value]) => [name, value.reveal()]);
    return { scheme: 'oauth2', ...oauth2, secret, endpoint_params: Object.fromEntries(params) };
  }
  return undefined;
}

/** The schema guarantees that exactly one of the two is set. */
function secretSource(text: Secret | undefined, file: string | undefined): SecretSource {
  return text === undefined ? { file: file as string } : { text: text.reveal() };
}

function headerOptions(headers: NonNullable<UpstreamConfig['http_headers']>): UpstreamOptions['headers'] {
  return Object.entries(headers).flatMap(([name, { values = [], secrets = [], files = [] }]) => [
    ...values.map((value) => ({ name, value })),
    ...secrets.map((secret) => ({ name, value: { text: secret.reveal() } })),
    ...files.map((file) => ({ name, value: { file } })),
  ]);
}
