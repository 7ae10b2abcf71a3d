import { beforeEach, describe, expect, it, vi } from 'vitest';
import { pick, randomFrom } from '../../src/simulator/random.ts';
import { HEALTH_FAMILIES } from '../e2e/station-metrics.ts';
import { configOf, type RunningExporter, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { inconsistencies } from '../faults/inconsistencies.ts';
import { readStationSamples, type StationSamples } from '../faults/station-samples.ts';
import { parseExposition } from '../metrics/parse-exposition.ts';
import { closedPort } from '../upstream/support/service.ts';
import { eventually } from '../web/eventually.ts';
import { type ChaosState, STEPS } from './chaos-steps.ts';

const STEP_COUNT = 30;
const SEEDS = process.env['CHAOS_SEED'] === undefined ? [1, 2, 3] : [Number(process.env['CHAOS_SEED'])];
/** The same telemetry station twice, with a long and a short max_stale. */
const MAX_STALE_MS = { kept: 3_600_000, brief: 200 };
type Name = keyof typeof MAX_STALE_MS;
const NAMES = Object.keys(MAX_STALE_MS) as Name[];
/** Tolerance between the wall clock and the monotonic clock. */
const CLOCK_MS = 50;
const MAX_WAIT_MS = 60_000;

interface Scrape {
  readonly beforeMs: number;
  readonly afterMs: number;
  readonly families: ReturnType<typeof parseExposition>;
  readonly stations: ReadonlyMap<string, StationSamples>;
}

async function scrape(exporter: RunningExporter): Promise<Scrape> {
  const beforeMs = Date.now();
  const response = await exporter.get('/metrics');
  expect(response.status).toBe(200);
  const text = await response.text();
  return { beforeMs, afterMs: Date.now(), families: parseExposition(text), stations: readStationSamples(text) };
}

/** Waits for refreshes that the scrape did not wait for; whether one of them ended after it. */
async function settled({ exporter }: RunningExporter, scraped: Scrape): Promise<boolean> {
  await eventually(() => expect(exporter.stations().filter(({ isRefreshing }) => isRefreshing)).toEqual([]));
  return exporter.stations().some(({ name, lastAttemptMs = 0 }) => {
    return Math.round(1000 * (scraped.stations.get(name)?.lastAttempt ?? 0)) !== Math.round(lastAttemptMs);
  });
}

const samplesFor = ({ stations }: Scrape, name: Name) => stations.get(name) ?? expect.unreachable(`${name} is missing`);

/** The station's samples of the selected families, by name and labels. */
function samplesOf(
  { families }: Scrape,
  name: Name,
  select: (family: string, type: string) => boolean,
): Map<string, number> {
  const samples = [...families].flatMap(([family, { type, samples: all }]) => (select(family, type) ? all : []));
  const own = samples.filter(({ labels }) => labels['station'] === name);
  return new Map(own.map((sample) => [`${sample.name} ${JSON.stringify(sample.labels)}`, sample.value]));
}

const countersOf = (scraped: Scrape, name: Name) => samplesOf(scraped, name, (_, type) => type === 'counter');

const snapshotOf = (scraped: Scrape, name: Name) =>
  samplesOf(
    scraped,
    name,
    (family) =>
      !HEALTH_FAMILIES.some((health) => family === `telemetry_station_${health}`) && !family.includes('_exporter_'),
  );

const idsOf = ({ families }: Scrape, name: Name) =>
  (families.get('telemetry_station_resource_info')?.samples ?? [])
    .filter(({ labels }) => labels['station'] === name)
    .map(({ labels }) => labels['resource_id']);

/** Checks each scrape against the previous ones. */
class InvariantChecker {
  #last: Scrape | undefined;
  /** The highest value of every counter, including those of dropped snapshots. */
  readonly #counters = new Map<string, number>();
  readonly #firstComplete = new Map<Name, number>();

  /** `mayHaveMissed`: a refresh may have finished since the last scrape without being scraped. */
  check(scraped: Scrape, expectedIds: readonly string[], mayHaveMissed = false): void {
    this.#expectCountersNotDecreasing(scraped);
    for (const name of NAMES) {
      const samples = samplesFor(scraped, name);
      expect(inconsistencies(samples)).toEqual([]);
      this.#expectHealth(scraped, name, samples);
      this.#expectStaleness(scraped, name, samples);
      if (samples.complete === 1 && samples.up === 1)
        expect(idsOf(scraped, name).toSorted()).toEqual(expectedIds.toSorted());
      this.#expectChanges(scraped, name, samples, mayHaveMissed);
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

  #expectHealth(scraped: Scrape, name: Name, { lastAttempt, lastSuccess }: StationSamples): void {
    const present = HEALTH_FAMILIES.filter(
      (family) => samplesOf(scraped, name, (other) => other === `telemetry_station_${family}`).size > 0,
    );
    expect(present).toEqual(
      HEALTH_FAMILIES.filter((family) => family !== 'last_success_timestamp_seconds' || lastSuccess !== undefined),
    );
    const before = this.#last && samplesFor(this.#last, name);
    expect(lastAttempt).toBeGreaterThanOrEqual(before?.lastAttempt ?? 0);
    expect(lastSuccess ?? 0).toBeGreaterThanOrEqual(before?.lastSuccess ?? 0);
    expect(lastAttempt).toBeLessThanOrEqual(scraped.afterMs / 1000);
  }

  /** A failing station publishes its last snapshot unchanged until max_stale, and no longer. */
  #expectStaleness(scraped: Scrape, name: Name, { up, complete, lastSuccess }: StationSamples): void {
    if (up === 1) expect(complete).toBeDefined();
    if (up === 1 || lastSuccess === undefined) return;
    const successMs = lastSuccess * 1000;
    if (complete === undefined) {
      expect(scraped.afterMs - successMs).toBeGreaterThanOrEqual(MAX_STALE_MS[name] - CLOCK_MS);
      return;
    }
    expect(scraped.beforeMs - successMs).toBeLessThanOrEqual(MAX_STALE_MS[name] + CLOCK_MS);
    if (this.#last && samplesFor(this.#last, name).lastSuccess === lastSuccess) {
      expect(snapshotOf(scraped, name)).toEqual(snapshotOf(this.#last, name));
    }
  }

  /** Only complete snapshots move the change counters, which then account for every resource. */
  #expectChanges(scraped: Scrape, name: Name, { complete, infos, up }: StationSamples, mayHaveMissed: boolean): void {
    const counters = countersOf(scraped, name);
    const sum = (kind: string) =>
      [...counters].reduce((total, [key, value]) => total + (key.includes(`resources_${kind}_total`) ? value : 0), 0);
    if (complete === 1) {
      const first = this.#firstComplete.get(name) ?? infos - sum('added') + sum('removed');
      this.#firstComplete.set(name, first);
      expect(first + sum('added') - sum('removed')).toBe(infos);
    } else if (this.#last && !mayHaveMissed && up === 1 && samplesFor(this.#last, name).complete !== undefined) {
      expect(counters).toEqual(countersOf(this.#last, name));
    }
  }
}

describe('Exporter, over a service with random faults', () => {
  // Full jitter: the delay is random() times the backoff.
  beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));

  it.each(SEEDS)('publishes consistent metrics, seed %i', async (seed) => {
    const service = await startTestService({ seed, port: await closedPort() });
    const state: ChaosState = { service, random: randomFrom(seed), expectedIds: [] };
    await STEPS['changes its records']?.(state);
    const upstream = { timeout: '100ms', refresh_timeout: '1s', max_retries: 1, concurrency: 4 };
    const config = configOf(state.service.url, ['ts'], { upstream });
    const stations = NAMES.map((name) => ({
      ...config.stations[0],
      name,
      cache: { max_stale: `${MAX_STALE_MS[name]}ms` },
    }));
    const exporter = await startReadyExporter({ ...config, stations });
    const checker = new InvariantChecker();
    const steps: string[] = [];
    let hasMissed = false;
    const checkOnce = async (mayHaveMissed = false) => {
      const scraped = await scrape(exporter);
      checker.check(scraped, state.expectedIds, mayHaveMissed || hasMissed);
      hasMissed = await settled(exporter, scraped);
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
        const shortTimeout = state.random() < 0.5;
        if (shortTimeout) await exporter.get('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '0.01' });
        const scraped = await checkOnce(shortTimeout);
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
