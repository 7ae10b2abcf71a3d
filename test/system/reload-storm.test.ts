import { describe, expect, it } from 'vitest';
import { configOf, entriesOf, type RunningExporter, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { parseExposition, valuesOf } from '../exposition/parse-exposition.ts';

const STATIONS = Array.from({ length: 3 }, (_, at) => `s${at}`);
const RELOADS = 20;
const SCRAPERS = 2;

/** What a scrape says of each station: up, and with how many resources. */
async function statesOf(exporter: RunningExporter, timeout: string): Promise<readonly string[]> {
  const response = await exporter.get('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': timeout });
  const families = parseExposition(await response.text());
  const up = valuesOf(families, 'telemetry_station_up', 'station');
  const resources = valuesOf(families, 'telemetry_station_resources', 'station');
  return STATIONS.map((name) => `${name} up=${up[name]} resources=${resources[name]}`);
}

describe('a storm of reloads', () => {
  it('leaves no station without data, and none down, in any scrape', async () => {
    const service = await startTestService({ source: () => entriesOf(3) });
    // Every station changes, because its upstream or the metrics have changed.
    const configAfter = (reloads: number) =>
      configOf(service.url, STATIONS, {
        upstream: { refresh_timeout: `${300 + (reloads % 2)}s`, concurrency: 64 },
        metrics: { max_resources: 1000 + reloads },
      });
    const exporter = await startReadyExporter(configAfter(0));
    const seen = new Set<string>();
    let isOver = false;
    const scrape = async () => {
      // One that waits for refreshes, and one that does not.
      for (const timeout of ['600', '0.001']) for (const state of await statesOf(exporter, timeout)) seen.add(state);
    };
    const scrapers = Array.from({ length: SCRAPERS }, async () => {
      while (!isOver) await scrape();
    });
    for (let reloads = 1; reloads <= RELOADS; reloads += 1) {
      exporter.rewrite(configAfter(reloads));
      expect(await exporter.exporter.reload()).toEqual([]);
      await scrape();
    }
    isOver = true;
    await Promise.all(scrapers);
    expect([...seen].sort()).toEqual(STATIONS.map((name) => `${name} up=1 resources=3`));
  });
});
