import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CLUSTER_LABEL } from '../../prometheus/promql/cluster.ts';
import { parsePromql } from '../../prometheus/promql/parse.ts';
import { labelValuesOf, panelsOf, parsable, shippedDashboards } from '../grafana/shipped-dashboards.ts';
import { shippedRules } from './promql/known-metrics.ts';

/** Of the optional rules: prices are those of every cluster, and a resource may be monitored from another cluster than that of the exporter. */
const OF_ALL_CLUSTERS = ['gpu_model, unit', 'monitored'];

const optionalFile = new URL('../../prometheus/optional-rules.yml', import.meta.url);
const optionalRules = shippedRules(readFileSync(optionalFile, 'utf8')).map((rule): [string, string] => [
  `optional: ${rule.record}`,
  rule.expr,
]);

const rules = shippedRules().map((rule): [name: string, expr: string] => [`${rule.record ?? rule.alert}`, rule.expr]);

/** The queries of the texts of all alerts, with matchers in place of what the templates insert. */
const templates = shippedRules().flatMap(({ alert, labels = {}, annotations = {} }) =>
  [...Object.values(labels), ...Object.values(annotations)].flatMap((text) =>
    [...text.matchAll(/query \(printf `([^`]*)`/g)].map(([, format = '']): [string, string] => [
      `${alert}: ${format}`,
      format.replaceAll(/%\[\d\]q/g, '""'),
    ]),
  ),
);

const dashboardQueries = shippedDashboards().flatMap(([file, dashboard]) => [
  ...panelsOf(dashboard).flatMap(({ title, targets = [] }) =>
    targets.map(({ refId, expr }): [string, string] => [`${file}: ${title} ${refId}`, expr]),
  ),
  ...dashboard.annotations.list.flatMap(({ name, expr }): [string, string][] =>
    expr === undefined ? [] : [[`${file}: ${name}`, expr]],
  ),
  ...dashboard.templating.list
    .filter(({ type }) => type === 'query')
    .map((variable): [string, string] => [`${file}: variable ${variable.name}`, labelValuesOf(variable).selector]),
]);

/** They keep the labels of the series that they select. */
const SELECTING = ['topk', 'bottomk'];

/** Aggregations and joins in which series of two clusters meet. */
function acrossClusters(expression: string): string[] {
  const { groupings, errors } = parsePromql(parsable(expression));
  const found = groupings.filter(({ operator, clause, labels }) => {
    if (OF_ALL_CLUSTERS.includes(labels.join(', '))) return false;
    if (clause === 'none') return !SELECTING.includes(operator);
    const names = clause === 'by' || clause === 'on';
    return labels.includes(CLUSTER_LABEL) !== names;
  });
  return [...errors, ...found.map(({ operator, clause, labels }) => `${operator} ${clause} (${labels.join(', ')})`)];
}

describe('acrossClusters', () => {
  it.each([
    'sum(x)',
    'max without (cluster) (x)',
    'x and on (job) y',
    'x and ignoring (cluster) y',
    'sum by (cluster, job) (max by (job) (x))',
    'sum by (cluster) (x',
  ])('finds %s', (expression) => {
    expect(acrossClusters(expression)).toHaveLength(1);
  });
});

describe('rules and dashboards', () => {
  it.each([...rules, ...optionalRules, ...dashboardQueries])(
    'keep the cluster in every aggregation and join: %s',
    (_, expression) => {
      expect(acrossClusters(expression)).toEqual([]);
    },
  );

  it.each(templates)('query the cluster of the alert in its texts: %s', (_, expression) => {
    const { selectors, errors } = parsePromql(expression);
    expect(errors).toEqual([]);
    expect(selectors.filter(({ matchers }) => !matchers.some(({ label }) => label === CLUSTER_LABEL))).toEqual([]);
  });

  it.each(dashboardQueries.filter(([name]) => !name.endsWith('variable cluster')))(
    'select the clusters of the variable, which may be empty: %s',
    (_, expression) => {
      const { selectors } = parsePromql(parsable(expression));
      const values = selectors.map(({ matchers }) => matchers.find(({ label }) => label === CLUSTER_LABEL)?.value);
      expect(values.filter((value) => value !== '$cluster' && value !== '$cluster|')).toEqual([]);
    },
  );

  it.each(shippedDashboards())('have a variable whose "All" includes series without a cluster: %s', (_, dashboard) => {
    const [, variable] = dashboard.templating.list;
    expect(variable).toMatchObject({ name: 'cluster', includeAll: true, allValue: '.*' });
  });
});
