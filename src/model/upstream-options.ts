/** What an HMAC signature can cover, as the configuration and the service spell it. */
export const SIGNED_HEADERS = ['x-date', 'date', 'host', 'request-line', '@request-target'] as const;

export type SignedHeader = (typeof SIGNED_HEADERS)[number];

/** Whether a header of requests can have this value, which is sent as UTF-8: a lone surrogate has no bytes there. */
export function isHeaderText(value: string): boolean {
  return /^(?:\t|\P{Cc})*$/u.test(value) && value.isWellFormed();
}

/** A secret's text, or the file that contains it. */
export type SecretSource = { readonly text: string } | { readonly file: string };

/** Keys have the names of the configuration. */
export type AuthOptions = { readonly secret: SecretSource } & (
  | { readonly scheme: 'authorization'; readonly type: string }
  | { readonly scheme: 'basic'; readonly username: string }
  | { readonly scheme: 'hmac'; readonly access_key_id: string; readonly signed_headers: readonly SignedHeader[] }
  | {
      readonly scheme: 'oauth2';
      readonly client_id: string;
      readonly token_url: URL;
      readonly scopes: readonly string[];
      readonly endpoint_params: Readonly<Record<string, string>>;
    }
);

/** TLS versions, oldest first: the names used in Prometheus configuration files, with those of Node. */
export const TLS_VERSIONS = { TLS10: 'TLSv1', TLS11: 'TLSv1.1', TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' } as const;

/** Keys have the names of the configuration. */
export interface TlsOptions {
  readonly ca_file?: string;
  readonly cert_file?: string;
  readonly key_file?: string;
  readonly server_name?: string;
  readonly insecure_skip_verify: boolean;
  readonly min_version?: keyof typeof TLS_VERSIONS;
}

/** The same trust without the client certificate and server name: for proxies and token endpoints. */
export function withoutIdentity(tls: TlsOptions | undefined): TlsOptions | undefined {
  if (tls === undefined) return undefined;
  const { cert_file: _cert, key_file: _key, server_name: _name, ...trust } = tls;
  return trust;
}

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
  readonly auth?: AuthOptions | undefined;
  /** Plain text is not a secret. */
  readonly headers: readonly { readonly name: string; readonly value: string | SecretSource }[];
  readonly tls?: TlsOptions | undefined;
  readonly proxyUrl?: URL | undefined;
  readonly userAgent: string;
}
