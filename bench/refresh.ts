import { startChild } from './child.ts';
import type { Figure } from './figure.ts';
import { median, scrape } from './load.ts';
import type { ParserMethods } from './parser.ts';
import { FLEET, onStage, RESOURCES, type Stage } from './stage.ts';

const PAGE_SIZE = 500;
const RUNS = 9;

/** What a refresh of everything costs, changed and unchanged, against parsing its pages; and how long others wait for it. */
export async function refreshFigures(): Promise<Figure[]> {
  const parser = startChild<ParserMethods>('parser');
  const measured = await onStage({ ttl: '0s', pageSize: PAGE_SIZE }, async (stage) => {
    let version = 0;
    const change = () => {
      version += 1;
      return stage.service.call('setVersion', version);
    };
    const measure = async (runs: number, figure: (stage: Stage) => Promise<number>, before = async () => {}) => {
      const figures: number[] = [];
      for (let round = 0; round < runs; round += 1) {
        await before();
        figures.push(await figure(stage));
      }
      return figures;
    };
    // One after the other, so that a machine that slows down does so for both.
    const parsing: number[] = [];
    const changeAndParse = async () => {
      await change();
      parsing.push(await parser.call('parse', FLEET, PAGE_SIZE, version));
    };
    await measure(3, refreshCpu, changeAndParse);
    parsing.length = 0;
    const changed = await measure(RUNS, refreshCpu, changeAndParse);
    const same = await measure(RUNS, refreshCpu);
    const tasks = await measure(RUNS, longestTurn, change);
    return { parsing: median(parsing), changed: median(changed), same: median(same), turn: median(tasks) };
  });
  await parser.stop();
  const perResource = (ms: number) => (ms / RESOURCES) * 1000;
  return [
    { name: 'JSON.parse of all pages, CPU per resource', value: perResource(measured.parsing), unit: 'µs' },
    { name: 'refresh where everything changed, CPU of all threads per resource', value: perResource(measured.changed), unit: 'µs' },
    {
      name: 'refresh against JSON.parse of the same bytes',
      value: measured.changed / measured.parsing,
      unit: '×',
      goal: { most: 4, text: 'at most 4 ×' },
    },
    { name: 'refresh that brings the same bytes, CPU per resource', value: perResource(measured.same), unit: 'µs' },
    {
      name: 'unchanged refresh against a changed one',
      value: measured.same / measured.changed,
      unit: '×',
      goal: { most: 0.2, text: 'at most 0.2 ×' },
    },
    {
      name: 'longest event-loop turn during a refresh, scraped every 250 ms',
      value: measured.turn,
      unit: 'ms',
      goal: { most: 25, text: 'at most 25 ms' },
    },
  ];
}

/** With ttl 0 every scrape is a refresh; the write at its end is a hundredth of it. */
async function refreshCpu({ exporter, port }: Stage): Promise<number> {
  const before = await exporter.call('cpu');
  await scrape(port);
  return (await exporter.call('cpu')) - before;
}

async function longestTurn({ exporter, port }: Stage): Promise<number> {
  await exporter.call('longestTurn');
  const scrapes: Promise<unknown>[] = [];
  // These wait no longer than it takes to answer from what is there.
  const scraper = setInterval(() => scrapes.push(scrape(port, { timeoutSeconds: 0.5 })), 250);
  await scrape(port);
  clearInterval(scraper);
  const longest = await exporter.call('longestTurn');
  await Promise.all(scrapes);
  return longest;
}
