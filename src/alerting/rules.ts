import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { formatDuration, parseDuration } from '../schema/units.ts';
import { parsedMatchers } from './matchers.ts';
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

export type RuleComparison = ReturnType<typeof comparedRules>;

/** Which of the shipped rules are loaded, whatever their selector, label of the cluster, thresholds and spaces. */
export function comparedRules(shipped: readonly PrometheusRule[], loaded: readonly LoadedRule[]) {
  const names = new Set(shipped.map(({ name }) => name));
  const known = loaded.filter(({ name }) => names.has(name)).map((rule) => ({ ...rule, ...expressionOf(rule) }));
  const pairs = shipped.flatMap((rule) => {
    const own = { ...rule, ...expressionOf(rule) };
    const isSame = (other: PrometheusRule & Expression) => other.name === own.name && other.skeleton === own.skeleton;
    return known.filter(isSame).map((other) => ({ rule, other, adjusted: adjustments(own, other) }));
  });
  const changed = known.filter((rule) => !pairs.some(({ other }) => other === rule));
  const isMissing = (rule: PrometheusRule) =>
    !pairs.some((pair) => pair.rule === rule) && !changed.some(({ name }) => name === rule.name);
  const matchers = known.flatMap((rule) => rule.matchers);
  const further = matchers.filter(({ name }) => !SELECTED.includes(name));
  return {
    shipped,
    known,
    missing: shipped.filter(isMissing),
    /** Loaded rules whose expression is another one. */
    changed,
    /** What the mixin and the chart can adjust. */
    adjusted: [...pairs.flatMap(({ adjusted }) => adjusted), ...new Set(further.map(({ text }) => `only ${text}`))],
    /** Alerts of the exporter that are not shipped. */
    unknown: loaded.filter((rule) => isAlert(rule) && isOurs(rule.name) && !names.has(rule.name)),
    /** How they select the job of the exporter. */
    jobs: matchers.filter(({ name }) => name === 'job'),
    clusterLabel: known.map((rule) => rule.clusterLabel).find(Boolean) ?? 'cluster',
  };
}

type Expression = ReturnType<typeof expressionOf>;

function adjustments(shipped: PrometheusRule & Expression, loaded: PrometheusRule & Expression): readonly string[] {
  const durationText = (seconds = shipped.keepFiringFor ?? 0) => formatDuration(1000 * seconds);
  const rows = [
    ...shipped.numbers.map((number, at) => ['', number, loaded.numbers[at]]),
    ['for ', durationText(shipped.duration), durationText(loaded.duration)],
    ['keep_firing_for ', durationText(shipped.keepFiringFor), durationText(loaded.keepFiringFor)],
    ['severity ', shipped.labels['severity'], loaded.labels['severity']],
  ];
  return rows.flatMap(([what, own, other]) => (own === other ? [] : [`${shipped.name} ${what}${own} → ${other}`]));
}

/** Matchers in braces. */
const SELECTOR = /\{(?:"(?:[^"\\]|\\.)*"|[^"}])*\}/g;

/** Labels that the shipped rules select by; matchers of others exclude stations. */
const SELECTED = ['job', 'set'];

/** Series are joined and aggregated by the label of the cluster, the job and others, in this order. */
const CLUSTER_LABEL = /(?<=\()\w+(?=,job\b)/g;

/** Thresholds: numbers that are no part of a name or duration, and are not compared with ==. */
const NUMBER = /(?<![\w.:]|==)\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.:])/g;

/** What can be adjusted of an expression, and its skeleton without that. */
function expressionOf({ query }: PrometheusRule) {
  const matchersIn = (selector: string) => parsedMatchers(selector) ?? [];
  const selected = (selector: string) =>
    matchersIn(selector).flatMap(({ name, text }) => (SELECTED.includes(name) ? [name === 'job' ? name : text] : []));
  // Prometheus has spaces, line breaks and an order of matchers of its own.
  const normalized = query
    .replace(SELECTOR, (selector) => `{${selected(selector).toSorted().join()}}`)
    .replace(/\s+/g, ' ')
    .replace(/ ?([^\w ]) ?/g, '$1');
  return {
    matchers: Array.from(query.matchAll(SELECTOR), ([selector]) => matchersIn(selector)).flat(),
    clusterLabel: normalized.match(CLUSTER_LABEL)?.[0],
    numbers: normalized.match(NUMBER) ?? [],
    skeleton: normalized.replace(NUMBER, '<number>').replace(CLUSTER_LABEL, '<cluster>'),
  };
}
