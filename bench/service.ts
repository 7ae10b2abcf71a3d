import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveMethods } from './child.ts';
import { type FleetShape, pageBody } from './fleet.ts';

export interface ServiceMethods {
  start(options: { shape: FleetShape; latencyMs?: number; cachePages?: boolean; ignoreSize?: boolean }): number;
  /** Requests so far, and those for first pages. */
  counts(): { readonly requests: number; readonly firstPages: number };
  /** Changes every record. Pages requested before are rebuilt now, so that the exporter does not wait for them. */
  setVersion(version: number, generation?: number): void;
}

let version = 0;
let generation = 0;
const counts = { requests: 0, firstPages: 0 };
/** Cached pages by request target. */
const cache = new Map<string, { readonly build: () => Buffer; readonly body: Buffer }>();

serveMethods({
  start: async ({
    shape,
    latencyMs = 0,
    cachePages = true,
    ignoreSize = false,
  }: Parameters<ServiceMethods['start']>[0]) => {
    const server = createServer((request, response) => {
      const target = request.url ?? '';
      counts.requests += 1;
      if (!/[?&]page\.offset=[1-9]/.test(target)) counts.firstPages += 1;
      const { body } = cache.get(target) ?? page(shape, target, cachePages, ignoreSize);
      const reply = () =>
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);
      if (latencyMs > 0) setTimeout(reply, latencyMs);
      else reply();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  },
  counts: () => counts,
  setVersion: (nextVersion: number, nextGeneration = 0) => {
    version = nextVersion;
    generation = nextGeneration;
    for (const [target, { build }] of cache) cache.set(target, { build, body: build() });
  },
});

function page(shape: FleetShape, target: string, cachePages: boolean, ignoreSize: boolean) {
  const { pathname, searchParams } = new URL(target, 'http://service');
  const station = pathname.split('/').at(-2) ?? '';
  const [offset = 0, size = 0] = ['page.offset', 'page.size'].map((name) => Number(searchParams.get(name)));
  const build = () =>
    Buffer.from(pageBody(shape, station, offset, ignoreSize ? shape.resourcesPerStation : size, version, generation));
  const built = { build, body: build() };
  if (cachePages) cache.set(target, built);
  return built;
}
