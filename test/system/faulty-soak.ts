import { parseArgs } from 'node:util';
import { startChild } from '../../bench/child.ts';
import type { FaultyMethods } from './faulty-service.ts';
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
const healthy = Array.from({ length: 20 }, (_, index) => `healthy-${index}`);
const faulty = Array.from({ length: 10 }, (_, index) => `faulty-${index}`);

const healthyService = startChild<ServiceMethods>('../test/system/soak-service');
const faultyService = startChild<FaultyMethods>('../test/system/faulty-service');
const exporter = startChild<ExporterMethods>('../test/system/soak-exporter', [`--max-old-space-size=${HEAP_MIB}`]);
const scrapers = startChild<ScraperMethods>('../test/system/soak-scrapers');
const violations: string[] = [];
try {
  await soak();
} catch (error) {
  violations.push(String(error));
} finally {
  await Promise.all([scrapers, exporter, faultyService, healthyService].map((child) => child.stop()));
}
for (const violation of new Set(violations)) console.error(`violation: ${violation}`);
process.exit(violations.length > 0 ? 1 : 0);

/** One upstream replies with random faults, while the stations of another one must stay fresh and every scrape must be answered. */
async function soak(): Promise<void> {
  console.log(
    `${faulty.length} faulty and ${healthy.length} healthy stations, heap limit ${HEAP_MIB} MiB, ${seconds} s, seed ${seed}, limits of time × ${slowness.toFixed(1)}`,
  );
  const healthyUrl = await healthyService.call('start', {
    seed,
    stations: healthy,
    resourcesPerStation: 100,
    faults: false,
  });
  const port = await exporter.call(
    'start',
    config(healthyUrl, await faultyService.call('start', { seed })),
    TIMEOUT_OFFSET_MS,
  );
  const group = { port, stations: healthy, allStations: true, scrapers: 1, seed, pauseMs: [1000, 1000] as const };
  const timeouts = { timeoutsSeconds: [SCRAPE_TIMEOUT_SECONDS] };
  const first = await scrapers.call('run', { ...group, ...timeouts, seconds: MAX_AGE_SECONDS });
  const rest = { seconds: Math.max(seconds - MAX_AGE_SECONDS, 10), maxAgeSeconds: MAX_AGE_SECONDS };
  const stats = [first, await scrapers.call('run', { ...group, ...timeouts, ...rest })];
  violations.push(...stats.flatMap((run) => run.violations));
  const { residentBytes, internalErrors } = await exporter.call('resourceUsage');
  const counts = Object.entries(await faultyService.call('counts'));
  console.log(`faulty replies: ${counts.map(([kind, count]) => `${kind} ${count}`).join(', ')}`);
  console.log(stats, `resident ${Math.round(residentBytes / 2 ** 20)} MiB`);
  if (internalErrors > 0) violations.push(`${internalErrors} internal errors`);
  if (counts.length < 5) violations.push('the faulty service was hardly queried');
}

function config(healthyUrl: string, faultyUrl: string): object {
  const station = (upstream: string) => (telemetry_station: string) => ({
    upstream,
    subscription: 's',
    resource_group: 'g',
    zone: 'z',
    telemetry_station,
  });
  return {
    upstreams: {
      healthy: { base_url: healthyUrl, timeout: `${Math.round(5000 * slowness)}ms` },
      faulty: { base_url: faultyUrl, timeout: '3s', refresh_timeout: '20s', max_retries: 1 },
    },
    stations: [...healthy.map(station('healthy')), ...faulty.map(station('faulty'))],
    cache: { ttl: `${TTL_SECONDS}s`, error_ttl: '1s', max_stale: '1m', refresh: 'background' },
  };
}
