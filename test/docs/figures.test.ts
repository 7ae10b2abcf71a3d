import { describe, expect, it } from 'vitest';
import { readPage } from './markdown.ts';

const performance = readPage('docs/performance.md').text;
const prose = ['docs/operating.md', 'docs/scaling.md'].map((file) => readPage(file).text.replaceAll('\n', ' ')).join(' ');

/** What the measurement is called, how the guides tell it, and what makes one unit of the other. */
const FIGURES: readonly (readonly [row: string, told: RegExp, factor: number])[] = [
  ['resident memory over idle, per resource', /about ([\d.]+) KB of (?:resident )?memory for each resource/g, 1000],
  ['resident memory at 1,000,000 resources', /([\d.]+) GiB with a million/g, 1024],
  ['refresh with all resources changed, CPU of all threads per resource', /([\d.]+) µs of CPU for each resource that changed/g, 1],
  ['refresh without changes, CPU per resource', /([\d.]+) µs for each that did not/g, 1],
  ['CPU of a warm gzip scrape', /costs ([\d.]+) ms of CPU/g, 1],
  ['size of the gzip body', /of CPU for ([\d.]+) MB/g, 1],
];

describe('the figures of the guides', () => {
  it.each(FIGURES)('are those of docs/performance.md, a quarter more or less: %s', (row, told, factor) => {
    const measured = measuredAs(row);
    const figures = [...prose.matchAll(told)].map(([, figure]) => Number(figure) * factor);
    expect(figures).not.toEqual([]);
    expect(figures.filter((figure) => Math.abs(figure / measured - 1) > 0.25)).toEqual([]);
  });
});

function measuredAs(row: string): number {
  const cells = performance.split('\n').find((line) => line.startsWith(`| ${row} |`));
  const [, figure = ''] = /^\| [^|]* \| ([\d.,]+)/.exec(cells ?? '') ?? expect.unreachable(row);
  return Number(figure.replaceAll(',', ''));
}
