import { delivered } from '../../lab/simulator/faults.ts';
import { never } from '../../lab/simulator/reply.ts';
import { issue } from '../service/support/certificates.ts';
import { temporaryFile } from '../service/support/files.ts';
import type { SimulatedService } from '../simulator/simulated-service.ts';
import { closesEarly, everySecondTime } from './support/service-faults.ts';
import { startThrough } from './support/through.ts';
import { startTool } from './support/tool.ts';
import { describeWorlds, type Tool } from './support/worlds.ts';

const HAPROXY: Tool = { command: 'haproxy', from: 'Debian package haproxy' };

interface HaproxyOptions {
  readonly defaults?: string;
  readonly bind?: string;
  readonly frontend?: string;
  readonly backend?: string;
  readonly files?: Readonly<Record<string, string>>;
}

/** HAProxy in its mode for HTTP, in front of the service. */
async function startHaproxy({ url }: SimulatedService, options: HaproxyOptions = {}) {
  const { defaults = '', bind = '', frontend = '', backend = '', files = {} } = options;
  const config = `
defaults
  mode http
  timeout connect 1s
  timeout client 30s
  timeout server 30s
  ${defaults}
frontend front
  bind ADDRESS ${bind}
  ${frontend}
  default_backend service
backend service
  ${backend}
  server service ${new URL(url).host}
`;
  return startTool(HAPROXY, {
    files: { ...files, 'haproxy.cfg': config },
    // With a master, which starts other workers on SIGUSR2.
    flags: (folder) => ['-W', '-db', '-C', folder, '-f', 'haproxy.cfg'],
  });
}

const through = (options: HaproxyOptions) => async (service: SimulatedService) =>
  (await startHaproxy(service, options)).url;

const NO_LOSS = { promise: 'no refresh is lost, and every number is true', publishes: /^true$/ };

async function startWithTls(service: SimulatedService, setUp: (ca: ReturnType<typeof issue>) => void): Promise<string> {
  const authority = issue({ name: 'authority' });
  const { cert, key } = issue({ name: 'haproxy', issuer: authority, hosts: ['127.0.0.1'] });
  setUp(authority);
  const { url } = await startHaproxy(service, {
    bind: 'ssl crt server.pem ca-file ca.pem verify required',
    files: { 'server.pem': cert + key, 'ca.pem': authority.cert },
  });
  return url.replace('http', 'https');
}

describeWorlds(
  'HAProxy',
  [HAPROXY],
  [
    { world: 'default values', ...NO_LOSS, run: async () => (await startThrough(through({}))).follow(10) },
    {
      world: 'connections that close after a tenth of a second without a request',
      ...NO_LOSS,
      run: async () => {
        const world = await startThrough(through({ defaults: 'timeout http-keep-alive 100ms' }));
        const pause = () => new Promise((resolve) => setTimeout(resolve, 100));
        return world.follow(10, pause);
      },
    },
    {
      world: 'compression',
      ...NO_LOSS,
      run: async () => {
        const backend = 'compression algo gzip\n  compression type application/json';
        return (await startThrough(through({ backend }))).follow(5);
      },
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
      world: 'one of two servers is gone',
      ...NO_LOSS,
      run: async () =>
        (await startThrough(through({ backend: 'option redispatch 1\n  server gone 127.0.0.1:9' }))).follow(3),
    },
    {
      world: 'the service restarts for 1.5 s: 503',
      ...NO_LOSS,
      run: async () => {
        const world = await startThrough(through({ defaults: 'retries 0' }));
        return world.followThrough(
          2,
          () => world.service.stop(),
          () => world.service.restart(),
        );
      },
    },
    {
      world: 'the service hangs for 1.5 s: 504',
      ...NO_LOSS,
      run: async () => {
        const world = await startThrough(through({ backend: 'timeout server 200ms' }));
        return world.followThrough(
          2,
          () => world.service.setFaults('*', [delivered(never)]),
          () => world.service.setFaults('*', []),
        );
      },
    },
    {
      world: 'reloads during refreshes',
      ...NO_LOSS,
      run: async () => {
        let reload: () => unknown = () => undefined;
        const world = await startThrough(async (service) => {
          const { url, signal } = await startHaproxy(service);
          reload = () => signal('SIGUSR2');
          return url;
        });
        return world.follow(15, () => reload());
      },
    },
    {
      world: 'at most 20 requests per second: 429',
      promise: 'no station fails, and every number is true',
      publishes: /^(true|limited rate)$/,
      run: async () => {
        const frontend = [
          'stick-table type ip size 10 expire 1m store http_req_rate(1s)',
          'http-request track-sc0 src',
          'http-request deny deny_status 429 if { sc_http_req_rate(0) gt 20 }',
        ];
        return (await startThrough(through({ frontend: frontend.join('\n  ') }))).follow(4);
      },
    },
    {
      world: 'a cache, without credentials',
      promise: 'every number is true, or as old as published',
      publishes: /^true$/,
      run: async () => {
        const frontend = 'http-request cache-use small\n  http-response cache-store small';
        const cache = 'max-age 30\ncache small\n  total-max-size 4\n  max-object-size 400000\n  max-age 30\n';
        const world = await startThrough(through({ defaults: `timeout queue 1s\n${cache.slice(11)}`, frontend }));
        const cacheable = { 'cache-control': 'public, max-age=30' };
        world.service.setFaults('*', [{ reply: ({ headers }) => ({ headers: { ...headers, ...cacheable } }) }]);
        return world.follow(5);
      },
    },
    {
      world: 'a client certificate is required, and set',
      ...NO_LOSS,
      run: async () => {
        const tls_config = { ca_file: '', cert_file: '', key_file: '' };
        const start = (service: SimulatedService) =>
          startWithTls(service, (authority) => {
            const { cert, key } = issue({ name: 'exporter', issuer: authority });
            tls_config.ca_file = temporaryFile('ca.pem', authority.cert);
            tls_config.cert_file = temporaryFile('client.pem', cert);
            tls_config.key_file = temporaryFile('client.key', key);
          });
        return (await startThrough(start, { upstream: { tls_config } })).follow(3);
      },
    },
    {
      world: 'a client certificate is required, and none is set',
      promise: 'down, and the keys are named',
      publishes: /^(down: (tls|network)|told)$/,
      run: async () => {
        const tls_config = { ca_file: '' };
        const start = (service: SimulatedService) =>
          startWithTls(service, ({ cert }) => {
            tls_config.ca_file = temporaryFile('ca.pem', cert);
          });
        return (await startThrough(start, { upstream: { tls_config } })).told(/tls_config\.cert_file/);
      },
    },
    {
      world: 'a port that speaks HTTP/2 alone',
      promise: 'down, and who closed the connection is named',
      publishes: /^(down: network|told)$/,
      run: async () =>
        (await startThrough(through({ bind: 'proto h2' }))).told(/127\.0\.0\.1:\d+ closed the connection/),
    },
    {
      world: 'a page of its own with status 403',
      promise: 'down: forbidden, and a proxy or firewall is named',
      publishes: /^(down: forbidden|told)$/,
      run: async () =>
        (await startThrough(through({ frontend: 'http-request deny' }))).told(/proxy or firewall|firewall or/),
    },
  ],
);
