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
  const upstream = { base_url: serviceUrl, page_size: pageSize, ...(auth && authKeys(auth, serviceUrl)) };
  const config = {
    upstreams: Object.fromEntries(stations.map(({ upstream: name }) => [name, upstream])),
    stations,
    cache: { ttl: '15s', max_stale: '5m', error_ttl: '5s', refresh },
  };
  // Recorded text must not be expanded as an environment variable.
  return stringify(config, { aliasDuplicateObjects: false }).replaceAll('${', '$${');
}

/** The keys of an upstream that send the credentials. */
function authKeys(auth: SimulatedScheme, serviceUrl: string): object {
  const credentials = SIMULATED_CREDENTIALS[auth];
  return 'oauth2' in credentials
    ? { oauth2: { ...credentials.oauth2, token_url: `${serviceUrl}${TOKEN_PATH}` } }
    : credentials;
}
