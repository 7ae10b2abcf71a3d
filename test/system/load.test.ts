import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NAMED_FAULTS } from '../../lab/simulator/faults.ts';
import { STATION_FAMILIES } from '../../src/resources/families.ts';
import { configOf, entriesOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { valuesOf } from '../exposition/parse-exposition.ts';
import { heldByBuffers } from '../held-by-buffers.ts';
import { eventually } from '../web/eventually.ts';
import { bodyOf } from '../web/fake-exporter.ts';
import { httpRequest } from '../web/http-client.ts';
import { SERVER_TLS, startApp } from '../web/running-app.ts';

const MIB = 1024 * 1024;
/** About the size of a segment. */
const PIECE = 256 * 1024;

const REQUEST = 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n';

/** Families whose samples of sequential names differ in a few bytes. */
const COMPRESSIBLE = ['state', 'alert_rules', 'sku_quantity', 'created_timestamp_seconds'].map(
  (name) => `telemetry_station_resource_${name}`,
);

async function open(count: number, connect: () => Socket, bytes: string): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: count }, () => connect().on('error', () => undefined));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(
    sockets.map(async (socket) => {
      await once(socket, 'connect');
      socket.write(bytes);
    }),
  );
  return sockets;
}

describe('createApp under load', () => {
  it('keeps one copy of the body for 40 clients that do not read, over encrypted connections', async () => {
    // Large beside what the process needs otherwise.
    const chunk = Buffer.alloc(32 * MIB, '#');
    const pieces = Array.from({ length: chunk.length / PIECE }, (_, at) =>
      chunk.subarray(at * PIECE, (at + 1) * PIECE),
    );
    const body = bodyOf(...pieces);
    let scrapes = 0;
    const scrape = async () => {
      scrapes += 1;
      return body;
    };
    const { port } = await startApp({ scrape }, {}, SERVER_TLS);
    const before = process.memoryUsage.rss();
    const sockets = await open(
      40,
      () => connectSecure({ port, host: '127.0.0.1', rejectUnauthorized: false }),
      REQUEST,
    );
    await Promise.all(sockets.map((socket) => once(socket, 'readable')));
    await eventually(() => expect(scrapes).toBe(40));
    const grown = process.memoryUsage.rss() - before;
    console.log(`40 clients that do not read ${chunk.length / MIB} MiB: ${Math.round(grown / MIB)} MiB more`);
    expect(grown).toBeLessThan(4 * chunk.length);
  });

  it('inflates plain text only as 40 clients read it', async () => {
    const entries = entriesOf(30_000);
    const service = await startTestService({ source: () => entries });
    const disabled = Object.keys(STATION_FAMILIES).filter((name) => !COMPRESSIBLE.includes(name));
    const config = configOf(service.url, ['ts'], { upstream: { page_size: 5000 }, metrics: { disabled } });
    const { url } = await startReadyExporter(config);
    const before = heldByBuffers();
    const port = Number(new URL(url).port);
    const sockets = await open(40, () => connectPlain(port, '127.0.0.1'), REQUEST);
    await Promise.all(sockets.map((socket) => once(socket, 'readable')));
    // The requests before this one have begun to inflate when it is answered.
    const { body } = await httpRequest(port, '/metrics');
    expect(body.length).toBeGreaterThan(8 * MIB);
    const grown = await eventually(() => {
      const bytes = heldByBuffers() - before;
      expect(bytes).toBeLessThan(80 * MIB);
      return bytes;
    });
    console.log(
      `40 plain responses of ${Math.round(body.length / MIB)} MiB that are not read: ${Math.round(grown / MIB)} MiB more`,
    );
  });

  it('answers 1,000 probes and /metrics with complete data before their clients give up, in bounded memory, although the service hangs and 500 clients send no complete request', async () => {
    const resources = 20;
    const names = Array.from({ length: 50 }, (_, index) => `ts-${index}`);
    const service = await startTestService({ source: () => entriesOf(resources) });
    const config = configOf(service.url, names);
    // Scrapes wait for one second; the offset leaves the rest to the transfer, because server and clients share one process.
    const { url, scrape } = await startReadyExporter(config, { maxRequests: 40, timeoutOffsetMs: 39_000 });
    const port = Number(new URL(url).port);
    const resourcesOf = async (path: string) => {
      const headers = { 'x-prometheus-scrape-timeout-seconds': '40', 'accept-encoding': 'gzip' };
      const { status, body } = await httpRequest(port, path, { headers, signal: AbortSignal.timeout(40_000) });
      expect([path, status]).toEqual([path, 200]);
      const text = gunzipSync(Buffer.from(body, 'latin1')).toString();
      return text.match(/^telemetry_station_resource_info\{/gm)?.length;
    };
    service.setFaults('*', [NAMED_FAULTS.hang]);
    const before = process.memoryUsage.rss();
    const slow = { port, host: '127.0.0.1', localAddress: '127.0.0.2' };
    await open(500, () => connectPlain(slow), 'GET /metrics HTTP/1.1\r\nHost:');
    const probes = Array.from({ length: 1000 }, (_, index) => resourcesOf(`/probe?station=ts-${index % names.length}`));
    const everything = resourcesOf('/metrics');
    expect((await httpRequest(port, '/-/healthy')).status).toBe(200);
    expect(await everything).toBe(resources * names.length);
    expect(await Promise.all(probes)).toEqual(Array(1000).fill(resources));
    const grown = process.memoryUsage.rss() - before;
    console.log(`1,000 waiting probes, 500 slow clients: ${Math.round(grown / MIB)} MiB more, both ends together`);
    expect(grown).toBeLessThan(256 * MIB);
    const families = await scrape('/metrics', { 'x-prometheus-scrape-timeout-seconds': '1' });
    const limits = valuesOf(families, 'telemetry_station_exporter_web_limits_reached_total', 'limit');
    expect(limits['max_requests']).toBeGreaterThan(0);
  });
});
