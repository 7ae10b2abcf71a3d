import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { NAMED_FAULTS, replyWith } from '../../src/simulator/faults.ts';
import { parseExposition, valuesOf } from '../metrics/parse-exposition.ts';
import { first, type ServiceOptions } from '../simulator/simulated-service.ts';
import { issue } from '../upstream/support/certificates.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { listen } from '../upstream/support/service.ts';
import { eventually } from '../web/eventually.ts';
import { configOf, entriesOf, startTestExporter, startTestService } from './test-bed.ts';

/** No refresh except those caused by a reload. */
const LONG_TTL = { ttl: '1h', error_ttl: '1h' };

type Changes = Parameters<typeof configOf>[2];

/** An exporter after its first refreshes, and its service. */
async function started(stations: readonly string[], changes: Changes = {}, options: ServiceOptions = {}) {
  const service = await startTestService({ source: () => entriesOf(3), ...options });
  const configFor = (names: readonly string[], changed: Changes = {}) =>
    configOf(service.url, names, { cache: LONG_TTL, ...changed });
  const exporter = await startSettled(configFor(stations, changes));
  service.clearRequests();
  return {
    ...exporter,
    service,
    configFor,
    /** The stations that were queried since the start. */
    queried: () => service.requests.map(({ station }) => station),
    /** A reload that succeeds. */
    reload: async (names: readonly string[], changed: Changes = {}) =>
      expect((await exporter.reloadWith(configFor(names, changed))).status).toBe(200),
  };
}

async function startSettled(config: object) {
  const exporter = await startTestExporter(config);
  const settled = () =>
    eventually(() => expect(exporter.exporter.stations().every(({ up }) => up !== undefined)).toBe(true));
  await settled();
  return {
    ...exporter,
    settled,
    reloadWith: (changed: object) => {
      exporter.rewrite(changed);
      return fetch(`${exporter.url}/-/reload`, { method: 'POST' });
    },
    values: async (family: string, label = 'station') =>
      valuesOf(await exporter.scrape(), `telemetry_station_${family}`, label),
    /** The lines of the station families. */
    published: async () => {
      const metrics = await (await exporter.get('/metrics')).text();
      return metrics.split('\n').filter((line) => !line.includes('telemetry_station_exporter_'));
    },
  };
}

describe('the warnings of a configuration', () => {
  it('are in the log at start', async () => {
    const { cert } = issue({ name: 'expired', notAfter: new Date('2024-03-01T12:00:00Z') });
    const upstream = { tls_config: { ca_file: temporaryFile('ca.pem', cert) } };
    const { log } = await startTestExporter(configOf('https://service.test', ['a'], { upstream, cache: LONG_TTL }));
    const warnings = log.filter((line) => line.includes('msg="configuration warning"'));
    expect(warnings).toEqual([expect.stringMatching(/level=warn .*tls_config\.ca_file: .* expired on 2024-03-01/)]);
  });
});

describe('a reload', () => {
  it('keeps the data of unchanged stations, refreshes only the added ones and removes others', async () => {
    const { reload, published, values, get, exporter, queried } = await started(['a', 'b']);
    const before = (await published()).filter((line) => line.includes('station="a"'));
    expect(before.length).toBeGreaterThan(10);
    await reload(['a', 'c']);
    await eventually(async () => expect(await values('up')).toEqual({ a: 1, c: 1 }));
    expect((await published()).filter((line) => line.includes('station="a"'))).toEqual(before);
    expect(await values('listing_pages')).toEqual({ a: 1, c: 1 });
    expect(queried()).toEqual(['c']);
    expect((await get('/probe?station=b')).status).toBe(404);
    expect(exporter.stations().map(({ name }) => name)).toEqual(['a', 'c']);
    expect(Object.keys(await values('exporter_series'))).toEqual(['a', 'c']);
  });

  it('keeps the labels of a change as they were when it was found, and finds later ones with the new labels', async () => {
    const labelled = (team: string) => ({
      cache: { ttl: '0s' },
      labels: [{ match: { name: '.*' }, labels: { team } }],
    });
    const { service, scrape, reload, get } = await started(['a'], labelled('former'));
    const removeOne = async (left: number) => {
      service.setRecords('a', entriesOf(left));
      await scrape();
    };
    await removeOne(2);
    await reload(['a'], labelled('new'));
    await removeOne(1);
    const { changes } = await (await get('/stations/a/changes?format=json')).json();
    expect(changes.map(({ name, team }: Record<string, string>) => [name, team])).toEqual([
      ['name-r1', 'new'],
      ['name-r2', 'former'],
    ]);
  });

  it('refreshes a changed station', async () => {
    const { settled, reload, values, queried } = await started(['a']);
    await reload(['a'], { station: { filters: { resource_ids: ['r1'] } } });
    await settled();
    expect(await values('resource_info', 'resource_id')).toEqual({ r1: 1 });
    expect(queried()).toEqual(['a']);
  });

  it('queries the new service, and drops the data of the old one, when base_url changes', async () => {
    const { reload, values, queried } = await started(['a']);
    const other = await startTestService({ faults: { '*': [replyWith(500)] } });
    await reload(['a'], { upstream: { base_url: other.url } });
    await eventually(async () => expect(await values('failure', 'reason')).toMatchObject({ status: 1 }));
    expect(await values('listing_pages')).toEqual({});
    expect(queried()).toEqual([]);
  });

  it('rejects an invalid configuration with its problems, and keeps the old one in force', async () => {
    const { reload, reloadWith, configFor, published, get, values, queried, log } = await started(['a']);
    const state = async () => [
      await published(),
      await (await get('/config')).text(),
      await values('exporter_config_last_reload_success_timestamp_seconds'),
    ];
    const before = await state();
    const response = await reloadWith({ ...configFor(['b'], { cache: { ttl: 'soon' } }), surprise: 1 });
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(
      /^config\.yaml:\d+:\d+: cache\.ttl: .*\nconfig\.yaml:\d+:\d+: surprise: .*\n$/,
    );
    expect(log.filter((line) => line.includes('configuration reload failed'))).toHaveLength(2);
    expect(await state()).toEqual(before);
    expect(Object.values(await values('exporter_config_last_reload_successful'))).toEqual([0]);
    expect(queried()).toEqual([]);
    await reload(['a']);
    expect(Object.values(await values('exporter_config_last_reload_successful'))).toEqual([1]);
  });

  it('applies changed metrics options immediately, without a request to the service', async () => {
    const { reload, scrape, values, queried } = await started(['a']);
    const disabled = ['resources', 'up', 'exporter_series'].map((name) => `telemetry_station_${name}`);
    await reload(['a'], { metrics: { disabled } });
    const fewer = await scrape();
    expect(disabled.filter((name) => fewer.has(name))).toEqual([]);
    expect(fewer.has('telemetry_station_resource_info')).toBe(true);
    await reload(['a'], { metrics: { per_resource: false } });
    expect(await values('resource_info')).toEqual({});
    expect(await values('resources')).toEqual({ a: 3 });
    await reload(['a'], { metrics: { max_resources: 2 } });
    expect(await values('exporter_series_withheld')).toEqual({ a: 15 });
    expect(queried()).toEqual([]);
  });

  it('refreshes immediately with changed credentials, and serves the last snapshot while they are wrong', async () => {
    const withToken = (credentials: string) => ({ upstream: { authorization: { credentials } } });
    const auth = { authorization: { credentials: 'right' } };
    const { reload, values } = await started(['a'], withToken('right'), { auth });
    await reload(['a'], withToken('wrong'));
    await eventually(async () => expect(await values('failure', 'reason')).toMatchObject({ auth: 1 }));
    expect(await values('listing_complete')).toEqual({ a: 1 });
    await reload(['a'], withToken('right'));
    await eventually(async () => expect(await values('up')).toEqual({ a: 1 }));
  });

  it('keeps the connections of an unchanged upstream, and closes those of a removed one', async () => {
    const removed = await startCountingService();
    const kept = await startCountingService();
    const after = configOf(kept.url, ['a'], { station: { upstream: 'main' } });
    const { reloadWith, values } = await startSettled({
      ...after,
      upstreams: { ...after.upstreams, other: { base_url: removed.url } },
      stations: [...after.stations, ...configOf('', ['b'], { station: { upstream: 'other' } }).stations],
    });
    expect(removed.sockets).toMatchObject([{ destroyed: false }]);
    await reloadWith(after);
    await eventually(() => expect(removed.sockets).toMatchObject([{ destroyed: true }]));
    expect(await values('up')).toEqual({ a: 1 });
    expect(kept.sockets).toMatchObject([{ destroyed: false }]);
  });

  it('does not interrupt the refresh of an unchanged station', async () => {
    const held: (() => void)[] = [];
    const server = createServer((_request, response) => held.push(() => response.end(EMPTY)));
    const url = `http://127.0.0.1:${await listen(server)}`;
    const exporter = await startTestExporter(configOf(url, ['a'], { cache: LONG_TTL }));
    const forever = { atMs: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
    const waiting = exporter.exporter.scrape('text', undefined, forever);
    await eventually(() => expect(held).toHaveLength(1));
    exporter.rewrite(configOf(url, ['a', 'b'], { cache: LONG_TTL }));
    expect(await exporter.exporter.reload()).toEqual([]);
    await eventually(() => expect(held).toHaveLength(2));
    held[0]?.();
    const metrics = parseExposition(await text((await waiting).plain()));
    expect(valuesOf(metrics, 'telemetry_station_up', 'station')).toEqual({ a: 1 });
    expect(held).toHaveLength(2);
  });

  it('restarts the first refresh when metrics options change during it', async () => {
    const service = await startTestService({
      source: () => entriesOf(3),
      faults: { a: [{ ...NAMED_FAULTS.hang, when: first(1) }] },
    });
    const exporter = await startTestExporter(configOf(service.url, ['a'], { cache: LONG_TTL }));
    await eventually(() => expect(service.requests).toHaveLength(1));
    exporter.rewrite(configOf(service.url, ['a'], { cache: LONG_TTL, metrics: { per_resource: false } }));
    expect(await exporter.exporter.reload()).toEqual([]);
    await eventually(() => expect(exporter.exporter.stations()).toMatchObject([{ up: true }]));
  });
});

const EMPTY = '{"resources": [], "page": {"total": 0}}';

/** A service without resources, and the connections to it. */
async function startCountingService() {
  const sockets: Socket[] = [];
  const server = createServer((_request, response) => response.end(EMPTY));
  server.on('connection', (socket) => sockets.push(socket));
  // Only the exporter closes connections.
  server.keepAliveTimeout = 600_000;
  return { url: `http://127.0.0.1:${await listen(server)}`, sockets };
}
