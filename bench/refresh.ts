import { startChild } from './child.ts';
import type { Figure } from './figure.ts';
import { median, scrape } from './load.ts';
import type { ParserMethods } from './parser.ts';
import { FLEET, RESOURCES, type Setup, withSetup } from './setup.ts';

const PAGE_SIZE = 500;
const RUNS = 9;

/** CPU of a full refresh with and without changes, relative to parsing its pages, and its event-loop delay. */
export async function refreshFigures(): Promise<Figure[]> {
  const parser = startChild<ParserMethods>('parser');
  const measured = await withSetup({ ttl: '0s', pageSize: PAGE_SIZE }, async (setup) => {
    let version = 0;
    const change = () => {
      version += 1;
      return setup.service.call('setVersion', version);
    };
    const measure = async (runs: number, figure: (setup: Setup) => Promise<number>, before = async () => {}) => {
      const figures: number[] = [];
      for (let round = 0; round < runs; round += 1) {
        await before();
        figures.push(await figure(setup));
      }
      return figures;
    };
    // Alternating, so that a slowdown of the machine affects both.
    const parsing: number[] = [];
    const changeAndParse = async () => {
      await change();
      parsing.push(await parser.call('parse', FLEET, PAGE_SIZE, version));
    };
    await measure(3, refreshCpu, changeAndParse);
    parsing.length = 0;
    const changed = await measure(RUNS, refreshCpu, changeAndParse);
    const same = await measure(RUNS, refreshCpu);
    const delays = await measure(RUNS, maxLoopDelay, change);
    return { parsing: median(parsing), changed: median(changed), same: median(same), delay: median(delays) };
  });
  await parser.stop();
  const perResource = (ms: number) => (ms / RESOURCES) * 1000;
  return [
    { name: 'JSON.parse of all pages, CPU per resource', value: perResource(measured.parsing), unit: 'µs' },
    { name: 'refresh with all resources changed, CPU of all threads per resource', value: perResource(measured.changed), unit: 'µs' },
    {
      name: 'refresh relative to JSON.parse of the same bytes',
      value: measured.changed / measured.parsing,
      unit: '×',
      goal: { max: 4, text: 'at most 4 ×' },
    },
    { name: 'refresh without changes, CPU per resource', value: perResource(measured.same), unit: 'µs' },
    {
      name: 'refresh without changes relative to all resources changed',
      value: measured.same / measured.changed,
      unit: '×',
      goal: { max: 0.2, text: 'at most 0.2 ×' },
    },
    {
      name: 'maximum event-loop delay during a refresh, scraped every 250 ms',
      value: measured.delay,
      unit: 'ms',
      goal: { max: 25, text: 'at most 25 ms' },
    },
  ];
}

/** With a ttl of 0 every scrape refreshes; writing the response is about 1 % of the CPU. */
async function refreshCpu({ exporter, port }: Setup): Promise<number> {
  const before = await exporter.call('cpu');
  await scrape(port);
  return (await exporter.call('cpu')) - before;
}

/** The maximum event-loop delay of a refresh, scraped every 250 ms. */
export async function maxLoopDelay({ exporter, port }: Setup): Promise<number> {
  await exporter.call('maxLoopDelay');
  const scrapes: Promise<unknown>[] = [];
  // With this timeout a scrape is served from the cache without waiting for the refresh.
  const scraper = setInterval(() => scrapes.push(scrape(port, { timeoutSeconds: 0.5 })), 250);
  await scrape(port);
  clearInterval(scraper);
  const maximum = await exporter.call('maxLoopDelay');
  await Promise.all(scrapes);
  return maximum;
}
