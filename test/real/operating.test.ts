import { expect } from 'vitest';
import { readPage } from '../docs/markdown.ts';
import { startSimulatedService } from '../simulator/simulated-service.ts';
import { NGINX, startNginx } from './support/nginx.ts';
import { startRealExporter, stationOf } from './support/real-exporter.ts';
import { closesEarly, everySecondTime } from './support/service-faults.ts';
import { startThrough } from './support/through.ts';
import { describeWorlds } from './support/worlds.ts';

const [BEFORE_SERVICE, BEFORE_EXPORTER] = readPage('docs/operating.md')
  .blocks.filter(({ language }) => language === 'nginx')
  .map(({ content }) => content);

/** A snippet with other values; each must be in it. */
function filled(snippet = '', values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((text, [shown, value]) => {
    expect(text).toContain(shown);
    return text.replaceAll(shown, value);
  }, snippet);
}

/** What a snippet must switch off. */
const CACHE = 'proxy_cache_path cache keys_zone=all:1m; proxy_cache all; proxy_cache_valid 200 1m;';

describeWorlds(
  'docs/operating.md',
  [NGINX],
  [
    {
      world: 'nginx before a service that closes early, beside a cache, names with /',
      promise: 'no refresh is lost, and every number is true',
      publishes: /^(true|gzip)$/,
      run: async () => {
        let encodings: () => string[] = () => [];
        const world = await startThrough(
          async ({ url }) => {
            const values = { '192.0.2.10:8080': new URL(url).host, 'listen 8443': 'listen ADDRESS' };
            const nginx = await startNginx(`${CACHE}\n${filled(BEFORE_SERVICE, values)}`);
            encodings = nginx.encodings;
            return nginx.url;
          },
          { stations: ['north/eu', 'south'] },
        );
        world.service.setFaults('*', [{ ...closesEarly, when: everySecondTime }]);
        const verdicts = await world.follow(5);
        return [...verdicts, ...new Set(encodings().filter((encoding) => encoding !== '-'))];
      },
    },
    {
      world: 'nginx before the exporter, names with /',
      promise: 'pages and metrics are found',
      publishes: /^200 /,
      run: async () => {
        const service = await startSimulatedService();
        try {
          service.setRecords('north/eu', []);
          const exporter = await startRealExporter(
            { main: { base_url: service.url } },
            [stationOf('north/eu')],
            ...(/--web\.external-url=\S+/.exec(BEFORE_EXPORTER ?? '') ?? []),
          );
          const location = filled(BEFORE_EXPORTER, { 'http://127.0.0.1:9842': exporter.url });
          const { url } = await startNginx(`server { listen ADDRESS; ${location} }`);
          const paths = ['/exporter/', '/exporter/metrics', '/exporter/stations/north%2Feu'];
          return await Promise.all(
            paths.map(
              async (path) => `${(await fetch(`${url}${path}`, { headers: { accept: 'text/html' } })).status} ${path}`,
            ),
          );
        } finally {
          await service.stop();
        }
      },
    },
  ],
);
