import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startChild } from '../../bench/child.ts';
import type { ExporterMethods, ResourceUsage } from './soak-exporter.ts';
import type { ScraperGroup, ScraperMethods, ScrapeStats } from './soak-scrapers.ts';
import type { ServiceMethods } from './soak-service.ts';

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
const GROUPS = {
  probes: { allStations: false, scrapers: 18, pauseMs: [500, 1500], timeoutsSeconds: [6, 20] },
  metrics: { allStations: true, scrapers: 2, pauseMs: [3000, 6000], timeoutsSeconds: [15, 25] },
} as const;
const SCRAPERS = GROUPS.probes.scrapers + GROUPS.metrics.scrapers;
const slowness = measureSlowness();
const REFRESH_TIMEOUT_SECONDS = 4 * slowness;
/** Time to send a response that waited until its deadline; the deadlines of short scrapes remain before those of refreshes. */
const TIMEOUT_OFFSET_SECONDS = 3 * slowness;
/** The heap is measured after each slice; the first one is the warm-up. */
const SLICE_SECONDS = Math.min(60, seconds / 3);
const MAX_WARMUP_ROUNDS = 60;
const MAX_SOCKETS = UPSTREAMS * CONCURRENCY + SCRAPERS + 4;
/** Stations fail with `timeout` because of requests that hang; throttling must not add many to these. */
const MAX_TIMEOUT_SHARE = 0.2;

/** The client keeps a buffer for each request that was ever in flight at once, of twice the size of a page at most. */
const POOLED_BUFFER_BYTES = 256 * 1024;

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
    `${STATIONS} stations of ${RESOURCES_PER_STATION} resources, ${SCRAPERS} scrapers, ${seconds} s, seed ${seed}, limits of time × ${slowness.toFixed(1)}\n`,
  );
  const url = await service.call('start', { seed, stations, resourcesPerStation: RESOURCES_PER_STATION });
  const port = await exporter.call('start', config(url), 1000 * TIMEOUT_OFFSET_SECONDS);
  const stats = await warmUp(port);
  const usages: ResourceUsage[] = [];
  for (let done = 0; done < seconds - 0.5; done += SLICE_SECONDS) {
    const slice = await Promise.all([
      probers.call('run', groupOf('probes', port, done)),
      metricsScrapers.call('run', groupOf('metrics', port, done)),
    ]);
    // Refreshes in flight hold pages: measure after they have finished.
    await setTimeout((REFRESH_TIMEOUT_SECONDS + 0.5) * 1000);
    const usage = await exporter.call('resourceUsage');
    stats.push(...slice);
    usages.push(usage);
    console.log({ seconds: Math.round(done + SLICE_SECONDS), probes: slice[0], metrics: slice[1], usage });
  }
  const violations = soakViolations(usages, stats);
  for (const violation of violations) console.error(`violation: ${violation}`);
  console.log(
    violations.length === 0 ? 'No violations.' : `${violations.length} violations; repeat with --seed=${seed}`,
  );
  return violations.length > 0;
}

function soakViolations(usage: readonly ResourceUsage[], stats: readonly ScrapeStats[]): string[] {
  const violations = stats.flatMap((group) => group.violations);
  const sum = (key: 'scrapes' | 'published' | 'failing' | 'incomplete') =>
    stats.reduce((total, group) => total + group[key], 0);
  const failures = (reason: string) => stats.reduce((total, { reasons }) => total + (reasons[reason] ?? 0), 0);
  if (stats.some(({ largestShare }) => largestShare >= 1)) violations.push('a response exceeded the scrape timeout');
  if (sum('scrapes') === 0) violations.push('no scrape was made');
  // Without faults the soak would prove nothing.
  if (sum('failing') === 0) violations.push('no station ever failed');
  if (sum('incomplete') === 0) violations.push('no listing was ever incomplete');
  if (failures('timeout') > MAX_TIMEOUT_SHARE * sum('published'))
    violations.push(`${failures('timeout')} stations failed with a timeout`);
  const [first, last] = [usage[0], usage.at(-1)];
  if (first === undefined || last === undefined || usage.length < 2)
    return [...violations, 'too few measurements to compare the heap'];
  if (last.internalErrors > 0) violations.push(`${last.internalErrors} responses failed with an internal error`);
  if (last.throttledOutages > 0)
    violations.push(`${last.throttledOutages} stations failed because of 0.2 % of 429 replies`);
  if (last.heapBytes > 1.1 * first.heapBytes)
    violations.push(`the heap grew by ${percent(last.heapBytes / first.heapBytes - 1)}`);
  // Not every slot of every upstream may have been in use before the first measurement.
  const pooledBytes = UPSTREAMS * CONCURRENCY * POOLED_BUFFER_BYTES;
  if (last.bufferBytes > 1.1 * first.bufferBytes + pooledBytes)
    violations.push(`buffers grew by ${percent(last.bufferBytes / first.bufferBytes - 1)}`);
  for (const { sockets, timers } of usage) {
    if (sockets > MAX_SOCKETS) violations.push(`${sockets} sockets are open, more than ${MAX_SOCKETS}`);
    if (timers > MAX_SOCKETS)
      violations.push(`${timers} timers are set, more than one for each of ${MAX_SOCKETS} sockets`);
  }
  return violations;
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}

/** Scrapes until every station was listed once, so that the first measurement includes all snapshots. */
async function warmUp(port: number): Promise<ScrapeStats[]> {
  const stats: ScrapeStats[] = [];
  while ((await exporter.call('listedStations')) < STATIONS) {
    if (stats.length >= MAX_WARMUP_ROUNDS)
      throw new Error(`not every station was listed within ${MAX_WARMUP_ROUNDS} rounds`);
    stats.push(await metricsScrapers.call('run', { ...groupOf('metrics', port, -stats.length), seconds: 2 }));
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

function groupOf(kind: keyof typeof GROUPS, port: number, done: number): ScraperGroup {
  const { timeoutsSeconds, ...group } = GROUPS[kind];
  return {
    ...group,
    timeoutsSeconds: timeoutsSeconds.map((timeout) => Math.round(10 * timeout * slowness) / 10),
    port,
    stations,
    seconds: SLICE_SECONDS,
    seed: seed + Math.round(1000 * done),
  };
}

function duration(ofSeconds: number): string {
  return `${Math.round(1000 * ofSeconds)}ms`;
}

/** How many times as long as alone a process takes on this machine now, at least 1: the limits of time are multiplied by it. */
function measureSlowness(): number {
  const [startMs, start] = [performance.now(), process.cpuUsage()];
  const usedMs = () => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1000;
  };
  // Enough for an average.
  while (usedMs() < 500);
  return Math.max(1, (performance.now() - startMs) / usedMs());
}
