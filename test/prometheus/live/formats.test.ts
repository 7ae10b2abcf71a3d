import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { demoStations } from '../../../lab/simulator/stations.ts';
import { startExporter } from '../../e2e/test-bed.ts';
import { type HealthyDemo, startHealthyDemo } from '../../simulator/healthy-demo.ts';
import { eventually } from '../../web/eventually.ts';
import { type RunningPrometheus, startScraping } from './prometheus.ts';

/** Constant, so that the simulated resources do not change. */
const NOW_MS = Date.UTC(2026, 0, 15, 12, 0, 0);

/** Prometheus 2.42 requests OpenMetrics with gzip and cannot be configured. */
const PLAIN = { enable_compression: false };
const VARIANTS = {
  openmetrics: {},
  'openmetrics-plain': PLAIN,
  text: { scrape_protocols: ['PrometheusText0.0.4'] },
  'text-plain': { scrape_protocols: ['PrometheusText0.0.4'], ...PLAIN },
};

let demo: HealthyDemo;
let exporter: Awaited<ReturnType<typeof startExporter>>;
let prometheus: RunningPrometheus;
let jobs: string[];

const inEveryJob = (value: number) => Object.fromEntries(jobs.map((job) => [job, value]));

beforeAll(async () => {
  demo = await startHealthyDemo(NOW_MS);
  exporter = await startExporter(parse(demo.config));
  prometheus = await startScraping(exporter.url, { openmetrics: {} });
  const { version } = await prometheus.api<{ version: string }>('status/buildinfo');
  jobs = ['openmetrics'];
  if (!version.startsWith('2.')) {
    await prometheus.stop();
    prometheus = await startScraping(exporter.url, VARIANTS);
    jobs = Object.keys(VARIANTS);
  }
  await eventually(async () =>
    expect(await prometheus.query('sum by (job) (telemetry_station_up)', 'job')).toEqual(
      inEveryJob(demoStations.length),
    ),
  );
});

afterAll(async () => {
  await prometheus?.stop();
  await exporter?.stop();
  await demo?.service.stop();
});

describe('Prometheus', () => {
  it('reads every sample in every format, compressed or not', async () => {
    const published = await exporter.scrape();
    const samples = [...published.values()].reduce((sum, family) => sum + family.samples.length, 0);
    const resources = [...demo.fleets.values()].reduce((sum, fleet) => sum + fleet.length, 0);
    const read = async () => ({
      samples: await prometheus.query('scrape_samples_post_metric_relabeling', 'job'),
      resources: await prometheus.query('sum by (job) (telemetry_station_resources)', 'job'),
    });
    // A scrape that fails on a busy machine hides every series until the next one.
    await expect.poll(read).toEqual({ samples: inEveryJob(samples), resources: inEveryJob(resources) });
  });

  it('drops no sample as duplicate or out of order, with counters that start at 0', async () => {
    const response = await fetch(`${prometheus.url}/metrics`);
    const dropped = (await response.text()).match(/^prometheus_target_scrapes_sample_\w+_total .*$/gm) ?? [];
    expect(dropped.length).toBeGreaterThanOrEqual(3);
    expect(dropped.filter((line) => !line.endsWith(' 0'))).toEqual([]);
    const countersAt0 = 'count(telemetry_station_resource_state_changes_total == 0)';
    // A scrape that fails on a busy machine hides every series until the next one.
    await expect.poll(async () => (await prometheus.query(countersAt0))[''] ?? 0).toBeGreaterThan(0);
  });
});
