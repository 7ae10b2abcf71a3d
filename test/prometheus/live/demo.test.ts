import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Simulation, startSimulation } from '../../../src/simulator/simulation.ts';
import { demoStations } from '../../../src/simulator/stations.ts';
import { startExporter } from '../../e2e/test-bed.ts';
import { type RunningPrometheus, startPrometheus } from './prometheus.ts';

/** Constant, so that the simulated resources do not change. */
const NOW_MS = Date.UTC(2026, 0, 15, 12, 0, 0);

let demo: Simulation;
let exporter: Awaited<ReturnType<typeof startExporter>>;
let prometheus: RunningPrometheus;

beforeAll(async () => {
  demo = await startSimulation({ now: () => NOW_MS });
  for (const { telemetry_station } of demoStations) demo.service.setFaults(telemetry_station, []);
  exporter = await startExporter(parse(demo.config));
  const target = new URL(exporter.url).host;
  prometheus = await startPrometheus(`
global: { scrape_interval: 3s, scrape_timeout: 3s }
scrape_configs:
  - job_name: static
    static_configs: [{ targets: ['${target}'] }]
  - job_name: discovered
    http_sd_configs: [{ url: 'http://${target}/sd', refresh_interval: 1s }]
    relabel_configs: [{ source_labels: [__param_station], target_label: instance }]
`);
});

afterAll(async () => {
  await prometheus?.stop();
  await exporter?.stop();
  await demo?.service.stop();
});

const expectEventually = (query: string, labels: string[], expected: Record<string, number>) =>
  expect.poll(() => prometheus.query(query, ...labels)).toEqual(expected);

const perStation = (count: (resources: ReturnType<Simulation['world']['resources']>) => number) =>
  Object.fromEntries(demo.world.stations.map(({ name }) => [name, count(demo.world.resources(name, NOW_MS))]));

describe('Prometheus scraping the exporter', () => {
  it('returns the numbers of the simulated service from one target', async () => {
    const total = perStation((resources) => resources.length);
    await expectEventually('sum by (station) (telemetry_station_resources{job="static"})', ['station'], total);
    await expectEventually('count by (station) (telemetry_station_resource_info{job="static"})', ['station'], total);
    await expectEventually(
      'telemetry_station_up{job="static"}',
      ['station'],
      perStation(() => 1),
    );
    await expectEventually(
      'sum by (station) (telemetry_station_alert_rules{job="static"})',
      ['station'],
      perStation((resources) => resources.reduce((sum, { record }) => sum + record.alert_rules_count, 0)),
    );
    await expectEventually(
      'sum by (station) (telemetry_station_alertable_resources{job="static"})',
      ['station'],
      alertable(),
    );
  });

  it('discovers one target per station with the same numbers', async () => {
    await expectEventually(
      'sum by (instance) (up{job="discovered"})',
      ['instance'],
      perStation(() => 1),
    );
    await expectEventually(
      'sum by (station) (telemetry_station_resources{job="discovered"})',
      ['station'],
      perStation((resources) => resources.length),
    );
  });

  it('ingests every sample of the OpenMetrics exposition', async () => {
    await expectEventually(
      'max(scrape_samples_post_metric_relabeling{job="static"} - scrape_samples_scraped{job="static"})',
      [],
      {
        '': 0,
      },
    );
    const published = await exporter.scrape();
    const samples = [...published.values()].reduce((sum, family) => sum + family.samples.length, 0);
    await expectEventually('max(scrape_samples_scraped{job="static"})', [], { '': samples });
  });
});

function alertable(): Record<string, number> {
  const configured = (parse(demo.config) as { stations: { name: string; alertability: boolean }[] }).stations.filter(
    ({ alertability }) => alertability,
  );
  const all = perStation((resources) => resources.filter((resource) => resource.alertable).length);
  return Object.fromEntries(configured.map(({ name }) => [name, all[name] ?? 0]));
}
