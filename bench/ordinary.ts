import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { type Child, startChild } from './child.ts';
import { withConfigFile } from './config-file.ts';
import { type Figure, figure } from './figure.ts';
import { type FleetShape, stationNames } from './fleet.ts';
import { imageOptions, MAIN, type RunningNode, startNode } from './program.ts';
import type { ServiceMethods } from './service.ts';

/** A usual fleet. Its stations have three pages of the default size. */
export const ORDINARY_FLEET: FleetShape = { stations: 100, resourcesPerStation: 250 };
const PAGES = 3;

/** A minute takes 20 seconds: `ttl` and the scrape interval, both a minute by default, and the latency of the service, which is 200 ms then. */
const SCALE = 3;
const INTERVAL_MS = 60_000 / SCALE;
const LATENCY_MS = 200 / SCALE;
const SCRAPE_TIMEOUT_SECONDS = 10;

/** The first scrapes are a warm-up. */
const WARM_UPS = 1;
const INTERVALS = 5;

const SCRAPES_PER_HOUR = 60;
const MIB = 1024 * 1024;

/** One Prometheus, and two at different offsets. */
export const ORDINARY_OFFSETS = [
  { title: 'one Prometheus', offsetsMs: [0] },
  { title: 'two Prometheus servers', offsetsMs: [0, INTERVAL_MS / 2] },
];

/** The names of the figures that tables contain. */
export const ORDINARY_NAMES = {
  missed: (title: string) => `${title}: stations that a scrape interval leaves unrefreshed`,
  missedMost: (title: string) => `${title}: the same, in the worst interval`,
  deviation: (title: string) => `${title}: requests, difference from the formula`,
  ageMedian: (title: string) => `${title}: age of the data when a scrape ends, median`,
  age99: (title: string) => `${title}: the same, 99th percentile`,
  cpuPerScrape: (title: string) => `${title}: CPU of a scrape with its refreshes`,
  cpuPerHour: (title: string) => `${title}: CPU per hour`,
  memory: (title: string) => `${title}: resident memory`,
};

/** The built program with default values. */
export async function ordinaryFigures(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { title, offsetsMs } of ORDINARY_OFFSETS) figures.push(...(await measure(title, offsetsMs)));
  return figures;
}

async function measure(title: string, offsetsMs: readonly number[]): Promise<Figure[]> {
  const service = startChild<ServiceMethods>('service');
  try {
    const servicePort = await service.call('start', { shape: ORDINARY_FLEET, latencyMs: LATENCY_MS });
    const ttl = `${INTERVAL_MS / 1000}s`;
    return await withConfigFile({ servicePort, stations: stationNames(ORDINARY_FLEET), ttl }, async (file) => {
      const port = await freePort();
      const program = [...imageOptions(), MAIN, `--config.file=${file}`, `--web.listen-address=127.0.0.1:${port}`];
      const exporter = await startNode(program, 'msg=listening');
      try {
        return figuresOf(title, await observe({ service, exporter, port }, offsetsMs));
      } finally {
        await exporter.stop();
      }
    });
  } finally {
    await service.stop();
  }
}

interface Observed {
  /** Refreshes and requests, by interval. */
  readonly refreshes: readonly number[];
  readonly requests: readonly number[];
  readonly agesMs: readonly number[];
  readonly cpuMs: number;
  readonly residentBytes: number;
}

interface Running {
  readonly service: Child<ServiceMethods>;
  readonly exporter: RunningNode;
  readonly port: number;
}

async function observe({ service, exporter, port }: Running, offsetsMs: readonly number[]): Promise<Observed> {
  await wait(INTERVAL_MS);
  const beginMs = performance.now();
  const untilMs = async (atMs: number) => wait(Math.max(0, beginMs + atMs - performance.now()));
  const agesMs: number[] = [];
  const scrapes = offsetsMs.map(async (offsetMs) => {
    for (let interval = 0; interval < WARM_UPS + INTERVALS; interval += 1) {
      await untilMs(interval * INTERVAL_MS + offsetMs);
      const ages = await scrapedAges(port);
      if (interval >= WARM_UPS) agesMs.push(...ages);
    }
  });
  // Between the scrapes of all servers, when no refresh is in progress.
  const quietMs = INTERVAL_MS - 200;
  await untilMs((WARM_UPS - 1) * INTERVAL_MS + quietMs);
  const [cpuBeforeMs, counts] = [exporter.cpuMs(), [await service.call('counts')]];
  for (let interval = 0; interval < INTERVALS; interval += 1) {
    await untilMs((WARM_UPS + interval) * INTERVAL_MS + quietMs);
    counts.push(await service.call('counts'));
  }
  const cpuMs = exporter.cpuMs() - cpuBeforeMs;
  await Promise.all(scrapes);
  const differences = (name: 'requests' | 'firstPages') =>
    counts.slice(1).map((count, index) => count[name] - (counts[index]?.[name] ?? 0));
  return {
    refreshes: differences('firstPages'),
    requests: differences('requests'),
    agesMs,
    cpuMs,
    residentBytes: exporter.residentBytes(),
  };
}

function figuresOf(title: string, { refreshes, requests, agesMs, cpuMs, residentBytes }: Observed): Figure[] {
  const { stations } = ORDINARY_FLEET;
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const percentage = (value: number, of: number) => (100 * Math.abs(of - value)) / of;
  const sorted = agesMs.toSorted((a, b) => a - b);
  const ageSeconds = (share: number) => (SCALE * (sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN)) / 1000;
  const cpuPerScrapeMs = cpuMs / INTERVALS;
  return [
    figure(ORDINARY_NAMES.missed(title), percentage(mean(refreshes), stations), '%', 0),
    figure(ORDINARY_NAMES.missedMost(title), percentage(Math.min(...refreshes), stations), '%', 0),
    figure(ORDINARY_NAMES.deviation(title), percentage(mean(requests), PAGES * stations), '%', 1),
    figure(ORDINARY_NAMES.ageMedian(title), ageSeconds(0.5), 's'),
    figure(ORDINARY_NAMES.age99(title), ageSeconds(0.99), 's', 60),
    figure(ORDINARY_NAMES.cpuPerScrape(title), cpuPerScrapeMs, 'ms'),
    figure(ORDINARY_NAMES.cpuPerHour(title), (SCRAPES_PER_HOUR * cpuPerScrapeMs) / 1000, 's'),
    figure(ORDINARY_NAMES.memory(title), residentBytes / MIB, 'MiB'),
  ];
}

/** The age of the data of each station when the scrape ends, as it publishes it. */
async function scrapedAges(port: number): Promise<number[]> {
  const headers = { 'X-Prometheus-Scrape-Timeout-Seconds': String(SCRAPE_TIMEOUT_SECONDS) };
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers });
  const text = await response.text();
  const endMs = Date.now();
  const successes = text.matchAll(/^telemetry_station_last_success_timestamp_seconds\{.*\} (\S+)$/gm);
  return Array.from(successes, ([, seconds]) => endMs - 1000 * Number(seconds));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
