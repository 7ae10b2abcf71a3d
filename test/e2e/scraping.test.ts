import { describe, expect, it } from 'vitest';
import { replyWith } from '../../src/simulator/faults.ts';
import { valuesOf } from '../exposition/parse-exposition.ts';
import { first } from '../simulator/simulated-service.ts';
import { eventually } from '../web/eventually.ts';
import { expectedState, stateOf } from './station-metrics.ts';
import { configOf, entriesOf, startReadyExporter, startTestService } from './test-bed.ts';

describe('Exporter, within the limits of an upstream', () => {
  it('answers scrapes at once while Retry-After holds an upstream beyond their deadline', async () => {
    const service = await startTestService({ source: () => entriesOf(3) });
    const { upstreams, stations, ...config } = configOf(service.url, ['held', 'other']);
    const [held, other] = stations;
    const exporter = await startReadyExporter({
      ...config,
      upstreams: { main: upstreams.main, throttled: { ...upstreams.main, max_retries: 2 } },
      stations: [
        { ...held, upstream: 'throttled' },
        { ...other, upstream: 'main' },
      ],
    });
    service.setFaults('held', [{ ...replyWith(429, { 'retry-after': '240' }), when: first(1) }]);
    service.setRecords('other', entriesOf(5));
    await exporter.scrape('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '0.6' });
    const holdMs = () => exporter.exporter.upstreams().find(({ name }) => name === 'throttled')?.load.holdMs;
    await eventually(() => expect(holdMs()).toBeGreaterThan(200_000));
    for (let scrapes = 0; scrapes < 2; scrapes += 1) {
      const families = await exporter.scrape('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '200' });
      // Its refresh goes on: it waits for the end of the hold.
      expect(exporter.exporter.stations()[0]).toMatchObject({ name: 'held', isRefreshing: true });
      expect(stateOf(families, 'held')).toEqual(expectedState(undefined));
      expect(valuesOf(families, 'telemetry_station_resources', 'station')).toEqual({ held: 3, other: 5 });
    }
  });
});
