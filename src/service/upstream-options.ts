import type * as z from 'zod';
import { type SecretSource, secretSource } from './auth/credential.ts';
import { configuredScheme } from './auth/schemes.ts';
import { environmentProxy } from './http/environment-proxy.ts';
import type { httpClientConfig } from './http-client-schema.ts';
import type { upstream } from './upstream-schema.ts';

type UpstreamConfig = z.output<typeof upstream>;

/** One account at the service: address, authentication and limits. */
export type UpstreamOptions = Readonly<ReturnType<typeof upstreamOptions>>;

interface HeaderOption {
  readonly name: string;
  /** Plain text is not a secret. */
  readonly value: string | SecretSource;
}

/** Maps the configuration of an upstream to the options of its client. */
export function upstreamOptions(
  name: string,
  config: UpstreamConfig,
  userAgent: string,
  env: NodeJS.ProcessEnv = process.env,
) {
  return {
    name,
    baseUrl: config.base_url,
    timeoutMs: config.timeout,
    concurrency: config.concurrency,
    /** The maximum rate; 0: none. AdaptiveRate may lower it. */
    requestsPerSecond: config.requests_per_second,
    maxRetries: config.max_retries,
    pageSize: config.page_size,
    maxPageBytes: config.max_page_bytes,
    listStyle: config.list_style,
    ...httpClientOptions(config.base_url, config, userAgent, env),
  };
}

/** How requests to an address are authenticated and sent. */
export function httpClientOptions(
  url: URL,
  config: z.output<typeof httpClientConfig>,
  userAgent: string,
  env: NodeJS.ProcessEnv,
) {
  const { proxy_url, proxy_from_environment } = config;
  const ofEnvironment = environmentProxy(url, env);
  return {
    headers: headerOptions(config.http_headers ?? {}),
    userAgent,
    auth: configuredScheme(config),
    tls: config.tls_config,
    proxyUrl: proxy_from_environment && ofEnvironment ? new URL(ofEnvironment.url) : proxy_url,
    /** The variable of the environment that names a proxy which is not used. */
    unusedProxy: proxy_from_environment || proxy_url ? undefined : ofEnvironment?.variable,
  };
}

function headerOptions(headers: NonNullable<UpstreamConfig['http_headers']>): readonly HeaderOption[] {
  return Object.entries(headers).flatMap(([name, { values = [], secrets = [], files = [] }]) => [
    ...values.map((value) => ({ name, value })),
    ...secrets.map((secret) => ({ name, value: secretSource(secret, undefined) })),
    ...files.map((file) => ({ name, value: secretSource(undefined, file) })),
  ]);
}
