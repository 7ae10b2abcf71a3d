import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer } from './child.ts';
import { type FleetShape, pageBody } from './fleet.ts';

export interface ServiceMethods {
  start(options: { shape: FleetShape; latencyMs?: number; keep?: boolean }): number;
  setVersion(version: number): void;
}

let version = 0;

answer({
  start: async ({ shape, latencyMs = 0, keep = true }: Parameters<ServiceMethods['start']>[0]) => {
    const kept = new Map<string, Buffer>();
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://service');
      const station = url.pathname.split('/').at(-2) ?? '';
      const [offset, size] = ['page.offset', 'page.size'].map((name) => Number(url.searchParams.get(name)));
      const key = `${version} ${station} ${offset} ${size}`;
      const body = kept.get(key) ?? Buffer.from(pageBody(shape, station, offset ?? 0, size ?? 0, version));
      if (keep) kept.set(key, body);
      const reply = () => response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);
      if (latencyMs > 0) setTimeout(reply, latencyMs);
      else reply();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  },
  setVersion: (next: number) => {
    version = next;
  },
});
