import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { CompressorPool } from '../../src/metrics/segment.ts';
import { randomFrom } from '../../src/simulator/random.ts';
import { configOf, entriesOf, type RunningExporter, startReadyExporter, startTestService } from '../e2e/test-bed.ts';

const STATIONS = Array.from({ length: 3 }, (_, at) => `s${at}`);
const RELOADS = 20;
const SCRAPERS = 2;

type Counters = ReadonlyMap<string, number>;

/** The counters of all stations, by series. */
async function countersOf(exporter: RunningExporter, timeout: string): Promise<Counters> {
  const response = await exporter.get('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': timeout });
  const text = await response.text();
  const lines = text.split('\n').filter((line) => /^telemetry_station_resource.*_total\{/.test(line));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

/** Reads the counters again and again, and collects every decrease. */
class CounterReader {
  readonly decreases: string[] = [];
  readonly #exporter: RunningExporter;
  #latest: Counters = new Map();

  constructor(exporter: RunningExporter) {
    this.#exporter = exporter;
  }

  /** By a scrape that waits for refreshes, and by one that does not: after a reload, a refresh could make up for what was lost. */
  async read(): Promise<Counters> {
    await this.#compare('600');
    return this.#compare('0.001');
  }

  async #compare(timeout: string): Promise<Counters> {
    const counters = await countersOf(this.#exporter, timeout);
    for (const [series, before] of this.#latest) {
      const after = counters.get(series);
      if (after === undefined || after < before) this.decreases.push(`${series}: ${before}, then ${after}`);
    }
    this.#latest = counters;
    return counters;
  }
}

/** Encodings that are in progress at the same time end in the same event-loop iteration, in every order that there is. */
function encodeTogether(seed: number): void {
  const random = randomFrom(seed);
  const { compress } = CompressorPool.prototype;
  let together: Promise<void> | undefined;
  const spy = vi.spyOn(CompressorPool.prototype, 'compress').mockImplementation(async function (
    this: CompressorPool,
    write,
  ) {
    const result = await compress.call(this, write);
    together ??= new Promise((resolve) =>
      setImmediate(() => {
        together = undefined;
        resolve();
      }),
    );
    await together;
    for (let ticks = Math.floor(12 * random()); ticks > 0; ticks -= 1) await undefined;
    return result;
  });
  onTestFinished(() => spy.mockRestore());
}

describe('a storm of reloads', () => {
  it.each(Array.from({ length: 10 }, (_, at) => at + 1))('%i decreases no counter of a station', async (storm) => {
    encodeTogether(storm);
    // No two listings are the same, so that every refresh counts.
    let listings = 0;
    const source = () => {
      listings += 1;
      return entriesOf(3, `${listings} `);
    };
    const service = await startTestService({ source });
    // Every station is taken over by a successor, because its upstream or the metrics have changed.
    const configAfter = (reloads: number) =>
      configOf(service.url, STATIONS, {
        upstream: { refresh_timeout: `${300 + (reloads % 2)}s`, concurrency: 64 },
        metrics: { max_resources: 1000 + reloads },
      });
    const exporter = await startReadyExporter(configAfter(0));
    let isOver = false;
    const scrapers = Array.from({ length: SCRAPERS }, async () => {
      const reader = new CounterReader(exporter);
      while (!isOver) await reader.read();
      return reader.decreases;
    });
    const aroundReloads = new CounterReader(exporter);
    const first = await aroundReloads.read();
    for (let reloads = 1; reloads <= RELOADS; reloads += 1) {
      exporter.rewrite(configAfter(reloads));
      expect(await exporter.exporter.reload()).toEqual([]);
      await aroundReloads.read();
    }
    isOver = true;
    expect([aroundReloads.decreases, ...(await Promise.all(scrapers))].flat()).toEqual([]);
    // The storm has counted what it is about.
    const last = await aroundReloads.read();
    expect([...last.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(
      [...first.values()].reduce((sum, count) => sum + count, 0),
    );
  });
});
