import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startSimulation } from '../../src/simulator/simulation.ts';

/** What one account sends without end, after `head`, on each of 8 connections. */
const FLOODS: Readonly<Record<string, { readonly head: string; readonly piece: string }>> = {
  none: { head: 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n', piece: '' },
  '103 replies': { head: '', piece: 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n' },
  'chunks of one byte': { head: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', piece: '1\r\n \r\n' },
  'chunk extensions': { head: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;', piece: 'abcdefgh' },
  'chunks of 64 bytes': {
    head: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    piece: `40\r\n${' '.repeat(64)}\r\n`,
  },
};

const SECONDS = 10;

console.log('| flood | probe of a healthy station, median ms | slowest ms | CPU of the exporter, share of a core |');
console.log('|---|---|---|---|');
for (const [name, { head, piece }] of Object.entries(FLOODS)) {
  const { medianMs, slowestMs, cpu } = await besideFlood(
    head,
    Buffer.from(piece.repeat(Math.ceil(65_536 / (piece.length || 65_536)))),
  );
  console.log(`| ${name} | ${medianMs.toFixed(1)} | ${slowestMs.toFixed(0)} | ${cpu.toFixed(2)} |`);
}
process.exit();

/** Runs the built program with one healthy station and 8 of an account that floods it. */
async function besideFlood(head: string, pieces: Buffer) {
  const { service } = await startSimulation();
  const flooder = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(head);
      const flood = () => socket.write(pieces, (error) => error ?? flood());
      if (pieces.length > 0) flood();
    });
  }).listen(0, '127.0.0.1');
  await once(flooder, 'listening');
  const station = (name: string, upstream: string, path: object) => ({ name, upstream, zone: 'cn-sh-01e', ...path });
  const healthy = { subscription: '5f0c1b8e-6a5d-4d0e-9a53-0b6f7a4c21d7', resource_group: 'default' };
  const hostile = Array.from({ length: 8 }, (_, at) =>
    station(`hostile-${at}`, 'hostile', { ...healthy, telemetry_station: `ts-${at}` }),
  );
  const config = {
    upstreams: {
      healthy: { base_url: service.url },
      hostile: { base_url: `http://127.0.0.1:${(flooder.address() as AddressInfo).port}` },
    },
    stations: [station('healthy', 'healthy', { ...healthy, telemetry_station: 'ts-user-10482' }), ...hostile],
    cache: { ttl: '1s', error_ttl: '1s', refresh: 'background' },
  };
  const file = join(await mkdtemp(join(tmpdir(), 'flood-')), 'config.yaml');
  writeFileSync(file, JSON.stringify(config));
  const program = spawn(process.execPath, [
    'dist/main.js',
    `--config.file=${file}`,
    '--web.listen-address=127.0.0.1:0',
  ]);
  const origin = await new Promise<string>((resolve) => {
    let log = '';
    program.stderr.on('data', (data) => {
      log += data;
      const [, address] = /msg=listening.*?(127\.0\.0\.1:\d+)/.exec(log) ?? [];
      if (address !== undefined) resolve(`http://${address}`);
    });
  });
  const get = async (path: string) => (await fetch(`${origin}${path}`)).text();
  // User and system time in ticks of 10 ms.
  const cpuSeconds = () => {
    const fields = readFileSync(`/proc/${program.pid}/stat`, 'utf8').split(' ');
    return (Number(fields[13]) + Number(fields[14])) / 100;
  };
  await setTimeout(2000);
  const [startMs, cpuBefore] = [performance.now(), cpuSeconds()];
  const times: number[] = [];
  while (performance.now() - startMs < SECONDS * 1000) {
    const sentMs = performance.now();
    await get('/probe?station=healthy');
    times.push(performance.now() - sentMs);
    await setTimeout(50);
  }
  const cpu = (cpuSeconds() - cpuBefore) / ((performance.now() - startMs) / 1000);
  program.kill('SIGKILL');
  flooder.close();
  await service.stop();
  times.sort((a, b) => a - b);
  return { medianMs: times[Math.floor(times.length / 2)] ?? 0, slowestMs: times.at(-1) ?? 0, cpu };
}
