import * as z from 'zod';
import { parseSize } from '../schema/units.ts';
import { type ApiClient, printedYaml, problemOf } from './api-client.ts';

const labels = z.record(z.string(), z.coerce.string()).default({});

const relabelConfig = z.object({
  action: z.string().default('replace'),
  source_labels: z.array(z.string()).default([]),
  regex: z.coerce.string().default('(.*)'),
});
const relabelConfigs = z.array(relabelConfig).default([]);

/** Prometheus prints 1500KB as 1MiB476KiB. */
const printedSize = z
  .string()
  .default('')
  .transform((text) => (text.match(/\d+[A-Za-z]+/g) ?? []).reduce((sum, part) => sum + (parseSize(part) ?? 0), 0));

const scrapeConfig = z.object({
  job_name: z.string(),
  honor_labels: z.boolean().default(false),
  sample_limit: z.number().default(0),
  body_size_limit: printedSize,
  metric_relabel_configs: relabelConfigs,
});

const alerting = z.object({
  alert_relabel_configs: relabelConfigs,
  alertmanagers: z.array(z.object({ alert_relabel_configs: relabelConfigs })).default([]),
});

const prometheusConfig = z.object({
  global: z.object({ external_labels: labels }).prefault({}),
  alerting: alerting.prefault({}),
  scrape_configs: z.array(scrapeConfig).default([]),
});

const target = z.object({
  labels,
  /** VictoriaMetrics has interval and timeout only here. */
  discoveredLabels: labels,
  scrapePool: z.string(),
  scrapeUrl: z.string(),
  health: z.string(),
  lastError: z.string(),
});

const rule = z.object({
  type: z.string(),
  name: z.string(),
  query: z.string(),
  duration: z.number().default(0),
  keepFiringFor: z.number().optional(),
  labels,
  annotations: labels,
  health: z.string(),
  lastError: z.string().default(''),
});

const ruleGroups = z
  .array(z.object({ interval: z.number().default(0), rules: z.array(rule) }))
  .transform((groups) => groups.flatMap(({ interval, rules }) => rules.map((own) => ({ ...own, interval }))));

const sample = z.object({ metric: labels, value: z.tuple([z.number(), z.coerce.number()]) });

/** Of which each target has its largest sample: of bytes, that of plain text. */
export const SCRAPE_METRICS = {
  series: 'scrape_samples_post_metric_relabeling',
  bytes: 'telemetry_station_exporter_scrape_bytes',
  refreshSeconds: 'telemetry_station_refresh_duration_seconds',
};

export type RelabelConfig = z.output<typeof relabelConfig>;
export type Target = z.output<typeof target>;
export type LoadedRule = z.output<typeof ruleGroups>[number];
export type Sample = z.output<typeof sample>;
export type ScrapeConfig = z.output<typeof scrapeConfig>;
export type PrometheusReplies = Awaited<ReturnType<typeof readPrometheus>>;

/** The parts of the API, and what to do where one cannot be read: servers such as Mimir, Thanos or an agent do not have all of them. */
export const API_ADVICE = {
  buildinfo:
    'Check the URL, which may need a path such as /prometheus, and the credentials in --prometheus.config.file.',
  config: 'Check limits, relabeling and external labels in the configuration of the server that scrapes.',
  targets: 'Check the server that scrapes, too.',
  rules: 'Check the server that evaluates the rules, too.',
  alertmanagers: 'Check that the server that evaluates the rules sends alerts to Alertmanager.',
  queries: 'Check the server that stores the samples, too.',
};

type PrometheusApi = keyof typeof API_ADVICE;

/** A viewer may read all of it. What cannot be read is undefined, and has a problem. */
export async function readPrometheus(client: ApiClient) {
  const problems = new Map<PrometheusApi, string>();
  const failed = (api: PrometheusApi) => (error: unknown) => {
    problems.set(api, problemOf(error));
    return undefined;
  };
  const get = <Value>(api: PrometheusApi, path: string, key: string, schema: z.ZodType<Value>) =>
    client.get(`api/v1/${path}`, z.object({ [key]: schema })).then((reply) => reply[key], failed(api));
  const query = (expression: string) =>
    get('queries', `query?${new URLSearchParams({ query: expression })}`, 'result', z.array(sample));
  const [, config, targets, rules, alertmanagers, metrics, exporters, stations, scrapes] = await Promise.all([
    get('buildinfo', 'status/buildinfo', 'version', z.string()),
    get('config', 'status/config', 'yaml', printedYaml(prometheusConfig)),
    get('targets', 'targets?state=active', 'activeTargets', z.array(target)),
    get('rules', 'rules?exclude_alerts=true', 'groups', ruleGroups),
    get('alertmanagers', 'alertmanagers', 'activeAlertmanagers', z.array(z.object({ url: z.string() }))),
    client.get('metrics', z.string()).catch(failed('alertmanagers')),
    // A range of a day also finds targets that are down now.
    query('group by (job, instance) (last_over_time(telemetry_station_exporter_build_info[1d]))'),
    query('telemetry_station_up'),
    query(`max by (__name__, job, instance) ({__name__=~"${Object.values(SCRAPE_METRICS).join('|')}"})`),
  ]);
  return { problems, config, targets, rules, alertmanagers, metrics, exporters, stations, scrapes };
}
