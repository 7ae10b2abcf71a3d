import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { formatDuration, parseDuration } from '../schema/units.ts';
import type { Labels } from './labels.ts';

/** A rule, as shipped or as a Prometheus has it. */
export interface PrometheusRule {
  readonly name: string;
  readonly isAlert: boolean;
  readonly expr: string;
  readonly forMs: number;
  /** `keep_firing_for`; undefined: not reported. */
  readonly keepMs: number | undefined;
  readonly labels: Labels;
  readonly annotations: Labels;
}

interface RulesFile {
  readonly groups: readonly { readonly rules: readonly RuleKeys[] }[];
}

interface RuleKeys extends Pick<PrometheusRule, 'expr'>, Partial<Pick<PrometheusRule, 'labels' | 'annotations'>> {
  readonly alert?: string;
  readonly record?: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
}

/** prometheus/rules.yml. */
export async function shippedRules(packageFolder: URL): Promise<readonly PrometheusRule[]> {
  const { groups } = parse(await shippedFile(packageFolder, 'rules.yml')) as RulesFile;
  return groups.flatMap(({ rules }) =>
    rules.map(({ alert, record = '', expr, labels = {}, annotations = {}, ...times }) => {
      const forMs = parseDuration(times.for ?? '0s') as number;
      const keepMs = parseDuration(times.keep_firing_for ?? '0s') as number;
      return { name: alert ?? record, isAlert: alert !== undefined, expr, forMs, keepMs, labels, annotations };
    }),
  );
}

/** The repository, the package and the image have this folder. */
export function shippedFile(packageFolder: URL, name: 'rules.yml' | 'alertmanager.yml'): Promise<string> {
  return readFile(new URL(`prometheus/${name}`, packageFolder), 'utf8');
}

export function isOurs(alertname: string): boolean {
  return alertname.startsWith('TelemetryStation');
}

/** Which of the shipped rules are loaded, whatever their selector, label of the cluster, thresholds and spaces. */
export function comparedRules<Loaded extends PrometheusRule>(
  shipped: readonly PrometheusRule[],
  loaded: readonly Loaded[],
) {
  const pairs = shipped.map((rule) => {
    const pattern = patternOf(rule.expr);
    const own = pattern.exec(canonical(rule.expr)) ?? [];
    const matches = loaded.flatMap((candidate) => {
      const match = candidate.name === rule.name && pattern.exec(canonical(candidate.expr));
      return match ? [{ candidate, match, adjusted: adjustments(rule, candidate, own, match) }] : [];
    });
    return { rule, matches };
  });
  const matches = pairs.flatMap((pair) => pair.matches);
  const names = new Set(shipped.map(({ name }) => name));
  const isNamed = ({ name }: PrometheusRule) => names.has(name);
  const changed = loaded.filter((rule) => names.has(rule.name) && !matches.some(({ candidate }) => candidate === rule));
  const unmatched = pairs.filter((pair) => pair.matches.length === 0).map(({ rule }) => rule);
  return {
    missing: unmatched.filter(({ name }) => !changed.some((rule) => rule.name === name)),
    /** Loaded rules whose expression is another one. */
    changed,
    /** What the mixin and the chart can adjust. */
    adjusted: [
      ...matches.flatMap(({ adjusted }) => adjusted),
      ...new Set(loaded.filter(isNamed).flatMap(furtherMatchers)),
    ],
    /** Alerts of the exporter that are not shipped. */
    unknown: loaded.filter(({ name, isAlert }) => isAlert && isOurs(name) && !names.has(name)),
    /** `job = "a"` */
    selectors: [...new Set(matches.flatMap(({ match }) => match.groups?.['selector'] ?? []))],
    clusterLabel: matches.map(({ match }) => match.groups?.['cluster']).find(Boolean) ?? 'cluster',
  };
}

function adjustments(
  shipped: PrometheusRule,
  loaded: PrometheusRule,
  own: readonly string[],
  match: readonly string[],
): readonly string[] {
  const { keepMs = 0 } = shipped;
  const pairs = own.slice(1).map((before, at) => ['', before, match[at + 1] as string] as const);
  return [
    ...pairs.filter(([, before]) => NUMBER.test(before)),
    ['for ', formatDuration(shipped.forMs), formatDuration(loaded.forMs)] as const,
    ['keep_firing_for ', formatDuration(keepMs), formatDuration(loaded.keepMs ?? keepMs)] as const,
    ['severity ', `${shipped.labels['severity']}`, `${loaded.labels['severity']}`] as const,
  ].flatMap(([what, before, after]) => (before === after ? [] : [`${shipped.name} ${what}${before} → ${after}`]));
}

const QUERY_TOKEN = /"(?:[^"\\]|\\.)*"|[\w:.]+|[^\s\w]/g;

const NUMBER = /^[\d.]+(?:e[+-]?\d+)?$/;

/** Labels that the shipped rules select by; matchers of others exclude stations. */
const SELECTED = /^(?:job|set) /;

/** The tokens of a query with a space between them: Prometheus has spaces, line breaks and an order of matchers of its own. */
function canonical(expr: string): string {
  return tokensOf(expr).replace(MATCHERS, (_, matchers: string) => {
    const selected = matchers.split(' , ').filter((matcher) => SELECTED.test(matcher));
    return `{ ${selected.toSorted().join(' , ')} }`;
  });
}

function tokensOf(expr: string): string {
  return Array.from(expr.matchAll(QUERY_TOKEN), ([token]) => token).join(' ');
}

const MATCHERS = /\{ (.*?) \}/g;

/** `only station!="lab"` */
function furtherMatchers({ expr }: PrometheusRule): readonly string[] {
  const all = Array.from(tokensOf(expr).matchAll(MATCHERS), ([, matchers = '']) => matchers.split(' , ')).flat();
  const further = all
    .filter((matcher) => !SELECTED.test(matcher))
    .map((matcher) => `only ${matcher.replaceAll(' ', '')}`);
  return [...new Set(further)];
}

/** What varies: the selector, the label of the cluster, and numbers, except for those that are compared with ==. */
function patternOf(expr: string): RegExp {
  const seen = new Set<string>();
  const group = (name: string, source: string) => {
    const isFirst = !seen.has(name);
    seen.add(name);
    return isFirst ? `(?<${name}>${source})` : `\\k<${name}>`;
  };
  const escaped = canonical(expr).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const source = escaped
    .replace(/job = "telemetry-station-exporter"/g, () => group('selector', 'job = (?:~ )?"[^"]*"'))
    .replace(/(?<= )cluster(?= )/g, () => group('cluster', '\\w+'))
    .replace(/(?<=^| )(?<!= )\d+(?:\\\.\d+)?(?= |$)/g, '([\\d.]+(?:e[+-]?\\d+)?)');
  return new RegExp(`^${source}$`);
}
