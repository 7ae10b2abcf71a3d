import { stringify } from 'yaml';
import { SIMULATED_CREDENTIALS, type SimulatedScheme, TOKEN_PATH } from './auth.ts';

interface ConfigOptions {
  readonly stations: readonly { readonly upstream: string }[];
  readonly pageSize: number;
  readonly refresh: 'scrape' | 'background';
  readonly auth: SimulatedScheme | undefined;
}

/** The configuration of an exporter of these stations, as YAML. */
export function exporterConfig(serviceUrl: string, { stations, pageSize, refresh, auth }: ConfigOptions): string {
  const upstream = { base_url: serviceUrl, page_size: pageSize, ...(auth && authKeys[auth](serviceUrl)) };
  const config = {
    upstreams: Object.fromEntries(stations.map(({ upstream: name }) => [name, upstream])),
    stations,
    cache: { ttl: '15s', max_stale: '5m', error_ttl: '5s', refresh },
  };
  // Recorded text must not be expanded as an environment variable.
  return stringify(config, { aliasDuplicateObjects: false }).replaceAll('${', '$${');
}

const { bearer, basic, hmac, oauth2 } = SIMULATED_CREDENTIALS;

/** The keys of an upstream that send the credentials. */
const authKeys: Readonly<Record<SimulatedScheme, (serviceUrl: string) => object>> = {
  bearer: () => ({ authorization: { type: 'Bearer', credentials: bearer.token } }),
  basic: () => ({ basic_auth: { username: basic.username, password: basic.password } }),
  hmac: () => ({
    hmac: {
      access_key_id: hmac.accessKeyId,
      secret_access_key: hmac.secretAccessKey,
      signed_headers: hmac.signedHeaders,
    },
  }),
  oauth2: (serviceUrl) => ({
    oauth2: {
      client_id: oauth2.clientId,
      client_secret: oauth2.clientSecret,
      token_url: `${serviceUrl}${TOKEN_PATH}`,
    },
  }),
};
