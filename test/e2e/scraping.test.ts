import { connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { replyWith } from '../../src/simulator/faults.ts';
import { valuesOf } from '../metrics/parse-exposition.ts';
import { first } from '../simulator/simulated-service.ts';
import { listen } from '../upstream/support/service.ts';
import { eventually } from '../web/eventually.ts';
import { expectedData } from './reference-model.ts';
import { dataOf, expectedState, ownOf, stateOf } from './station-metrics.ts';
import {
  configOf,
  entriesOf,
  type RunningExporter,
  recordsOf,
  startReadyExporter,
  startTestService,
  variedEntries,
} from './test-bed.ts';

const entries = variedEntries(25);
const outcome = { reported: 25, pages: 3 };

/** Too short to wait for a refresh. */
const NO_WAIT = { 'X-Prometheus-Scrape-Timeout-Seconds': '0.1' };

const countOf = (families: Parameters<typeof ownOf>[0], family: string) => ownOf(families, family)['{}'] ?? Number.NaN;

/** A TCP proxy to the service; while paused, it holds back what the clients send. */
async function startPausableProxy(serviceUrl: string) {
  const clients: Socket[] = [];
  let isPaused = false;
  const server = createServer((client) => {
    clients.push(client);
    pipeline(client, connect(Number(new URL(serviceUrl).port), '127.0.0.1'), client, () => undefined);
    if (isPaused) client.pause();
  });
  const change = (paused: boolean) => {
    isPaused = paused;
    for (const client of clients) client[paused ? 'pause' : 'resume']();
  };
  return { url: `http://127.0.0.1:${await listen(server)}`, pause: () => change(true), resume: () => change(false) };
}

/** Until so many scrapes wait for a refresh; the polling scrapes count as misses too. */
function untilWaiting(exporter: RunningExporter, scrapes: number): Promise<void> {
  let polls = 0;
  return eventually(async () => {
    polls += 1;
    expect(countOf(await exporter.scrape('/metrics', NO_WAIT), 'cache_misses_total')).toBe(scrapes + polls);
  });
}

describe('Exporter, scraped concurrently', () => {
  it('refreshes a stale station once for all waiting scrapes', async () => {
    const service = await startTestService({ faults: { ts: [replyWith(500)] } });
    service.setRecords('ts', entries);
    const proxy = await startPausableProxy(service.url);
    const exporter = await startReadyExporter(configOf(proxy.url, ['ts'], { cache: { ttl: '1h' } }));
    service.setFaults('ts', []);
    service.clearRequests();

    proxy.pause();
    const scrapes = Array.from({ length: 20 }, () => exporter.scrape());
    await untilWaiting(exporter, 20);
    expect(stateOf(await exporter.scrape('/metrics', NO_WAIT))).toEqual(expectedState('status'));
    expect(service.requests).toEqual([]);
    proxy.resume();
    for (const families of await Promise.all(scrapes)) {
      expect(dataOf(families)).toEqual(expectedData(recordsOf(entries), outcome));
    }
    expect(service.requests.map(({ offset }) => offset).sort()).toEqual([0, 10, 20]);

    const [first, second] = [await exporter.scrape(), await exporter.scrape()];
    expect(countOf(second, 'cache_hits_total')).toBe(countOf(first, 'cache_hits_total') + 1);
    expect(countOf(first, 'cache_misses_total')).toBeGreaterThanOrEqual(20);
    expect(countOf(second, 'cache_misses_total')).toBe(countOf(first, 'cache_misses_total'));
    expect(service.requests).toHaveLength(3);
  });
});

describe('Exporter, within the limits of an upstream', () => {
  it('answers a scrape that meets a Retry-After beyond its deadline at once, and the scrapes after it', async () => {
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
    for (let scrapes = 0; scrapes < 3; scrapes += 1) {
      const families = await exporter.scrape('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '200' });
      // Its refresh goes on: it waits for the end of the hold.
      expect(exporter.exporter.stations()[0]).toMatchObject({ name: 'held', isRefreshing: true });
      expect(stateOf(families, 'held')).toEqual(expectedState(undefined));
      expect(valuesOf(families, 'telemetry_station_resources', 'station')).toEqual({ held: 3, other: 5 });
    }
  });
});
