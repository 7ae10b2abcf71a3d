import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { CLUSTER, CLUSTER_LABEL } from '../../../prometheus/promql/cluster.ts';
import { EXTERNAL_METRICS, TARGET_LABELS } from '../../../prometheus/promql/metric.ts';
import { parsePromql } from '../../../prometheus/promql/parse.ts';
import { OWNER_LABEL } from '../../../prometheus/source/parameters.ts';
import { RECORDED } from '../../../prometheus/source/recording.ts';
import { FAMILY_DESCRIPTIONS } from '../../../src/metrics/catalogue.ts';

export interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The rules of prometheus/rules.yml. */
export function shippedRules(
  text = readFileSync(new URL('../../../prometheus/rules.yml', import.meta.url), 'utf8'),
): Rule[] {
  const { groups } = parse(text) as { groups: { rules: Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** The labels of every metric of the catalogue, of Prometheus and of the recording rules. */
export function knownMetrics(): ReadonlyMap<string, ReadonlySet<string>> {
  const published = FAMILY_DESCRIPTIONS.flatMap(
    ({ name, type, labels, hasResourceLabels }): [string, readonly string[]][] =>
      type === 'histogram'
        ? [
            [`${name}_bucket`, [...labels, 'le']],
            [`${name}_sum`, labels],
            [`${name}_count`, labels],
          ]
        : [[name, hasResourceLabels ? [...labels, OWNER_LABEL] : labels]],
  );
  const metrics = new Map(
    [...published, ...Object.entries(EXTERNAL_METRICS)].map(([name, labels]) => [name, withTargetLabels(labels)]),
  );
  const optional = new URL('../../../prometheus/optional-rules.yml', import.meta.url);
  const constants = ['cluster', 'station', 'gpu_model', 'unit'];
  for (const name of [RECORDED.expected, RECORDED.price]) metrics.set(name, new Set(constants));
  for (const { record, expr } of [...shippedRules(), ...shippedRules(readFileSync(optional, 'utf8'))]) {
    if (record === undefined || metrics.has(record)) continue;
    const { selectors, addedLabels } = parsePromql(expr);
    const labels = selectors.flatMap(({ metric }) => [...(metrics.get(metric) ?? [])]);
    metrics.set(record, withTargetLabels([...labels, ...addedLabels]));
  }
  return metrics;
}

/** Syntax errors, unknown metrics and unknown labels in an expression. */
export function unknownIn(expression: string, metrics = knownMetrics()): string[] {
  const { selectors, labels, errors } = parsePromql(expression);
  const unknown = selectors.flatMap(({ metric, matchers }) => {
    const known = metrics.get(metric);
    if (known === undefined) return [`metric ${metric}`];
    return matchers.filter(({ label }) => !known.has(label)).map(({ label }) => `label ${label} of ${metric}`);
  });
  const available = new Set(selectors.flatMap(({ metric }) => [...(metrics.get(metric) ?? [])]));
  return [...errors, ...unknown, ...labels.filter((label) => !available.has(label)).map((label) => `label ${label}`)];
}

function withTargetLabels(labels: Iterable<string>): ReadonlySet<string> {
  return new Set([...labels, ...TARGET_LABELS.map((label) => (label === CLUSTER ? CLUSTER_LABEL : label))]);
}
