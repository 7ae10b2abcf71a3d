import type { TLS_VERSIONS } from '../../schema/scalar-schemas.ts';

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
