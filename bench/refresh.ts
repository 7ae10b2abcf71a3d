import { startChild } from './child.ts';
import type { Figure } from './figure.ts';
import { median, scrape } from './load.ts';
import type { ParserMethods } from './parser.ts';
import { FLEET, onStage, RESOURCES, type Stage } from './stage.ts';

const PAGE_SIZE = 500;
const RUNS = 5;

/** What a refresh of everything costs, changed and unchanged, against parsing its pages; and how long others wait for it. */
export async function refreshFigures(): Promise<Figure[]> {
  const parser = startChild<ParserMethods>('parser');
  for (let round = 0; round < 2; round += 1) await parser.call('parse', FLEET, PAGE_SIZE, round);
  const parsing: number[] = [];
  for (let round = 0; round < RUNS; round += 1) parsing.push(await parser.call('parse', FLEET, PAGE_SIZE, round));
  await parser.stop();
  const measured = await onStage({ ttl: '0s', pageSize: PAGE_SIZE }, async (stage) => {
    let version = 0;
    const changing = async () => {
      version += 1;
      await stage.service.call('setVersion', version);
      return refreshCpu(stage);
    };
    for (let round = 0; round < 3; round += 1) await changing();
    const changed: number[] = [];
    for (let round = 0; round < RUNS; round += 1) changed.push(await changing());
    const same: number[] = [];
    for (let round = 0; round < RUNS; round += 1) same.push(await refreshCpu(stage));
    const turns: number[] = [];
    for (let round = 0; round < RUNS; round += 1) turns.push(await longestTurn(stage, changing));
    return { changed: median(changed), same: median(same), turn: median(turns) };
  });
  const perResource = (ms: number) => (ms / RESOURCES) * 1000;
  return [
    { name: 'JSON.parse of all pages, CPU per resource', value: perResource(median(parsing)), unit: 'µs' },
    { name: 'refresh where everything changed, CPU of all threads per resource', value: perResource(measured.changed), unit: 'µs' },
    {
      name: 'refresh against JSON.parse of the same bytes',
      value: measured.changed / median(parsing),
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

async function longestTurn({ exporter, port }: Stage, refresh: () => Promise<number>): Promise<number> {
  await exporter.call('longestTurn');
  // These wait no longer than it takes to answer from what is there.
  const scraper = setInterval(() => void scrape(port, { timeoutSeconds: 0.5 }), 250);
  await refresh();
  clearInterval(scraper);
  return exporter.call('longestTurn');
}
