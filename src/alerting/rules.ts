import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { formatDuration, parseDuration } from '../schema/units.ts';
import { type Matcher, parsedMatchers } from './matchers.ts';
import type { LoadedRule } from './prometheus.ts';

/** A rule as Prometheus reports it, loaded or shipped. */
export type PrometheusRule = Omit<LoadedRule, 'health' | 'lastError' | 'interval'>;

interface RuleKeys extends Partial<Pick<PrometheusRule, 'labels' | 'annotations'>> {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
}

/** prometheus/rules.yml. */
export async function shippedRules(packageFolder: URL): Promise<readonly PrometheusRule[]> {
  const file: { readonly groups: readonly { readonly rules: readonly RuleKeys[] }[] } = parse(
    await shippedFile(packageFolder, 'rules.yml'),
  );
  const secondsOf = (duration = '0s') => (parseDuration(duration) ?? 0) / 1000;
  return file.groups.flatMap(({ rules }) =>
    rules.map(({ alert, record = '', expr, labels = {}, annotations = {}, ...times }) => ({
      type: alert === undefined ? 'recording' : 'alerting',
      name: alert ?? record,
      query: expr,
      duration: secondsOf(times.for),
      keepFiringFor: secondsOf(times.keep_firing_for),
      labels,
      annotations,
    })),
  );
}

/** The repository, the package and the image have this folder. */
export function shippedFile(packageFolder: URL, name: 'rules.yml' | 'alertmanager.yml'): Promise<string> {
  return readFile(new URL(`prometheus/${name}`, packageFolder), 'utf8');
}

export function isAlert({ type }: PrometheusRule): boolean {
  return type === 'alerting';
}

export function isOurs(alertname: string): boolean {
  return alertname.startsWith('TelemetryStation');
}

export type RuleComparison = ReturnType<typeof comparedRules<LoadedRule>>;

/** Which of the shipped rules are loaded, whatever their selector, label of the cluster, thresholds and spaces. */
export function comparedRules<Loaded extends PrometheusRule>(
  shipped: readonly PrometheusRule[],
  loaded: readonly Loaded[],
) {
  const names = new Set(shipped.map(({ name }) => name));
  const known = loaded.filter(({ name }) => names.has(name));
  const [clusterLabel = 'cluster'] = known.flatMap(({ query }) => CLUSTER_LABEL.exec(query)?.[1] ?? []);
  const pairs = shipped.flatMap((rule) => {
    const skeleton = skeletonOf(rule, 'cluster');
    const same = known.filter((other) => other.name === rule.name && skeletonOf(other, clusterLabel) === skeleton);
    return same.map((other) => ({ rule, other }));
  });
  /** Loaded rules whose expression is another one. */
  const changed = known.filter((rule) => !pairs.some(({ other }) => other === rule));
  const isMissing = (rule: PrometheusRule) =>
    !pairs.some((pair) => pair.rule === rule) && !changed.some(({ name }) => name === rule.name);
  const matchers = known
    .flatMap(({ query }) => Array.from(query.matchAll(SELECTOR), ([text]) => matchersIn(text)))
    .flat();
  const further = matchers.filter(({ name }) => !SELECTED.includes(name));
  return {
    shipped,
    known,
    changed,
    missing: shipped.filter(isMissing),
    /** What the mixin and the chart can adjust. */
    adjusted: [
      ...pairs.flatMap(({ rule, other }) => adjustments(rule, other)),
      ...new Set(further.map(({ text }) => `only ${text}`)),
    ],
    /** Alerts of the exporter that are not shipped. */
    unknown: loaded.filter((rule) => isAlert(rule) && isOurs(rule.name) && !names.has(rule.name)),
    /** How they select the job of the exporter. */
    jobs: matchers.filter(({ name }) => name === 'job'),
    clusterLabel,
  };
}

function adjustments(shipped: PrometheusRule, loaded: PrometheusRule): readonly string[] {
  const [before = [], after = []] = [shipped, loaded].map(({ query }) => normalized(query).match(NUMBER) ?? []);
  const durationText = (seconds = shipped.keepFiringFor ?? 0) => formatDuration(1000 * seconds);
  const rows = [
    ...before.map((number, at) => ['', number, after[at]]),
    ['for ', durationText(shipped.duration), durationText(loaded.duration)],
    ['keep_firing_for ', durationText(shipped.keepFiringFor), durationText(loaded.keepFiringFor)],
    ['severity ', shipped.labels['severity'], loaded.labels['severity']],
  ];
  return rows.flatMap(([what, own, other]) => (own === other ? [] : [`${shipped.name} ${what}${own} → ${other}`]));
}

/** Each expression that joins or aggregates begins with the label of the cluster. */
const CLUSTER_LABEL = /\b(?:by|on) ?\((\w+), ?job\b/;

/** Matchers in braces. */
const SELECTOR = /\{(?:"(?:[^"\\]|\\.)*"|[^"}])*\}/g;

/** Labels that the shipped rules select by; matchers of others exclude stations. */
const SELECTED = ['job', 'set'];

/** Thresholds: numbers that are no part of a name or duration, and are not compared with ==. */
const NUMBER = /(?<![\w.:]|==)\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.:])/g;

/** The expression without what can be adjusted. */
function skeletonOf({ query }: PrometheusRule, clusterLabel: string): string {
  return normalized(query)
    .replace(NUMBER, '<number>')
    .replace(new RegExp(`\\b${clusterLabel}\\b`, 'g'), '<cluster>');
}

/** Prometheus has spaces, line breaks and an order of matchers of its own. */
function normalized(query: string): string {
  const selected = (selector: string) =>
    matchersIn(selector).flatMap(({ name, text }) => (SELECTED.includes(name) ? [name === 'job' ? name : text] : []));
  return query
    .replace(SELECTOR, (selector) => `{${selected(selector).toSorted().join()}}`)
    .replace(/\s+/g, ' ')
    .replace(/ ?([^\w ]) ?/g, '$1');
}

function matchersIn(selector: string): readonly Matcher[] {
  return parsedMatchers(selector) ?? [];
}
