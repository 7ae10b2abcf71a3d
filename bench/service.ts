import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer } from './child.ts';
import { type FleetShape, pageBody } from './fleet.ts';

export interface ServiceMethods {
  start(options: { shape: FleetShape; latencyMs?: number; keep?: boolean }): number;
  /** Changes every record. Pages that were asked for before are made anew at once, so that nobody waits for them later. */
  setVersion(version: number): void;
}

let version = 0;
/** How to make each page that is kept, and the page. */
const kept = new Map<string, { readonly make: () => Buffer; readonly body: Buffer }>();

answer({
  start: async ({ shape, latencyMs = 0, keep = true }: Parameters<ServiceMethods['start']>[0]) => {
    const server = createServer((request, response) => {
      const target = request.url ?? '';
      const { body } = kept.get(target) ?? page(shape, target, keep);
      const reply = () => response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);
      if (latencyMs > 0) setTimeout(reply, latencyMs);
      else reply();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  },
  setVersion: (next: number) => {
    version = next;
    for (const [target, { make }] of kept) kept.set(target, { make, body: make() });
  },
});

function page(shape: FleetShape, target: string, keep: boolean) {
  const { pathname, searchParams } = new URL(target, 'http://service');
  const station = pathname.split('/').at(-2) ?? '';
  const [offset = 0, size = 0] = ['page.offset', 'page.size'].map((name) => Number(searchParams.get(name)));
  const make = () => Buffer.from(pageBody(shape, station, offset, size, version));
  const made = { make, body: make() };
  if (keep) kept.set(target, made);
  return made;
}
