import { createServer, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { replyWith } from '../../src/simulator/faults.ts';
import { valuesOf } from '../metrics/parse-exposition.ts';
import type { ServiceOptions } from '../simulator/simulated-service.ts';
import { issue } from '../upstream/support/certificates.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { listen } from '../upstream/support/service.ts';
import { eventually } from '../web/eventually.ts';
import { configOf, entriesOf, startReadyExporter, startTestExporter, startTestService } from './test-bed.ts';

/** No refresh except those caused by a reload. */
const LONG_TTL = { ttl: '1h', error_ttl: '1h' };

type Changes = Parameters<typeof configOf>[2];

const EMPTY = '{"resources": [], "page": {"total": 0}}';

async function startServer(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  // Only the exporter closes connections.
  server.keepAliveTimeout = 600_000;
  return `http://127.0.0.1:${await listen(server)}`;
}

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
  const exporter = await startReadyExporter(config);
  return {
    ...exporter,
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
    const { reload, published, values, get, queried } = await started(['a', 'b']);
    const before = (await published()).filter((line) => line.includes('station="a"'));
    expect(before.length).toBeGreaterThan(10);
    await reload(['a', 'c']);
    await eventually(async () => expect(await values('up')).toEqual({ a: 1, c: 1 }));
    expect((await published()).filter((line) => line.includes('station="a"'))).toEqual(before);
    expect(queried()).toEqual(['c']);
    expect((await get('/probe?station=b')).status).toBe(404);
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

  it('queries the new service, drops the data and closes the connections of the old one, when base_url changes', async () => {
    const sockets = new Set<Socket>();
    const old = await startServer(({ socket }, response) => {
      sockets.add(socket);
      response.end(EMPTY);
    });
    const { reloadWith, values } = await startSettled(configOf(old, ['a'], { cache: LONG_TTL }));
    expect(await values('listing_pages')).toEqual({ a: 1 });
    expect([...sockets]).toMatchObject([{ destroyed: false }]);
    const other = await startTestService({ faults: { '*': [replyWith(500)] } });
    await reloadWith(configOf(other.url, ['a'], { cache: LONG_TTL }));
    await eventually(async () => expect(await values('failure', 'reason')).toMatchObject({ status: 1 }));
    expect(await values('listing_pages')).toEqual({});
    await eventually(() => expect([...sockets]).toMatchObject([{ destroyed: true }]));
  });

  it('rejects an invalid configuration with its problems, and keeps the old one in force', async () => {
    const { reloadWith, configFor, published, get, queried } = await started(['a']);
    const state = async () => [await published(), await (await get('/config')).text()];
    const before = await state();
    const response = await reloadWith({ ...configFor(['b'], { cache: { ttl: 'soon' } }), surprise: 1 });
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(
      /^config\.yaml:\d+:\d+: cache\.ttl: .*\nconfig\.yaml:\d+:\d+: surprise: .*\n$/,
    );
    expect(await state()).toEqual(before);
    expect(queried()).toEqual([]);
  });

  it('applies changed metrics options immediately, without a request to the service', async () => {
    const { reload, values, queried } = await started(['a']);
    await reload(['a'], {
      metrics: { disabled: ['telemetry_station_resources', 'telemetry_station_exporter_series'] },
    });
    expect(await values('resources')).toEqual({});
    expect(await values('exporter_series')).toEqual({});
    expect(Object.keys(await values('resource_info'))).toEqual(['a']);
    await reload(['a'], { metrics: { max_resources: 2 } });
    expect(await values('resource_info')).toEqual({});
    expect(await values('resources')).toEqual({ a: 3 });
    expect(await values('exporter_series_withheld')).toEqual({ a: 15 });
    expect(queried()).toEqual([]);
  });

  it('does not interrupt the refresh of an unchanged station', async () => {
    const held: (() => void)[] = [];
    const url = await startServer((_request, response) => held.push(() => response.end(EMPTY)));
    const { exporter, rewrite } = await startTestExporter(configOf(url, ['a'], { cache: LONG_TTL }));
    await eventually(() => expect(held).toHaveLength(1));
    rewrite(configOf(url, ['a', 'b'], { cache: LONG_TTL }));
    expect(await exporter.reload()).toEqual([]);
    await eventually(() => expect(held).toHaveLength(2));
    held[0]?.();
    await eventually(() => expect(exporter.stations()[0]).toMatchObject({ name: 'a', up: true }));
    expect(held).toHaveLength(2);
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
});
