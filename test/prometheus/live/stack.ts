import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { parse, stringify } from 'yaml';
import { startExporter } from '../../e2e/test-bed.ts';
import { startHealthyDemo } from '../../simulator/healthy-demo.ts';
import { eventually } from '../../web/eventually.ts';
import { startPrometheus } from './prometheus.ts';
import { shortenedRules } from './shortened-rules.ts';

/** Constant, so that the simulated resources do not change. */
const NOW_MS = Date.UTC(2025, 0, 15, 12, 0, 0);

/** The station that tests make fail and recover: the only one that is refreshed frequently. */
export const FAULTY = 'staging';

/** The exporter, and Prometheus with the shipped configurations and rules, with shortened intervals. */
export async function startStack() {
  const { demo, exporter, stop } = await startRefreshedDemo();
  const prometheus = await startPrometheus(prometheusConfig(new URL(exporter.url).host), {
    files: { 'rules.yml': shortenedRules(2) },
  });
  return {
    demo,
    prometheus,
    stop: async () => {
      await prometheus.stop();
      await stop();
    },
  };
}

/** The exporter after its first refreshes. */
export async function startRefreshedDemo() {
  const demo = await startHealthyDemo(NOW_MS);
  const exporter = await startExporter(withRareRefreshes(demo.config), { processMetrics: true });
  await eventually(async () => expect((await exporter.get('/-/ready')).status).toBe(200));
  const stop = async () => {
    await exporter.stop();
    await demo.service.stop();
  };
  return { demo, exporter, stop };
}

interface ScrapeConfig {
  readonly job_name: string;
  readonly relabel_configs?: readonly { readonly target_label: string }[];
}

/** Merges both shipped configurations; jobs of the second one are renamed. */
function prometheusConfig(exporter: string): string {
  const { alerting: _, ...single } = parse(shippedConfig('prometheus.yml', exporter));
  const discovery = parse(shippedConfig('prometheus-http-sd.yml', exporter)) as {
    scrape_configs: ScrapeConfig[];
  };
  const renamed = discovery.scrape_configs.map((config) => ({
    ...config,
    job_name: `discovered-${config.job_name}`,
    relabel_configs: [...(config.relabel_configs ?? []), { target_label: 'job', replacement: 'discovered' }],
  }));
  return stringify({
    ...single,
    global: { scrape_interval: '3s', scrape_timeout: '3s', evaluation_interval: '1s' },
    scrape_configs: [...single.scrape_configs, ...renamed],
  });
}

/** A shipped configuration with the address of the exporter and shortened intervals. */
export function shippedConfig(file: string, exporter: string, intervalS = 3): string {
  return readFileSync(new URL(`../../../prometheus/${file}`, import.meta.url), 'utf8')
    .replaceAll('telemetry-station-exporter:9842', exporter)
    .replace('scrape_timeout: 10s', `scrape_timeout: ${intervalS}s`)
    .replaceAll(': 1m', `: ${intervalS}s`);
}

interface ExporterConfig {
  readonly upstreams: Readonly<Record<string, object>>;
  readonly stations: readonly { readonly name: string }[];
}

/** The demo configuration, with every station but the faulty one refreshed only once. */
function withRareRefreshes(text: string): object {
  const config = parse(text) as ExporterConfig;
  const upstreams = Object.entries(config.upstreams).map(([name, upstream]) => [name, { ...upstream, max_retries: 0 }]);
  const stations = config.stations.map((station) =>
    station.name === FAULTY ? { ...station, cache: { ttl: '1s' } } : station,
  );
  return {
    upstreams: Object.fromEntries(upstreams),
    stations,
    cache: { ttl: '10m', max_stale: '10m', error_ttl: '1s' },
  };
}
