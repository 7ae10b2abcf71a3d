import { connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { NAMED_FAULTS, replyWith } from '../../src/simulator/faults.ts';
import { valuesOf } from '../metrics/parse-exposition.ts';
import { first } from '../simulator/simulated-service.ts';
import { listen } from '../upstream/support/service.ts';
import { eventually } from '../web/eventually.ts';
import { expectedData } from './reference-model.ts';
import { dataOf, expectedState, healthOf, ownOf, stateOf } from './station-metrics.ts';
import {
  configOf,
  entriesOf,
  type RunningExporter,
  recordsOf,
  startReadyExporter,
  startTestExporter,
  startTestService,
  variedEntries,
} from './test-bed.ts';

const entries = variedEntries(25);
const outcome = { complete: true, reported: 25, pages: 3 };

/** Too short to wait for a refresh. */
const NO_WAIT = { 'X-Prometheus-Scrape-Timeout-Seconds': '0.1' };
const SHORT_WAIT = { 'X-Prometheus-Scrape-Timeout-Seconds': '0.6' };

const countOf = (families: Parameters<typeof ownOf>[0], family: string) => ownOf(families, family)['{}'] ?? Number.NaN;
const resourcesOf = (exporter: RunningExporter, index = 0) => exporter.exporter.stations()[index]?.snapshot?.resources;

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

  it('answers by the deadline with the last snapshot, while the refresh continues for the next scrape', async () => {
    const service = await startTestService();
    service.setRecords('ts', entries);
    service.setRecords('other', entries);
    const proxy = await startPausableProxy(service.url);
    const { upstreams, stations, ...config } = configOf(service.url, ['ts', 'other']);
    const [ts, other] = stations;
    const exporter = await startReadyExporter({
      ...config,
      upstreams: { ...upstreams, slow: { ...upstreams.main, base_url: proxy.url } },
      stations: [
        { ...ts, upstream: 'slow' },
        { ...other, upstream: 'main' },
      ],
    });
    const fewer = variedEntries(3);
    service.setRecords('ts', fewer);
    service.setRecords('other', fewer);
    service.clearRequests();

    proxy.pause();
    const waited = await exporter.scrape('/metrics', SHORT_WAIT);
    expect(stateOf(waited)).toEqual(expectedState(undefined));
    expect(dataOf(waited)).toEqual(expectedData(recordsOf(entries), outcome));
    await eventually(() => expect(resourcesOf(exporter, 1)).toBe(3));
    expect(new Set(service.requests.map(({ station }) => station))).toEqual(new Set(['other']));

    proxy.resume();
    await eventually(() => expect(resourcesOf(exporter)).toBe(3));
    proxy.pause();
    const next = await exporter.scrape('/metrics', SHORT_WAIT);
    expect(Object.keys(dataOf(next)['resource_info'] ?? {})).toHaveLength(3);
    expect(service.requests.filter(({ station }) => station === 'ts')).toHaveLength(1);
  });
});

describe('Exporter, within the limits of an upstream', () => {
  it('has at most concurrency requests in flight, across all stations', async () => {
    const service = await startTestService({ faults: { '*': [NAMED_FAULTS.hang] } });
    const changes = { upstream: { concurrency: 3 }, station: { products: ['product.odd'], alertability: true } };
    const exporter = await startTestExporter(configOf(service.url, ['a', 'b', 'c'], changes));
    await eventually(async () => {
      const families = await exporter.scrape('/metrics', NO_WAIT);
      expect(countOf(families, 'api_requests_in_flight')).toBe(3);
      expect(countOf(families, 'api_requests_waiting')).toBe(6);
    });
    expect(service.requests).toHaveLength(3);
  });

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

describe('Exporter, endpoints', () => {
  const readiness = async (exporter: RunningExporter) => (await exporter.get('/-/ready')).status;

  it('is ready once every station was tried, with or without success', async () => {
    const service = await startTestService({ faults: { broken: [replyWith(500)] } });
    for (const name of ['fine', 'broken']) service.setRecords(name, entries);
    const proxy = await startPausableProxy(service.url);
    proxy.pause();
    const exporter = await startTestExporter(configOf(proxy.url, ['fine', 'broken']));
    expect(await readiness(exporter)).toBe(503);
    expect((await exporter.get('/-/healthy')).status).toBe(200);
    const untried = await exporter.scrape('/metrics', NO_WAIT);
    expect(Object.keys(healthOf(untried, 'fine'))).toEqual(['info', 'up', 'failure']);
    expect(stateOf(untried, 'fine')).toEqual({ ...expectedState(undefined), up: 0 });
    expect(dataOf(untried, 'fine')).toEqual({});
    expect(await readiness(exporter)).toBe(503);
    proxy.resume();
    await eventually(async () => expect(await readiness(exporter)).toBe(200));
    expect(exporter.exporter.stations().map(({ up }) => up)).toEqual([true, false]);
  });

  it('refreshes and publishes only the probed station', async () => {
    const service = await startTestService();
    for (const name of ['a', 'b']) service.setRecords(name, entries);
    const exporter = await startReadyExporter(configOf(service.url, ['a', 'b']));
    service.clearRequests();
    const families = await exporter.scrape('/probe?station=b');
    expect(service.requests.map(({ station }) => station)).toEqual(['b', 'b', 'b']);
    expect(stateOf(families, 'b')).toEqual(expectedState(undefined));
    expect(dataOf(families, 'b')).toEqual(expectedData(recordsOf(entries), outcome));
    const stations = [...families.values()].flatMap(({ samples }) => samples.map(({ labels }) => labels['station']));
    expect(new Set(stations)).toEqual(new Set(['b']));
  });
});
