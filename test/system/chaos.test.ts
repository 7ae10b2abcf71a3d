import { beforeEach, describe, expect, it, vi } from 'vitest';
import { pick, randomFrom } from '../../lab/simulator/random.ts';
import { dataOf, type StationMetrics } from '../e2e/station-metrics.ts';
import { configOf, type RunningExporter, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import type { ParsedFamily } from '../exposition/parse-exposition.ts';
import { closedPort } from '../service/support/service.ts';
import { eventually } from '../web/eventually.ts';
import { type ChaosState, STEPS } from './chaos-steps.ts';
import { inconsistencies, type StationSamples, samplesOf } from './station-consistency.ts';

const STEP_COUNT = 30;
const SEEDS = process.env['CHAOS_SEED'] === undefined ? [1, 2, 3] : [Number(process.env['CHAOS_SEED'])];
/** The same telemetry station twice, with a long and a short max_stale. */
const MAX_STALE_MS = { kept: 3_600_000, brief: 1000 };
type Name = keyof typeof MAX_STALE_MS;
const NAMES = Object.keys(MAX_STALE_MS) as Name[];
/** Tolerance between the wall clock and the monotonic clock. */
const CLOCK_MS = 500;
const MAX_WAIT_MS = 60_000;

interface Scrape {
  readonly beforeMs: number;
  readonly afterMs: number;
  readonly families: Map<string, ParsedFamily>;
}

/** Waits for refreshes that the scrape did not wait for, because the next step must not change what they list. */
async function scrapeAndWait({ scrape, exporter }: RunningExporter): Promise<Scrape> {
  const beforeMs = Date.now();
  const families = await scrape();
  const afterMs = Date.now();
  await eventually(() => expect(exporter.stations().filter(({ isRefreshing }) => isRefreshing)).toEqual([]));
  return { beforeMs, afterMs, families };
}

const samplesFor = ({ families }: Scrape, name: Name) => samplesOf(families, name);

/** Checks each scrape against the previous ones. */
class InvariantChecker {
  #last: Scrape | undefined;
  /** The highest value of every counter, including those of dropped snapshots. */
  readonly #counters = new Map<string, number>();
  readonly #firstComplete = new Map<Name, number>();

  check(scraped: Scrape, expectedIds: readonly string[]): void {
    this.#expectCountersNotDecreasing(scraped);
    for (const name of NAMES) {
      const samples = samplesFor(scraped, name);
      expect(inconsistencies(samples)).toEqual([]);
      this.#expectStaleness(scraped, name, samples);
      // A scrape does not wait for a station that hangs: then it has the data of the refresh before.
      const isCurrent = samples.up === 1 && (samples.lastSuccess ?? 0) * 1000 >= scraped.beforeMs;
      const data = dataOf(scraped.families, name);
      if (samples.complete === 1) this.#expectComplete(name, data, samples, isCurrent ? expectedIds : undefined);
    }
    this.#last = scraped;
  }

  #expectCountersNotDecreasing({ families }: Scrape): void {
    for (const [, { type, samples }] of families) {
      for (const { name, labels, value } of type === 'counter' ? samples : []) {
        const key = `${name} ${JSON.stringify(labels)}`;
        expect(value, key).toBeGreaterThanOrEqual(this.#counters.get(key) ?? 0);
        this.#counters.set(key, value);
      }
    }
  }

  /** A station has its last snapshot at least until max_stale, unchanged while it fails; `droppedOrRecovered` waits for the end of that. */
  #expectStaleness(scraped: Scrape, name: Name, { up, complete, lastSuccess }: StationSamples): void {
    if (up === 1) expect(lastSuccess).toBeDefined();
    if (lastSuccess === undefined) return;
    if (complete === undefined)
      expect(scraped.afterMs - lastSuccess * 1000).toBeGreaterThanOrEqual(MAX_STALE_MS[name] - CLOCK_MS);
    else if (up === 0 && this.#last && samplesFor(this.#last, name).lastSuccess === lastSuccess)
      expect(dataOf(scraped.families, name)).toEqual(dataOf(this.#last.families, name));
  }

  /** The change counters account for every resource; after a short max_stale, a listing may be the new base without counting changes. */
  #expectComplete(
    name: Name,
    data: StationMetrics,
    { infos }: StationSamples,
    expectedIds: readonly string[] | undefined,
  ): void {
    const ids = Object.keys(data['resource_info'] ?? {}).map((labels) => JSON.parse(labels).resource_id);
    if (expectedIds) expect(ids.toSorted()).toEqual(expectedIds.toSorted());
    if (name === 'brief') return;
    const sum = (family: string) => Object.values(data[family] ?? {}).reduce((total, value) => total + value, 0);
    const first = infos - sum('resources_added_total') + sum('resources_removed_total');
    expect(first).toBe(this.#firstComplete.get(name) ?? first);
    this.#firstComplete.set(name, first);
  }
}

describe('Exporter, over a service with random faults', () => {
  // Full jitter: the delay is random() times the backoff.
  beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));

  it.each(SEEDS)('publishes consistent metrics, seed %i', async (seed) => {
    const service = await startTestService({ seed, port: await closedPort() });
    const state: ChaosState = { service, random: randomFrom(seed), expectedIds: [] };
    await STEPS['changes its records']?.(state);
    const upstream = { timeout: '250ms', refresh_timeout: '3s', max_retries: 1, concurrency: 4 };
    const config = configOf(state.service.url, ['ts'], { upstream });
    const stations = NAMES.map((name) => ({
      ...config.stations[0],
      name,
      cache: { max_stale: `${MAX_STALE_MS[name]}ms` },
    }));
    const exporter = await startReadyExporter({ ...config, stations });
    const checker = new InvariantChecker();
    const steps: string[] = [];
    const checkOnce = async () => {
      const scraped = await scrapeAndWait(exporter);
      checker.check(scraped, state.expectedIds);
      return scraped;
    };
    const checkUntil = async (condition: (scraped: Scrape) => boolean) => {
      for (const endMs = Date.now() + MAX_WAIT_MS; ; ) {
        if (condition(await checkOnce())) return;
        expect(Date.now()).toBeLessThan(endMs);
      }
    };
    try {
      for (let count = 0; count < STEP_COUNT; count += 1) {
        const changed = state.random() < 0.5 ? ['changes its records'] : [];
        for (const step of [...changed, pick(state.random, Object.keys(STEPS))]) {
          steps.push(step);
          await STEPS[step]?.(state);
        }
        if (state.random() < 0.5) await exporter.get('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '0.01' });
        const scraped = await checkOnce();
        if (samplesFor(scraped, 'brief').up === 0 && state.random() < 0.3) await checkUntil(droppedOrRecovered);
      }
      steps.push('recovers');
      await STEPS['recovers']?.(state);
      await checkUntil((scraped) =>
        NAMES.every((name) => samplesFor(scraped, name).up === 1 && samplesFor(scraped, name).complete === 1),
      );
    } catch (error) {
      throw new Error(`CHAOS_SEED=${seed}, steps: ${steps.join(', ')}`, { cause: error });
    }
  });
});

function droppedOrRecovered(scraped: Scrape): boolean {
  const { up, complete } = samplesFor(scraped, 'brief');
  return up === 1 || complete === undefined;
}
