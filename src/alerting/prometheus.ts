import { parse } from 'yaml';
import * as z from 'zod';
import type { ApiClient } from './api-client.ts';

const labels = z.record(z.string(), z.coerce.string()).default({});

const scrapeConfig = z.object({
  job_name: z.string(),
  honor_labels: z.boolean().default(false),
  sample_limit: z.number().default(0),
  body_size_limit: z.string().default('0B'),
});

const prometheusConfig = z.object({
  global: z.object({ external_labels: labels }).prefault({}),
  alerting: z.object({ alert_relabel_configs: z.array(z.unknown()).default([]) }).prefault({}),
  scrape_configs: z.array(scrapeConfig).default([]),
});

const target = z.object({
  labels,
  scrapePool: z.string(),
  scrapeUrl: z.string(),
  health: z.string(),
  lastError: z.string(),
  scrapeInterval: z.string(),
  scrapeTimeout: z.string(),
});

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
  })
  .transform(({ type, query, duration, ...rest }) => {
    return { ...rest, isAlert: type === 'alerting', expr: query, forMs: 1000 * duration };
  });

const vector = z
  .object({ result: z.array(z.object({ metric: labels, value: z.tuple([z.number(), z.coerce.number()]) })) })
  .transform(({ result }) => result.map(({ metric, value: [, value] }) => ({ labels: metric, value })));

export type Target = z.output<typeof target>;
export type LoadedRule = z.output<typeof rule>;
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
  const groups = z.object({ groups: z.array(z.object({ rules: z.array(rule) })) });
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
        groups.transform((all) => all.groups.flatMap(({ rules }) => rules)),
      ),
      get('alertmanagers', z.object({ activeAlertmanagers: z.array(z.object({ url: z.string() })) })),
      client.get('metrics', z.string()),
      // Of targets that are down, too.
      query('group by (job, instance) (last_over_time(telemetry_station_exporter_build_info[1d]))'),
      query('telemetry_station_up'),
      query(`count by (__name__, station, upstream, set) ({__name__=~"${metrics.join('|')}"})`),
      query('scrape_samples_post_metric_relabeling'),
      query('telemetry_station_exporter_scrape_bytes{encoding="identity"}'),
      query('max by (job, instance) (telemetry_station_refresh_duration_seconds)'),
    ]);
  return { buildinfo, config, targets, rules, alertmanagers, own, exporters, stations, read, series, bytes, refreshes };
}
