import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { FOREIGN_METRICS } from '../../grafana/source/metric.ts';
import { readPromql } from '../../scripts/grafana/promql.ts';
import { FAMILY_DESCRIPTIONS } from '../../src/metrics/catalogue.ts';

export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The rules as operators get them. */
export function shippedRules(): Rule[] {
  const { groups } = parse(readFileSync(new URL('../../prometheus/rules.yml', import.meta.url), 'utf8')) as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** The labels of every metric that there is, those of its target among them. */
export function knownMetrics(): ReadonlyMap<string, ReadonlySet<string>> {
  const published = FAMILY_DESCRIPTIONS.flatMap(({ name, type, labels }): [string, readonly string[]][] =>
    type === 'histogram'
      ? [
          [`${name}_bucket`, [...labels, 'le']],
          [`${name}_sum`, labels],
          [`${name}_count`, labels],
        ]
      : [[name, labels]],
  );
  const metrics = new Map([...published, ...Object.entries(FOREIGN_METRICS)].map(([name, labels]) => [name, withTarget(labels)]));
  for (const { record, expr } of shippedRules()) {
    if (record === undefined) continue;
    const read = readPromql(expr).selections.flatMap(({ metric }) => [...(metrics.get(metric) ?? [])]);
    metrics.set(record, withTarget(read));
  }
  return metrics;
}

/** What an expression names and there is not; nothing when all is well. */
export function unknownIn(expression: string, metrics = knownMetrics()): string[] {
  const { selections, labels, errors } = readPromql(expression);
  const unknown = selections.flatMap(({ metric, matchers }) => {
    const carried = metrics.get(metric);
    if (carried === undefined) return [`metric ${metric}`];
    return matchers.filter(({ label }) => !carried.has(label)).map(({ label }) => `label ${label} of ${metric}`);
  });
  const within = new Set(selections.flatMap(({ metric }) => [...(metrics.get(metric) ?? [])]));
  return [...errors, ...unknown, ...labels.filter((label) => !within.has(label)).map((label) => `label ${label}`)];
}

function withTarget(labels: Iterable<string>): ReadonlySet<string> {
  return new Set([...labels, 'job', 'instance']);
}
