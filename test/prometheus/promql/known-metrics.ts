import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { CLUSTER, CLUSTER_LABEL } from '../../../prometheus/promql/cluster.ts';
import { EXTERNAL_METRICS, TARGET_LABELS } from '../../../prometheus/promql/metric.ts';
import { parsePromql } from '../../../prometheus/promql/parse.ts';
import { RECORDED } from '../../../prometheus/source/recording.ts';
import { FAMILY_DESCRIPTIONS } from '../../../src/metrics/catalogue.ts';

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly keep_firing_for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook_url: string };
}

/** The groups of prometheus/rules.yml. */
export function shippedGroups(): { readonly name: string; readonly rules: readonly Alert[] }[] {
  return parse(readFileSync(new URL('../../../prometheus/rules.yml', import.meta.url), 'utf8')).groups;
}

/** The label that examples give stations and resources for routing. */
const CONFIGURED_LABEL = 'team';

/** The labels of every metric of the catalogue and of Prometheus. */
export function knownMetrics(): ReadonlyMap<string, ReadonlySet<string>> {
  const published = FAMILY_DESCRIPTIONS.flatMap(
    ({ name, type, labels, hasResourceLabels, hasStationLabels }): [string, readonly string[]][] =>
      type === 'histogram'
        ? [
            [`${name}_bucket`, [...labels, 'le']],
            [`${name}_sum`, labels],
            [`${name}_count`, labels],
          ]
        : [[name, hasResourceLabels || hasStationLabels ? [...labels, CONFIGURED_LABEL] : labels]],
  );
  const recorded = Object.values(RECORDED).map((name): [string, string[]] => [
    name,
    ['station', 'resource_type', 'alert_state', 'gpu_model', 'unit', CONFIGURED_LABEL],
  ]);
  return new Map(
    [...published, ...recorded, ...Object.entries(EXTERNAL_METRICS)].map(([name, labels]) => [
      name,
      withTargetLabels(labels),
    ]),
  );
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
  return new Set([...labels, 'pod', ...TARGET_LABELS.map((label) => (label === CLUSTER ? CLUSTER_LABEL : label))]);
}
