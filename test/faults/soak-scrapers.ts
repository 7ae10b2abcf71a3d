import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { serveMethods } from '../../bench/child.ts';
import { between, pick, type Random, randomFrom } from '../../src/simulator/random.ts';
import { inconsistencies } from './inconsistencies.ts';
import { readStationSamples } from './station-samples.ts';

/** What a crowd of scrapers has seen. */
export interface ScrapeStats {
  scrapes: number;
  bytes: number;
  slowestMs: number;
  /** The largest part of an announced timeout that an answer took. */
  largestShare: number;
  /** Of stations as they were published. */
  published: number;
  failing: number;
  /** How often each reason was told. */
  reasons: Record<string, number>;
  incomplete: number;
  violations: string[];
}

export interface ScraperGroup {
  readonly port: number;
  readonly seconds: number;
  readonly scrapers: number;
  readonly seed: number;
  readonly stations: readonly string[];
  /** Whether they scrape all stations at once, and not one by one. */
  readonly allStations: boolean;
  readonly pauseMs: readonly [least: number, most: number];
  /** What a scraper announces, one of these each time. */
  readonly timeoutsSeconds: readonly number[];
}

export interface ScraperMethods {
  run(crowd: ScraperGroup): ScrapeStats;
}

const agent = new Agent({ keepAlive: true });
/** Enough to see what is wrong. */
const MAX_VIOLATIONS = 20;

serveMethods({
  run: async (crowd: ScraperGroup): Promise<ScrapeStats> => {
    const seen: ScrapeStats = {
      scrapes: 0,
      bytes: 0,
      slowestMs: 0,
      largestShare: 0,
      published: 0,
      failing: 0,
      reasons: {},
      incomplete: 0,
      violations: [],
    };
    const endsAt = performance.now() + crowd.seconds * 1000;
    await Promise.all(Array.from({ length: crowd.scrapers }, (_, index) => scraper(crowd, randomFrom(crowd.seed + index), endsAt, seen)));
    return seen;
  },
});

/** Waits for each answer before it asks again, as Prometheus does. */
async function scraper(crowd: ScraperGroup, random: Random, endsAt: number, seen: ScrapeStats): Promise<void> {
  await setTimeout(between(random, 0, crowd.pauseMs[1]));
  while (performance.now() < endsAt) {
    const wanted = crowd.allStations ? crowd.stations : [pick(random, crowd.stations)];
    const timeoutSeconds = pick(random, crowd.timeoutsSeconds);
    const startMs = performance.now();
    const scrape = scrapeOnce(crowd, wanted, timeoutSeconds, seen);
    const broken = (error: unknown) => [
      `no whole answer: ${error} after ${Math.round(performance.now() - startMs)} ms of ${timeoutSeconds} s`,
    ];
    seen.violations.push(...(await scrape.catch(broken)));
    seen.scrapes += 1;
    seen.violations.splice(MAX_VIOLATIONS);
    await setTimeout(between(random, ...crowd.pauseMs));
  }
}

async function scrapeOnce(
  { port, allStations: whole }: ScraperGroup,
  wanted: readonly string[],
  timeoutSeconds: number,
  seen: ScrapeStats,
): Promise<string[]> {
  const path = whole ? '/metrics' : `/probe?station=${wanted[0]}`;
  const headers = { 'X-Prometheus-Scrape-Timeout-Seconds': String(timeoutSeconds), ...(whole && { 'Accept-Encoding': 'gzip' }) };
  const startMs = performance.now();
  const signal = AbortSignal.timeout(timeoutSeconds * 1000);
  const sent = request({ host: '127.0.0.1', port, path, agent, headers, signal });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const tookMs = performance.now() - startMs;
  seen.slowestMs = Math.max(seen.slowestMs, tookMs);
  seen.largestShare = Math.max(seen.largestShare, tookMs / (timeoutSeconds * 1000));
  if (response.statusCode !== 200) return [`${path} answered ${response.statusCode}`];
  const body = Buffer.concat(chunks);
  seen.bytes += body.length;
  return problems((whole ? gunzipSync(body) : body).toString('latin1'), wanted, seen);
}

function problems(text: string, wanted: readonly string[], seen: ScrapeStats): string[] {
  const published = readStationSamples(text);
  return wanted.flatMap((station) => {
    const tally = published.get(station);
    if (tally === undefined) return [`${station} is missing`];
    seen.published += 1;
    if (tally.up === 0) seen.failing += 1;
    for (const reason of tally.failingReasons) seen.reasons[reason] = (seen.reasons[reason] ?? 0) + 1;
    if (tally.complete === 0) seen.incomplete += 1;
    return inconsistencies(tally).map((contradiction) => `${station}: ${contradiction}`);
  });
}
