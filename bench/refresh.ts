import { startChild } from './child.ts';
import { type Figure, figure, median } from './figure.ts';
import { scrape } from './load.ts';
import type { ParserMethods } from './parser.ts';
import { DEFAULT_PAGE_SIZE, FLEET, PAGE_SIZE, RESOURCES, type Setup, withSetup } from './setup.ts';

const RUNS = 9;

const MAX_LOOP_DELAY_MS = 25;

/** What refreshes cost with pages of both sizes, and with labels of resources. */
export async function refreshFigures(): Promise<Figure[]> {
  const ofPages = [await pageFigures(PAGE_SIZE), await pageFigures(DEFAULT_PAGE_SIZE)];
  return [...ofPages.flat(), ...(await labelFigures())];
}

/** CPU of a full refresh with and without changes, relative to parsing its pages, and its event-loop delay. */
async function pageFigures(pageSize: number): Promise<Figure[]> {
  const parser = startChild<ParserMethods>('parser');
  const measured = await withSetup({ ttl: '0s', pageSize }, async (setup) => {
    let version = 0;
    const change = () => {
      version += 1;
      return setup.service.call('setVersion', version);
    };
    const replaceAll = () => {
      version += 1;
      return setup.service.call('setVersion', version, version);
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
      parsing.push(await parser.call('parse', FLEET, pageSize, version));
    };
    await measure(3, refreshCpu, changeAndParse);
    parsing.length = 0;
    const changed = await measure(RUNS, refreshCpu, changeAndParse);
    const same = await measure(RUNS, refreshCpu);
    const replaced = await measure(RUNS, refreshCpu, replaceAll);
    const delays = await measure(RUNS, (running) => maxLoopDelay(running), change);
    const medians = { changed: median(changed), same: median(same), replaced: median(replaced) };
    return { parsing: median(parsing), ...medians, delay: median(delays) };
  });
  await parser.stop();
  const perResource = (ms: number) => (ms / RESOURCES) * 1000;
  const { parsing, changed, same, replaced, delay } = measured;
  const pages = `pages of ${pageSize}`;
  return [
    figure(`JSON.parse of all ${pages}, CPU per resource`, perResource(parsing), 'µs'),
    figure(
      `refresh with the alert rules of all and the states of most resources changed, ${pages}, CPU of all threads per resource`,
      perResource(changed),
      'µs',
    ),
    figure(`refresh relative to JSON.parse of the same bytes, ${pages}`, changed / parsing, '×', 5),
    figure(
      `refresh with all resources replaced by others, ${pages}, CPU of all threads per resource`,
      perResource(replaced),
      'µs',
    ),
    figure(`the same relative to JSON.parse, ${pages}`, replaced / parsing, '×', 6.5),
    figure(`refresh without changes, ${pages}, CPU of all threads per resource`, perResource(same), 'µs'),
    figure(`refresh without changes relative to all resources changed, ${pages}`, same / changed, '×', 0.2),
    figure(`maximum event-loop delay during a refresh, ${pages}, scraped every 250 ms`, delay, 'ms', MAX_LOOP_DELAY_MS),
  ];
}

/** Ten entries that match by all kinds of fields. */
const RESOURCE_LABELS = [
  { match: { resource_type: 'resource_type\\.storage\\..*', name: '.*[0-4]' }, labels: { team: 'storage' } },
  { match: { resource_type: '.*\\.network\\..*' }, labels: { team: 'network' } },
  { match: { station: 'ts-00[0-4].', name: 'instance-[0-7].*' }, labels: { team: 'compute' } },
  { match: { name: '.*-[0-9]*77' }, labels: { team: 'seven' } },
  { match: { display_name: '.* of team (1|2|3)' }, labels: { team: 'training' } },
  { match: { display_name: '(?i).*OF TEAM 4' }, labels: { team: 'inference' } },
  { match: { resource_id: '.*/instances/[0-3].*' }, labels: { team: 'instances' } },
  { match: { resource_id: '/subscriptions/[^/]+/.*', name: 'instance-[a-f].*' }, labels: { team: 'letters' } },
  { match: { product: 'product\\..*' }, labels: { team: 'product' } },
  { labels: { team: 'platform' } },
];

/** CPU of a refresh with labels of resources, relative to one without. */
async function labelFigures(): Promise<Figure[]> {
  return withSetup({ ttl: '0s' }, (plain) =>
    withSetup({ ttl: '0s', resourceLabels: RESOURCE_LABELS }, async (labelled) => {
      let version = 0;
      const measured = async ({ service, ...setup }: Setup, generation: number) => {
        await service.call('setVersion', version, generation);
        return refreshCpu({ service, ...setup });
      };
      // Alternating, so that a slowdown of the machine affects both.
      const relative = async (replace: boolean) => {
        const cpu = { plain: [] as number[], labelled: [] as number[] };
        for (let round = -3; round < RUNS; round += 1) {
          version += 1;
          const generation = replace ? version : 0;
          const next = { plain: await measured(plain, generation), labelled: await measured(labelled, generation) };
          if (round < 0) continue;
          cpu.plain.push(next.plain);
          cpu.labelled.push(next.labelled);
        }
        return median(cpu.labelled) / median(cpu.plain);
      };
      return [
        figure(
          'refresh with ten entries of resource_labels relative to one without, all resources changed',
          await relative(false),
          '×',
          1.15,
        ),
        figure(
          'the same with all resources replaced by others, whose labels are not known yet',
          await relative(true),
          '×',
        ),
      ];
    }),
  );
}

/** With a ttl of 0 every scrape refreshes; writing the response is about 1 % of the CPU. */
async function refreshCpu({ exporter, port }: Setup): Promise<number> {
  const before = await exporter.call('cpu');
  await scrape(port);
  return (await exporter.call('cpu')) - before;
}

/** The maximum event-loop delay of a refresh that is scraped meanwhile. */
export async function maxLoopDelay({ exporter, port }: Setup, scrapeIntervalMs = 250): Promise<number> {
  await exporter.call('maxLoopDelay');
  const scrapes: Promise<unknown>[] = [];
  // With this timeout a scrape is served from the cache without waiting for the refresh.
  const scraper = setInterval(() => scrapes.push(scrape(port, { timeoutSeconds: 0.5 })), scrapeIntervalMs);
  await scrape(port);
  clearInterval(scraper);
  const maximum = await exporter.call('maxLoopDelay');
  await Promise.all(scrapes);
  return maximum;
}
