import type { SecureVersion } from 'node:tls';

/** What an HMAC signature can cover, as the configuration and the service spell it. */
export const SIGNED_HEADERS = ['x-date', 'date', 'host', 'request-line', '@request-target'] as const;

export type SignedHeader = (typeof SIGNED_HEADERS)[number];

/** A secret's text, or the file that contains it. */
export type SecretSource = { readonly text: string } | { readonly file: string };

export type AuthOptions =
  | { readonly scheme: 'authorization'; readonly type: string; readonly credentials: SecretSource }
  | { readonly scheme: 'basic'; readonly username: string; readonly password: SecretSource }
  | {
      readonly scheme: 'hmac';
      readonly accessKeyId: string;
      readonly secretAccessKey: SecretSource;
      readonly signedHeaders: readonly SignedHeader[];
    }
  | {
      readonly scheme: 'oauth2';
      readonly clientId: string;
      readonly clientSecret: SecretSource;
      readonly tokenUrl: URL;
      readonly scopes: readonly string[];
      readonly endpointParams: Readonly<Record<string, string>>;
    };

export interface TlsOptions {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly serverName?: string;
  readonly insecureSkipVerify: boolean;
  readonly minVersion?: SecureVersion;
}

/** The same trust without the client certificate and server name: for proxies and token endpoints. */
export function withoutIdentity(tls: TlsOptions | undefined): TlsOptions | undefined {
  if (tls === undefined) return undefined;
  const { certFile: _cert, keyFile: _key, serverName: _name, ...trust } = tls;
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
  readonly auth?: AuthOptions;
  /** Plain text is not a secret. */
  readonly headers: readonly { readonly name: string; readonly value: string | SecretSource }[];
  readonly tls?: TlsOptions;
  readonly proxyUrl?: URL;
  readonly userAgent: string;
}
