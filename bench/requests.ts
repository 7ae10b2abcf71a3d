import { resolveStations } from '../src/config/resolve.ts';
import { configSchema } from '../src/config/schema.ts';
import type { RefreshContext } from '../src/model/listing.ts';
import { SnapshotReader } from '../src/resources/snapshot.ts';
import type { PageBody } from '../src/service/http/content-coding.ts';
import { stationSource } from '../src/service/station-source.ts';
import { SerialQueue } from '../src/tasks/serial-queue.ts';
import { type Figure, figure } from './figure.ts';
import { pageBody } from './fleet.ts';

/** The station of the README: its resources, those of its products, and the alertable ones, by the filter that lists them. */
const RESOURCES = 2500;
const MEMBERS: Readonly<Record<string, number>> = {
  'product=product.a': 1200,
  'product=product.b': 300,
  'enabled_alert=true': 2000,
};
const STATION = {
  ...{ subscription: 's', resource_group: 'g', zone: 'z', telemetry_station: 't' },
  ...{ products: ['product.a', 'product.b'], alertability: true },
};
const MINUTE_MS = 60_000;
const HOURS = 4;

/** Requests per hour of the README's example with and without kept listings: counted over hours of virtual time, not measured. */
export async function requestsFigures(): Promise<Figure[]> {
  const without = await requestsPerHour({});
  const kept = await requestsPerHour({ products_ttl: '10m', alertability_ttl: '10m' });
  const example = '2,500 resources with two products and alertability, refreshed once per minute';
  return [
    figure(example, without, 'requests/h'),
    figure('the same with products_ttl and alertability_ttl of 10m', kept, 'requests/h'),
    figure('kept listings relative to none', kept / without, '×', 0.5),
  ];
}

async function requestsPerHour(settings: object): Promise<number> {
  const upstreams = { main: { base_url: 'http://service' } };
  const config = configSchema.parse({ upstreams, stations: [{ ...STATION, ...settings }] });
  const [spec] = resolveStations(config);
  if (spec === undefined) throw new Error('no station');
  let requests = 0;
  let elapsedMs = 0;
  const replies = new Map<string, Buffer>();
  const client = {
    get: async <T>(path: string, _context: RefreshContext, read: (body: PageBody) => T | Promise<T>) => {
      requests += 1;
      const reply = replies.get(path) ?? Buffer.from(replyTo(path));
      replies.set(path, reply);
      return read({ bytes: reply, plain: async () => reply });
    },
  };
  const { page_size: pageSize, concurrency } = config.upstreams['main'] ?? { page_size: 100, concurrency: 8 };
  const options = { baseUrl: new URL('http://service'), listStyle: 'repeat' as const, pageSize, concurrency };
  const clock = { wallMs: () => elapsedMs, elapsedMs: () => elapsedMs };
  const reader = new SnapshotReader(spec, {
    source: stationSource(spec.path, { client, options, replies: new SerialQueue(), reducedPageSizes: new Map() }),
    clock,
  });
  await reader.read(newContext());
  requests = 0;
  while (elapsedMs < HOURS * 60 * MINUTE_MS) {
    elapsedMs += MINUTE_MS;
    await reader.read(newContext());
  }
  return requests / HOURS;
}

function replyTo(path: string): string {
  const query = new URLSearchParams(path.replace(/^.*\?/, ''));
  const filter = Object.keys(MEMBERS).find((name) => path.includes(name));
  const resourcesPerStation = filter === undefined ? RESOURCES : (MEMBERS[filter] ?? 0);
  const [offset = 0, size = 0] = ['page.offset', 'page.size'].map((name) => Number(query.get(name)));
  return pageBody({ stations: 1, resourcesPerStation }, 'ts-0000', offset, size, 0);
}

function newContext(): RefreshContext {
  return {
    signal: new AbortController().signal,
    station: 't',
    outdatedAtMs: 0,
    refreshTimeoutMs: Number.POSITIVE_INFINITY,
    started: () => undefined,
    repliedFromCache: () => undefined,
    waiting: () => undefined,
    deadlineMs: () => Number.POSITIVE_INFINITY,
  };
}
