import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { configFigures } from './config.ts';
import { type Figure, type Measured, markdownTable, merged } from './figure.ts';
import { idleFigures } from './idle.ts';
import { largePageFigures } from './large-page.ts';
import { ordinaryFigures } from './ordinary.ts';
import { figuresPage, performancePage, withOrdinaryTable } from './page.ts';
import { refreshFigures } from './refresh.ts';
import { requestsFigures } from './requests.ts';
import { scaleFigures } from './scale.ts';
import { scheduleFigures } from './schedule.ts';
import { scrapeFigures } from './scrape.ts';
import { scrapersFigures } from './scrapers.ts';
import { startFigures } from './start.ts';

const BENCHES: Readonly<Record<string, () => Promise<Figure[]>>> = {
  ordinary: ordinaryFigures,
  scrape: scrapeFigures,
  refresh: refreshFigures,
  requests: requestsFigures,
  large_page: largePageFigures,
  schedule: scheduleFigures,
  scrapers: scrapersFigures,
  scale: scaleFigures,
  start: startFigures,
  idle: idleFigures,
  config: configFigures,
};

const { values, positionals: selected } = parseArgs({
  options: { runs: { type: 'string', default: '1' } },
  allowPositionals: true,
});
const runs = Number(values.runs);
const unknown = selected.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0 || !(runs >= 1)) {
  console.error(`usage: run [--runs=N] [${Object.keys(BENCHES).join('] [')}]`);
  process.exit(1);
}

const names = Object.keys(BENCHES).filter((name) => selected.length === 0 || selected.includes(name));
const results: Record<string, readonly Measured[]> = {};
const figures = new Map<string, Figure[][]>();
// All benchmarks of a run before the next run, so that the range includes slow changes of the machine.
for (let run = 1; run <= runs; run += 1) {
  for (const name of names) {
    figures.set(name, [...(figures.get(name) ?? []), (await BENCHES[name]?.()) ?? []]);
    results[name] = merged(figures.get(name) ?? []);
    console.log(`\n## ${name}, run ${run} of ${runs}\n\n${markdownTable(results[name])}`);
  }
}
console.log(`\n${JSON.stringify(results)}`);
const PAGE = new URL('../../../docs/performance.md', import.meta.url);
const FIGURES = new URL('../../../bench/README.md', import.meta.url);
// Only a run of all benchmarks has every figure of the pages.
if (selected.length === 0) {
  await writeFile(PAGE, performancePage(results));
  await writeFile(FIGURES, figuresPage(results, runs));
}
if (Object.hasOwn(results, 'ordinary')) {
  await writeFile(PAGE, withOrdinaryTable(await readFile(PAGE, 'utf8'), results));
}
process.exit();
