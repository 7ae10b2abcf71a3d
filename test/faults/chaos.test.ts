import { describe, expect, it } from 'vitest';
import { pick, randomFrom } from '../../src/simulator/random.ts';
import { HEALTH_FAMILIES } from '../e2e/station-metrics.ts';
import { configOf, type RunningExporter, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { parseExposition } from '../metrics/parse-exposition.ts';
import { type ChaosState, STEPS } from './chaos-steps.ts';
import { inconsistencies } from './inconsistencies.ts';
import { readStationSamples, type StationSamples } from './station-samples.ts';

const STEP_COUNT = 30;
const SEEDS = process.env['CHAOS_SEED'] === undefined ? [1, 2, 3] : [Number(process.env['CHAOS_SEED'])];
/** The same telemetry station twice: one keeps its last snapshot for ever, the other hardly. */
const MAX_STALE_MS = { kept: 3_600_000, brief: 200 };
type Name = keyof typeof MAX_STALE_MS;
const NAMES = Object.keys(MAX_STALE_MS) as Name[];
/** The clocks that stamp and that measure ages may differ by as much. */
const CLOCK_MS = 50;
/** Far more than anything takes. */
const PATIENCE_MS = 15_000;

/** One scrape, and when it happened. */
interface Shot {
  readonly beforeMs: number;
  readonly afterMs: number;
  readonly families: ReturnType<typeof parseExposition>;
  readonly stations: ReadonlyMap<string, StationSamples>;
}

async function shoot(exporter: RunningExporter): Promise<Shot> {
  const beforeMs = Date.now();
  const response = await exporter.get('/metrics');
  expect(response.status).toBe(200);
  const text = await response.text();
  return { beforeMs, afterMs: Date.now(), families: parseExposition(text), stations: readStationSamples(text) };
}

const tallyOf = ({ stations }: Shot, name: Name) => stations.get(name) ?? expect.unreachable(`${name} is missing`);

/** The station's samples of the families that are wanted, as text. */
function samplesOf({ families }: Shot, name: Name, wanted: (family: string, type: string) => boolean): Map<string, number> {
  const samples = [...families].flatMap(([family, { type, samples: all }]) => (wanted(family, type) ? all : []));
  const own = samples.filter(({ labels }) => labels['station'] === name);
  return new Map(own.map((sample) => [`${sample.name} ${JSON.stringify(sample.labels)}`, sample.value]));
}

const countersOf = (shot: Shot, name: Name) => samplesOf(shot, name, (_, type) => type === 'counter');

const snapshotOf = (shot: Shot, name: Name) =>
  samplesOf(
    shot,
    name,
    (family) => !HEALTH_FAMILIES.some((health) => family === `telemetry_station_${health}`) && !family.includes('_exporter_'),
  );

const idsOf = ({ families }: Shot, name: Name) =>
  (families.get('telemetry_station_resource_info')?.samples ?? [])
    .filter(({ labels }) => labels['station'] === name)
    .map(({ labels }) => labels['resource_id']);

/** Follows the shots of a run and holds each against those before. */
class Watch {
  #last: Shot | undefined;
  /** The highest value of every counter, those of stations whose data has gone included. */
  readonly #counters = new Map<string, number>();
  readonly #firstWhole = new Map<Name, number>();

  /** `unseen`: a refresh may have come to its end since the last shot of which no shot tells. */
  see(shot: Shot, truth: readonly string[], unseen = false): void {
    this.#counterNeverFalls(shot);
    for (const name of NAMES) {
      const tally = tallyOf(shot, name);
      expect(inconsistencies(tally)).toEqual([]);
      this.#health(shot, name, tally);
      this.#stale(shot, name, tally);
      if (tally.complete === 1 && tally.up === 1) expect(idsOf(shot, name).toSorted()).toEqual(truth.toSorted());
      this.#changes(shot, name, tally, unseen);
    }
    this.#last = shot;
  }

  #counterNeverFalls({ families }: Shot): void {
    for (const [, { type, samples }] of families) {
      for (const { name, labels, value } of type === 'counter' ? samples : []) {
        const key = `${name} ${JSON.stringify(labels)}`;
        expect(value, key).toBeGreaterThanOrEqual(this.#counters.get(key) ?? 0);
        this.#counters.set(key, value);
      }
    }
  }

  #health(shot: Shot, name: Name, { lastAttempt, lastSuccess }: StationSamples): void {
    const there = HEALTH_FAMILIES.filter((family) => samplesOf(shot, name, (other) => other === `telemetry_station_${family}`).size > 0);
    expect(there).toEqual(HEALTH_FAMILIES.filter((family) => family !== 'last_success_timestamp_seconds' || lastSuccess !== undefined));
    const before = this.#last && tallyOf(this.#last, name);
    expect(lastAttempt).toBeGreaterThanOrEqual(before?.lastAttempt ?? 0);
    expect(lastSuccess ?? 0).toBeGreaterThanOrEqual(before?.lastSuccess ?? 0);
    expect(lastAttempt).toBeLessThanOrEqual(shot.afterMs / 1000);
  }

  /** While a station fails, it shows what it showed before, unchanged, as long as that is young enough and no longer. */
  #stale(shot: Shot, name: Name, { up, complete, lastSuccess }: StationSamples): void {
    if (up === 1) expect(complete).toBeDefined();
    if (up === 1 || lastSuccess === undefined) return;
    const successMs = lastSuccess * 1000;
    if (complete === undefined) {
      expect(shot.afterMs - successMs).toBeGreaterThanOrEqual(MAX_STALE_MS[name] - CLOCK_MS);
      return;
    }
    expect(shot.beforeMs - successMs).toBeLessThanOrEqual(MAX_STALE_MS[name] + CLOCK_MS);
    if (this.#last && tallyOf(this.#last, name).lastSuccess === lastSuccess) {
      expect(snapshotOf(shot, name)).toEqual(snapshotOf(this.#last, name));
    }
  }

  /** Only what is proven whole moves counts of changes, and then they account for every resource. */
  #changes(shot: Shot, name: Name, { complete, infos, up }: StationSamples, unseen: boolean): void {
    const counters = countersOf(shot, name);
    const sum = (kind: string) =>
      [...counters].reduce((total, [key, value]) => total + (key.includes(`resources_${kind}_total`) ? value : 0), 0);
    if (complete === 1) {
      const first = this.#firstWhole.get(name) ?? infos - sum('added') + sum('removed');
      this.#firstWhole.set(name, first);
      expect(first + sum('added') - sum('removed')).toBe(infos);
    } else if (this.#last && !unseen && up === 1 && tallyOf(this.#last, name).complete !== undefined) {
      expect(counters).toEqual(countersOf(this.#last, name));
    }
  }
}

describe('Exporter, whatever the service does', () => {
  it.each(SEEDS)('keeps every promise of its metrics, seed %i', { timeout: 60_000 }, async (seed) => {
    const scene: ChaosState = { service: await startTestService({ seed }), random: randomFrom(seed), expectedIds: [] };
    await STEPS['changes its records']?.(scene);
    const upstream = { timeout: '200ms', refresh_timeout: '2s', max_retries: 1, concurrency: 4 };
    const config = configOf(scene.service.url, ['ts'], { upstream });
    const stations = NAMES.map((name) => ({ ...config.stations[0], name, cache: { max_stale: `${MAX_STALE_MS[name]}ms` } }));
    const exporter = await startReadyExporter({ ...config, stations });
    const watch = new Watch();
    const past: string[] = [];
    const watchUntil = async (reached: (shot: Shot) => boolean) => {
      for (const endMs = Date.now() + PATIENCE_MS; ; ) {
        const shot = await shoot(exporter);
        watch.see(shot, scene.expectedIds);
        if (reached(shot)) return;
        expect(Date.now()).toBeLessThan(endMs);
      }
    };
    try {
      for (let count = 0; count < STEP_COUNT; count += 1) {
        const moved = scene.random() < 0.5 ? ['changes its records'] : [];
        for (const step of [...moved, pick(scene.random, Object.keys(STEPS))]) {
          past.push(step);
          await STEPS[step]?.(scene);
        }
        const impatient = scene.random() < 0.5;
        if (impatient) await exporter.get('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '0.01' });
        const shot = await shoot(exporter);
        watch.see(shot, scene.expectedIds, impatient);
        if (tallyOf(shot, 'brief').up === 0 && scene.random() < 0.3) await watchUntil(gone);
      }
      past.push('heals');
      await STEPS['heals']?.(scene);
      await watchUntil((shot) => NAMES.every((name) => tallyOf(shot, name).up === 1 && tallyOf(shot, name).complete === 1));
    } catch (error) {
      throw new Error(`with CHAOS_SEED=${seed}, after the service: ${past.join(', ')}`, { cause: error });
    }
  });
});

/** The service has failed for so long that the station has nothing left to show, or it has come back by chance. */
function gone(shot: Shot): boolean {
  const { up, complete } = tallyOf(shot, 'brief');
  return up === 1 || complete === undefined;
}
