import { Agent } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import type { SourceEntry } from '../../src/simulator/listing-reply.ts';
import { type ServiceOptions, type SimulatedService, startSimulatedService } from '../../src/simulator/service.ts';
import { issue } from '../upstream/support/certificates.ts';
import { get, list, openRaw, resourcesPath, stationPath } from './client.ts';

const started: SimulatedService[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((service) => service.stop()));
});

async function start(options: ServiceOptions = {}): Promise<SimulatedService> {
  const service = await startSimulatedService(options);
  started.push(service);
  return service;
}

/** A service whose station `ts` has these entries. */
async function serving(entries: readonly SourceEntry[], options: ServiceOptions = {}): Promise<SimulatedService> {
  const service = await start(options);
  service.setRecords('ts', entries);
  return service;
}

function rows(count: number): SourceEntry[] {
  return Array.from({ length: count }, (_, index) => ({ record: { resource_id: `r${index}` } }));
}

async function listedIds(service: SimulatedService, query = ''): Promise<string[]> {
  const { resources } = (await list(service, query)).json();
  return resources.map((record: { resource_id: string }) => record.resource_id);
}

describe('startSimulatedService', () => {
  it('queries the source with the decoded path and the service time', async () => {
    const path = { subscription: 'a b', resource_group: '组/1', zone: 'z?', telemetry_station: 't%s' };
    const queries: unknown[] = [];
    const source: ServiceOptions['source'] = (...query) => {
      queries.push(query);
      return rows(1);
    };
    const service = await start({ source, now: () => 1_700_000_000_000 });
    const reply = await get(`${service.url}${resourcesPath(path)}`);
    expect(reply.json()).toEqual({ resources: [{ resource_id: 'r0' }], page: { offset: 0, size: 20, total: 1 } });
    expect(reply.headers).toMatchObject({ 'content-type': 'application/json', date: 'Tue, 14 Nov 2023 22:13:20 GMT' });
    expect(queries).toEqual([[path, 1_700_000_000_000]]);
  });

  it('serves https with a certificate', async () => {
    const { key, cert } = issue({ name: 'service', hosts: ['127.0.0.1'] });
    const service = await serving(rows(1), { tls: { key, cert } });
    const dispatcher = new Agent({ connect: { ca: cert } });
    const reply = await get(`${service.url}${resourcesPath(stationPath)}`, { dispatcher });
    expect(reply.json().page.total).toBe(1);
    service.setFaults('ts', [{ kind: 'reset' }]);
    await expect(get(`${service.url}${resourcesPath(stationPath)}`, { dispatcher })).rejects.toThrow();
    await dispatcher.close();
  });

  it('rejects when the port is in use', async () => {
    const service = await start();
    const port = Number(new URL(service.url).port);
    await expect(startSimulatedService({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});

describe('filters', () => {
  const entries: SourceEntry[] = [
    { record: resource('a', 'type.x', 'web-1'), product: 'product.one', alertable: true },
    { record: resource('b', 'type.y', 'web-2'), product: 'product.two', alertable: false },
    { record: resource('c', 'type.y', '训练.1'), product: 'product.one', alertable: true },
    { record: resource('a,b', 'type.z', 'db:1') },
    { record: null },
    { record: { resource_id: 5, resource_type: 'type.x', display_name: ['web-'] } },
  ];

  function resource(id: string, key: string, name: string) {
    return { resource_id: id, resource_type: { key, label: key }, display_name: name };
  }

  it.each([
    ['resource_ids=a', ['a']],
    ['resource_ids=a&resource_ids=c&resource_ids=unknown', ['a', 'c']],
    ['resource_ids=a%2Cb', ['a,b']],
    ['resource_ids=', []],
    ['resource_type=type.y', ['b', 'c']],
    ['resource_types=type.x&resource_types=type.z', ['a', 'a,b']],
    ['resource_type=type.y&resource_types=type.x', []],
    ['product=product.two', ['b']],
    ['resource_display_name_prefix=web-', ['a', 'b']],
    ['resource_display_name_prefix=%E8%AE%AD', ['c']],
    ['enabled_alert=true', ['a', 'c']],
    ['product=product.one&enabled_alert=true&resource_type=type.y', ['c']],
  ])('filters by %s', async (query, expected) => {
    const service = await serving(entries);
    const { resources, page } = (await list(service, query)).json();
    const ids = resources.map((record: { resource_id: string } | null) => record?.resource_id);
    expect(ids).toEqual(expected);
    expect(page.total).toBe(expected.length);
  });

  it.each(['', 'product=', 'resource_type=', 'enabled_alert=false', 'unknown=1'])(
    'selects everything with "%s"',
    async (query) => {
      const service = await serving(entries);
      expect((await list(service, query)).json().page.total).toBe(6);
    },
  );

  it('splits values at commas in comma style', async () => {
    const service = await serving(entries, { listStyle: 'comma' });
    expect(await listedIds(service, 'resource_ids=a,b&resource_ids=c')).toEqual(['a', 'b', 'c']);
    expect(await listedIds(service, 'resource_types=type.x%2Ctype.z')).toEqual(['a', 'a,b']);
  });
});

describe('rejected requests', () => {
  it.each([
    ['page.offset=', 'page.offset'],
    ['page.offset=-1', 'page.offset'],
    ['page.size=ten', 'page.size'],
    ['page.size=2147483648', 'page.size'],
    ['page.total=1.5', 'page.total'],
    ['enabled_alert=', 'enabled_alert'],
    ['enabled_alert=yes', 'enabled_alert'],
    ['product=a&product=b', 'product'],
  ])('answers 400 to %s', async (query, field) => {
    const reply = await list(await serving(rows(1)), query);
    expect(reply.status).toBe(400);
    expect(reply.json()).toMatchObject({
      code: 3,
      message: expect.stringContaining(field),
    });
  });

  it('answers 404 for an unknown station', async () => {
    const reply = await list(await start(), '', 'nowhere');
    expect(reply.status).toBe(404);
    expect(reply.json()).toMatchObject({ code: 5, message: 'telemetry station "nowhere" not found' });
  });

  it.each([
    '/',
    '/monitor/ts/data/v1/subscriptions/a/resources',
    `${resourcesPath(stationPath)}/`,
    resourcesPath(stationPath).replace('/ts/res', '/%ff/res'),
  ])('answers 404 to the path %s', async (path) => {
    const service = await serving(rows(1));
    const reply = await get(`${service.url}${path}`);
    expect([reply.status, reply.json().code]).toEqual([404, 5]);
  });

  it('answers 405 to anything but GET', async () => {
    const service = await serving(rows(1));
    const reply = await get(`${service.url}${resourcesPath(stationPath)}`, { method: 'POST', body: '{}' });
    expect([reply.status, reply.headers['allow'], reply.json().code]).toEqual([405, 'GET', 12]);
  });

  it('answers 401 without valid credentials, until setAuth removes the check', async () => {
    const service = await serving(rows(1), { auth: { scheme: 'token', token: 'old' } });
    const url = `${service.url}${resourcesPath(stationPath)}`;
    const status = async (token: string) => (await get(url, { headers: { authorization: `Bearer ${token}` } })).status;
    expect((await get(url)).json()).toEqual({ message: 'Unauthorized' });
    expect([await status('old'), await status('new')]).toEqual([200, 401]);
    service.setAuth({ scheme: 'token', token: 'new' });
    expect([await status('old'), await status('new')]).toEqual([401, 200]);
    service.setAuth(undefined);
    expect((await get(url)).status).toBe(200);
  });
});

describe('requests', () => {
  it('logs the request as received', async () => {
    const service = await serving(rows(1), { now: () => 5 });
    await get(
      `${service.url}${resourcesPath({ ...stationPath, zone: 'z 1' })}?page.offset=40&page.size=20&resource_ids=a&resource_ids=b`,
      {
        headers: { 'x-tenant': 't' },
      },
    );
    const [seen] = service.requests;
    expect(seen).toMatchObject({
      atMs: 5,
      method: 'GET',
      rawPath: resourcesPath({ ...stationPath, zone: 'z 1' }),
      headers: { 'x-tenant': 't' },
      station: 'ts',
      offset: 40,
      size: 20,
    });
    expect(seen?.query.getAll('resource_ids')).toEqual(['a', 'b']);
    expect(seen?.target).toBe(`${seen?.rawPath}?page.offset=40&page.size=20&resource_ids=a&resource_ids=b`);
  });

  it('can be cleared', async () => {
    const service = await serving(rows(1));
    await list(service);
    expect(service.requests).toHaveLength(1);
    service.clearRequests();
    expect(service.requests).toEqual([]);
    expect(service.maxInFlight).toBe(0);
  });
});

describe('maxInFlight', () => {
  it('counts overlapping requests', async () => {
    const service = await serving(rows(1), { faults: { '*': [{ kind: 'hang' }] } });
    const clients = ['ts', 'ts', 'other'].map((station) => openRaw(service, station));
    await expect.poll(() => service.requests.length).toBe(3);
    expect(service.maxInFlight).toBe(3);
    await service.stop();
    await Promise.all(clients.map(({ end }) => end));
  });
});

describe('stop', () => {
  it('closes connections and refuses new ones; restart keeps the port', async () => {
    const service = await serving(rows(1), { faults: { '*': [{ kind: 'hang', when: { first: 1 } }] } });
    const { url } = service;
    const { end } = openRaw(service);
    await expect.poll(() => service.requests.length).toBe(1);
    await service.stop();
    expect((await end).head).toBe('');
    await expect(list(service)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await service.stop();
    await service.restart();
    expect(service.url).toBe(url);
    expect((await list(service)).status).toBe(200);
  });

  it('leaves no open handle', async () => {
    const handles = () => process.getActiveResourcesInfo().filter((name) => /^(TCP|Timeout)/.test(name)).length;
    const before = handles();
    const service = await serving(rows(1));
    service.setFaults('late', [{ kind: 'latency', ms: 10_000_000 }]);
    service.setFaults('drip', [{ kind: 'drip' }]);
    service.setFaults('endless', [{ kind: 'endless' }]);
    const clients = ['late', 'drip', 'endless'].map((station) => openRaw(service, station));
    await expect.poll(() => service.requests.length).toBe(3);
    expect(handles()).toBeGreaterThan(before);
    await service.stop();
    await Promise.all(clients.map(({ end }) => end));
    await expect.poll(handles).toBeLessThanOrEqual(before);
  });
});
