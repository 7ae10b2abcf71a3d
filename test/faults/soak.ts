import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startChild } from '../../bench/child.ts';
import type { ExporterMethods, ResourceUsage } from './soak-exporter.ts';
import type { ScraperGroup, ScraperMethods, ScrapeStats } from './soak-scrapers.ts';
import type { ServiceMethods } from './soak-service.ts';
import { soakViolations } from './soak-violations.ts';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '600' }, seed: { type: 'string', default: String(Date.now() % 1_000_000) } },
});
const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
if (!(seconds >= 3) || !Number.isInteger(seed)) {
  console.error('usage: npm run soak -- [--seconds=600] [--seed=1]');
  process.exit(2);
}

const STATIONS = 50;
const RESOURCES_PER_STATION = 1000;
/** Accounts with a budget of their own, so that a throttled one does not slow down all. */
const UPSTREAMS = 5;
const CONCURRENCY = 4;
const PROBERS = 18;
const WHOLE_SCRAPERS = 2;
const REFRESH_TIMEOUT_SECONDS = 4;
/** The heap is measured after each slice: the first one has warmed everything up. */
const SLICE_SECONDS = Math.min(60, seconds / 3);
const MOST_FILLINGS = 30;
const MIB = 1024 * 1024;

const stations = Array.from({ length: STATIONS }, (_, index) => `ts-${String(index).padStart(2, '0')}`);
const service = startChild<ServiceMethods>('../test/faults/soak-service');
const exporter = startChild<ExporterMethods>('../test/faults/soak-exporter');
const probers = startChild<ScraperMethods>('../test/faults/soak-scrapers');
const wholeScrapers = startChild<ScraperMethods>('../test/faults/soak-scrapers');
let failed = true;
try {
  failed = await soak();
} finally {
  await Promise.all([probers, wholeScrapers, exporter, service].map((child) => child.stop()));
}
process.exit(failed ? 1 : 0);

async function soak(): Promise<boolean> {
  console.log(
    `${STATIONS} stations of ${RESOURCES_PER_STATION} resources, ${PROBERS + WHOLE_SCRAPERS} scrapers, ${seconds} s, seed ${seed}\n`,
  );
  const url = await service.call('start', { seed, stations, resourcesPerStation: RESOURCES_PER_STATION });
  const port = await exporter.call('start', config(url));
  const seen = await filling(port);
  const holdings: ResourceUsage[] = [];
  console.log(
    row(
      'seconds',
      'scrapes',
      'slowest',
      'failing',
      'incomplete',
      'heap',
      'buffers',
      'resident',
      'sockets',
      'timers',
      'resources',
      'longest turn',
    ),
  );
  console.log(row(...Array<string>(12).fill('--:')));
  for (let done = 0; done < seconds - 0.5; done += SLICE_SECONDS) {
    const slice = await Promise.all([probers.call('run', probingCrowd(port, done)), wholeScrapers.call('run', wholeCrowd(port, done))]);
    // Refreshes that are under way hold pages: what is left when they are over is what stays.
    await setTimeout((REFRESH_TIMEOUT_SECONDS + 0.5) * 1000);
    const held = await exporter.call('resourceUsage');
    seen.push(...slice);
    holdings.push(held);
    console.log(sliceRow(done + SLICE_SECONDS, slice, held));
  }
  const violations = soakViolations(holdings, seen, UPSTREAMS * CONCURRENCY + PROBERS + WHOLE_SCRAPERS + 4);
  console.log(`\n${summary(seen, holdings)}`);
  for (const violation of violations) console.error(`VIOLATED: ${violation}`);
  console.log(violations.length === 0 ? 'Everything held.' : `${violations.length} violations; again with --seed=${seed}`);
  return violations.length > 0;
}

/** Scrapes until every station has been listed once, so that the heap holds from its first measurement all that it ever will. */
async function filling(port: number): Promise<ScrapeStats[]> {
  const seen: ScrapeStats[] = [];
  while ((await exporter.call('listedStations')) < STATIONS) {
    if (seen.length >= MOST_FILLINGS) throw new Error(`not every station was listed within ${MOST_FILLINGS} rounds`);
    seen.push(await wholeScrapers.call('run', { ...wholeCrowd(port, -seen.length), seconds: 2 }));
  }
  return seen;
}

function config(url: string): object {
  const upstream = {
    base_url: url,
    timeout: '1500ms',
    refresh_timeout: `${REFRESH_TIMEOUT_SECONDS}s`,
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
    cache: { ttl: '1s', error_ttl: '1s', max_stale: '1h' },
  };
}

function probingCrowd(port: number, done: number): ScraperGroup {
  return { ...crowd(port, done), allStations: false, scrapers: PROBERS, pauseMs: [500, 1500], timeoutsSeconds: [3, 10] };
}

function wholeCrowd(port: number, done: number): ScraperGroup {
  return { ...crowd(port, done), allStations: true, scrapers: WHOLE_SCRAPERS, pauseMs: [3000, 6000], timeoutsSeconds: [10, 15] };
}

function crowd(port: number, done: number) {
  return { port, stations, seconds: SLICE_SECONDS, seed: seed + Math.round(1000 * done) };
}

function sliceRow(at: number, slice: readonly ScrapeStats[], held: ResourceUsage): string {
  const sum = (key: 'scrapes' | 'failing' | 'incomplete') => slice.reduce((total, crowd) => total + crowd[key], 0);
  const slowest = Math.max(...slice.map(({ slowestMs }) => slowestMs));
  const sizes = [held.heapBytes, held.bufferBytes, held.residentBytes].map((bytes) => `${(bytes / MIB).toFixed(1)} MiB`);
  const counts = [held.sockets, held.timers, held.resources, `${Math.round(held.maxEventLoopDelayMs)} ms`];
  return row(Math.round(at), sum('scrapes'), `${Math.round(slowest)} ms`, sum('failing'), sum('incomplete'), ...sizes, ...counts);
}

function summary(seen: readonly ScrapeStats[], holdings: readonly ResourceUsage[]): string {
  const sum = (key: 'scrapes' | 'published' | 'failing' | 'incomplete' | 'bytes') => seen.reduce((total, crowd) => total + crowd[key], 0);
  const share = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;
  const growth = (holdings.at(-1)?.heapBytes ?? Number.NaN) / (holdings[0]?.heapBytes ?? Number.NaN) - 1;
  return [
    `scrapes: ${sum('scrapes')}, ${Math.round(sum('bytes') / MIB)} MiB`,
    `stations published and checked: ${sum('published')}, failing ${share(sum('failing'), sum('published'))}, incomplete ${share(sum('incomplete'), sum('published'))}`,
    `failing by: ${reasonsOf(seen)}`,
    `largest part of an announced timeout: ${share(Math.max(...seen.map(({ largestShare }) => largestShare)), 1)}`,
    `heap at the end against the first measurement: ${growth >= 0 ? '+' : ''}${share(growth, 1)}`,
  ].join('\n');
}

function reasonsOf(seen: readonly ScrapeStats[]): string {
  const names = [...new Set(seen.flatMap(({ reasons }) => Object.keys(reasons)))].toSorted();
  return names.map((name) => `${name} ${seen.reduce((sum, { reasons }) => sum + (reasons[name] ?? 0), 0)}`).join(', ');
}

function row(...cells: readonly (string | number)[]): string {
  return `| ${cells.join(' | ')} |`;
}
