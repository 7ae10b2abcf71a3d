import { startChild } from './child.ts';
import type { Figure } from './figure.ts';
import { median, medianOf, scrape } from './load.ts';
import type { PromClientMethods } from './prom-client-exporter.ts';
import { FLEET, onStage } from './stage.ts';
import type { StaticMethods } from './static-server.ts';

/** What a warm scrape costs, against bare bytes and against the straightforward exporter. */
export async function scrapeFigures(): Promise<Figure[]> {
  const ours = await onStage({}, async ({ exporter, port }) => {
    const { bytes } = await scrape(port);
    const bare = startChild<StaticMethods>('static-server');
    const barePort = await bare.call('start', bytes);
    // One after the other, so that a machine that slows down does so for both.
    const bareTimes: number[] = [];
    const gzipMs = await medianOf(51, 10, async () => {
      bareTimes.push((await scrape(barePort)).ms);
      return (await scrape(port)).ms;
    });
    const bareMs = median(bareTimes.slice(10));
    await bare.stop();
    const before = await exporter.call('cpu');
    for (let round = 0; round < 50; round += 1) await scrape(port);
    const cpuMs = ((await exporter.call('cpu')) - before) / 50;
    const plainMs = await medianOf(5, 1, async () => (await scrape(port, { gzip: false })).ms);
    return { bytes, gzipMs, bareMs, cpuMs, plainMs };
  });
  const plain = startChild<PromClientMethods>('prom-client-exporter', ['--max-old-space-size=8192']);
  const plainPort = await plain.call('start', FLEET);
  await scrape(plainPort);
  const before = await plain.call('cpu');
  for (let round = 0; round < 3; round += 1) await scrape(plainPort);
  const promClientMs = ((await plain.call('cpu')) - before) / 3;
  await plain.stop();
  return [
    { name: 'warm scrape, gzip', value: ours.gzipMs, unit: 'ms' },
    { name: 'the same bytes from a static buffer on bare node:http', value: ours.bareMs, unit: 'ms' },
    {
      name: 'warm gzip scrape against the static buffer',
      value: ours.gzipMs / ours.bareMs,
      unit: '×',
      goal: { most: 1.3, text: 'at most 1.3 ×' },
    },
    { name: 'CPU of a warm gzip scrape', value: ours.cpuMs, unit: 'ms' },
    { name: 'CPU of a scrape of the straightforward prom-client exporter', value: promClientMs, unit: 'ms' },
    {
      name: 'CPU of a warm gzip scrape against the straightforward exporter',
      value: (ours.cpuMs / promClientMs) * 1000,
      unit: '/ 1,000',
      goal: { most: 1, text: 'at most 1 / 1,000' },
    },
    { name: 'warm scrape, plain (inflated while it is written)', value: ours.plainMs, unit: 'ms' },
    { name: 'size of the gzip body', value: ours.bytes / 1e6, unit: 'MB' },
  ];
}
