import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startChild } from '../../bench/child.ts';
import type { ExporterMethods, ResourceUsage } from './soak-exporter.ts';
import type { ScraperGroup, ScraperMethods, ScrapeStats } from './soak-scrapers.ts';
import type { ServiceMethods } from './soak-service.ts';
import { measureSlowness } from './soak-slowness.ts';
import { soakViolations } from './soak-violations.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
if (!(seconds >= 3) || !Number.isInteger(seed)) {
  console.error('usage: npm run soak -- [--seconds=600] [--seed=1]');
  process.exit(2);
}

const STATIONS = 50;
const RESOURCES_PER_STATION = 1000;
/** Rate-limited separately, so that a throttled one does not slow down the others. */
const UPSTREAMS = 5;
const CONCURRENCY = 4;
const PROBERS = 18;
const METRICS_SCRAPERS = 2;
const slowness = measureSlowness();
const REFRESH_TIMEOUT_SECONDS = 4 * slowness;
/** Time to send a response that waited until its deadline; the deadlines of short scrapes remain before those of refreshes. */
const TIMEOUT_OFFSET_SECONDS = 3 * slowness;
/** The heap is measured after each slice; the first one is the warm-up. */
const SLICE_SECONDS = Math.min(60, seconds / 3);
const MAX_WARMUP_ROUNDS = 60;

const stations = Array.from({ length: STATIONS }, (_, index) => `ts-${String(index).padStart(2, '0')}`);
const service = startChild<ServiceMethods>('../test/system/soak-service');
const exporter = startChild<ExporterMethods>('../test/system/soak-exporter');
const probers = startChild<ScraperMethods>('../test/system/soak-scrapers');
const metricsScrapers = startChild<ScraperMethods>('../test/system/soak-scrapers');
let failed = true;
try {
  failed = await soak();
} finally {
  await Promise.all([probers, metricsScrapers, exporter, service].map((child) => child.stop()));
}
process.exit(failed ? 1 : 0);

async function soak(): Promise<boolean> {
  console.log(
    `${STATIONS} stations of ${RESOURCES_PER_STATION} resources, ${PROBERS + METRICS_SCRAPERS} scrapers, ${seconds} s, seed ${seed}, limits of time × ${slowness.toFixed(1)}\n`,
  );
  const url = await service.call('start', { seed, stations, resourcesPerStation: RESOURCES_PER_STATION });
  const port = await exporter.call('start', config(url), 1000 * TIMEOUT_OFFSET_SECONDS);
  const stats = await warmUp(port);
  const usages: ResourceUsage[] = [];
  for (let done = 0; done < seconds - 0.5; done += SLICE_SECONDS) {
    const slice = await Promise.all([
      probers.call('run', probeGroup(port, done)),
      metricsScrapers.call('run', metricsGroup(port, done)),
    ]);
    // Refreshes in flight hold pages: measure after they have finished.
    await setTimeout((REFRESH_TIMEOUT_SECONDS + 0.5) * 1000);
    const usage = await exporter.call('resourceUsage');
    stats.push(...slice);
    usages.push(usage);
    console.log({ seconds: Math.round(done + SLICE_SECONDS), probes: slice[0], metrics: slice[1], usage });
  }
  const violations = soakViolations(usages, stats, {
    maxRequests: UPSTREAMS * CONCURRENCY,
    maxSockets: UPSTREAMS * CONCURRENCY + PROBERS + METRICS_SCRAPERS + 4,
  });
  for (const violation of violations) console.error(`violation: ${violation}`);
  console.log(
    violations.length === 0 ? 'No violations.' : `${violations.length} violations; repeat with --seed=${seed}`,
  );
  return violations.length > 0;
}

/** Scrapes until every station was listed once, so that the first measurement includes all snapshots. */
async function warmUp(port: number): Promise<ScrapeStats[]> {
  const stats: ScrapeStats[] = [];
  while ((await exporter.call('listedStations')) < STATIONS) {
    if (stats.length >= MAX_WARMUP_ROUNDS)
      throw new Error(`not every station was listed within ${MAX_WARMUP_ROUNDS} rounds`);
    stats.push(await metricsScrapers.call('run', { ...metricsGroup(port, -stats.length), seconds: 2 }));
  }
  return stats;
}

function config(url: string): object {
  const upstream = {
    base_url: url,
    timeout: duration(1.5 * slowness),
    refresh_timeout: duration(REFRESH_TIMEOUT_SECONDS),
    concurrency: CONCURRENCY,
    max_retries: 2,
    page_size: 250,
  };
  return {
    upstreams: Object.fromEntries(Array.from({ length: UPSTREAMS }, (_, index) => [`u${index}`, upstream])),
    stations: stations.map((telemetry_station, index) => ({
      upstream: `u${index % UPSTREAMS}`,
      subscription: 's',
      resource_group: 'g',
      zone: 'z',
      telemetry_station,
    })),
    cache: { ttl: duration(slowness), error_ttl: duration(slowness), max_stale: '1h' },
  };
}

function probeGroup(port: number, done: number): ScraperGroup {
  return {
    ...scraperGroup(port, done),
    allStations: false,
    scrapers: PROBERS,
    pauseMs: [500, 1500],
    ...timeouts(6, 20),
  };
}

function metricsGroup(port: number, done: number): ScraperGroup {
  return {
    ...scraperGroup(port, done),
    allStations: true,
    scrapers: METRICS_SCRAPERS,
    pauseMs: [3000, 6000],
    ...timeouts(15, 25),
  };
}

function timeouts(...seconds: readonly number[]) {
  return { timeoutsSeconds: seconds.map((timeout) => Math.round(10 * timeout * slowness) / 10) };
}

function duration(ofSeconds: number): string {
  return `${Math.round(1000 * ofSeconds)}ms`;
}

function scraperGroup(port: number, done: number) {
  return { port, stations, seconds: SLICE_SECONDS, seed: seed + Math.round(1000 * done) };
}
