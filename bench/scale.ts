import { type Figure, figure } from './figure.ts';
import { medianOf, scrape } from './load.ts';
import { maxLoopDelay } from './refresh.ts';
import { RESOURCES, withSetup } from './setup.ts';

export const SIZES = [1000, 10_000, 100_000, 1_000_000];
const MIB = 1024 * 1024;

/** Names of the figures of each size. */
export const SCALE_NAMES = {
  changedCpu: (size: number) => `refresh of ${size.toLocaleString('en')} resources, CPU per resource`,
  unchangedCpu: (size: number) => `refresh of ${size.toLocaleString('en')} resources without changes, CPU per resource`,
  memory: (size: number) => `resident memory at ${size.toLocaleString('en')} resources`,
  scrape: (size: number) => `scrape of ${size.toLocaleString('en')} resources from the cache, gzip`,
};

/** CPU and memory per resource, by number of resources. */
export async function scaleFigures(): Promise<Figure[]> {
  const measured = new Map<number, Measured>();
  for (const size of SIZES) measured.set(size, await measure(size));
  const all = [...measured.values()];
  const [hundred, million] = [measured.get(RESOURCES) as Measured, measured.get(1_000_000) as Measured];
  const spread = (values: readonly number[]) => Math.max(...values) / Math.min(...values);
  return [
    ...[...measured].flatMap(([size, { cpuMicros, unchangedMicros, residentBytes, scrapeMs }]) => [
      figure(SCALE_NAMES.changedCpu(size), cpuMicros, 'µs'),
      figure(SCALE_NAMES.unchangedCpu(size), unchangedMicros, 'µs'),
      figure(SCALE_NAMES.scrape(size), scrapeMs, 'ms'),
      figure(
        SCALE_NAMES.memory(size),
        residentBytes / MIB,
        'MiB',
        size === 1_000_000 ? 1280 : undefined,
        'below 1.25 GiB',
      ),
    ]),
    figure('resident memory over idle, per resource', hundred.bytesPerResource, 'bytes', 1500, 'at most 1,500'),
    figure(
      'maximum event-loop delay during a refresh of 1,000,000 resources, scraped every 5 s',
      million.loopDelayMs,
      'ms',
      60,
    ),
    figure(
      'CPU per resource at 1,000,000 resources relative to 100,000',
      million.cpuMicros / hundred.cpuMicros,
      '×',
      1.2,
    ),
    figure(
      'CPU per resource from 1,000 to 1,000,000 resources, maximum relative to minimum',
      spread(all.map((m) => m.cpuMicros)),
      '×',
      1.3,
      'flat within 1.3 ×',
    ),
    figure(
      'time per resource from 1,000 to 1,000,000 resources, maximum relative to minimum',
      spread(all.map((m) => m.wallMicros)),
      '×',
      1.3,
      'flat within 1.3 ×',
    ),
  ];
}

interface Measured {
  readonly cpuMicros: number;
  readonly unchangedMicros: number;
  /** From the cache. */
  readonly scrapeMs: number;
  readonly wallMicros: number;
  readonly residentBytes: number;
  readonly bytesPerResource: number;
  readonly loopDelayMs: number;
}

/** A scrape of a million resources writes more than a hundred MB. */
const SCRAPE_INTERVAL_MS = 5000;

/** Small fleets are refreshed more often, so that the warm-up and the measurement do about the same work at every size. */
async function measure(resources: number): Promise<Measured> {
  const shape = { stations: Math.max(1, resources / 1000), resourcesPerStation: Math.min(resources, 1000) };
  return withSetup({ shape, ttl: '0s' }, async (setup) => {
    const { service, exporter, port, idleBytes } = setup;
    const rounds = Math.max(2, Math.round(RESOURCES / resources));
    let version = 0;
    const change = () => {
      version += 1;
      return service.call('setVersion', version);
    };
    const refresh = async () => {
      await change();
      return (await scrape(port)).ms;
    };
    for (let done = 0; done < Math.max(2 * RESOURCES, resources); done += resources) await refresh();
    const before = await exporter.call('cpu');
    let wallMs = 0;
    for (let round = 0; round < rounds; round += 1) wallMs += await refresh();
    const cpuMs = (await exporter.call('cpu')) - before;
    const residentBytes = await exporter.call('memory');
    const beforeUnchanged = await exporter.call('cpu');
    for (let round = 0; round < rounds; round += 1) await scrape(port);
    const unchangedMs = (await exporter.call('cpu')) - beforeUnchanged;
    await change();
    const loopDelayMs = await maxLoopDelay(setup, SCRAPE_INTERVAL_MS);
    const count = rounds * resources;
    return {
      cpuMicros: (cpuMs * 1000) / count,
      unchangedMicros: (unchangedMs * 1000) / count,
      scrapeMs: await medianOf(5, 1, () => cachedScrapeMs(port)),
      wallMicros: (wallMs * 1000) / count,
      residentBytes,
      bytesPerResource: (residentBytes - idleBytes) / resources,
      loopDelayMs,
    };
  });
}

/** With this timeout a scrape starts a refresh but does not wait for it; the second scrape does. */
async function cachedScrapeMs(port: number): Promise<number> {
  const { ms } = await scrape(port, { timeoutSeconds: 0.5 });
  await scrape(port);
  return ms;
}
