import { cpus, totalmem } from 'node:os';
import { formatted, type Measured, markdownTable, median } from './figure.ts';
import { ORDINARY_FLEET, ORDINARY_NAMES, ORDINARY_OFFSETS } from './ordinary.ts';
import { SCALE_NAMES, SIZES } from './scale.ts';
import { SCRAPE_NAMES } from './scrape.ts';
import { DEFAULT_PAGE_SIZE, PAGE_SIZE, RESOURCES } from './setup.ts';

export type Results = Readonly<Record<string, readonly Measured[]>>;

/** The text of docs/performance.md: what the exporter costs its operators. */
export function performancePage(results: Results): string {
  return `# Performance

A typical fleet: ${ORDINARY_FLEET.stations} stations of ${ORDINARY_FLEET.resourcesPerStation} resources, default values, scraped once a minute. The service takes 200 ms for a
reply, and its data does not change. Measured with minutes of 20 seconds; ages are scaled.

${ordinarySection(results)}

What a fleet costs at one refresh and one scrape per minute, with pages of ${PAGE_SIZE}; the default of 100 needs five times the
requests. CPU is given for refreshes in which no resource changed, to which a typical fleet is close, and for refreshes
in which every resource did:

${fleetTable(results)}

Compared with an exporter that sets a prom-client gauge for each value and compresses the text on each scrape, with
${RESOURCES.toLocaleString('en')} resources:

${comparisonTable(results)}

Measured on ${machine()} by \`npm run bench\`, whose
[figures and goals](../bench/README.md) are for maintainers.
`;
}

/** The text of bench/README.md: the figures behind the page, with goals. */
export function figuresPage(results: Results, runs: number): string {
  const sections = Object.entries(results).map(([name, figures]) => section(name, beyondTables(name, figures)));
  return `# Benchmarks

The figures behind [Performance](../docs/performance.md), with goals, which the [last section](#what-bounds-the-figures) discusses.
\`npm run bench\` generates both pages; with \`npm run bench -- --runs=3\` each figure is the median of three runs, with
the range in parentheses. Unless stated otherwise: ${RESOURCES.toLocaleString('en')} resources in 100 stations, about 5 series per resource; all
processes run on one machine and use HTTP over loopback; values are medians after a warm-up.

Machine: ${machine()}. Runs: ${runs}.

${sections.join('\n')}
${LIMITS}`;
}

function machine(): string {
  return `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
}

const LIMITS = `## What bounds the figures

- **A refresh** in which everything changed, in µs per resource: deflate 5.2, garbage collection 4.0, reading, comparing
  and summing up 2.0, JSON.parse 1.9, bytes to string 1.8, download 1.6, string to bytes 1.5, building lines 1.5.
- **A request** takes as much CPU as parsing 250 records, most of it in the HTTP client and the kernel: pages of 100 do
  not reach the goals that pages of 500 reach.
- **Start**: importing express, zod, prom-client and yaml takes 0.2 s of CPU on Node 20.
- **Idle memory**: Node alone takes 42 MB, the code and packages of the exporter 20 MB of heap. The image sets
  \`node --max-semi-space-size=4\`, which saves 20 to 30 MB and costs a tenth more CPU per changed resource.
- **Memory per resource** varies between equal runs, because V8 does not return pages that are partly in use: differences
  of less than 100 bytes per resource mean nothing.
- **The event loop** is delayed most by garbage collection or [one large page](../docs/adr/0011-one-thread.md).
`;

const ORDINARY_BEGIN = '<!-- npm run bench ordinary: begin -->';
const ORDINARY_END = '<!-- npm run bench ordinary: end -->';

/** The text of a document with the latest figures of `ordinary` between its markers. */
export function withOrdinaryTable(text: string, results: Results): string {
  const [before, rest] = text.split(ORDINARY_BEGIN);
  const after = rest?.split(ORDINARY_END)[1];
  if (after === undefined) throw new Error(`expected ${ORDINARY_BEGIN} and ${ORDINARY_END}`);
  return `${before}${ordinarySection(results)}${after}`;
}

function ordinarySection(results: Results): string {
  return [ORDINARY_BEGIN, '', ordinaryTable(results), '', ORDINARY_END].join('\n');
}

function ordinaryTable(results: Results): string {
  const rows = ORDINARY_OFFSETS.map(({ title }) => {
    const value = (name: (title: string) => string) => figureValue(results, 'ordinary', name(title));
    const { stations, resourcesPerStation } = ORDINARY_FLEET;
    const requestsPerHour = REFRESHES_PER_HOUR * stations * Math.ceil(resourcesPerStation / DEFAULT_PAGE_SIZE);
    const cells = [
      title,
      `${formatted(100 - value(ORDINARY_NAMES.missed))} %`,
      `${requestsPerHour.toLocaleString('en')}, ± ${formatted(value(ORDINARY_NAMES.deviation))} %`,
      `${formatted(value(ORDINARY_NAMES.ageMedian))} s, ${formatted(value(ORDINARY_NAMES.age99))} s`,
      `${formatted(value(ORDINARY_NAMES.cpuPerScrape))} ms, ${formatted(value(ORDINARY_NAMES.cpuPerHour))} s`,
      `${formatted(value(ORDINARY_NAMES.memory))} MiB`,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| scraped by | stations refreshed per minute | requests per hour | age of the data when a scrape ends, median and 99 % | CPU per scrape and per hour | memory |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

/** Operators have tables of their own for the first two, and the figures of the others have ratios: only goals are left to say. */
const SHOWN_BY_GOAL: readonly string[] = ['ordinary', 'scale', 'start', 'idle', 'config'];

function beyondTables(name: string, figures: readonly Measured[]): readonly Measured[] {
  return SHOWN_BY_GOAL.includes(name) ? figures.filter(({ goal }) => goal !== undefined) : figures;
}

function section(name: string, figures: readonly Measured[]): string {
  return `## ${name}\n\n${markdownTable(figures)}\n`;
}

const REFRESHES_PER_HOUR = 60;

function fleetTable(results: Results): string {
  const rows = SIZES.map((size) => {
    const value = (name: (size: number) => string) => figureValue(results, 'scale', name(size));
    const cpuPerHour = (microsPerResource: number) =>
      `${formatted((REFRESHES_PER_HOUR * size * microsPerResource) / 1e6)} s`;
    const cells = [
      size.toLocaleString('en'),
      `${formatted(value(SCALE_NAMES.memory))} MiB`,
      `${cpuPerHour(value(SCALE_NAMES.unchangedCpu))} to ${cpuPerHour(value(SCALE_NAMES.changedCpu))}`,
      `${formatted(value(SCALE_NAMES.scrape))} ms`,
      ((REFRESHES_PER_HOUR * size) / PAGE_SIZE).toLocaleString('en'),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| resources | memory | CPU per hour | scrape, gzip | requests per hour |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function comparisonTable(results: Results): string {
  const scrape = (name: string) => figureValue(results, 'scrape', name);
  const row = (name: string, baseline: number, own: number, unit: string) =>
    `| ${name} | ${formatted(baseline)} ${unit} | ${formatted(own)} ${unit} | ${formatted(baseline / own)} × |`;
  return [
    '| | prom-client | this exporter | gain |',
    '|---|---|---|---|',
    row('CPU of a scrape', scrape(SCRAPE_NAMES.baselineCpu), scrape(SCRAPE_NAMES.cpu), 'ms'),
    row(
      'time of a scrape, during which the baseline answers nothing else',
      scrape(SCRAPE_NAMES.baselineTime),
      scrape(SCRAPE_NAMES.time),
      'ms',
    ),
    row('resident memory', scrape(SCRAPE_NAMES.baselineMemory), scrape(SCRAPE_NAMES.memory), 'MiB'),
  ].join('\n');
}

function figureValue(results: Results, bench: string, name: string): number {
  const figure = results[bench]?.find((candidate) => candidate.name === name);
  if (figure === undefined) throw new Error(`no figure ${name} in ${bench}`);
  return median(figure.values);
}
