import { writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { type Figure, markdownTable } from './figure.ts';
import { refreshFigures } from './refresh.ts';
import { scaleFigures } from './scale.ts';
import { scheduleFigures } from './schedule.ts';
import { scrapeFigures } from './scrape.ts';
import { scrapersFigures } from './scrapers.ts';

const BENCHES: Readonly<Record<string, () => Promise<Figure[]>>> = {
  scrape: scrapeFigures,
  refresh: refreshFigures,
  schedule: scheduleFigures,
  scrapers: scrapersFigures,
  scale: scaleFigures,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(BENCHES, name));
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}; known: ${Object.keys(BENCHES).join(', ')}`);
  process.exit(1);
}

const results: Record<string, Figure[]> = {};
for (const [name, run] of Object.entries(BENCHES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  results[name] = await run();
  console.log(`\n## ${name}\n\n${markdownTable(results[name])}`);
}
console.log(`\n${JSON.stringify(results)}`);
if (wanted.length === 0) await writeFile(new URL('../../../docs/performance.md', import.meta.url), page(results));
process.exit();

/** docs/performance.md is written by a run of everything. */
function page(all: Readonly<Record<string, Figure[]>>): string {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
  const sections = Object.entries(all).map(([name, figures]) => `## ${name}\n\n${markdownTable(figures)}\n`);
  return `# Performance

Written by \`npm run bench\`, which measures ratios within one run, because machines differ. 100,000 resources in 100 stations unless
said otherwise, about 5 series per resource; the service, the exporter, the baselines and the load each in a process of its own, over
real HTTP on loopback; warmed up, medians of several runs.

Machine: ${machine}.

${sections.join('\n')}`;
}
