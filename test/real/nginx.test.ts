import { delivered, NAMED_FAULTS } from '../../lab/simulator/faults.ts';
import { never } from '../../lab/simulator/reply.ts';
import type { SimulatedService } from '../simulator/simulated-service.ts';
import { NGINX, passing, startNginx } from './support/nginx.ts';
import { closesEarly, everySecondTime } from './support/service-faults.ts';
import { startThrough } from './support/through.ts';
import { describeWorlds, type World } from './support/worlds.ts';

/** What is configured for the whole of nginx, whatever a location needs. */
const CACHE = 'proxy_cache_path cache keys_zone=all:1m; proxy_cache all; proxy_cache_valid 200 1m;';

/** Everything is passed to the service, with these settings of the location. */
const through =
  (settings = '', http = '') =>
  async ({ url }: SimulatedService) =>
    (await startNginx(`${http} ${passing(url, settings)}`)).url;

const TRUE = /^true$/;
const NO_LOSS = { promise: 'no refresh is lost, and every number is true', publishes: TRUE };

const GZIP = 'gzip on; gzip_types application/json; gzip_proxied any;';
const HTTP_1_1 = 'proxy_http_version 1.1; proxy_set_header Connection "";';

const CUT_REPLIES: readonly World[] = [
  { how: 'HTTP/1.0 to the service, which closes early', fault: closesEarly, settings: '' },
  { how: 'HTTP/1.0, the service closes before Content-Length', fault: NAMED_FAULTS.truncated, settings: '' },
  { how: 'HTTP/1.1, the service closes early', fault: closesEarly, settings: HTTP_1_1 },
  { how: 'HTTP/1.0 and gzip, the service closes early', fault: closesEarly, settings: GZIP },
].map(({ how, fault, settings }) => ({
  world: how,
  ...NO_LOSS,
  run: async () => {
    const world = await startThrough(through(settings));
    world.service.setFaults('*', [{ ...fault, when: everySecondTime }]);
    return world.follow(5);
  },
}));

const INTERRUPTIONS: readonly World[] = [
  {
    world: 'the service restarts for 1.5 s: 502',
    ...NO_LOSS,
    run: async () => {
      const world = await startThrough(through());
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
      const world = await startThrough(through('proxy_read_timeout 200ms;'));
      return world.followThrough(
        2,
        () => world.service.setFaults('*', [delivered(never)]),
        () => world.service.setFaults('*', []),
      );
    },
  },
  {
    world: 'a page of maintenance for 1.5 s: 503 with HTML',
    ...NO_LOSS,
    run: async () => {
      const world = await startThrough(through());
      return world.followThrough(
        2,
        () => world.service.setFaults('*', [NAMED_FAULTS.unavailable]),
        () => world.service.setFaults('*', []),
      );
    },
  },
  {
    world: 'nginx restarts for 1.5 s: connections are refused',
    ...NO_LOSS,
    run: async () => {
      let nginx: Awaited<ReturnType<typeof startNginx>> | undefined;
      const world = await startThrough(async ({ url }) => {
        nginx = await startNginx(passing(url));
        return nginx.url;
      });
      return world.followThrough(
        2,
        () => nginx?.stop(),
        async () => {
          nginx = await startNginx(passing(world.service.url), { address: nginx?.address ?? '' });
        },
      );
    },
  },
  {
    world: 'reloads during refreshes',
    ...NO_LOSS,
    run: async () => {
      let reload = () => false;
      const world = await startThrough(async ({ url }) => {
        const nginx = await startNginx(passing(url));
        reload = nginx.reload;
        return nginx.url;
      });
      return world.follow(15, () => reload());
    },
  },
];

const LIMITS: readonly World[] = [503, 429].map((status) => ({
  world: `limit_req of 20 requests per second: ${status}`,
  promise: 'no station fails, and every number is true',
  publishes: TRUE,
  run: async () => {
    const world = await startThrough(
      through(`limit_req zone=all; limit_req_status ${status};`, 'limit_req_zone $server_name zone=all:1m rate=20r/s;'),
    );
    const verdicts = await world.follow(4);
    return verdicts.filter((verdict) => verdict !== 'limited rate');
  },
}));

const AUTHORIZATION = { upstream: { authorization: { credentials: 'token-of-the-exporter' } } };

const CACHES: readonly World[] = [
  {
    world: 'proxy_cache_valid, and X-Cache-Status',
    promise: 'the page of the station says so',
    publishes: /^The replies come from a cache \(X-Cache-Status: HIT\)$/,
    run: async () => {
      const header = 'add_header X-Cache-Status $upstream_cache_status;';
      const world = await startThrough(through(header, CACHE), AUTHORIZATION);
      // The second refresh is answered from the cache.
      await world.scraped();
      return [await world.cacheNote()];
    },
  },
  {
    world: 'proxy_cache_valid, and proxy_cache_bypass $http_cache_control',
    ...NO_LOSS,
    run: async () => {
      const world = await startThrough(through('proxy_cache_bypass $http_cache_control;', CACHE), AUTHORIZATION);
      return world.follow(5);
    },
  },
];

describeWorlds(
  'nginx',
  [NGINX],
  [
    {
      world: 'default values',
      ...NO_LOSS,
      run: async () => (await startThrough(through())).follow(10),
    },
    {
      world: 'gzip',
      promise: 'every reply comes compressed, and every number is true',
      publishes: TRUE,
      run: async () => {
        let encodings = (): readonly string[] => [];
        const world = await startThrough(async ({ url }) => {
          const nginx = await startNginx(passing(url, GZIP));
          encodings = nginx.encodings;
          return nginx.url;
        });
        const verdicts = await world.follow(5);
        const others = encodings().filter((encoding) => encoding !== 'gzip');
        return [...verdicts, ...others.map((encoding) => `content-encoding ${encoding}`)];
      },
    },
    ...CUT_REPLIES,
    ...INTERRUPTIONS,
    ...LIMITS,
    ...CACHES,
  ],
);
