import type { Dashboard, Panel, RowPanel } from '@grafana/grafana-foundation-sdk/dashboard';
import { dashboards } from '../../grafana/source/dashboards.ts';
import { labelsOf, type MetricName } from '../../grafana/source/metric.ts';
import { readPromql } from './promql.ts';

/** One station of a size that is large but real: how many values each label has there. */
const SIZES: Readonly<Record<string, number>> = {
  resource_id: 100_000,
  resource_type: 20,
  product: 5,
  state: 4,
  gpu_model: 5,
  unit: 4,
  reason: 10,
  field: 9,
  le: 11,
  kind: 3,
};

/** What is the same for all series that share the id of a resource. */
const OF_A_RESOURCE = new Set(['name', 'display_name', 'resource_type', 'product', 'sku', 'gpu_model', 'alertable', 'state', 'unit']);

export interface Cost {
  readonly panel: string;
  readonly metrics: readonly string[];
  /** The most series that the panel's queries read, each counted as often as it is read. */
  readonly series: number;
}

/** What the panels of a dashboard read for one such station. */
export function costsOf({ panels = [] }: Dashboard): Cost[] {
  return panels.filter(isPanel).map(({ title = '', targets = [] }) => {
    const expressions = targets.map((target) => String((target as { readonly expr?: string }).expr));
    const selections = expressions.flatMap((expression) => readPromql(plain(expression)).selections);
    const metrics = [...new Set(selections.map(({ metric }) => metric))];
    return { panel: title, metrics, series: selections.reduce((sum, { metric, matchers }) => sum + seriesOf(metric, matchers), 0) };
  });
}

/** The tables for grafana/README.md, dashboard by dashboard. */
export function costTables(): string {
  return Object.values(dashboards)
    .map((dashboard) => {
      const rows = costsOf(dashboard).map(
        ({ panel, metrics, series }) => `| ${panel} | ${series.toLocaleString('en')} | ${code(metrics)} |`,
      );
      return [`### ${dashboard.title}`, '', '| panel | series | of |', '|---|---|---|', ...rows].join('\n');
    })
    .join('\n\n');
}

function seriesOf(metric: string, matchers: readonly { readonly label: string; readonly operator: string }[]): number {
  const exact = new Set(matchers.filter(({ operator }) => operator === '=').map(({ label }) => label));
  const name = metric.replace(/_bucket$/, '');
  const labels = [...labelsOf(name as MetricName), ...(name === metric ? [] : ['le'])].filter((label) => !exact.has(label));
  const perResource = labelsOf(name as MetricName).includes('resource_id');
  const counted = perResource ? labels.filter((label) => !OF_A_RESOURCE.has(label)) : labels;
  return counted.reduce((product, label) => product * (SIZES[label] ?? 1), 1);
}

/** What is no part of PromQL, filled in. */
function plain(expression: string): string {
  return expression.replace('$limit', '200').replaceAll('$__rate_interval', '4m').replaceAll('$__range', '6h');
}

function isPanel(panel: Panel | RowPanel): panel is Panel {
  return panel.type !== 'row';
}

function code(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
