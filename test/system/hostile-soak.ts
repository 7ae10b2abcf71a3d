import { parseArgs } from 'node:util';
import { startChild } from '../../bench/child.ts';
import type { HostileMethods } from './hostile-service.ts';
import type { ExporterMethods } from './soak-exporter.ts';
import type { ScraperMethods } from './soak-scrapers.ts';
import type { ServiceMethods } from './soak-service.ts';
import { measureSlowness } from './soak-slowness.ts';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '120' }, seed: { type: 'string', default: '1' } },
});
const [seconds, seed] = [Number(values.seconds), Number(values.seed)];

const HEAP_MIB = 256;
const slowness = measureSlowness();
const TTL_SECONDS = 5;
/** Several refreshes may be late on a busy machine, but none may be missing. */
const MAX_AGE_SECONDS = 30 * slowness;
const SCRAPE_TIMEOUT_SECONDS = 8 * slowness;
/** Time to send a response that waited until its deadline. */
const TIMEOUT_OFFSET_MS = 500 * SCRAPE_TIMEOUT_SECONDS;
const honest = Array.from({ length: 20 }, (_, index) => `honest-${index}`);
const hostile = Array.from({ length: 10 }, (_, index) => `hostile-${index}`);

const honestService = startChild<ServiceMethods>('../test/system/soak-service');
const hostileService = startChild<HostileMethods>('../test/system/hostile-service');
const exporter = startChild<ExporterMethods>('../test/system/soak-exporter', [`--max-old-space-size=${HEAP_MIB}`]);
const scrapers = startChild<ScraperMethods>('../test/system/soak-scrapers');
const violations: string[] = [];
try {
  await soak();
} catch (error) {
  violations.push(String(error));
} finally {
  await Promise.all([scrapers, exporter, hostileService, honestService].map((child) => child.stop()));
}
for (const violation of new Set(violations)) console.error(`violation: ${violation}`);
process.exit(violations.length > 0 ? 1 : 0);

/** One upstream replies with random hostility, while the stations of another one must stay fresh and every scrape must be answered. */
async function soak(): Promise<void> {
  console.log(
    `${hostile.length} hostile and ${honest.length} honest stations, heap limit ${HEAP_MIB} MiB, ${seconds} s, seed ${seed}, limits of time × ${slowness.toFixed(1)}`,
  );
  const honestUrl = await honestService.call('start', {
    seed,
    stations: honest,
    resourcesPerStation: 100,
    faults: false,
  });
  const port = await exporter.call(
    'start',
    config(honestUrl, await hostileService.call('start', { seed })),
    TIMEOUT_OFFSET_MS,
  );
  const group = { port, stations: honest, allStations: true, scrapers: 1, seed, pauseMs: [1000, 1000] as const };
  const timeouts = { timeoutsSeconds: [SCRAPE_TIMEOUT_SECONDS] };
  const first = await scrapers.call('run', { ...group, ...timeouts, seconds: MAX_AGE_SECONDS });
  const rest = { seconds: Math.max(seconds - MAX_AGE_SECONDS, 10), maxAgeSeconds: MAX_AGE_SECONDS };
  const stats = [first, await scrapers.call('run', { ...group, ...timeouts, ...rest })];
  violations.push(...stats.flatMap((run) => run.violations));
  const { residentBytes, internalErrors } = await exporter.call('resourceUsage');
  const counts = Object.entries(await hostileService.call('counts'));
  console.log(`hostile replies: ${counts.map(([kind, count]) => `${kind} ${count}`).join(', ')}`);
  console.log(stats, `resident ${Math.round(residentBytes / 2 ** 20)} MiB`);
  if (internalErrors > 0) violations.push(`${internalErrors} internal errors`);
  if (counts.length < 5) violations.push('the hostile service was hardly queried');
}

function config(honestUrl: string, hostileUrl: string): object {
  const station = (upstream: string) => (telemetry_station: string) => ({
    upstream,
    subscription: 's',
    resource_group: 'g',
    zone: 'z',
    telemetry_station,
  });
  return {
    upstreams: {
      honest: { base_url: honestUrl, timeout: `${Math.round(5000 * slowness)}ms` },
      hostile: { base_url: hostileUrl, timeout: '3s', refresh_timeout: '20s', max_retries: 1 },
    },
    stations: [...honest.map(station('honest')), ...hostile.map(station('hostile'))],
    cache: { ttl: `${TTL_SECONDS}s`, error_ttl: '1s', max_stale: '1m', refresh: 'background' },
  };
}
