import type { StationSpec } from '../model/station-spec.ts';
import { parseDuration } from '../schema/units.ts';
import { AnchoredRegExp } from '../text/anchored-regexp.ts';
import { countText, durationText, namesText, numberText } from '../text/words.ts';
import { type ChainFinding, finding } from './finding.ts';
import type { Labels } from './labels.ts';
import type { LoadedRule, PrometheusReplies, RelabelConfigs, Target, Vector } from './prometheus.ts';
import { isDropped, keptLabels, onlyDropLabels } from './relabeling.ts';
import { comparedRules, type PrometheusRule } from './rules.ts';

/** A metric with its labels. */
interface Family {
  readonly name: string;
  readonly labels: readonly string[];
}

interface Expected {
  /** The stations that the configuration of the exporter has. */
  readonly stations: readonly StationSpec[];
  readonly shipped: readonly PrometheusRule[];
  /** What the exporter publishes. */
  readonly families: readonly Family[];
  /** Names of configured labels of stations and resources. */
  readonly ownLabels: readonly string[];
}

/** What the replies say about the way from the exporter to Alertmanager. */
export function* prometheusFindings(replies: PrometheusReplies, expected: Expected): Iterable<ChainFinding> {
  const { buildinfo, config, targets, rules, alertmanagers, exporters, stations } = replies;
  const apis = [
    {
      name: 'config',
      reply: config,
      advice: 'Check limits, relabeling and external labels in the configuration of the server that scrapes.',
    },
    { name: 'targets', reply: targets, advice: 'Check the server that scrapes, too.' },
    { name: 'rules', reply: rules, advice: 'Check the server that evaluates the rules, too.' },
    {
      name: 'alertmanagers',
      reply: alertmanagers,
      advice: 'Check that the server that evaluates the rules sends alerts to Alertmanager.',
    },
    { name: 'queries', reply: exporters, advice: 'Check the server that stores the samples, too.' },
  ];
  if (!buildinfo.ok && apis.every(({ reply }) => !reply.ok)) {
    yield finding('failure', `Prometheus cannot be read: ${buildinfo.problem}.`, UNREADABLE);
    return;
  }
  const series = [exporters, stations].flatMap((reply) => (reply.ok ? reply.value : []));
  const keys = new Set(series.map(({ labels }) => keyOf(labels)));
  const own = targets.ok ? targets.value.activeTargets.filter(({ labels }) => keys.has(keyOf(labels))) : [];
  if (targets.ok && own.length === 0) yield* noTarget(replies, targets.value.activeTargets);
  for (const target of own) yield* targetFindings(replies, target, expected.stations);
  if (stations.ok) yield* stationFindings(stations.value, expected.stations);
  if (own.some(({ health }) => health === 'up')) yield* lackFindings(replies, own, expected);
  // Targets rather than series: a job that was renamed has series for a day, but no target.
  const scraped = [own, stations.ok ? stations.value : [], series].find((known) => known.length > 0) ?? [];
  if (rules.ok) yield* ruleFindings(rules.value, scraped, expected.shipped);
  yield* deliveryFindings(replies, comparedRules(expected.shipped, rules.ok ? rules.value : []).clusterLabel);
  // Servers such as Mimir, Thanos or an agent do not have all of them.
  for (const { name, reply, advice } of apis)
    if (!reply.ok) yield finding('not checked', `${name}: ${reply.problem}.`, advice);
}

const UNREADABLE =
  'Check the URL, which may need a path such as /prometheus, and the credentials in --prometheus.config.file.';

function keyOf({ job, instance }: Labels): string {
  return JSON.stringify([job, instance]);
}

function sampleOf(reply: PrometheusReplies['series'], labels: Labels): number {
  return (reply.ok && reply.value.find((sample) => keyOf(sample.labels) === keyOf(labels))?.value) || 0;
}

/** What is down may be the exporter. */
const MAX_DOWN = 3;

function* noTarget(replies: PrometheusReplies, targets: readonly Target[]): Iterable<ChainFinding> {
  if (replies.exporters.ok)
    yield finding(
      'failure',
      'No target was this exporter within a day: none has telemetry_station_exporter_build_info.',
      'Add the exporter to scrape_configs as in prometheus/prometheus.yml, or correct what is wrong with its target.',
    );
  const down = targets.filter(({ health }) => health === 'down').slice(0, MAX_DOWN);
  for (const target of down) yield* targetFindings(replies, target, []);
}

/** Most rules look back five minutes: with a longer interval, a missed scrape ends what they know. */
const MAX_INTERVAL_MS = 120_000;

function* targetFindings(
  replies: PrometheusReplies,
  target: Target,
  stations: readonly StationSpec[],
): Iterable<ChainFinding> {
  const { scrapeUrl, labels, health, lastError, scrapeInterval, scrapeTimeout } = target;
  const name = `target ${scrapeUrl} of job ${labels['job']}`;
  if (health !== 'up') {
    const [, advice = 'Correct what the error names.'] = ERRORS.find(([pattern]) => pattern.test(lastError)) ?? [];
    if (health === 'down') yield finding('failure', `${name} is down: ${lastError}.`, advice);
    else yield finding('not checked', `${name}: not scraped yet.`, 'Check again after a scrape.');
    return;
  }
  const [intervalMs = 0, timeoutMs = 0] = [scrapeInterval, scrapeTimeout].map(parseDuration);
  const ttlMs = Math.min(...stations.map(({ cache }) => cache.ttlMs));
  const series = countText(sampleOf(replies.series, labels), 'series', 'series');
  const repeats = intervalMs < ttlMs / 2 ? `, more often than cache.ttl ${durationText(ttlMs)} needs` : '';
  yield finding('ok', `${name}: up, every ${scrapeInterval}${repeats}, timeout ${scrapeTimeout}, ${series}`);
  yield* limitFindings(replies, target);
  const refreshMs = 1000 * sampleOf(replies.refreshes, labels);
  if (refreshMs > timeoutMs && stations.some(({ cache }) => cache.refresh === 'scrape'))
    yield finding(
      'warning',
      `${name}: a refresh takes ${durationText(refreshMs)}, longer than scrape_timeout ${scrapeTimeout}: scrapes return older data.`,
      'Raise scrape_timeout, or set cache.refresh to background.',
    );
  if (intervalMs > MAX_INTERVAL_MS)
    yield finding(
      'warning',
      `${name}: scrape_interval ${scrapeInterval} is too long for the rules, which look back five minutes.`,
      'Set scrape_interval to 1m, the default of cache.ttl.',
    );
}

const FEWER = 'or publish fewer series: metrics.max_resources, filters.';

const ERRORS: readonly (readonly [RegExp, string])[] = [
  [/sample limit/, `Raise sample_limit of the scrape configuration, ${FEWER}`],
  [/body size limit/, `Raise body_size_limit of the scrape configuration, ${FEWER}`],
  [/deadline exceeded/, 'Raise scrape_timeout, and check the network between Prometheus and the exporter.'],
  [/status 40[13]/, 'Give the scrape configuration the credentials that --web.config.file of the exporter requires.'],
  [/refused|no such host|no route/, 'Start the exporter, or correct the address of the target.'],
];

/** Resources are added: a limit is a problem before it is crossed. */
const NEAR = 0.8;

function scrapeConfigOf({ config }: PrometheusReplies, { scrapePool }: Target) {
  return config.ok ? config.value.scrape_configs.find(({ job_name }) => job_name === scrapePool) : undefined;
}

function* limitFindings(replies: PrometheusReplies, target: Target): Iterable<ChainFinding> {
  const { labels, scrapePool } = target;
  const scrape = scrapeConfigOf(replies, target);
  if (replies.config.ok && scrape === undefined)
    yield finding(
      'not checked',
      `config: it has no job ${scrapePool}, which is in one of its scrape_config_files.`,
      'Check limits and relabeling there.',
    );
  const limits = [
    ['sample_limit', scrape?.sample_limit ?? 0, sampleOf(replies.series, labels), 'series'],
    ['body_size_limit', scrape?.body_size_limit ?? 0, sampleOf(replies.bytes, labels), 'bytes'],
  ] as const;
  for (const [name, limit, value, unit] of limits)
    if (limit > 0 && value > NEAR * limit)
      yield finding(
        'warning',
        `A scrape of job ${scrapePool} has ${numberText(value)} ${unit}, near its ${name} of ${numberText(limit)}, above which all scrapes fail.`,
        `Raise ${name}, ${FEWER}`,
      );
  const replaced = ['station', 'upstream'].filter((label) => label in labels);
  if (scrape?.honor_labels && replaced.length > 0)
    yield finding(
      'warning',
      `honor_labels of job ${scrapePool} replaces ${namesText(replaced)} of the target by the labels of the exporter.`,
      'Give these labels of the target other names.',
    );
}

function* stationFindings(series: Vector, stations: readonly StationSpec[]): Iterable<ChainFinding> {
  const known = new Set(series.map(({ labels }) => labels['station']));
  const missing = stations.filter(({ name }) => !known.has(name)).map(({ name }) => name);
  if (series.length > 0 && missing.length > 0)
    yield finding(
      'warning',
      `Prometheus has no telemetry_station_up of ${namesText(missing)}, which the configuration has.`,
      'Have all shards scraped, and the exporter reload this configuration.',
    );
  const renamed = new Set(
    series.flatMap(({ labels }) => Object.keys(labels).filter((label) => /^exported_/.test(label))),
  );
  if (renamed.size > 0)
    yield finding(
      'warning',
      `Labels of the target hide those of the exporter, which became ${namesText([...renamed])}: rules and dashboards do not read these.`,
      'Give these labels of the target other names.',
    );
}

/** The metrics that the rules read and every exporter has: their series show what is dropped. */
export function readMetrics(shipped: readonly PrometheusRule[]): readonly string[] {
  const names = shipped.flatMap(({ expr }) => expr.match(/(?<![\w:])telemetry_station_\w+(?![\w:])/g) ?? []);
  return [...new Set(names)].filter((name) =>
    /_(up|last_known_resources|listing_complete|data_timestamp_seconds)$|_exporter_/.test(name),
  );
}

function* lackFindings(replies: PrometheusReplies, own: readonly Target[], expected: Expected): Iterable<ChainFinding> {
  const configs = own.map((target) => scrapeConfigOf(replies, target)?.metric_relabel_configs ?? []);
  const dropped = configs.flatMap((relabel) => droppedBy(relabel, expected));
  const texts = expected.shipped.flatMap(({ expr, annotations }) => [expr, ...Object.values(annotations)]);
  const read = new Set([...expected.ownLabels, ...texts.flatMap((text) => text.match(/\w+/g) ?? [])]);
  const textsOf = (names: typeof dropped) => [...new Set(names.map(({ text }) => text))];
  const lost = textsOf(dropped.filter(({ name }) => read.has(name)));
  const others = textsOf(dropped.filter(({ name }) => !read.has(name)));
  const missing = lost.length === 0 && replies.read.ok ? missingSeries(replies.read.value, expected) : lost;
  if (missing.length > 0)
    yield finding(
      'failure',
      `Prometheus lacks what the rules read: ${namesText(missing)}.`,
      'Remove from metric_relabel_configs what drops it; a station that was never listed lacks some, too.',
    );
  if (others.length > 0)
    yield finding(
      'warning',
      `Prometheus lacks what dashboards read: ${namesText(others)}.`,
      'Remove from metric_relabel_configs what drops it, or disable the metrics in the configuration of the exporter.',
    );
}

/** The metrics of the exporter, and the labels of any of them, that a scrape configuration drops. */
function droppedBy(relabel: RelabelConfigs, { families, ownLabels }: Expected) {
  const labels = new Set([...families.flatMap((family) => family.labels), ...ownLabels]);
  const kept = keptLabels(relabel, Object.fromEntries([...labels].map((name) => [name, ''])));
  return [
    ...families.filter(({ name }) => isDropped(relabel, name)).map(({ name }) => ({ name, text: name })),
    ...[...labels].filter((name) => !(name in kept)).map((name) => ({ name, text: `label ${name}` })),
  ];
}

/** What Prometheus has no series of, whatever drops them. */
function missingSeries(read: Vector, { stations, shipped }: Expected): readonly string[] {
  const disabled = new Set(stations.flatMap(({ metrics }) => [...metrics.disabled]));
  return readMetrics(shipped).flatMap((name) => {
    const series = read.filter(({ labels }) => labels['__name__'] === name);
    const needed = name.includes('_exporter_') ? [] : ['station', 'upstream'];
    const lost = [...needed, ...(name.endsWith('last_known_resources') ? ['set'] : [])].filter((label) =>
      series.some(({ labels }) => labels[label] === undefined),
    );
    return series.length === 0 && !disabled.has(name) ? [name] : lost.map((label) => `label ${label} of ${name}`);
  });
}

const UPDATE = 'Load the rules of the version of the exporter that runs.';

function* ruleFindings(
  loaded: readonly LoadedRule[],
  scraped: readonly { readonly labels: Labels }[],
  shipped: readonly PrometheusRule[],
): Iterable<ChainFinding> {
  const { missing, changed, adjusted, unknown, selectors } = comparedRules(shipped, loaded);
  if (missing.length === shipped.length) {
    yield finding(
      'failure',
      'None of the shipped rules is loaded.',
      'Add prometheus/rules.yml to rule_files, and reload Prometheus.',
    );
    return;
  }
  const note = adjusted.length === 0 ? '' : `; adjusted: ${adjusted.join(', ')}`;
  yield finding('ok', `rules: ${shipped.length - missing.length} of ${shipped.length} are loaded${note}`);
  const jobs = [...new Set(scraped.map(({ labels }) => `${labels['job']}`))];
  const unselected = jobs.filter(
    (job) => selectors.length > 0 && !selectors.some((selector) => selects(selector, job)),
  );
  if (unselected.length > 0)
    yield finding(
      'failure',
      `The rules select ${namesText(selectors)}, but the job of the exporter is ${namesText(unselected)}.`,
      'Replace the job in the rules as docs/runbooks/README.md describes, or rename job_name.',
    );
  const [alerts, records] = [true, false].map((kind) =>
    missing.filter(({ isAlert }) => isAlert === kind).map(({ name }) => name),
  );
  if (records?.[0])
    yield finding(
      'failure',
      `Missing rules: ${namesText(records)}. Alerts that read what they record never fire.`,
      UPDATE,
    );
  if (alerts?.[0])
    yield finding(
      'warning',
      `Missing alerts: ${namesText(alerts)}.`,
      `${UPDATE} Those left out on purpose may be missing.`,
    );
  for (const { name, expr } of changed)
    yield finding(
      'warning',
      `${name} has another expression than the one shipped: ${expr.replace(/\s+/g, ' ')}.`,
      UPDATE,
    );
  if (unknown.length > 0)
    yield finding('warning', `Alerts of another version: ${namesText(unknown.map(({ name }) => name))}.`, UPDATE);
  const known = loaded.filter(({ name }) => shipped.some((rule) => rule.name === name));
  const rare = known.filter(({ intervalMs }) => intervalMs > MAX_INTERVAL_MS).map(({ name }) => name);
  if (rare.length > 0)
    yield finding(
      'warning',
      `Evaluated too rarely for rules that look back five minutes: ${namesText([...new Set(rare)])}.`,
      'Set the interval of their groups to 1m or less.',
    );
  for (const { name, health, lastError } of known)
    if (health === 'err')
      yield finding(
        'failure',
        `${name} cannot be evaluated: ${lastError}.`,
        'Correct what the error names: duplicate series come from a job that is scraped twice, or from dropped labels.',
      );
}

function selects(selector: string, job: string): boolean {
  const [, isRegExp, value = ''] = /^job = (~ )?"(.*?)"/.exec(selector) ?? [];
  return isRegExp ? new AnchoredRegExp(value).matches(job) : value === job;
}

function* deliveryFindings(
  { alertmanagers, config, own }: PrometheusReplies,
  clusterLabel: string,
): Iterable<ChainFinding> {
  if (config.ok) {
    const { alert_relabel_configs, alertmanagers: receivers } = config.value.alerting;
    const labels = keptLabels(alert_relabel_configs, config.value.global.external_labels);
    const cluster = labels[clusterLabel] ?? 'none in external_labels, which one Prometheus alone does not need';
    yield finding('ok', `label ${clusterLabel}: ${cluster}`);
    const replica = Object.keys(labels).find((name) => name.includes('replica'));
    const relabeling = [...alert_relabel_configs, ...receivers.flatMap((one) => one.alert_relabel_configs)];
    if (!onlyDropLabels(relabeling))
      yield finding(
        'not checked',
        'alert_relabel_configs change or drop alerts.',
        'Compare the labels of an alert in Alertmanager with those in Prometheus.',
      );
    else if (replica !== undefined)
      yield finding(
        'warning',
        `Alerts have the external label ${replica}: each replica of Prometheus has its own, and each is notified.`,
        `Add alert_relabel_configs: [{ action: labeldrop, regex: ${replica} }] to alerting.`,
      );
  }
  if (!alertmanagers.ok) return;
  const urls = alertmanagers.value.activeAlertmanagers.map(({ url }) => url);
  const failing = urls.filter((url) => own.ok && isFailing(own.value, url));
  if (urls.length === 0)
    yield finding(
      'failure',
      'Prometheus sends alerts to no Alertmanager.',
      'Add it to alerting.alertmanagers as in prometheus/prometheus.yml.',
    );
  else yield finding('ok', `alerts are sent to ${namesText(urls)}`);
  if (failing.length > 0)
    yield finding(
      'failure',
      `Every alert that was sent to ${namesText(failing)} failed.`,
      'Check its address, path_prefix and credentials in alerting.alertmanagers; the log of Prometheus has the error.',
    );
}

/** By the metrics of Prometheus itself, where what fails is also sent. */
function isFailing(metrics: string, url: string): boolean {
  const [errors = 0, sent = 0] = ['errors', 'sent'].map((name) => {
    const start = `prometheus_notifications_${name}_total{alertmanager="${url}"} `;
    return Number(
      metrics
        .split('\n')
        .find((line) => line.startsWith(start))
        ?.slice(start.length),
    );
  });
  return errors > 0 && errors >= sent;
}
