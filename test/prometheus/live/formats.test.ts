import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { demoStations } from '../../../src/simulator/stations.ts';
import { allPages } from '../../docs/markdown.ts';
import { startExporter } from '../../e2e/test-bed.ts';
import { type HealthyDemo, startHealthyDemo } from '../../simulator/healthy-demo.ts';
import { eventually } from '../../web/eventually.ts';
import { type RunningPrometheus, startPrometheus } from './prometheus.ts';

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

/** Documented queries that answer the same question, once with numbers and once with a series per resource. */
const PAIRS = [
  {
    question: 'firing resources',
    numbers: 'sum by (station) (telemetry_station_resources{alert_state="firing"})',
    series: 'telemetry_station_resource_state{alert_state="firing"} == 1',
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

let demo: HealthyDemo;
let exporter: Awaited<ReturnType<typeof startExporter>>;
let prometheus: RunningPrometheus;
let jobs: string[];

async function startScraping(variants: object): Promise<RunningPrometheus> {
  const targets = [new URL(exporter.url).host];
  const scrape_configs = Object.entries(variants).map(([job_name, options]) => ({
    job_name,
    static_configs: [{ targets }],
    ...options,
  }));
  return startPrometheus(JSON.stringify({ global: { scrape_interval: '2s', scrape_timeout: '2s' }, scrape_configs }));
}

beforeAll(async () => {
  demo = await startHealthyDemo(NOW_MS);
  exporter = await startExporter(parse(demo.config));
  prometheus = await startScraping({ openmetrics: {} });
  const { version } = await prometheus.api<{ version: string }>('status/buildinfo');
  jobs = ['openmetrics'];
  if (!version.startsWith('2.')) {
    await prometheus.stop();
    prometheus = await startScraping(VARIANTS);
    jobs = Object.keys(VARIANTS);
  }
  await eventually(async () =>
    expect(await prometheus.query('sum by (job) (telemetry_station_up)', 'job')).toEqual(
      Object.fromEntries(jobs.map((job) => [job, demoStations.length])),
    ),
  );
});

afterAll(async () => {
  await prometheus?.stop();
  await exporter?.stop();
  await demo?.service.stop();
});

describe('Prometheus', () => {
  it('reads the same samples in every format, compressed or not', async () => {
    const read = async () => {
      const resources = await prometheus.query('sum by (job) (telemetry_station_resources)', 'job');
      const series = await prometheus.query('count by (job) ({__name__=~"telemetry_station_.+"})', 'job');
      return {
        jobs: Object.keys(resources).toSorted(),
        resourceCounts: new Set(Object.values(resources)).size,
        seriesCounts: new Set(Object.values(series)).size,
        up: await prometheus.query('min(up)'),
      };
    };
    // A scrape that fails on a busy machine hides every series until the next one.
    await expect.poll(read).toEqual({ jobs: jobs.toSorted(), resourceCounts: 1, seriesCounts: 1, up: { '': 1 } });
  });

  it('drops no sample as duplicate or out of order, with counters that start at 0', async () => {
    const response = await fetch(`${prometheus.url}/metrics`);
    const dropped = (await response.text()).match(/^prometheus_target_scrapes_sample_\w+_total .*$/gm) ?? [];
    expect(dropped.length).toBeGreaterThanOrEqual(3);
    expect(dropped.filter((line) => !line.endsWith(' 0'))).toEqual([]);
    const changes = await prometheus.query('count(telemetry_station_resource_state_changes_total == 0)');
    expect(changes['']).toBeGreaterThan(0);
  });

  it('reads the numbers of the simulated service, and every sample', async () => {
    const total = Object.fromEntries(Array.from(demo.fleets, ([name, { length }]) => [name, length]));
    for (const family of ['telemetry_station_resources', 'telemetry_station_resource_info'])
      expect(await prometheus.query(`sum by (station) (${family}{job="openmetrics"})`, 'station')).toEqual(total);
    const published = await exporter.scrape();
    const samples = [...published.values()].reduce((sum, family) => sum + family.samples.length, 0);
    const ingested = () => prometheus.query('max(scrape_samples_post_metric_relabeling{job="openmetrics"})');
    await expect.poll(ingested).toEqual({ '': samples });
  });

  it.each(PAIRS)('answers documented queries alike: $question', async ({ numbers, series }) => {
    expect(documented).toContain(numbers);
    expect(documented).toContain(series);
    // On a busy machine a scrape between the two queries may time out.
    await eventually(async () => {
      const counted = await prometheus.query(`count by (station) (${series})`, 'station');
      expect(Object.values(counted)).not.toEqual([]);
      expect(counted).toEqual(await prometheus.query(`sum by (station) (${numbers}) > 0`, 'station'));
    });
  });

  it('has no series of a station that was removed, from the next scrape on', async () => {
    const config = parse(demo.config);
    const [removed, ...stations] = config.stations;
    exporter.rewrite({ ...config, stations });
    expect(await exporter.exporter.reload()).toEqual([]);
    const left = () => prometheus.query(`count({station="${removed.name}"})`);
    await expect.poll(left).toEqual({});
    expect(await prometheus.query('count by (job) (telemetry_station_info)', 'job')).toEqual(
      Object.fromEntries(jobs.map((job) => [job, stations.length])),
    );
  });
});
