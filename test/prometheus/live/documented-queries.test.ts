import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Simulation, startSimulation } from '../../../src/simulator/simulation.ts';
import { demoStations } from '../../../src/simulator/stations.ts';
import { allPages } from '../../docs/markdown.ts';
import { startExporter } from '../../e2e/test-bed.ts';
import { type RunningPrometheus, startPrometheus } from './prometheus.ts';

/** Constant, so that the simulated resources do not change. */
const NOW_MS = Date.UTC(2026, 0, 15, 12, 0, 0);

/** Documented queries that answer the same question, once with numbers and once with a series per resource. */
const PAIRS = [
  {
    question: 'firing resources',
    numbers: 'sum by (station) (telemetry_station_resources{state="ALERTSTATE_FIRING"})',
    series: 'telemetry_station_resource_state{state="ALERTSTATE_FIRING"} == 1',
  },
  {
    question: 'resources without alert rules',
    numbers: 'sum by (station, resource_type) (telemetry_station_resources_without_alert_rules)',
    series:
      'telemetry_station_resource_info{alertable!="false"} and on (station, resource_id) (telemetry_station_resource_alert_rules == 0)',
  },
];

const documented = new Set(
  allPages().flatMap(({ spans, blocks }) => [...spans, ...blocks.map(({ content }) => content.trim())]),
);

let demo: Simulation;
let exporter: Awaited<ReturnType<typeof startExporter>>;
let prometheus: RunningPrometheus;

beforeAll(async () => {
  demo = await startSimulation({ now: () => NOW_MS });
  for (const { telemetry_station } of demoStations) demo.service.setFaults(telemetry_station, []);
  exporter = await startExporter(parse(demo.config));
  prometheus = await startPrometheus(`
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - job_name: telemetry-station-exporter
    static_configs: [{ targets: ['${new URL(exporter.url).host}'] }]
`);
});

afterAll(async () => {
  await prometheus?.stop();
  await exporter?.stop();
  await demo?.service.stop();
});

describe('documented queries', () => {
  it.each(PAIRS)('agree with each other: $question', async ({ numbers, series }) => {
    expect(documented).toContain(numbers);
    expect(documented).toContain(series);
    await expect
      .poll(() => prometheus.query('sum(telemetry_station_up)'), { timeout: 60_000, interval: 250 })
      .toEqual({ '': demoStations.length });
    const counted = await prometheus.query(`count by (station) (${series})`, 'station');
    expect(Object.values(counted)).not.toEqual([]);
    const summed = await prometheus.query(`sum by (station) (${numbers}) > 0`, 'station');
    expect(counted).toEqual(summed);
  });
});
