import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type Fault, NAMED_FAULTS, replyWith, slow, wrongTotal } from '../../lab/simulator/faults.ts';
import { SimulatedFleet } from '../../lab/simulator/fleet.ts';
import { scrapeOf, startProgram } from '../e2e/built-program.ts';
import { configOf, startTestService } from '../e2e/test-bed.ts';
import { parseExposition, valuesOf } from '../exposition/parse-exposition.ts';
import { temporaryFile } from '../service/support/files.ts';
import { headersOnly, movingTotal, uncountedDuplicates } from '../simulator/simulated-service.ts';
import { inconsistencies, samplesOf } from './station-consistency.ts';

const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 60);
/** Memory is measured after each of them; the first one is the warm-up. */
const SLICES = 4;
const NAMES = Array.from({ length: 10 }, (_, index) => `ts-${index}`);
const CONCURRENCY = 4;
const SCRAPERS = 2;
const MAX_SOCKETS = CONCURRENCY + SCRAPERS + 4;
/** The client keeps a buffer for each request that was ever in flight at once, of twice the size of a page at most. */
const POOLED_BYTES = CONCURRENCY * 256 * 1024;

const FAULTS: readonly Fault[] = [
  { ...slow(5, 60), share: 0.3 },
  { ...wrongTotal(7), share: 0.05, periodMs: 4000 },
  { ...movingTotal, share: 0.05, periodMs: 5000 },
  { ...NAMED_FAULTS.null_page, share: 0.05, periodMs: 6000 },
  { ...uncountedDuplicates(100), share: 0.05, periodMs: 7000 },
  { ...replyWith(500), share: 0.05, periodMs: 2000 },
  { ...replyWith(429, { 'retry-after': '1' }), share: 0.002 },
  { ...NAMED_FAULTS.html, share: 0.003 },
  { ...NAMED_FAULTS.reset, share: 0.01 },
  { ...NAMED_FAULTS.truncated, share: 0.01 },
  { ...NAMED_FAULTS.hang, share: 0.002 },
  { ...headersOnly, share: 0.001 },
];

const COLLECTS_GARBAGE = `process.on('SIGUSR2', () => gc())`;

/** The built program, and what it holds when nothing is in flight. */
async function startExporter(config: object) {
  const file = temporaryFile('config.yaml', stringify(config));
  const { child, output, url } = startProgram(
    { node: ['--expose-gc'], preload: COLLECTS_GARBAGE },
    ...[`--config.file=${file}`, '--web.listen-address=127.0.0.1:0'],
  );
  const base = await url();
  const held = async () => {
    for (let round = 0; round < 4; round += 1) {
      await setTimeout(500);
      child.kill('SIGUSR2');
    }
    const own = parseExposition(await (await fetch(`${base}/-/metrics`)).text());
    const resources = valuesOf(own, 'nodejs_active_resources', 'type');
    const total = (family: string) => valuesOf(own, family)[''] ?? expect.unreachable(family);
    return {
      heapBytes: total('nodejs_heap_size_used_bytes'),
      bufferBytes: total('nodejs_external_memory_bytes'),
      sockets: resources['TCPSocketWrap'] ?? 0,
      timers: resources['Timeout'] ?? 0,
    };
  };
  return { base, output, held };
}

it(`keeps its memory, sockets and timers, and publishes nothing inconsistent, in ${SECONDS} s of faults`, async () => {
  const fleets = new Map(NAMES.map((name) => [name, new SimulatedFleet(1, { name, size: 300 })]));
  const service = await startTestService({
    source: ({ telemetry_station }, atMs) => fleets.get(telemetry_station)?.at(atMs),
    faults: { '*': FAULTS },
  });
  const upstream = {
    timeout: '1500ms',
    refresh_timeout: '4s',
    concurrency: CONCURRENCY,
    max_retries: 2,
    page_size: 100,
  };
  const config = configOf(service.url, NAMES, { upstream, cache: { ttl: '200ms', error_ttl: '200ms' } });
  const { base, output, held } = await startExporter(config);
  const seen = { failing: 0, incomplete: 0 };
  const scrapeUntil = async (endMs: number) => {
    while (Date.now() < endMs) {
      const families = await scrapeOf(base);
      for (const name of NAMES) {
        const samples = samplesOf(families, name);
        expect(inconsistencies(samples), name).toEqual([]);
        if (samples.up === 0) seen.failing += 1;
        if (samples.complete === 0) seen.incomplete += 1;
      }
    }
  };
  const usages: Awaited<ReturnType<typeof held>>[] = [];
  for (let slice = 0; slice < SLICES; slice += 1) {
    const endMs = Date.now() + (1000 * SECONDS) / SLICES;
    await Promise.all(Array.from({ length: SCRAPERS }, () => scrapeUntil(endMs)));
    usages.push(await held());
    service.clearRequests();
  }
  console.log(usages, seen);
  const [first, last] = [usages[0] ?? expect.unreachable(), usages.at(-1) ?? expect.unreachable()];
  // Without faults the soak would prove nothing.
  expect(seen.failing).toBeGreaterThan(0);
  expect(seen.incomplete).toBeGreaterThan(0);
  expect(last.heapBytes).toBeLessThan(1.1 * first.heapBytes);
  expect(last.bufferBytes).toBeLessThan(1.1 * first.bufferBytes + POOLED_BYTES);
  for (const { sockets, timers } of usages) {
    expect(sockets).toBeLessThanOrEqual(MAX_SOCKETS);
    expect(timers).toBeLessThanOrEqual(MAX_SOCKETS);
  }
  expect(output.stderr).not.toContain('level=error');
});
