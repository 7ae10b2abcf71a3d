import type * as z from 'zod';
import { type SecretSource, secretSource } from './auth/credential.ts';
import { type ConfiguredScheme, configuredScheme } from './auth/schemes.ts';
import { environmentProxy } from './http/environment-proxy.ts';
import type { TlsOptions } from './http/tls-options.ts';
import type { upstream } from './upstream-schema.ts';

/** One account at the service: address, authentication and limits. */
export interface UpstreamOptions {
  readonly name: string;
  readonly baseUrl: URL;
  readonly timeoutMs: number;
  readonly concurrency: number;
  /** The maximum rate; 0: none. AdaptiveRate may lower it. */
  readonly requestsPerSecond: number;
  readonly maxRetries: number;
  readonly pageSize: number;
  readonly maxPageBytes: number;
  readonly listStyle: 'repeat' | 'comma';
  readonly auth?: ConfiguredScheme | undefined;
  /** Plain text is not a secret. */
  readonly headers: readonly { readonly name: string; readonly value: string | SecretSource }[];
  readonly tls?: TlsOptions | undefined;
  readonly proxyUrl?: URL | undefined;
  /** The variable of the environment that names a proxy which is not used. */
  readonly unusedProxy?: string | undefined;
  readonly userAgent: string;
}

type UpstreamConfig = z.output<typeof upstream>;

/** Maps the configuration of an upstream to the options of its client. */
export function upstreamOptions(
  name: string,
  config: UpstreamConfig,
  userAgent: string,
  env: NodeJS.ProcessEnv = process.env,
): UpstreamOptions {
  const { base_url, proxy_url, proxy_from_environment } = config;
  const ofEnvironment = environmentProxy(base_url, env);
  return {
    name,
    baseUrl: base_url,
    timeoutMs: config.timeout,
    concurrency: config.concurrency,
    requestsPerSecond: config.requests_per_second,
    maxRetries: config.max_retries,
    pageSize: config.page_size,
    maxPageBytes: config.max_page_bytes,
    listStyle: config.list_style,
    headers: headerOptions(config.http_headers ?? {}),
    userAgent,
    auth: configuredScheme(config),
    tls: config.tls_config,
    proxyUrl: proxy_from_environment && ofEnvironment ? new URL(ofEnvironment.url) : proxy_url,
    unusedProxy: proxy_from_environment || proxy_url ? undefined : ofEnvironment?.variable,
  };
}

function headerOptions(headers: NonNullable<UpstreamConfig['http_headers']>): UpstreamOptions['headers'] {
  return Object.entries(headers).flatMap(([name, { values = [], secrets = [], files = [] }]) => [
    ...values.map((value) => ({ name, value })),
    ...secrets.map((secret) => ({ name, value: secretSource(secret, undefined) })),
    ...files.map((file) => ({ name, value: secretSource(undefined, file) })),
  ]);
}
