import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { serveMethods } from '../../bench/child.ts';
import { between, pick, type Random, randomFrom } from '../../src/simulator/random.ts';
import { inconsistencies } from '../faults/inconsistencies.ts';
import { readStationSamples } from '../faults/station-samples.ts';

export type ScrapeStats = ReturnType<typeof noStats>;

const noStats = () => ({
  scrapes: 0,
  slowestMs: 0,
  /** Largest duration as a share of the scrape timeout. */
  largestShare: 0,
  /** Stations in the scraped expositions. */
  published: 0,
  failing: 0,
  /** Scraped failures by reason. */
  reasons: {} as Record<string, number>,
  incomplete: 0,
  violations: [] as string[],
});

export interface ScraperGroup {
  readonly port: number;
  readonly seconds: number;
  readonly scrapers: number;
  readonly seed: number;
  readonly stations: readonly string[];
  /** /metrics instead of /probe of one station. */
  readonly allStations: boolean;
  readonly pauseMs: readonly [least: number, most: number];
  /** Scrape timeouts to choose from. */
  readonly timeoutsSeconds: readonly number[];
}

export interface ScraperMethods {
  run(group: ScraperGroup): ScrapeStats;
}

const agent = new Agent({ keepAlive: true });
const MAX_VIOLATIONS = 20;

serveMethods({
  run: async (group: ScraperGroup): Promise<ScrapeStats> => {
    const stats = noStats();
    const endsAt = performance.now() + group.seconds * 1000;
    await Promise.all(
      Array.from({ length: group.scrapers }, (_, index) =>
        scraper(group, randomFrom(group.seed + index), endsAt, stats),
      ),
    );
    return stats;
  },
});

/** Waits for each response before the next scrape, as Prometheus does. */
async function scraper(group: ScraperGroup, random: Random, endsAt: number, stats: ScrapeStats): Promise<void> {
  await setTimeout(between(random, 0, group.pauseMs[1]));
  while (performance.now() < endsAt) {
    const expected = group.allStations ? group.stations : [pick(random, group.stations)];
    const timeoutSeconds = pick(random, group.timeoutsSeconds);
    const startMs = performance.now();
    const scrape = scrapeOnce(group, expected, timeoutSeconds, stats);
    const asViolation = (error: unknown) => [
      `no complete response: ${error} after ${Math.round(performance.now() - startMs)} ms of ${timeoutSeconds} s`,
    ];
    stats.violations.push(...(await scrape.catch(asViolation)));
    stats.scrapes += 1;
    stats.violations.splice(MAX_VIOLATIONS);
    await setTimeout(between(random, ...group.pauseMs));
  }
}

async function scrapeOnce(
  { port, allStations }: ScraperGroup,
  expected: readonly string[],
  timeoutSeconds: number,
  stats: ScrapeStats,
): Promise<string[]> {
  const path = allStations ? '/metrics' : `/probe?station=${expected[0]}`;
  const headers = {
    'X-Prometheus-Scrape-Timeout-Seconds': String(timeoutSeconds),
    ...(allStations && { 'Accept-Encoding': 'gzip' }),
  };
  const startMs = performance.now();
  const signal = AbortSignal.timeout(Math.round(timeoutSeconds * 1000));
  const sent = request({ host: '127.0.0.1', port, path, agent, headers, signal });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const tookMs = performance.now() - startMs;
  stats.slowestMs = Math.max(stats.slowestMs, tookMs);
  stats.largestShare = Math.max(stats.largestShare, tookMs / (timeoutSeconds * 1000));
  if (response.statusCode !== 200) return [`${path} answered ${response.statusCode}`];
  const body = Buffer.concat(chunks);
  return problems((allStations ? gunzipSync(body) : body).toString('latin1'), expected, stats);
}

function problems(text: string, expected: readonly string[], stats: ScrapeStats): string[] {
  const published = readStationSamples(text);
  return expected.flatMap((station) => {
    const samples = published.get(station);
    if (samples === undefined) return [`${station} is missing`];
    stats.published += 1;
    if (samples.up === 0) stats.failing += 1;
    for (const reason of samples.failingReasons) stats.reasons[reason] = (stats.reasons[reason] ?? 0) + 1;
    if (samples.complete === 0) stats.incomplete += 1;
    return inconsistencies(samples).map((inconsistency) => `${station}: ${inconsistency}`);
  });
}
