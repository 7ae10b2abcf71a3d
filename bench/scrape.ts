import { startChild } from './child.ts';
import { type Figure, figure, median } from './figure.ts';
import { medianOf, scrape } from './load.ts';
import type { PromClientMethods } from './prom-client-exporter.ts';
import { FLEET, withSetup } from './setup.ts';
import type { StaticMethods } from './static-server.ts';

const MIB = 1024 * 1024;

/** Names of the figures that the comparison with prom-client uses. */
export const SCRAPE_NAMES = {
  time: 'warm scrape, gzip',
  cpu: 'CPU of a warm gzip scrape',
  memory: 'resident memory after scrapes',
  baselineTime: 'scrape of the prom-client baseline',
  baselineCpu: 'CPU of a scrape of the prom-client baseline',
  baselineMemory: 'resident memory of the prom-client baseline after scrapes',
};

/** The cost of a warm scrape, relative to a static buffer and to the prom-client baseline. */
export async function scrapeFigures(): Promise<Figure[]> {
  const ours = await withSetup({}, async ({ exporter, port }) => {
    const { bytes } = await scrape(port);
    const staticServer = startChild<StaticMethods>('static-server');
    const staticPort = await staticServer.call('start', bytes);
    // Alternating, so that a slowdown of the machine affects both.
    const staticTimes: number[] = [];
    const gzipMs = await medianOf(51, 10, async () => {
      staticTimes.push((await scrape(staticPort)).ms);
      return (await scrape(port)).ms;
    });
    const staticMs = median(staticTimes.slice(10));
    await staticServer.stop();
    const before = await exporter.call('cpu');
    for (let round = 0; round < 50; round += 1) await scrape(port);
    const cpuMs = ((await exporter.call('cpu')) - before) / 50;
    const residentBytes = await exporter.call('resident');
    const plainMs = await medianOf(5, 1, async () => (await scrape(port, { gzip: false })).ms);
    return { bytes, gzipMs, staticMs, cpuMs, plainMs, residentBytes };
  });
  const baseline = startChild<PromClientMethods>('prom-client-exporter', ['--max-old-space-size=8192']);
  const baselinePort = await baseline.call('start', FLEET);
  await scrape(baselinePort);
  const before = await baseline.call('cpu');
  const baselineTimes: number[] = [];
  for (let round = 0; round < 3; round += 1) baselineTimes.push((await scrape(baselinePort)).ms);
  const baselineMs = ((await baseline.call('cpu')) - before) / 3;
  const baselineBytes = await baseline.call('resident');
  await baseline.stop();
  return [
    figure(SCRAPE_NAMES.time, ours.gzipMs, 'ms'),
    figure('the same number of bytes from a static buffer on node:http', ours.staticMs, 'ms'),
    figure('warm gzip scrape relative to the static buffer', ours.gzipMs / ours.staticMs, '×', 1.3),
    figure(SCRAPE_NAMES.cpu, ours.cpuMs, 'ms'),
    figure(SCRAPE_NAMES.memory, ours.residentBytes / MIB, 'MiB'),
    figure(SCRAPE_NAMES.baselineTime, median(baselineTimes), 'ms'),
    figure(SCRAPE_NAMES.baselineCpu, baselineMs, 'ms'),
    figure(SCRAPE_NAMES.baselineMemory, baselineBytes / MIB, 'MiB'),
    figure(
      'CPU of a warm gzip scrape relative to the prom-client baseline',
      (ours.cpuMs / baselineMs) * 1000,
      '/ 1,000',
      1,
    ),
    figure('warm scrape, plain text (inflated on the fly)', ours.plainMs, 'ms'),
    figure('size of the gzip body', ours.bytes / 1e6, 'MB'),
  ];
}
