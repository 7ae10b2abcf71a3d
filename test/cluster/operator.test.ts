import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { demoStations } from '../../lab/simulator/stations.ts';
import { type RunningPrometheus, startPrometheus } from '../prometheus/live/prometheus.ts';
import { startRefreshedDemo } from '../prometheus/live/stack.ts';
import { generatedConfig, generatedRules, withoutPods } from './generated-config.ts';

/** The releases of the chart: one is scraped as a whole, the other one station by station. */
const WHOLE = 'whole-telemetry-station-exporter';
const SPLIT = 'split-telemetry-station-exporter';
const STATIONS = demoStations.length;

let text: string;
let demo: Awaited<ReturnType<typeof startRefreshedDemo>>;
let prometheus: RunningPrometheus;

const expectEventually = (query: string, labels: string[], expected: Record<string, number>) =>
  expect.poll(() => prometheus.query(query, ...labels)).toEqual(expected);

const withShortIntervals = (config: string) => config.replaceAll(/((?:interval|timeout): )(?:\d+[sm])+/g, '$12s');

beforeAll(async () => {
  demo = await startRefreshedDemo();
});

afterAll(async () => {
  await prometheus?.stop();
  await demo?.stop();
});

describe('the Prometheus operator', () => {
  it('generates a scrape configuration for each monitor of the chart, and for a PodMonitor', async () => {
    const generated = () =>
      generatedConfig()?.scrapeConfigs.map(({ job_name, kubernetes_sd_configs, metrics_path, body_size_limit }) =>
        [job_name, kubernetes_sd_configs?.[0]?.role ?? 'http', metrics_path ?? '', body_size_limit ?? ''].join(' '),
      );
    await expect
      .poll(generated)
      .toEqual([
        `serviceMonitor/monitoring/${SPLIT}/0 endpoints /-/metrics `,
        `serviceMonitor/monitoring/${WHOLE}/0 endpoints /metrics 64MB`,
        'podMonitor/monitoring/pods/0 pod  ',
        `scrapeConfig/monitoring/${SPLIT} http  `,
      ]);
    await expect.poll(() => Object.keys(generatedRules()).length).toBe(2);
    text = generatedConfig()?.text ?? '';
  });
});

describe('Prometheus with the configuration of the operator', () => {
  beforeAll(async () => {
    const rules = Object.entries(generatedRules()).map(([file, rule]) => [file, withShortIntervals(rule)] as const);
    const address = new URL(demo.exporter.url).host;
    const files = rules.map(([file]) => file);
    prometheus = await startPrometheus(withShortIntervals(withoutPods(text, address, files)), {
      files: Object.fromEntries(rules),
    });
  });

  it('scrapes the stations of each, with the job that the rules of its release select', async () => {
    const labels = ['job', 'namespace', 'service', 'pod', 'container', 'endpoint'];
    await expectEventually(`count by (${labels}) (telemetry_station_up)`, labels, {
      [`${WHOLE}|monitoring|${WHOLE}|${WHOLE}-0|exporter|metrics`]: STATIONS,
      [`${SPLIT}|||||`]: STATIONS,
      'monitoring/pods|monitoring||whole-telemetry-station-exporter-0|exporter|metrics': STATIONS,
    });
    const ofReleases = { [WHOLE]: STATIONS, [SPLIT]: STATIONS };
    await expectEventually('count by (job) (station:telemetry_station_up:exists)', ['job'], ofReleases);
  });

  it('has the own metrics of the exporter once per job', async () => {
    const once = { [WHOLE]: 1, [SPLIT]: 1, 'monitoring/pods': 1 };
    await expectEventually('count by (job) (telemetry_station_exporter_build_info)', ['job'], once);
  });

  it('has an instance per station that it discovers through /sd', async () => {
    const stations = Object.fromEntries(demoStations.map(({ name }) => [`${name}|${name}`, 1]));
    const byInstance = `count by (instance, station) (telemetry_station_up{job="${SPLIT}"})`;
    await expectEventually(byInstance, ['instance', 'station'], stations);
  });

  it('evaluates every rule without an error', async () => {
    const health = async () => {
      const { groups } = await prometheus.api<{ groups: { rules: { health: string }[] }[] }>('rules');
      return [...new Set(groups.flatMap(({ rules }) => rules.map((rule) => rule.health)))];
    };
    await expect.poll(health).toEqual(['ok']);
  });
});
