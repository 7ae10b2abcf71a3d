import type { StationSpec } from '../model/station-spec.ts';
import { parseDuration } from '../schema/units.ts';
import { countText, durationText, numberText } from '../text/words.ts';
import { type ChainFinding, finding } from './finding.ts';
import { isDropped, keptLabels, LABEL_ACTIONS, type Labels } from './labels.ts';
import {
  API_ADVICE,
  type PrometheusReplies,
  type Sample,
  SCRAPE_METRICS,
  type ScrapeConfig,
  type Target,
} from './prometheus.ts';
import { isAlert, type RuleComparison } from './rules.ts';

interface Expected {
  /** The stations that the configuration of the exporter has. */
  readonly stations: readonly StationSpec[];
  readonly rules: RuleComparison;
  /** What the exporter can publish. */
  readonly families: readonly { readonly name: string; readonly labels: readonly string[] }[];
  /** Names of configured labels of stations and resources. */
  readonly ownLabels: readonly string[];
}

/** What the replies say about the way from the exporter to Alertmanager. */
export function* prometheusFindings(replies: PrometheusReplies, expected: Expected): Iterable<ChainFinding> {
  const { problems, config, targets, rules, exporters, stations } = replies;
  if (problems.size === Object.keys(API_ADVICE).length) {
    yield finding.failure`Prometheus cannot be read: ${problems.get('buildinfo')}.
      ${API_ADVICE.buildinfo}`;
    return;
  }
  const keys = new Set(exporters?.map(({ metric }) => keyOf(metric)));
  const own = targets?.filter(({ labels }) => keys.has(keyOf(labels))) ?? [];
  if (targets && own.length === 0) yield* noTargetFindings(replies, targets);
  for (const target of own) yield* targetFindings(replies, target, expected.stations);
  // Without a target, that is what is said.
  const isScraped = own.some(({ health }) => health === 'up');
  if (stations && (isScraped || stations.length > 0)) yield* stationFindings(stations, expected.stations);
  const scrapeConfigs = own.flatMap((target) => scrapeConfigOf(config, target) ?? []);
  yield* droppedFindings(scrapeConfigs, expected);
  if (rules) yield* ruleFindings(expected.rules, stations ?? []);
  yield* deliveryFindings(replies, expected.rules.clusterLabel);
  for (const [api, problem] of problems)
    yield finding.notChecked`${api}: ${problem}.
      ${API_ADVICE[api]}`;
}

function keyOf({ job, instance }: Labels): string {
  return JSON.stringify([job, instance]);
}

function scrapeConfigOf(config: PrometheusReplies['config'], { scrapePool }: Target) {
  return config?.scrape_configs.find(({ job_name }) => job_name === scrapePool);
}

/** What is down may be the exporter. */
const MAX_DOWN = 3;

function* noTargetFindings(replies: PrometheusReplies, targets: readonly Target[]): Iterable<ChainFinding> {
  if (replies.exporters)
    yield finding.failure`No target was this exporter within a day: none has telemetry_station_exporter_build_info.
      Add the exporter to scrape_configs as in prometheus/prometheus.yml, or correct what is wrong with its target.`;
  const down = targets.filter(({ health }) => health === 'down').slice(0, MAX_DOWN);
  for (const target of down) yield* targetFindings(replies, target, []);
}

const FEWER = 'or publish fewer series: metrics.max_resources, filters.';

const ERRORS: readonly (readonly [RegExp, string])[] = [
  [/sample limit/, `Raise sample_limit of the scrape configuration, ${FEWER}`],
  [/body size limit/, `Raise body_size_limit of the scrape configuration, ${FEWER}`],
  [/deadline exceeded/, 'Raise scrape_timeout, and check the network between Prometheus and the exporter.'],
  [/status 40[13]/, 'Give the scrape configuration the credentials that --web.config.file of the exporter requires.'],
  [/refused|no such host|no route/, 'Start the exporter, or correct the address of the target.'],
];

/** Most rules look back five minutes: with a longer interval, a missed scrape ends what they know. */
const MAX_INTERVAL_MS = 120_000;

/** Resources are added: a limit is a problem before it is crossed. */
const NEAR = 0.8;

function* targetFindings(
  { config, scrapes = [] }: PrometheusReplies,
  target: Target,
  stations: readonly StationSpec[],
): Iterable<ChainFinding> {
  const { scrapeUrl, labels, discoveredLabels, health, lastError } = target;
  const name = `target ${scrapeUrl} of job ${labels['job']}`;
  if (health === 'down')
    yield finding.failure`${name} is down: ${lastError}.
      ${ERRORS.find(([pattern]) => pattern.test(lastError))?.[1] ?? 'Correct what the error names.'}`;
  else if (health !== 'up')
    yield finding.notChecked`${name}: not scraped yet.
      Check again after a scrape.`;
  if (health !== 'up') return;
  const { __scrape_interval__: interval = '', __scrape_timeout__: timeout = '' } = discoveredLabels;
  const [intervalMs = 0, timeoutMs = 0] = [interval, timeout].map(parseDuration);
  const ttlMs = Math.min(...stations.map(({ cache }) => cache.ttlMs));
  const samples = scrapes.filter(({ metric }) => keyOf(metric) === keyOf(labels));
  const sampleOf = (name: string) => samples.find(({ metric }) => metric['__name__'] === name)?.value[1] ?? 0;
  const series = sampleOf(SCRAPE_METRICS.series);
  const bytes = sampleOf(SCRAPE_METRICS.bytes);
  const refreshMs = 1000 * sampleOf(SCRAPE_METRICS.refreshSeconds);
  const repeats = intervalMs < ttlMs / 2 ? `, more often than cache.ttl ${durationText(ttlMs)} needs` : '';
  const seriesText = countText(series, 'series', 'series');
  yield finding.ok`${name}: up, every ${interval}${repeats}, timeout ${timeout}, ${seriesText}`;
  if (refreshMs > timeoutMs && stations.some(({ cache }) => cache.refresh === 'scrape'))
    yield finding.warning`${name}: a refresh takes ${durationText(refreshMs)}, longer than scrape_timeout ${timeout}: scrapes return older data.
      Raise scrape_timeout, or set cache.refresh to background.`;
  if (intervalMs > MAX_INTERVAL_MS)
    yield finding.warning`${name}: scrape_interval ${interval} is too long for the rules, which look back five minutes.
      Set scrape_interval to 1m, the default of cache.ttl.`;
  const scrape = scrapeConfigOf(config, target);
  if (scrape) yield* configFindings(scrape, { series, bytes }, labels);
  else if (config)
    yield finding.notChecked`config: it has no job ${target.scrapePool}, which is in one of its scrape_config_files.
      Check limits and relabeling there.`;
}

function* configFindings(
  { job_name, sample_limit, body_size_limit, honor_labels }: ScrapeConfig,
  { series, bytes }: { readonly series: number; readonly bytes: number },
  labels: Labels,
): Iterable<ChainFinding> {
  const limits = [
    ['sample_limit', sample_limit, series, 'series'],
    ['body_size_limit', body_size_limit, bytes, 'bytes'],
  ] as const;
  for (const [name, limit, value, unit] of limits)
    if (limit > 0 && value > NEAR * limit)
      yield finding.warning`A scrape of job ${job_name} has ${numberText(value)} ${unit}, near its ${name} of ${numberText(limit)}, above which all scrapes fail.
        Raise ${name}, ${FEWER}`;
  const replaced = ['station', 'upstream'].filter((label) => label in labels);
  if (honor_labels && replaced.length > 0)
    yield finding.warning`honor_labels of job ${job_name} replaces ${replaced} of the target by the labels of the exporter.
      ${RENAME}`;
}

const RENAME = 'Give these labels of the target other names.';

function* stationFindings(series: readonly Sample[], stations: readonly StationSpec[]): Iterable<ChainFinding> {
  const known = new Set(series.map(({ metric }) => metric['station']));
  const missing = stations.map(({ name }) => name).filter((name) => !known.has(name));
  if (missing.length > 0)
    yield finding.warning`Prometheus has no telemetry_station_up of ${missing}, which the configuration has.
      Have all shards scraped and the exporter reload this configuration; metric_relabel_configs must not drop it.`;
  const labels = new Set(series.flatMap((sample) => Object.keys(sample.metric)));
  const renamed = [...labels].filter((label) => label.startsWith('exported_'));
  if (renamed.length > 0)
    yield finding.warning`Labels of the target hide those of the exporter, which became ${renamed}: rules and dashboards do not read these.
      ${RENAME}`;
}

/** By the configuration alone: many series only exist at times. */
function* droppedFindings(
  scrapeConfigs: readonly ScrapeConfig[],
  { stations, rules, families, ownLabels }: Expected,
): Iterable<ChainFinding> {
  const relabeling = scrapeConfigs.flatMap(({ metric_relabel_configs }) => metric_relabel_configs);
  const published = families.filter(({ name }) => stations.some(({ metrics }) => !metrics.disabled.has(name)));
  const labels = new Set([...published.flatMap((family) => family.labels), ...ownLabels]);
  const kindOf = (name: string) => (labels.has(name) ? 'label' : 'metric');
  const dropped = [...published.map(({ name }) => name), ...labels].filter((name) =>
    relabeling.some((config) => isDropped(name, kindOf(name), config)),
  );
  const texts = rules.shipped.flatMap(({ query, annotations }) => [query, ...Object.values(annotations)]);
  const read = new Set([...ownLabels, ...texts.flatMap((text) => text.match(/\w+/g) ?? [])]);
  const shown = (names: readonly string[]) => names.map((name) => (labels.has(name) ? `label ${name}` : name));
  const needed = dropped.filter((name) => read.has(name));
  if (needed.length > 0)
    yield finding.failure`Prometheus lacks what the rules read: ${shown(needed)}.
      Remove from metric_relabel_configs what drops it.`;
  const others = dropped.filter((name) => !read.has(name));
  if (others.length > 0)
    yield finding.warning`Prometheus lacks what dashboards read: ${shown(others)}.
      Remove from metric_relabel_configs what drops it, or disable the metrics in the configuration of the exporter.`;
}

const UPDATE = 'Load the rules of the version of the exporter that runs.';

function* ruleFindings(rules: RuleComparison, series: readonly Sample[]): Iterable<ChainFinding> {
  const { shipped, known, missing, changed, adjusted, unknown, jobs: selectors } = rules;
  if (missing.length === shipped.length) {
    yield finding.failure`None of the shipped rules is loaded.
      Add prometheus/rules.yml to rule_files, and reload Prometheus.`;
    return;
  }
  const note = adjusted.length === 0 ? '' : `; adjusted: ${adjusted.join(', ')}`;
  yield finding.ok`rules: ${shipped.length - missing.length} of ${shipped.length} are loaded${note}`;
  const jobs = new Set(series.map(({ metric }) => `${metric['job']}`));
  const unselected = [...jobs].filter((job) => !selectors.some(({ isMet }) => isMet({ job })));
  if (unselected.length > 0)
    yield finding.failure`The rules select ${selectors.map(({ text }) => text)}, but the job of the exporter is ${unselected}.
      Replace the job in the rules as docs/runbooks/README.md describes, or rename job_name.`;
  const records = missing.filter((rule) => !isAlert(rule));
  if (records.length > 0)
    yield finding.failure`Missing rules: ${records}. Alerts that read what they record never fire.
      ${UPDATE}`;
  const alerts = missing.filter(isAlert);
  if (alerts.length > 0)
    yield finding.warning`Missing alerts: ${alerts}.
      ${UPDATE} Those left out on purpose may be missing.`;
  for (const { name, query } of changed)
    yield finding.warning`${name} has another expression than the one shipped: ${query}.
      ${UPDATE}`;
  if (unknown.length > 0)
    yield finding.warning`Alerts of another version: ${unknown}.
      ${UPDATE}`;
  const rare = known.filter(({ interval }) => 1000 * interval > MAX_INTERVAL_MS);
  if (rare.length > 0)
    yield finding.warning`Evaluated too rarely for rules that look back five minutes: ${rare}.
      Set the interval of their groups to 1m or less.`;
  for (const { name, lastError } of known.filter(({ health }) => health === 'err'))
    yield finding.failure`${name} cannot be evaluated: ${lastError}.
      Correct what the error names: duplicate series come from a job that is scraped twice, or from dropped labels.`;
}

function* deliveryFindings(
  { config, alertmanagers, metrics = '' }: PrometheusReplies,
  clusterLabel: string,
): Iterable<ChainFinding> {
  if (config) {
    const { alert_relabel_configs, alertmanagers: receivers } = config.alerting;
    const labels = keptLabels(alert_relabel_configs, config.global.external_labels);
    const cluster = labels[clusterLabel] ?? 'none in external_labels, which one Prometheus alone does not need';
    yield finding.ok`label ${clusterLabel}: ${cluster}`;
    const replica = Object.keys(labels).find((name) => name.includes('replica'));
    const relabeling = [...alert_relabel_configs, ...receivers.flatMap((one) => one.alert_relabel_configs)];
    if (relabeling.some(({ action }) => !LABEL_ACTIONS.includes(action)))
      yield finding.notChecked`alert_relabel_configs change or drop alerts.
        Compare the labels of an alert in Alertmanager with those in Prometheus.`;
    else if (replica !== undefined)
      yield finding.warning`Alerts have the external label ${replica}: each replica of Prometheus has its own, and each is notified.
        Add alert_relabel_configs: [{ action: labeldrop, regex: ${replica} }] to alerting.`;
  }
  if (!alertmanagers) return;
  const urls = alertmanagers.map(({ url }) => url);
  if (urls.length > 0) yield finding.ok`alerts are sent to ${urls}`;
  else
    yield finding.failure`Prometheus sends alerts to no Alertmanager.
      Add it to alerting.alertmanagers as in prometheus/prometheus.yml.`;
  const failing = urls.filter((url) => isFailing(metrics, url));
  if (failing.length > 0)
    yield finding.failure`Every alert that was sent to ${failing} failed.
      Check its address, path_prefix and credentials in alerting.alertmanagers; the log of Prometheus has the error.`;
}

/** By the metrics of Prometheus itself, where what fails is also sent. */
function isFailing(metrics: string, url: string): boolean {
  const [errors = 0, sent = 0] = ['errors', 'sent'].map((name) => {
    const [, value = '0'] = metrics.split(`prometheus_notifications_${name}_total{alertmanager="${url}"} `);
    return Number.parseFloat(value);
  });
  return errors > 0 && errors >= sent;
}
