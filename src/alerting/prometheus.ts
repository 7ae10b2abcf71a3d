import { parse } from 'yaml';
import * as z from 'zod';
import { parseSize } from '../schema/units.ts';
import type { ApiClient } from './api-client.ts';

const labels = z.record(z.string(), z.coerce.string()).default({});

const relabelConfigs = z
  .array(
    z.object({
      action: z.string().default('replace'),
      source_labels: z.array(z.string()).default([]),
      regex: z.coerce.string().default('(.*)'),
    }),
  )
  .default([]);

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

const prometheusConfig = z.object({
  global: z.object({ external_labels: labels }).prefault({}),
  alerting: z
    .object({
      alert_relabel_configs: relabelConfigs,
      alertmanagers: z.array(z.object({ alert_relabel_configs: relabelConfigs })).default([]),
    })
    .prefault({}),
  scrape_configs: z.array(scrapeConfig).default([]),
});

const target = z
  .object({
    labels,
    // VictoriaMetrics has interval and timeout only here.
    discoveredLabels: labels,
    scrapePool: z.string(),
    scrapeUrl: z.string(),
    health: z.string(),
    lastError: z.string(),
    scrapeInterval: z.string().optional(),
    scrapeTimeout: z.string().optional(),
  })
  .transform(({ discoveredLabels, ...rest }) => ({
    ...rest,
    scrapeInterval: rest.scrapeInterval ?? discoveredLabels['__scrape_interval__'] ?? '',
    scrapeTimeout: rest.scrapeTimeout ?? discoveredLabels['__scrape_timeout__'] ?? '',
  }));

const rule = z
  .object({
    type: z.string(),
    name: z.string(),
    query: z.string(),
    duration: z.number().default(0),
    labels,
    annotations: labels,
    health: z.string(),
    lastError: z.string().default(''),
    keepFiringFor: z.number().optional(),
  })
  .transform(({ type, query, duration, keepFiringFor, ...rest }) => {
    const keepMs = keepFiringFor === undefined ? undefined : 1000 * keepFiringFor;
    return { ...rest, isAlert: type === 'alerting', expr: query, forMs: 1000 * duration, keepMs };
  });

const vector = z
  .object({ result: z.array(z.object({ metric: labels, value: z.tuple([z.number(), z.coerce.number()]) })) })
  .transform(({ result }) => result.map(({ metric, value: [, value] }) => ({ labels: metric, value })));

export type RelabelConfigs = z.output<typeof relabelConfigs>;
export type Target = z.output<typeof target>;
export type LoadedRule = z.output<typeof rule> & { readonly intervalMs: number };
export type Vector = z.output<typeof vector>;
export type PrometheusReplies = Awaited<ReturnType<typeof readPrometheus>>;

/** `metrics`: those whose labels are read. A viewer may read all of it. */
export async function readPrometheus(client: ApiClient, metrics: readonly string[]) {
  const get = <Schema extends z.ZodType>(path: string, schema: Schema) => client.get(`api/v1/${path}`, schema);
  const query = (expression: string) => get(`query?${new URLSearchParams({ query: expression })}`, vector);
  const printed = z.object({
    yaml: z
      .string()
      .transform((text): unknown => parse(text))
      .pipe(prometheusConfig),
  });
  const groups = z.object({ groups: z.array(z.object({ interval: z.number().default(0), rules: z.array(rule) })) });
  const [buildinfo, config, targets, rules, alertmanagers, own, exporters, stations, read, series, bytes, refreshes] =
    await Promise.all([
      get('status/buildinfo', z.object({ version: z.string() })),
      get(
        'status/config',
        printed.transform(({ yaml }) => yaml),
      ),
      get('targets?state=active', z.object({ activeTargets: z.array(target) })),
      get(
        'rules?exclude_alerts=true',
        groups.transform((all) =>
          all.groups.flatMap(({ interval, rules }) => rules.map((own) => ({ ...own, intervalMs: 1000 * interval }))),
        ),
      ),
      get('alertmanagers', z.object({ activeAlertmanagers: z.array(z.object({ url: z.string() })) })),
      client.get('metrics', z.string()),
      // A range of a day also finds targets that are down now.
      query('group by (job, instance) (last_over_time(telemetry_station_exporter_build_info[1d]))'),
      query('telemetry_station_up'),
      query(`count by (__name__, station, upstream, set) ({__name__=~"${metrics.join('|')}"})`),
      query('scrape_samples_post_metric_relabeling'),
      query('telemetry_station_exporter_scrape_bytes{encoding="identity"}'),
      query('max by (job, instance) (telemetry_station_refresh_duration_seconds)'),
    ]);
  return { buildinfo, config, targets, rules, alertmanagers, own, exporters, stations, read, series, bytes, refreshes };
}
