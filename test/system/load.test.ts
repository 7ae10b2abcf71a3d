import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { STATION_FAMILIES } from '../../src/metrics/catalogue.ts';
import { startSimulation } from '../../src/simulator/simulation.ts';
import { simulatedStations } from '../../src/simulator/stations.ts';
import type { TlsRules } from '../../src/web/access/rules.ts';
import type { ExporterPort } from '../../src/web/port.ts';
import { startReadyExporter } from '../e2e/test-bed.ts';
import { heldByBuffers } from '../held-by-buffers.ts';
import { issue } from '../upstream/support/certificates.ts';
import { eventually } from '../web/eventually.ts';
import { bodyOf } from '../web/fake-exporter.ts';
import { httpRequest } from '../web/http-client.ts';
import { startApp } from '../web/running-app.ts';

const MIB = 1024 * 1024;
/** About the size of a segment. */
const PIECE = 256 * 1024;
const { cert, key } = issue({ name: 'server' });
const TLS: TlsRules = { context: { cert, key }, client: { requested: false, required: false, verified: false } };

/** An app whose scrapes all return the same body once `until` resolves. */
async function start(chunk: Buffer, { tls, until }: { tls?: TlsRules | undefined; until?: Promise<unknown> } = {}) {
  const body = bodyOf(
    ...Array.from({ length: Math.ceil(chunk.length / PIECE) }, (_, at) => chunk.subarray(at * PIECE, (at + 1) * PIECE)),
  );
  let scrapes = 0;
  const scrape: ExporterPort['scrape'] = async (_format, _station, signal) => {
    scrapes += 1;
    if (!signal.aborted) await until;
    return body;
  };
  const { port } = await startApp({ scrape }, { maxRequests: 40 }, tls);
  return { port, scrapes: () => scrapes };
}

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
  it.each([
    ['plain', undefined],
    ['encrypted', TLS],
  ])('keeps one copy of the body for 40 clients that do not read, over %s connections', async (_kind, tls) => {
    // Large beside what the process needs otherwise.
    const chunk = Buffer.alloc(32 * MIB, '#');
    const { port, scrapes } = await start(chunk, { tls });
    const connect = () =>
      tls ? connectSecure({ port, host: '127.0.0.1', rejectUnauthorized: false }) : connectPlain(port, '127.0.0.1');
    const before = process.memoryUsage.rss();
    const sockets = await open(40, connect, 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n');
    await Promise.all(sockets.map((socket) => once(socket, 'readable')));
    await eventually(() => expect(scrapes()).toBe(40));
    const grown = process.memoryUsage.rss() - before;
    console.log(`40 clients that do not read ${chunk.length / MIB} MiB: ${Math.round(grown / MIB)} MiB more`);
    expect(grown).toBeLessThan(4 * chunk.length);
  });

  it.each([
    [40, 1],
    [4, 10],
  ])(
    'inflates plain text only as it is read, by %i connections with %i requests each',
    async (connections, requests) => {
      const stations = simulatedStations({ stations: 1, resources: 30_000 });
      const { service, config } = await startSimulation({ stations, naming: 'sequential', pageCap: 10_000 });
      onTestFinished(() => service.stop());
      const { upstreams, ...rest } = parse(config);
      const { url } = await startReadyExporter({
        ...rest,
        upstreams: { main: { ...upstreams.main, page_size: 5000 } },
        metrics: { disabled: STATION_FAMILIES.map(({ name }) => name).filter((name) => !COMPRESSIBLE.includes(name)) },
      });
      const before = heldByBuffers();
      const request = 'GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n';
      const sockets = await open(
        connections,
        () => connectPlain(Number(new URL(url).port), '127.0.0.1'),
        request.repeat(requests),
      );
      await Promise.all(sockets.map((socket) => once(socket, 'readable')));
      // The requests before this one have begun to inflate when it is answered.
      const { body } = await httpRequest(Number(new URL(url).port), '/metrics');
      expect(body.length).toBeGreaterThan(8 * MIB);
      const grown = await eventually(() => {
        const bytes = heldByBuffers() - before;
        expect(bytes).toBeLessThan(40 * MIB);
        return bytes;
      });
      console.log(
        `40 plain responses of ${Math.round(body.length / MIB)} MiB that are not read: ${Math.round(grown / MIB)} MiB more`,
      );
    },
  );

  it('responds within bounded memory beside 1,000 slow clients and 200 concurrent scrapes', async () => {
    let release = () => {};
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { port, scrapes } = await start(Buffer.from('# metrics\n'), { until });
    const before = process.memoryUsage.rss();
    const slow = { port, host: '127.0.0.1', localAddress: '127.0.0.2' };
    await open(1000, () => connectPlain(slow), 'GET /metrics HTTP/1.1\r\nHost:');
    const statuses: (number | undefined)[] = [];
    const requests = Array.from({ length: 200 }, async () =>
      statuses.push((await httpRequest(port, '/metrics')).status),
    );
    await eventually(() => expect(statuses).toEqual(Array(160).fill(200)));
    expect(scrapes()).toBe(200);
    const startMs = performance.now();
    expect((await httpRequest(port, '/-/healthy')).status).toBe(200);
    const took = `/-/healthy in ${Math.round(performance.now() - startMs)} ms`;
    const grown = process.memoryUsage.rss() - before;
    console.log(`1,000 slow clients and 200 scrapes: ${took}, ${Math.round(grown / MIB)} MiB more, both ends together`);
    expect(grown).toBeLessThan(200 * MIB);
    release();
    await Promise.all(requests);
    expect(statuses).toEqual(Array(200).fill(200));
  });
});
