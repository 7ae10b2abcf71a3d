import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parse } from 'yaml';
import { startSimulation } from '../../src/simulator/simulation.ts';
import { demoStations } from '../../src/simulator/stations.ts';
import { startTestExporter } from '../e2e/test-bed.ts';
import { readPage } from './markdown.ts';

const english = readPage('README.md').text;

describe('README.md', () => {
  it('has at most 1,500 words', () => {
    expect(english.trim().split(/\s+/).length).toBeLessThanOrEqual(1500);
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
