import type { Dashboard, Panel, RowPanel } from '@grafana/grafana-foundation-sdk/dashboard';
import { dashboards } from '../../grafana/source/dashboards.ts';
import { labelsOf, type MetricName } from '../../promql/metric.ts';
import { parsePromql } from '../../promql/parse.ts';

/** grafana/README.md. */
export function dashboardsReference(): string {
  return `# Dashboards

| file | shows |
|---|---|
| \`dashboards/fleet.json\` | all stations: refresh status, resources by type, product and state, alert coverage, capacity, changes |
| \`dashboards/station.json\` | one station in detail: resources over time, resources without alert rules, oldest and newest resources, listing health |
| \`dashboards/resources.json\` | single resources: search, table, history |
| \`dashboards/exporter.json\` | the exporter: scrapes, requests to the service, cache, process, configuration, shards |

Import the files (*Dashboards → New → Import*), or mount \`provisioning\` at \`/etc/grafana/provisioning\` and \`dashboards\` at
\`/var/lib/grafana/dashboards\`. The provisioned data sources are Prometheus at \`http://prometheus:9090\` and Alertmanager at
\`http://alertmanager:9093\`. The dashboards need Grafana 12 (classic model, schema version 42) and only the metrics, not the recording rules. All four
have the tag \`telemetry-station\` and link to each other, keeping time range and variables. Their URLs (\`/d/telemetry-station-fleet\` and so on) are
stable.

- Replicas of one job that publish the same station are counted once. Stations scraped by two jobs are counted twice: select one in the variable *Job*.
- \`$__rate_interval\` depends on the scrape interval of the data source; the provisioned one uses \`1m\`, as \`prometheus/prometheus.yml\` does.
- A resource is firing if its state contains the word *firing*: the service documents no firing state.
- *Bytes per scrape* needs Prometheus with \`--enable-feature=extra-scrape-metrics\`.

The JSON is generated from \`source/\` by \`npm run generate\`. Metrics and labels that are not in the catalogue of \`src/metrics\` do not compile.
To customize a dashboard, save a copy under another name: the provisioned ones are read-only and replaced by updates.

## Panel cost

The maximum number of series that the queries of a panel read for one station with 100,000 resources in 20 types, 5 products and 4 states; a series that is
read twice counts twice. Panels above 100,000 read per-resource series, as their descriptions state. All others read aggregates, whose number does not depend
on the number of resources. Tables are limited to a number of rows. On two busy cores, Prometheus 2.42 took 1.5 to 4 seconds per query over 100,000
resources, and 0.5 to 1.5 seconds with a search filter.

${costTables()}
`;
}

interface PanelCost {
  readonly panel: string;
  readonly metrics: readonly string[];
  /** Maximum number of series that the panel's queries read. */
  readonly series: number;
}

/** What each panel of a dashboard reads for one large station. */
export function panelCosts({ panels = [] }: Dashboard): PanelCost[] {
  return panels.filter(isPanel).map(({ title = '', targets = [] }) => {
    const expressions = targets.map((target) => String((target as { readonly expr?: string }).expr));
    const selectors = expressions.flatMap((expression) => parsePromql(withoutVariables(expression)).selectors);
    const metrics = [...new Set(selectors.map(({ metric }) => metric))];
    return { panel: title, metrics, series: selectors.reduce((sum, { metric, matchers }) => sum + seriesOf(metric, matchers), 0) };
  });
}

function costTables(): string {
  return Object.values(dashboards)
    .map((dashboard) => {
      const rows = panelCosts(dashboard).map(
        ({ panel, metrics, series }) => `| ${panel} | ${series.toLocaleString('en')} | ${code(metrics)} |`,
      );
      return [`### ${dashboard.title}`, '', '| panel | series | metrics |', '|---|---|---|', ...rows].join('\n');
    })
    .join('\n\n');
}

/** Number of values per label of a large but realistic station. */
const LABEL_VALUES: Readonly<Record<string, number>> = {
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

/** Labels with one value per resource: they do not multiply per-resource series. */
const RESOURCE_LABELS = new Set(['name', 'display_name', 'resource_type', 'product', 'sku', 'gpu_model', 'alertable', 'state', 'unit']);

function seriesOf(metric: string, matchers: readonly { readonly label: string; readonly operator: string }[]): number {
  const exact = new Set(matchers.filter(({ operator }) => operator === '=').map(({ label }) => label));
  const name = metric.replace(/_bucket$/, '');
  const labels = [...labelsOf(name as MetricName), ...(name === metric ? [] : ['le'])].filter((label) => !exact.has(label));
  const perResource = labelsOf(name as MetricName).includes('resource_id');
  const counted = perResource ? labels.filter((label) => !RESOURCE_LABELS.has(label)) : labels;
  return counted.reduce((product, label) => product * (LABEL_VALUES[label] ?? 1), 1);
}

/** Grafana variables are not valid PromQL outside strings. */
function withoutVariables(expression: string): string {
  return expression.replace('$limit', '200').replaceAll('$__rate_interval', '4m').replaceAll('$__range', '6h');
}

function isPanel(panel: Panel | RowPanel): panel is Panel {
  return panel.type !== 'row';
}

function code(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
