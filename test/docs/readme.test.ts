import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parse } from 'yaml';
import { startSimulation } from '../../lab/simulator/simulation.ts';
import { demoStations } from '../../lab/simulator/stations.ts';
import { startTestExporter } from '../e2e/test-bed.ts';
import { readPage, root } from './markdown.ts';
import { structureOf } from './page-structure.ts';
import { pngOf } from './png.ts';

const LANGUAGES = ['README.md', 'README.zh-CN.md'];

const [english, chinese] = LANGUAGES.map((file) => readPage(file).text) as [string, string];

describe('README.md', () => {
  it('has at most 1,500 words', () => {
    expect(english.trim().split(/\s+/).length).toBeLessThanOrEqual(1500);
  });

  it('shows pictures at most 640 px high', () => {
    const shown = Array.from(english.matchAll(/<img src="([^"]*)" width="(\d+)"/g), ([, file = '', shownWidth]) => {
      const { width = 0, height = Number.NaN } = pngOf(readFileSync(join(root, file)));
      return { file, height: (height * Number(shownWidth)) / width };
    });
    expect(shown).not.toEqual([]);
    expect(shown.filter(({ height }) => !(height <= 640))).toEqual([]);
  });

  it('shows five lines that the demo publishes', async () => {
    const shown = linesOfMetrics(english);
    expect(shown).toHaveLength(5);
    const published = await demoExposition();
    const matching = (line: string) => published.find((sample) => isAbbreviationOf(line, sample));
    expect(shown.filter((line) => matching(line) === undefined)).toEqual([]);
  });
});

function linesOfMetrics(text: string): readonly string[] {
  return text.match(/^telemetry_station_\w+\{.*/gm) ?? [];
}

/** `…` stands for what is left out. */
function isAbbreviationOf(line: string, sample: string): boolean {
  const [first = '', ...others] = line.split('…');
  let at = first.length;
  if (!sample.startsWith(first)) return false;
  for (const part of others) {
    const found = sample.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at === sample.length;
}

/** Ten minutes after the first scrape, at a fixed time, of the demo stations without faults. */
async function demoExposition(): Promise<readonly string[]> {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.parse('2026-01-15T12:00Z') });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const stations = demoStations.filter(({ faults }) => faults.length === 0);
  const { service, config } = await startSimulation({ stations, now: Date.now });
  onTestFinished(() => service.stop());
  const exporter = await startTestExporter(parse(config));
  await exporter.scrape();
  vi.advanceTimersByTime(600_000);
  return (await (await exporter.get('/metrics')).text()).split('\n');
}

describe('README.zh-CN.md', () => {
  const expected = structureOf(english, LANGUAGES);

  it('has the headings, commands, tables, links, pictures, names and numbers of README.md', () => {
    expect(structureOf(chinese, LANGUAGES)).toEqual(expected);
  });

  it.each([
    { what: 'a command', from: 'npm ci && npm start', to: 'npm install && npm start' },
    { what: 'a key in an example', from: '    zone: z1\n', to: '' },
    { what: 'a row of a table', from: /^\| Grafana \|.*\n/m, to: '' },
    { what: 'a cell of a table', from: /^(\| Node \|.*\|).*\|$/m, to: '$1' },
    { what: 'a version that was tested', from: /^(\| Prometheus \|.*)\d /m, to: '$1 99 ' },
    { what: 'the target of a link', from: '(docs/data.md)', to: '(docs/metrics.md)' },
    { what: 'a link to a heading', from: '(#安装)', to: '(#配置)' },
    { what: 'an address', from: '<http://localhost:3000/>', to: '3000' },
    { what: 'a picture', from: 'docs/images/status-light.png', to: 'docs/images/fleet-light.png' },
    { what: 'the size of a picture', from: 'width="960"', to: 'width="1600"' },
    { what: 'the name of a metric', from: '`telemetry_station_up`', to: '`up`' },
    { what: 'a section', from: /^## Grafana\n/m, to: '' },
    { what: 'the order of sections', from: /(^## Grafana\n.*?)(^## .*?)(?=^## )/ms, to: '$2$1' },
  ])('differs with $what changed', ({ from, to }) => {
    const changed = chinese.replace(from, to);
    expect(changed).not.toBe(chinese);
    expect(structureOf(changed, LANGUAGES)).not.toEqual(expected);
  });
});
