import { describe, expect, it } from 'vitest';
import type { SourceEntry } from '../../lab/simulator/listing.ts';
import { startTestService } from '../e2e/test-bed.ts';
import { list, resourcesPath, stationPath } from './client.ts';
import type { ServiceOptions, SimulatedService } from './simulated-service.ts';

/** A service whose station `ts` has these entries. */
async function serving(entries: readonly SourceEntry[], options: ServiceOptions = {}): Promise<SimulatedService> {
  const service = await startTestService(options);
  service.setRecords('ts', entries);
  return service;
}

const resource = (id: string, key: string, name: string) => ({
  resource_id: id,
  resource_type: { key, label: key },
  display_name: name,
});

const entries: readonly SourceEntry[] = [
  { record: resource('a', 'type.x', 'web-1'), product: 'product.one', alertable: true },
  { record: resource('b', 'type.y', 'web-2'), product: 'product.two', alertable: false },
  { record: resource('c', 'type.y', '训练.1'), product: 'product.one', alertable: true },
  { record: resource('a,b', 'type.z', 'db:1') },
  { record: null },
  { record: { resource_id: 5, resource_type: 'type.x', display_name: ['web-'] } },
];

describe('SimulatedService', () => {
  it('queries the source with the decoded path and the service time', async () => {
    const path = { subscription: 'a b', resource_group: '组/1', zone: 'z?', telemetry_station: 't%s' };
    const queries: unknown[] = [];
    const source: ServiceOptions['source'] = (...query) => {
      queries.push(query);
      return entries.slice(4, 5);
    };
    const service = await serving([], { source, now: () => 1_700_000_000_000 });
    const reply = await fetch(`${service.url}${resourcesPath(path)}`);
    expect(await reply.json()).toEqual({ resources: [null], page: { offset: 0, size: 20, total: 1 } });
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': 'application/json',
      date: 'Tue, 14 Nov 2023 22:13:20 GMT',
    });
    expect(queries).toEqual([[path, 1_700_000_000_000]]);
  });

  it('filters as the service does', async () => {
    const everything = ['a', 'b', 'c', 'a,b', undefined, 5];
    const selected: Readonly<Record<string, readonly unknown[]>> = {
      'resource_ids=a': ['a'],
      'resource_ids=a&resource_ids=c&resource_ids=unknown': ['a', 'c'],
      'resource_ids=a%2Cb': ['a,b'],
      'resource_ids=': [],
      'resource_type=type.y': ['b', 'c'],
      'resource_types=type.x&resource_types=type.z': ['a', 'a,b'],
      'resource_type=type.y&resource_types=type.x': [],
      'product=product.two': ['b'],
      'resource_display_name_prefix=web-': ['a', 'b'],
      'resource_display_name_prefix=%E8%AE%AD': ['c'],
      'enabled_alert=true': ['a', 'c'],
      'product=product.one&enabled_alert=true&resource_type=type.y': ['c'],
      '': everything,
      'product=': everything,
      'enabled_alert=false': everything,
      'unknown=1': everything,
    };
    const service = await serving(entries);
    for (const [query, expected] of Object.entries(selected)) {
      const { resources, page } = await (await list(service, query)).json();
      const ids = resources.map((record: { resource_id: string } | null) => record?.resource_id);
      expect([ids, page.total], query).toEqual([expected, expected.length]);
    }
  });

  it('rejects requests that a client must not send', async () => {
    const service = await serving(entries);
    for (const query of ['page.offset=-1', 'page.size=ten']) expect((await list(service, query)).status).toBe(400);
    const path = resourcesPath(stationPath);
    for (const other of [
      '/',
      '/monitor/ts/data/v1/subscriptions/a/resources',
      `${path}/`,
      path.replace('/ts/res', '/%ff/res'),
    ])
      expect((await fetch(`${service.url}${other}`)).status, other).toBe(404);
    const unknown = await list(service, '', 'nowhere');
    expect([unknown.status, (await unknown.json()).message]).toEqual([404, 'telemetry station "nowhere" not found']);
    const posted = await fetch(`${service.url}${path}`, { method: 'POST', body: '{}' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET']);
  });
});
