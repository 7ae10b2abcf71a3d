import { expect } from 'vitest';
import { readPage } from '../docs/markdown.ts';
import { NGINX, startNginx } from './support/nginx.ts';
import { closesEarly, everySecondTime } from './support/service-faults.ts';
import { startThrough } from './support/through.ts';
import { describeWorlds } from './support/worlds.ts';

const [BEFORE_SERVICE] = readPage('docs/operating.md')
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
  ],
);
