import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { type ServiceOptions, startSimulatedService } from '../../src/simulator/service.ts';
import { parseExposition, valuesOf } from '../metrics/parse-exposition.ts';
import { listen } from '../upstream/support/service.ts';
import { eventually } from '../web/eventually.ts';
import { configOf, entriesOf, startExporter, wireRecord } from './test-bed.ts';

/** Nothing is asked for again unless the configuration makes it necessary. */
const LASTING = { ttl: '1h', error_ttl: '1h' };

async function startService(options: ServiceOptions = {}) {
  const service = await startSimulatedService({ source: () => entriesOf(3), ...options });
  onTestFinished(() => service.stop());
  return service;
}

/** An exporter that has tried all its stations. */
async function exporterOf(config: object) {
  const exporter = await startExporter(config);
  onTestFinished(() => exporter.stop());
  await eventually(() => expect(exporter.exporter.stations().every(({ up }) => up !== undefined)).toBe(true));
  return {
    ...exporter,
    reload: (changed: object) => {
      exporter.rewrite(changed);
      return fetch(`${exporter.url}/-/reload`, { method: 'POST' });
    },
    stations: async (family = 'telemetry_station_up') => valuesOf(await exporter.scrape(), family, 'station'),
    /** All that is published of the stations themselves, as text. */
    published: async () => {
      const text = await (await exporter.get('/metrics')).text();
      return text.split('\n').filter((line) => !line.includes('telemetry_station_exporter_'));
    },
  };
}

const askedFor = ({ requests }: Awaited<ReturnType<typeof startService>>) => requests.map(({ station }) => station);

const tokenSent = ({ requests }: Awaited<ReturnType<typeof startService>>) => requests.map(({ headers }) => headers.authorization);

const withToken = (url: string, credentials: string) =>
  configOf(url, ['a'], { upstream: { authorization: { credentials } }, cache: LASTING });

describe('a reload', () => {
  it('keeps the data of unchanged stations and asks for added ones alone', async () => {
    const service = await startService();
    const { reload, published, stations } = await exporterOf(configOf(service.url, ['a', 'b'], { cache: LASTING }));
    const before = (await published()).filter((line) => line.includes('station="a"'));
    expect(before.length).toBeGreaterThan(10);
    service.clearRequests();
    expect((await reload(configOf(service.url, ['a', 'c'], { cache: LASTING }))).status).toBe(200);
    await eventually(async () => expect(await stations()).toEqual({ a: 1, c: 1 }));
    expect((await published()).filter((line) => line.includes('station="a"'))).toEqual(before);
    expect(await stations('telemetry_station_listing_pages')).toEqual({ a: 1, c: 1 });
    expect(askedFor(service)).toEqual(['c']);
  });

  it('forgets the counters of an upstream that is no longer there', async () => {
    const service = await startService();
    const config = configOf(service.url, ['a']);
    const renamed = JSON.parse(JSON.stringify(config).replaceAll('"main"', '"other"'));
    const { reload, get } = await exporterOf(config);
    const upstreams = async () => new Set((await (await get('/metrics')).text()).match(/(?<=upstream=")\w+/g));
    expect(await upstreams()).toEqual(new Set(['main']));
    expect((await reload(renamed)).status).toBe(200);
    expect(await upstreams()).toEqual(new Set(['other']));
  });

  it('keeps the counters of unchanged stations', async () => {
    const service = await startService();
    const { exporter, reload, scrape } = await exporterOf(configOf(service.url, ['a']));
    service.setRecords('a', [{ record: wireRecord('new') }]);
    const changes = async () => {
      const metrics = await scrape();
      return ['added', 'removed'].flatMap((change) =>
        Object.values(valuesOf(metrics, `telemetry_station_resources_${change}_total`, 'station')),
      );
    };
    expect(await changes()).toEqual([1, 3]);
    expect((await reload(configOf(service.url, ['a', 'b']))).status).toBe(200);
    await eventually(() => expect(exporter.stations().every(({ up }) => up !== undefined)).toBe(true));
    service.setRecords('a', entriesOf(1));
    expect(await changes()).toEqual([2, 0, 4, 0]);
  });

  it('asks anew for a station that changed', async () => {
    const service = await startService();
    const { exporter, reload, scrape } = await exporterOf(configOf(service.url, ['a'], { cache: LASTING }));
    service.clearRequests();
    const station = { filters: { resource_ids: ['r1'] } };
    expect((await reload(configOf(service.url, ['a'], { cache: LASTING, station }))).status).toBe(200);
    await eventually(() => expect(exporter.stations().every(({ up }) => up !== undefined)).toBe(true));
    expect(valuesOf(await scrape(), 'telemetry_station_resource_info', 'resource_id')).toEqual({ r1: 1 });
    expect(askedFor(service)).toEqual(['a']);
  });

  it('asks the new service, and forgets the data of the old one, when the base URL changes', async () => {
    const old = await startService();
    const { reload, stations, scrape } = await exporterOf(configOf(old.url, ['a'], { cache: LASTING }));
    const service = await startService({ source: () => entriesOf(1, 'other'), faults: { '*': [{ kind: 'status', code: 500 }] } });
    old.clearRequests();
    await reload(configOf(service.url, ['a'], { cache: LASTING }));
    await eventually(async () => expect(valuesOf(await scrape(), 'telemetry_station_failure', 'reason')).toMatchObject({ status: 1 }));
    expect(await stations('telemetry_station_listing_pages')).toEqual({});
    expect(askedFor(old)).toEqual([]);
  });

  it('takes away a station that was removed', async () => {
    const service = await startService();
    const { reload, get, stations, exporter } = await exporterOf(configOf(service.url, ['a', 'b'], { cache: LASTING }));
    await reload(configOf(service.url, ['b'], { cache: LASTING }));
    expect(await stations()).toEqual({ b: 1 });
    expect((await get('/probe?station=a')).status).toBe(404);
    expect(exporter.stations().map(({ name }) => name)).toEqual(['b']);
    expect(await stations('telemetry_station_exporter_series')).toEqual({ b: expect.any(Number) });
  });

  it('changes nothing when the configuration has mistakes, and tells them', async () => {
    const service = await startService();
    const { reload, published, get, scrape, log } = await exporterOf(configOf(service.url, ['a'], { cache: LASTING }));
    const before = await published();
    const config = await (await get('/config')).text();
    const since = valuesOf(await scrape(), 'telemetry_station_exporter_config_last_reload_success_timestamp_seconds');
    service.clearRequests();
    const response = await reload({ ...configOf(service.url, ['b'], { cache: { ttl: 'soon' } }), surprise: 1 });
    expect(response.status).toBe(400);
    const reasons = await response.text();
    expect(reasons).toMatch(/^config\.yaml:\d+:\d+: cache\.ttl: .*\nconfig\.yaml:\d+:\d+: surprise: .*\n$/);
    expect(log.filter((line) => line.includes('configuration reload failed'))).toHaveLength(2);
    expect(await published()).toEqual(before);
    expect(await (await get('/config')).text()).toBe(config);
    const metrics = await scrape();
    expect(valuesOf(metrics, 'telemetry_station_exporter_config_last_reload_successful')).toEqual({ '': 0 });
    expect(valuesOf(metrics, 'telemetry_station_exporter_config_last_reload_success_timestamp_seconds')).toEqual(since);
    expect(askedFor(service)).toEqual([]);
    expect((await reload(configOf(service.url, ['a'], { cache: LASTING }))).status).toBe(200);
    expect(valuesOf(await scrape(), 'telemetry_station_exporter_config_last_reload_successful')).toEqual({ '': 1 });
  });

  it('shows the new configuration once it is in force', async () => {
    const { url } = await startService();
    const { reload, get } = await exporterOf(configOf(url, ['a'], { cache: LASTING }));
    await reload(configOf(url, ['b'], { cache: LASTING }));
    expect(parse(await (await get('/config')).text())).toMatchObject({ stations: [{ name: 'b', telemetry_station: 'b' }] });
  });

  it('brings changed metrics options into force at once, without asking the service', async () => {
    const service = await startService();
    const config = (metrics: object) => configOf(service.url, ['a'], { cache: LASTING, metrics });
    const { reload, scrape } = await exporterOf(config({}));
    service.clearRequests();
    await reload(config({ disabled: ['telemetry_station_resources', 'telemetry_station_up', 'telemetry_station_exporter_series'] }));
    const fewer = await scrape();
    expect(fewer.has('telemetry_station_resources')).toBe(false);
    expect(fewer.has('telemetry_station_up')).toBe(false);
    expect(fewer.has('telemetry_station_exporter_series')).toBe(false);
    expect(fewer.has('telemetry_station_resource_info')).toBe(true);
    await reload(config({ per_resource: false }));
    const aggregated = await scrape();
    expect(aggregated.has('telemetry_station_resource_info')).toBe(false);
    expect(Object.values(valuesOf(aggregated, 'telemetry_station_resources', 'station'))).toEqual([3]);
    await reload(config({ max_resources: 2 }));
    expect(valuesOf(await scrape(), 'telemetry_station_exporter_series_withheld', 'station')).toEqual({ a: 15 });
    expect(askedFor(service)).toEqual([]);
  });

  it('asks at once with a changed credential, and meanwhile serves what it has', async () => {
    const service = await startService({ auth: { scheme: 'token', token: 'first-token' } });
    const { reload, stations } = await exporterOf(withToken(service.url, 'first-token'));
    service.setAuth({ scheme: 'token', token: 'second-token' });
    service.setFaults('a', [{ kind: 'hang' }]);
    service.clearRequests();
    expect((await reload(withToken(service.url, 'second-token'))).status).toBe(200);
    await eventually(() => expect(tokenSent(service)).toEqual(['Bearer second-token']));
    expect(await stations('telemetry_station_listing_pages')).toEqual({ a: 1 });
  });

  it('shows at once that a changed credential is wrong', async () => {
    const service = await startService({ auth: { scheme: 'token', token: 'right-token' } });
    const { reload, scrape, stations } = await exporterOf(withToken(service.url, 'right-token'));
    await reload(withToken(service.url, 'wrong-token'));
    await eventually(async () => expect(valuesOf(await scrape(), 'telemetry_station_failure', 'reason')).toMatchObject({ auth: 1 }));
    expect(await stations('telemetry_station_listing_complete')).toEqual({ a: 1 });
    await reload(withToken(service.url, 'right-token'));
    await eventually(async () => expect(await stations()).toEqual({ a: 1 }));
  });

  it('leaves the connections of an unchanged upstream alone', async () => {
    const service = await startCountingService();
    const { reload, stations } = await exporterOf(configOf(service.url, ['a']));
    await reload(configOf(service.url, ['a'], { cache: { max_stale: '1h' } }));
    expect(await stations()).toEqual({ a: 1 });
    expect(service.opened()).toBe(1);
  });

  it('closes the connections of a removed upstream', async () => {
    const removed = await startCountingService();
    const kept = await startCountingService();
    const both = configOf(kept.url, ['a'], { station: { upstream: 'main' } });
    const config = { ...both, upstreams: { ...both.upstreams, other: { base_url: removed.url } } };
    const { reload } = await exporterOf({
      ...config,
      stations: [...both.stations, ...configOf(removed.url, ['b'], { station: { upstream: 'other' } }).stations],
    });
    expect(removed.open()).toBe(1);
    await reload(both);
    await eventually(() => expect(removed.open()).toBe(0));
    expect(kept.open()).toBe(1);
  });

  it('ends the refresh of a removed station, and answers who waits for it', async () => {
    const service = await startService();
    const { reload, scrape, stations } = await exporterOf(configOf(service.url, ['a', 'b']));
    service.setFaults('b', [{ kind: 'hang' }]);
    service.clearRequests();
    const waiting = scrape('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '3600' });
    await eventually(() => expect(askedFor(service)).toContain('b'));
    expect((await reload(configOf(service.url, ['a']))).status).toBe(200);
    expect(valuesOf(await waiting, 'telemetry_station_up', 'station')).toEqual({ a: 1, b: 1 });
    await eventually(async () => expect(await requestsInFlight(scrape)).toEqual({ main: 0 }));
    expect(await stations()).toEqual({ a: 1 });
  });

  it('lets the refresh of an unchanged station go on', async () => {
    const service = await startHeldService();
    const exporter = await startExporter(configOf(service.url, ['a'], { cache: LASTING }));
    onTestFinished(() => exporter.stop());
    const waiting = exporter.exporter.scrape('text', undefined, new AbortController().signal);
    await eventually(() => expect(service.held).toHaveLength(1));
    exporter.rewrite(configOf(service.url, ['a', 'b'], { cache: LASTING }));
    expect(await exporter.exporter.reload()).toEqual([]);
    await eventually(() => expect(service.held).toHaveLength(2));
    service.held[0]?.();
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await waiting).plain()) chunks.push(chunk);
    const metrics = parseExposition(Buffer.concat(chunks).toString());
    expect(valuesOf(metrics, 'telemetry_station_up', 'station')).toEqual({ a: 1 });
    expect(service.held).toHaveLength(2);
  });

  it('begins the first refresh again when metrics options change under it', async () => {
    const service = await startService({ faults: { a: [{ kind: 'hang', when: { first: 1 } }] } });
    const exporter = await startExporter(configOf(service.url, ['a'], { cache: LASTING }));
    onTestFinished(() => exporter.stop());
    await eventually(() => expect(askedFor(service)).toEqual(['a']));
    exporter.rewrite(configOf(service.url, ['a'], { cache: LASTING, metrics: { per_resource: false } }));
    expect(await exporter.exporter.reload()).toEqual([]);
    await eventually(() => expect(exporter.exporter.stations().every(({ up }) => up !== undefined)).toBe(true));
    expect(valuesOf(await exporter.scrape(), 'telemetry_station_up', 'station')).toEqual({ a: 1 });
  });

  it('takes its turn when several come at once', async () => {
    const service = await startService();
    const { reload, exporter, rewrite, stations } = await exporterOf(configOf(service.url, ['a'], { cache: LASTING }));
    rewrite(configOf(service.url, ['a', 'b'], { cache: LASTING }));
    const outcomes = await Promise.all([exporter.reload(), exporter.reload(), exporter.reload()]);
    expect(outcomes).toEqual([[], [], []]);
    await eventually(() => expect(exporter.stations().every(({ up }) => up !== undefined)).toBe(true));
    expect(askedFor(service)).toEqual(['a', 'b']);
    const names = ['c', 'd', 'e'];
    const responses = await Promise.all(names.map((name) => reload(configOf(service.url, ['a', name], { cache: LASTING }))));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    await eventually(() => expect(exporter.stations().every(({ up }) => up !== undefined)).toBe(true));
    expect(await stations()).toEqual({ a: 1, e: 1 });
    expect(askedFor(service)).toEqual(['a', 'b', 'e']);
  });
});

async function requestsInFlight(scrape: Awaited<ReturnType<typeof exporterOf>>['scrape']) {
  return valuesOf(await scrape(), 'telemetry_station_exporter_api_requests_in_flight', 'upstream');
}

/** A service that answers a request when the test says so. */
async function startHeldService() {
  const held: (() => void)[] = [];
  const server = createServer((_request, response) => held.push(() => response.end(EMPTY)));
  return { url: `http://127.0.0.1:${await listen(server)}`, held };
}

const EMPTY = '{"resources": [], "page": {"total": 0}}';

/** A service without resources that tells how many connections it has and ever had. */
async function startCountingService() {
  let open = 0;
  let opened = 0;
  const server = createServer((_request, response) => response.end(EMPTY));
  server.on('connection', (socket) => {
    open += 1;
    opened += 1;
    socket.on('close', () => {
      open -= 1;
    });
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}`, open: () => open, opened: () => opened };
}
