import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { type ServiceOptions, startSimulatedService } from '../../src/simulator/service.ts';
import { parseExposition, valuesOf } from '../metrics/parse-exposition.ts';
import { replaceFile } from '../upstream/support/files.ts';
import { listen } from '../upstream/support/service.ts';
import { eventually } from '../web/eventually.ts';
import { httpRequest } from '../web/http-client.ts';
import { serve } from './running-program.ts';
import { configOf, entriesOf, startExporter, wireRecord } from './test-bed.ts';

/** No refresh except those caused by a reload. */
const LONG_TTL = { ttl: '1h', error_ttl: '1h' };

async function startService(options: ServiceOptions = {}) {
  const service = await startSimulatedService({ source: () => entriesOf(3), ...options });
  onTestFinished(() => service.stop());
  return service;
}

/** An exporter after its first refreshes. */
async function startExporterWithReload(config: object) {
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
    /** The lines of the station families. */
    published: async () => {
      const text = await (await exporter.get('/metrics')).text();
      return text.split('\n').filter((line) => !line.includes('telemetry_station_exporter_'));
    },
  };
}

const queriedStations = ({ requests }: Awaited<ReturnType<typeof startService>>) =>
  requests.map(({ station }) => station);

const tokenSent = ({ requests }: Awaited<ReturnType<typeof startService>>) =>
  requests.map(({ headers }) => headers.authorization);

const withToken = (url: string, credentials: string) =>
  configOf(url, ['a'], { upstream: { authorization: { credentials } }, cache: LONG_TTL });

describe('a reload', () => {
  it('applies changed limits', async () => {
    const records = ['A', 'B', 'C'].map((state, index) => ({ record: wireRecord(`r${index}`, { state }) }));
    const service = await startService({ source: () => records });
    const config = configOf(service.url, ['a'], { cache: { ...LONG_TTL, ttl: '0s', error_ttl: '0s' } });
    const { reload, stations, scrape } = await startExporterWithReload(config);
    const states = async () => Object.keys(valuesOf(await scrape(), 'telemetry_station_resources', 'state'));
    expect(await states()).toEqual(['A', 'B', 'C']);
    expect((await reload({ ...config, limits: { label_values: 1 } })).status).toBe(200);
    records.push({ record: wireRecord('r3', { state: 'D' }) });
    // Values that were published before stay.
    await eventually(async () => expect(await states()).toEqual(['A', 'B', 'C', '(other)']));
    expect((await reload({ ...config, limits: { records_per_station: 2 } })).status).toBe(200);
    await eventually(async () => expect(await stations()).toEqual({ a: 0 }));
    expect(valuesOf(await scrape(), 'telemetry_station_failure', 'reason')).toMatchObject({ body: 1 });
    expect((await reload({ ...config, limits: { records: 2 } })).status).toBe(200);
    await eventually(async () => expect(await stations()).toEqual({ a: 0 }));
    expect((await reload(config)).status).toBe(200);
    await eventually(async () => expect(await stations()).toEqual({ a: 1 }));
    expect(valuesOf(await scrape(), 'telemetry_station_listing_reported_resources', 'station')).toEqual({ a: 4 });
  });

  it('applies changed links, and keeps the data', async () => {
    const service = await startService();
    const config = configOf(service.url, ['a'], { cache: LONG_TTL });
    const { reload, get } = await startExporterWithReload(config);
    const shown = async () => ((await (await get('/stations/a?format=json')).json()) as { links: unknown }).links;
    expect(await shown()).toEqual([]);
    service.clearRequests();
    expect((await reload({ ...config, links: [{ name: 'n', station: 'https://h/{station}' }] })).status).toBe(200);
    expect(await shown()).toEqual([{ name: 'n', url: 'https://h/a' }]);
    expect((await reload({ ...config, links: [{ name: 'n', station: 'javascript:{station}' }] })).status).toBe(400);
    expect(await shown()).toEqual([{ name: 'n', url: 'https://h/a' }]);
    expect(service.requests).toEqual([]);
  });

  it('keeps the data of unchanged stations and refreshes only the added ones', async () => {
    const service = await startService();
    const { reload, published, stations } = await startExporterWithReload(
      configOf(service.url, ['a', 'b'], { cache: LONG_TTL }),
    );
    const before = (await published()).filter((line) => line.includes('station="a"'));
    expect(before.length).toBeGreaterThan(10);
    service.clearRequests();
    expect((await reload(configOf(service.url, ['a', 'c'], { cache: LONG_TTL }))).status).toBe(200);
    await eventually(async () => expect(await stations()).toEqual({ a: 1, c: 1 }));
    expect((await published()).filter((line) => line.includes('station="a"'))).toEqual(before);
    expect(await stations('telemetry_station_listing_pages')).toEqual({ a: 1, c: 1 });
    expect(queriedStations(service)).toEqual(['c']);
  });

  it('reads the station files again, and applies all of them or none', async () => {
    const service = await startService();
    const { stations, ...config } = configOf(service.url, ['a', 'b', 'c'], { cache: LONG_TTL });
    const program = await serve(
      { ...config, stations: stations.slice(0, 1), station_files: ['stations-*.yaml'] },
      '--web.enable-lifecycle',
    );
    const path = (name: string) => join(dirname(program.file), `stations-${name}.yaml`);
    const reload = async () => (await httpRequest(program.port, '/-/reload', { method: 'POST' })).body;
    const names = async () => Object.keys(valuesOf(await program.scrape(), 'telemetry_station_info', 'station'));
    expect(await names()).toEqual(['a']);
    expect(program.output().stderr).toMatch(
      /level=warn msg="configuration warning" warning="\S+: station_files\[0\]: no file matches"/,
    );
    writeFileSync(path('1'), stringify(stations.slice(1, 2)));
    expect(await reload()).toBe('Configuration reloaded.\n');
    expect(await names()).toEqual(['a', 'b']);
    replaceFile(path('1'), stringify(stations.slice(2)));
    writeFileSync(path('2'), stringify([{ ...stations[1], zone: '' }]));
    expect(await reload()).toMatch(/^\S+stations-2\.yaml:3:9: \[0\]\.zone: expected a non-empty name .*\n$/);
    expect(await names()).toEqual(['a', 'b']);
    replaceFile(path('2'), stringify(stations.slice(1, 2)));
    expect(await reload()).toBe('Configuration reloaded.\n');
    expect(await names()).toEqual(['a', 'c', 'b']);
    expect(parse((await program.get('/config')).body).stations).toHaveLength(3);
  });

  it('refreshes a changed station', async () => {
    const service = await startService();
    const { exporter, reload, scrape } = await startExporterWithReload(
      configOf(service.url, ['a'], { cache: LONG_TTL }),
    );
    service.clearRequests();
    const station = { filters: { resource_ids: ['r1'] } };
    expect((await reload(configOf(service.url, ['a'], { cache: LONG_TTL, station }))).status).toBe(200);
    await eventually(() => expect(exporter.stations().every(({ up }) => up !== undefined)).toBe(true));
    expect(valuesOf(await scrape(), 'telemetry_station_resource_info', 'resource_id')).toEqual({ r1: 1 });
    expect(queriedStations(service)).toEqual(['a']);
  });

  it('queries the new service, and drops the data of the old one, when base_url changes', async () => {
    const old = await startService();
    const { reload, stations, scrape } = await startExporterWithReload(configOf(old.url, ['a'], { cache: LONG_TTL }));
    const service = await startService({
      source: () => entriesOf(1, 'other'),
      faults: { '*': [{ kind: 'status', code: 500 }] },
    });
    old.clearRequests();
    await reload(configOf(service.url, ['a'], { cache: LONG_TTL }));
    await eventually(async () =>
      expect(valuesOf(await scrape(), 'telemetry_station_failure', 'reason')).toMatchObject({ status: 1 }),
    );
    expect(await stations('telemetry_station_listing_pages')).toEqual({});
    expect(queriedStations(old)).toEqual([]);
  });

  it('removes a station', async () => {
    const service = await startService();
    const { reload, get, stations, exporter } = await startExporterWithReload(
      configOf(service.url, ['a', 'b'], { cache: LONG_TTL }),
    );
    await reload(configOf(service.url, ['b'], { cache: LONG_TTL }));
    expect(await stations()).toEqual({ b: 1 });
    expect((await get('/probe?station=a')).status).toBe(404);
    expect(exporter.stations().map(({ name }) => name)).toEqual(['b']);
    expect(await stations('telemetry_station_exporter_series')).toEqual({ b: expect.any(Number) });
  });

  it('rejects an invalid configuration with its problems, and keeps the old one in force', async () => {
    const service = await startService();
    const { reload, published, get, scrape, log } = await startExporterWithReload(
      configOf(service.url, ['a'], { cache: LONG_TTL }),
    );
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
    expect(queriedStations(service)).toEqual([]);
    expect((await reload(configOf(service.url, ['a'], { cache: LONG_TTL }))).status).toBe(200);
    expect(valuesOf(await scrape(), 'telemetry_station_exporter_config_last_reload_successful')).toEqual({ '': 1 });
  });

  it('applies changed metrics options immediately, without a request to the service', async () => {
    const service = await startService();
    const config = (metrics: object) => configOf(service.url, ['a'], { cache: LONG_TTL, metrics });
    const { reload, scrape } = await startExporterWithReload(config({}));
    service.clearRequests();
    await reload(
      config({
        disabled: ['telemetry_station_resources', 'telemetry_station_up', 'telemetry_station_exporter_series'],
      }),
    );
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
    expect(queriedStations(service)).toEqual([]);
  });

  it('refreshes immediately with a changed credential, and serves the last snapshot meanwhile', async () => {
    const service = await startService({ auth: { scheme: 'token', token: 'first-token' } });
    const { reload, stations } = await startExporterWithReload(withToken(service.url, 'first-token'));
    service.setAuth({ scheme: 'token', token: 'second-token' });
    service.setFaults('a', [{ kind: 'hang' }]);
    service.clearRequests();
    expect((await reload(withToken(service.url, 'second-token'))).status).toBe(200);
    await eventually(() => expect(tokenSent(service)).toEqual(['Bearer second-token']));
    expect(await stations('telemetry_station_listing_pages')).toEqual({ a: 1 });
  });

  it('reports a wrong credential immediately', async () => {
    const service = await startService({ auth: { scheme: 'token', token: 'right-token' } });
    const { reload, scrape, stations } = await startExporterWithReload(withToken(service.url, 'right-token'));
    await reload(withToken(service.url, 'wrong-token'));
    await eventually(async () =>
      expect(valuesOf(await scrape(), 'telemetry_station_failure', 'reason')).toMatchObject({ auth: 1 }),
    );
    expect(await stations('telemetry_station_listing_complete')).toEqual({ a: 1 });
    await reload(withToken(service.url, 'right-token'));
    await eventually(async () => expect(await stations()).toEqual({ a: 1 }));
  });

  it('keeps the connections of an unchanged upstream', async () => {
    const service = await startCountingService();
    const { reload, stations } = await startExporterWithReload(configOf(service.url, ['a']));
    await reload(configOf(service.url, ['a'], { cache: { max_stale: '1h' } }));
    expect(await stations()).toEqual({ a: 1 });
    expect(service.opened()).toBe(1);
  });

  it('closes the connections of a removed upstream', async () => {
    const removed = await startCountingService();
    const kept = await startCountingService();
    const both = configOf(kept.url, ['a'], { station: { upstream: 'main' } });
    const config = { ...both, upstreams: { ...both.upstreams, other: { base_url: removed.url } } };
    const { reload } = await startExporterWithReload({
      ...config,
      stations: [...both.stations, ...configOf(removed.url, ['b'], { station: { upstream: 'other' } }).stations],
    });
    expect(removed.open()).toBe(1);
    await reload(both);
    await eventually(() => expect(removed.open()).toBe(0));
    expect(kept.open()).toBe(1);
  });

  it('aborts the refresh of a removed station, and answers waiting scrapes', async () => {
    const service = await startService();
    const { reload, scrape, stations } = await startExporterWithReload(configOf(service.url, ['a', 'b']));
    service.setFaults('b', [{ kind: 'hang' }]);
    service.clearRequests();
    const waiting = scrape('/metrics', { 'X-Prometheus-Scrape-Timeout-Seconds': '3600' });
    await eventually(() => expect(queriedStations(service)).toContain('b'));
    expect((await reload(configOf(service.url, ['a']))).status).toBe(200);
    expect(valuesOf(await waiting, 'telemetry_station_up', 'station')).toEqual({ a: 1, b: 1 });
    await eventually(async () => expect(await requestsInFlight(scrape)).toEqual({ main: 0 }));
    expect(await stations()).toEqual({ a: 1 });
  });

  it('does not interrupt the refresh of an unchanged station', async () => {
    const service = await startHeldService();
    const exporter = await startExporter(configOf(service.url, ['a'], { cache: LONG_TTL }));
    onTestFinished(() => exporter.stop());
    const waiting = exporter.exporter.scrape('text', undefined, new AbortController().signal);
    await eventually(() => expect(service.held).toHaveLength(1));
    exporter.rewrite(configOf(service.url, ['a', 'b'], { cache: LONG_TTL }));
    expect(await exporter.exporter.reload()).toEqual([]);
    await eventually(() => expect(service.held).toHaveLength(2));
    service.held[0]?.();
    const chunks: Uint8Array[] = [];
    for await (const chunk of (await waiting).plain()) chunks.push(chunk);
    const metrics = parseExposition(Buffer.concat(chunks).toString());
    expect(valuesOf(metrics, 'telemetry_station_up', 'station')).toEqual({ a: 1 });
    expect(service.held).toHaveLength(2);
  });

  it('restarts the first refresh when metrics options change during it', async () => {
    const service = await startService({ faults: { a: [{ kind: 'hang', when: { first: 1 } }] } });
    const exporter = await startExporter(configOf(service.url, ['a'], { cache: LONG_TTL }));
    onTestFinished(() => exporter.stop());
    await eventually(() => expect(queriedStations(service)).toEqual(['a']));
    exporter.rewrite(configOf(service.url, ['a'], { cache: LONG_TTL, metrics: { per_resource: false } }));
    expect(await exporter.exporter.reload()).toEqual([]);
    await eventually(() => expect(exporter.exporter.stations().every(({ up }) => up !== undefined)).toBe(true));
    expect(valuesOf(await exporter.scrape(), 'telemetry_station_up', 'station')).toEqual({ a: 1 });
  });
});

async function requestsInFlight(scrape: Awaited<ReturnType<typeof startExporterWithReload>>['scrape']) {
  return valuesOf(await scrape(), 'telemetry_station_exporter_api_requests_in_flight', 'upstream');
}

/** A service that answers when the test calls the held functions. */
async function startHeldService() {
  const held: (() => void)[] = [];
  const server = createServer((_request, response) => held.push(() => response.end(EMPTY)));
  return { url: `http://127.0.0.1:${await listen(server)}`, held };
}

const EMPTY = '{"resources": [], "page": {"total": 0}}';

/** A service without resources that counts its connections. */
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
  // Only the exporter closes connections.
  server.keepAliveTimeout = 600_000;
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}`, open: () => open, opened: () => opened };
}
