import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { serveMethods } from '../../bench/child.ts';
import { hash, hashText, randomFrom } from '../../src/simulator/random.ts';

export interface FaultyMethods {
  start(options: { seed: number }): string;
  /** How often each kind of reply was sent. */
  counts(): Readonly<Record<string, number>>;
}

/** A station keeps its kind of reply for this long, so that a listing can go on for many pages. */
const PERIOD_MS = 4000;

interface PageRequest {
  readonly offset: number;
  /** Differs with every request. */
  readonly salt: number;
}

const REPLIES: Readonly<Record<string, (response: ServerResponse, request: PageRequest) => void>> = {
  endlessRecords: (response, { offset }) => sendPage(response, recordsFrom(offset, 500, 'same')),
  endlessLabelValues: (response, { offset, salt }) => sendPage(response, recordsFrom(offset, 500, String(salt))),
  hugeTotal: (response, { offset }) => sendPage(response, recordsFrom(offset, 200, 'same'), 1_000_000_000),
  hugePage: (response, { salt }) => sendPage(response, recordsFrom(0, 60_000, String(salt)), 60_000),
  newRecordsEveryTime: (response, { salt }) => sendPage(response, recordsFrom(salt, 1000, String(salt)), 1000),
  hugeText: (response) => sendPage(response, [{ resource_id: 'a', display_name: 'x'.repeat(12 * 1024 * 1024) }], 1),
  deepJson: (response) => response.end(`{"resources":[${'['.repeat(200_000)}${']'.repeat(200_000)}]}`),
  oversizedBody: (response) => void writeForever(response, Buffer.alloc(256 * 1024, ' ')),
  drip: (response) => void writeForever(response, Buffer.from(' '), 200),
  hang: () => undefined,
  reset: (response) => response.destroy(),
  garbage: (response) => response.end(Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 167) & 0xff))),
  compressedBody: (response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(COMPRESSED),
  throttled: (response) => response.writeHead(429, { 'Retry-After': '1' }).end(),
  serverError: (response) => response.writeHead(500).end('x'.repeat(100_000)),
  hugeHeaders: (response) => response.writeHead(200, { 'X-Large': 'x'.repeat(100_000) }).end('{"resources":[]}'),
};

const COMPRESSED = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 1 });

const sent: Record<string, number> = {};

serveMethods({
  start: async ({ seed }: Parameters<FaultyMethods['start']>[0]) => {
    const kinds = Object.keys(REPLIES);
    const random = randomFrom(seed);
    const server = createServer((request, response) => {
      response.on('error', () => undefined);
      const url = new URL(`${request.url}`, 'http://service');
      const period = hash(seed, hashText(url.pathname), Math.floor(performance.now() / PERIOD_MS));
      const kind = `${kinds[period % kinds.length]}`;
      sent[kind] = (sent[kind] ?? 0) + 1;
      REPLIES[kind]?.(response, {
        offset: Number(url.searchParams.get('page.offset')),
        salt: Math.floor(random() * 1e9),
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  },
  counts: () => sent,
});

function recordsFrom(first: number, count: number, variant: string): object[] {
  return Array.from({ length: count }, (_, index) => ({
    resource_id: `resource-${first + index}`,
    name: `name-${first + index}`,
    resource_type: { key: `type-${variant}-${index}`, label: `Type ${variant} ${index}` },
    state: `STATE_${variant}_${index}`,
    sku: `${index} unit-${variant}-${index}`,
    gpu_model: `gpu-${variant}-${index}`,
    alert_rules_count: index,
  }));
}

function sendPage(response: ServerResponse, resources: readonly object[], total?: number): void {
  response.end(JSON.stringify({ resources, page: total === undefined ? null : { total } }));
}

async function writeForever(response: ServerResponse, chunk: Buffer, pauseMs = 1): Promise<void> {
  while (!response.destroyed) {
    if (!response.writableNeedDrain) response.write(chunk);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
