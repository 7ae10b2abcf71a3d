import { describe, expect, it } from 'vitest';
import { eventually } from '../web/eventually.ts';
import { startPausableProxy } from './pausable-proxy.ts';
import { expectedData } from './reference-model.ts';
import { dataOf, expectedState, healthOf, ownOf, reasonCounts, stateOf } from './station-metrics.ts';
import {
  configOf,
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

/** Until so many scrapes wait for a refresh; the polling scrapes count as misses too. */
function untilWaiting(exporter: RunningExporter, scrapes: number): Promise<void> {
  let polls = 0;
  return eventually(async () => {
    polls += 1;
    expect(countOf(await exporter.scrape('/metrics', NO_WAIT), 'cache_misses_total')).toBe(scrapes + polls);
  });
}

/** Tolerance of the clocks. */
const CLOCK_MS = 5;

describe('Exporter, scraped concurrently', () => {
  it('refreshes a stale station once for all waiting scrapes', async () => {
    const service = await startTestService({ faults: { ts: [{ kind: 'status', code: 500 }] } });
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
    expect(countOf(second, 'cache_misses_total')).toBe(countOf(first, 'cache_misses_total'));
    expect(service.requests).toHaveLength(3);
  });

  it('sends one request when all scrapes wait for a failing refresh', async () => {
    const service = await startTestService();
    service.setRecords('ts', entries);
    const proxy = await startPausableProxy(service.url);
    const exporter = await startReadyExporter(configOf(proxy.url, ['ts'], { cache: { error_ttl: '1h' } }));
    service.setFaults('ts', [{ kind: 'status', code: 403 }]);
    service.clearRequests();
    proxy.pause();
    const scrapes = Array.from({ length: 20 }, () => exporter.scrape());
    await untilWaiting(exporter, 20);
    proxy.resume();
    for (const families of await Promise.all(scrapes)) {
      expect(stateOf(families)).toEqual(expectedState('forbidden'));
      expect(dataOf(families)).toEqual(expectedData(recordsOf(entries), outcome));
    }
    expect(service.requests).toHaveLength(1);
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

  it('continues a refresh whose scrape was aborted', async () => {
    const service = await startTestService();
    service.setRecords('ts', entries);
    const proxy = await startPausableProxy(service.url);
    const exporter = await startReadyExporter(configOf(proxy.url, ['ts']));
    service.setRecords('ts', variedEntries(3));
    proxy.pause();
    const controller = new AbortController();
    const gone = fetch(`${exporter.url}/metrics`, { signal: controller.signal });
    await untilWaiting(exporter, 1);
    controller.abort();
    await expect(gone).rejects.toThrow();
    proxy.resume();
    await eventually(() => expect(resourcesOf(exporter)).toBe(3));
  });
});

describe('Exporter, within the limits of an upstream', () => {
  const names = ['a', 'b', 'c'];

  it('has at most concurrency requests in flight, across all stations', async () => {
    const service = await startTestService({ faults: { '*': [{ kind: 'latency', ms: [5, 30] }] } });
    for (const name of names) service.setRecords(name, entries);
    const changes = {
      upstream: { concurrency: 3, page_size: 3 },
      station: { products: ['product.odd'], alertability: true },
    };
    const exporter = await startTestExporter(configOf(service.url, names, changes));
    const families = await exporter.scrape();
    for (const name of names) expect(stateOf(families, name)).toEqual(expectedState(undefined));
    expect(service.requests.length).toBeGreaterThanOrEqual(60);
    expect(service.maxInFlight).toBe(3);
  });

  it('sends at most requests_per_second requests, across all stations', async () => {
    const service = await startTestService();
    for (const name of names) service.setRecords(name, entries);
    const startMs = Date.now();
    const exporter = await startTestExporter(
      configOf(service.url, names, { upstream: { requests_per_second: 40 }, cache: { ttl: '1h' } }),
    );
    const families = await exporter.scrape();
    for (const name of names) expect(dataOf(families, name)).toEqual(expectedData(recordsOf(entries), outcome));
    const times = service.requests.map(({ atMs }) => atMs - startMs);
    expect(times).toHaveLength(9);
    // A request may arrive late, but is never sent early.
    for (const [index, time] of times.entries()) expect(time).toBeGreaterThanOrEqual(index * 25 - CLOCK_MS);
    expect(ownOf(families, 'api_requests_waiting')).toEqual({ '{}': 0 });
  });

  it('applies requests_per_second to retries', async () => {
    const service = await startTestService({ faults: { '*': [{ kind: 'status', code: 503, when: { first: 2 } }] } });
    for (const name of names) service.setRecords(name, variedEntries(1));
    const startMs = Date.now();
    const exporter = await startTestExporter(
      configOf(service.url, names, { upstream: { requests_per_second: 40, max_retries: 2 }, cache: { ttl: '1h' } }),
    );
    const families = await exporter.scrape();
    for (const name of names) expect(stateOf(families, name)).toEqual(expectedState(undefined));
    const times = service.requests.map(({ atMs }) => atMs - startMs);
    expect(times).toHaveLength(9);
    for (const [index, time] of times.entries()) expect(time).toBeGreaterThanOrEqual(index * 25 - CLOCK_MS);
    expect(ownOf(families, 'api_request_retries_total')).toEqual({ '{}': 6 });
    expect(ownOf(families, 'api_request_failures_total')).toEqual(reasonCounts({ status: 6 }));
  });
});

describe('Exporter, caching snapshots', () => {
  const refreshesOf = (requests: readonly { readonly offset: number | undefined; readonly atMs: number }[]) =>
    requests.filter(({ offset }) => offset === 0).map(({ atMs }) => atMs);
  /** Measured from the start, because two requests may arrive closer together than they were sent. */
  const expectApart = (times: readonly number[], minMs: number, startMs: number) => {
    for (const [index, time] of times.entries())
      expect(time - startMs).toBeGreaterThanOrEqual(index * minMs - CLOCK_MS);
  };

  it('refreshes on every scrape with a ttl of 0, and on none within the ttl', async () => {
    const service = await startTestService();
    for (const name of ['each', 'once']) service.setRecords(name, variedEntries(3));
    const { stations, ...config } = configOf(service.url, ['each', 'once']);
    const [each, once] = stations;
    const exporter = await startReadyExporter({ ...config, stations: [each, { ...once, cache: { ttl: '1h' } }] });
    service.clearRequests();
    await exporter.scrape();
    await exporter.scrape();
    const families = await exporter.scrape();
    expect(service.requests.map(({ station }) => station)).toEqual(['each', 'each', 'each']);
    expect(countOf(families, 'cache_hits_total')).toBe(3);
    expect(countOf(families, 'cache_misses_total')).toBe(3);
  });

  it('refreshes a snapshot older than ttl, not sooner', async () => {
    const startMs = Date.now();
    const service = await startTestService();
    service.setRecords('ts', variedEntries(3));
    const exporter = await startReadyExporter(configOf(service.url, ['ts'], { cache: { ttl: '150ms' } }));
    await eventually(async () => {
      await exporter.scrape();
      expect(service.requests.length).toBeGreaterThanOrEqual(4);
    });
    // A refresh may start a hundredth of ttl early.
    expectApart(refreshesOf(service.requests), 148, startMs);
  });

  it('refreshes a failed station after error_ttl, not sooner', async () => {
    const startMs = Date.now();
    const service = await startTestService({ faults: { ts: [{ kind: 'status', code: 500, when: { first: 3 } }] } });
    service.setRecords('ts', variedEntries(3));
    const exporter = await startReadyExporter(
      configOf(service.url, ['ts'], { cache: { ttl: '1h', error_ttl: '150ms' } }),
    );
    const families = await eventually(async () => {
      const scraped = await exporter.scrape();
      expect(stateOf(scraped)).toEqual(expectedState(undefined));
      return scraped;
    });
    expect(service.requests).toHaveLength(4);
    expect(ownOf(families, 'api_request_failures_total')).toEqual(reasonCounts({ status: 3 }));
    expectApart(refreshesOf(service.requests), 150, startMs);
  });

  it('refreshes in the background, independently of scrapes', async () => {
    const startMs = Date.now();
    const service = await startTestService();
    service.setRecords('ts', variedEntries(3));
    const proxy = await startPausableProxy(service.url);
    const exporter = await startReadyExporter(
      configOf(proxy.url, ['ts'], { cache: { ttl: '100ms', error_ttl: '100ms', refresh: 'background' } }),
    );
    await eventually(() => expect(service.requests.length).toBeGreaterThanOrEqual(4));
    expectApart(refreshesOf(service.requests), 100, startMs);
    proxy.pause();
    const families = [await exporter.scrape(), await exporter.scrape(), await exporter.scrape()][2] ?? new Map();
    expect(dataOf(families)).toEqual(
      expectedData(recordsOf(variedEntries(3)), { complete: true, reported: 3, pages: 1 }),
    );
    expect([countOf(families, 'cache_hits_total'), countOf(families, 'cache_misses_total')]).toEqual([3, 0]);
  });

  it('recovers in the background', async () => {
    const startMs = Date.now();
    const service = await startTestService({ faults: { ts: [{ kind: 'status', code: 500 }] } });
    service.setRecords('ts', variedEntries(3));
    const cache = { ttl: '1h', error_ttl: '60ms', refresh: 'background' };
    const exporter = await startReadyExporter(configOf(service.url, ['ts'], { cache }));
    expect(stateOf(await exporter.scrape())).toEqual(expectedState('status'));
    await eventually(() => expect(service.requests.length).toBeGreaterThanOrEqual(3));
    service.setFaults('ts', []);
    await eventually(() => expect(exporter.exporter.stations()[0]?.up).toBe(true));
    expect(stateOf(await exporter.scrape())).toEqual(expectedState(undefined));
    expectApart(refreshesOf(service.requests), 60, startMs);
  });
});

describe('Exporter, endpoints', () => {
  const readiness = async (exporter: RunningExporter) => (await exporter.get('/-/ready')).status;

  it('is ready once every station was tried, with or without success', async () => {
    const service = await startTestService({ faults: { broken: [{ kind: 'status', code: 500 }] } });
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
    expect((await exporter.get('/probe')).status).toBe(400);
    expect((await exporter.get('/probe?station=c')).status).toBe(404);
    expect(service.requests).toHaveLength(3);
  });

  it('withholds only per-resource series above max_resources', async () => {
    const service = await startTestService();
    service.setRecords('big', entries);
    service.setRecords('small', entries.slice(0, 24));
    const exporter = await startReadyExporter(
      configOf(service.url, ['big', 'small'], { metrics: { max_resources: 24 } }),
    );
    const families = await exporter.scrape();
    const single = ['info', 'state', 'alert_rules', 'created_timestamp_seconds', 'sku_quantity'].map(
      (name) => `resource_${name}`,
    );
    const all = Object.entries(expectedData(recordsOf(entries), outcome));
    const withheld = all.filter(([family]) => single.includes(family));
    expect(dataOf(families, 'big')).toEqual(Object.fromEntries(all.filter((one) => !withheld.includes(one))));
    expect(dataOf(families, 'small')).toEqual(
      expectedData(recordsOf(entries.slice(0, 24)), { ...outcome, reported: 24 }),
    );
    const count = withheld.reduce((sum, [, samples]) => sum + Object.keys(samples).length, 0);
    expect(count).toBe(4 * 25 + 13);
    expect(ownOf(families, 'series_withheld')).toEqual({ '{"station":"big"}': count, '{"station":"small"}': 0 });
  });

  it('publishes no per-resource series with per_resource: false, and no disabled family', async () => {
    const service = await startTestService();
    service.setRecords('ts', entries);
    const metrics = {
      per_resource: false,
      disabled: ['telemetry_station_listing_pages', 'telemetry_station_exporter_build_info'],
    };
    const exporter = await startReadyExporter(configOf(service.url, ['ts'], { metrics }));
    const families = await exporter.scrape();
    const single = /^resource_(info|state|alert_rules|created_timestamp_seconds|sku_quantity)$|^listing_pages$/;
    const rest = Object.entries(expectedData(recordsOf(entries), outcome)).filter(([family]) => !single.test(family));
    expect(dataOf(families)).toEqual(Object.fromEntries(rest));
    expect(ownOf(families, 'series_withheld')).toEqual({ '{"station":"ts"}': 0 });
    expect(families.has('telemetry_station_exporter_build_info')).toBe(false);
  });
});
