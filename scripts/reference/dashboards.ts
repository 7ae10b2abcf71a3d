import type { Dashboard, Panel, RowPanel } from '@grafana/grafana-foundation-sdk/dashboard';
import { dashboards } from '../../grafana/source/dashboards.ts';
import { labelsOf, type MetricName } from '../../prometheus/promql/metric.ts';
import { parsePromql } from '../../prometheus/promql/parse.ts';

/** grafana/README.md. */
export function dashboardsReference(): string {
  return `# Dashboards

| file | shows |
|---|---|
| \`dashboards/fleet.json\` | all stations: active alerts, what fires, refresh status, resources by type, product and state, alert coverage, capacity, changes |
| \`dashboards/station.json\` | one station in detail: active alerts, what fires, resources over time, resources without alert rules, oldest and newest resources, listing health |
| \`dashboards/resources.json\` | single resources: search, table, history |
| \`dashboards/exporter.json\` | the exporter: active alerts, scrapes, requests to the service, throttling and queues, cache, process, configuration, shards |

Import the files (*Dashboards → New → Import*), or mount \`provisioning\` at \`/etc/grafana/provisioning\` and \`dashboards\` at
\`/var/lib/grafana/dashboards\`. The provisioned data sources are Prometheus at \`http://prometheus:9090\` and Alertmanager at
\`http://alertmanager:9093\`. The dashboards are for Grafana 11, 12 and 13: the classic model with schema version 39, which later versions migrate, and
only panel types that all three have. They need the metrics, not the recording rules; the lists and annotations of alerts need \`prometheus/rules.yml\`.
All four have the tag \`telemetry-station\` and link to each other, keeping time range and variables. Their URLs (\`/d/telemetry-station-fleet\` and so
on) are stable.

- What is not known is never green: a stat without data, or whose query failed, has the color of text. A chart of problems shows the series \`none\` at 0
  while there are none, so that an empty one means no data.
- Colors have one meaning: firing is red, pending orange, inactive green; each failure reason has a color of its own.
- A stat links to what it counts.
- Replicas of one job that publish the same station are counted once. Stations scraped by two jobs are counted twice: select one in the variable *Job*.
- *Without alert rules* means the same everywhere: of stations with \`alertability\`, only alertable resources count.
- The search texts are matched literally and case-insensitively; only a backquote is not accepted.
- \`$__rate_interval\` depends on the scrape interval of the data source; the provisioned one uses \`1m\`, as \`prometheus/prometheus.yml\` does.
- A resource is firing if its state contains the word *firing*: the service documents no firing state.
- *Bytes per scrape* needs Prometheus with \`--enable-feature=extra-scrape-metrics\`.

The JSON is generated from \`source/\` by \`npm run generate\`. Metrics and labels that are not in the catalogue of \`src/metrics\` do not compile.
To customize a dashboard, save a copy under another name: the provisioned ones are read-only and replaced by updates.

## Cost

Opening a dashboard reads aggregates alone, whose number does not depend on the number of resources. Tables of single resources are in collapsed rows,
which Grafana queries when they are opened.

${OPENING_COST}

The second column of the following tables is the maximum number of series that the queries of a panel read for one station with 100,000 resources in 20 types, 5
products and 4 states; a series that is read twice counts twice. Panels above 100,000 read per-resource series, as their descriptions state. Tables are
limited to a number of rows. On two busy cores, Prometheus 2.42 took 1.5 to 4 seconds per query over 100,000 resources, and 0.5 to 1.5 seconds with a
search text.

${costTables()}
`;
}

/** Measured by test/prometheus/live/worlds.test.ts, which prints the figures. */
const OPENING_COST = `Measured with 100,000 resources of one station, six hours at a scrape per minute and a step of a minute, in Prometheus 2.42 on two cores with a
load of 15 to 20 (\`npm run test:prometheus -- worlds\` prints the figures):

| dashboard | queries on opening | evaluation, all together |
|---|---|---|
| fleet | 36 | 0.5 to 1.6 s |
| station | 29 | 0.4 to 0.9 s |
| resources | 9 | 0.02 to 0.05 s |
| exporter | 48 | 0.06 to 0.2 s |`;

interface PanelCost {
  readonly panel: string;
  readonly metrics: readonly string[];
  /** Maximum number of series that the panel's queries read. */
  readonly series: number;
}

/** What each panel of a dashboard reads for one large station. */
export function panelCosts({ panels = [] }: Dashboard): PanelCost[] {
  return panels
    .flatMap((panel) => (isPanel(panel) ? [panel] : panel.panels))
    .map(({ title = '', targets = [] }) => {
      const expressions = targets.map((target) => String((target as { readonly expr?: string }).expr));
      const selectors = expressions.flatMap((expression) => parsePromql(withoutVariables(expression)).selectors);
      const metrics = [...new Set(selectors.map(({ metric }) => metric))];
      return {
        panel: title,
        metrics,
        series: selectors.reduce((sum, { metric, matchers }) => sum + seriesOf(metric, matchers), 0),
      };
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

/** Active alerts at a time: they do not grow with the resources. */
const ACTIVE_ALERTS = 100;

/** Labels with one value per resource: they do not multiply per-resource series. */
const RESOURCE_LABELS = new Set([
  'name',
  'display_name',
  'resource_type',
  'product',
  'sku',
  'gpu_model',
  'alertable',
  'state',
  'unit',
]);

function seriesOf(metric: string, matchers: readonly { readonly label: string; readonly operator: string }[]): number {
  if (metric.startsWith('ALERTS')) return ACTIVE_ALERTS;
  const exact = new Set(matchers.filter(({ operator }) => operator === '=').map(({ label }) => label));
  const name = metric.replace(/_bucket$/, '');
  const labels = [...labelsOf(name as MetricName), ...(name === metric ? [] : ['le'])].filter(
    (label) => !exact.has(label),
  );
  const perResource = labelsOf(name as MetricName).includes('resource_id');
  const counted = perResource ? labels.filter((label) => !RESOURCE_LABELS.has(label)) : labels;
  return counted.reduce((product, label) => product * (LABEL_VALUES[label] ?? 1), 1);
}

/** Grafana variables are not valid PromQL outside strings. */
function withoutVariables(expression: string): string {
  return expression.replaceAll('$limit', '200').replaceAll('$__rate_interval', '4m').replaceAll('$__range', '6h');
}

function isPanel(panel: Panel | RowPanel): panel is Panel {
  return panel.type !== 'row';
}

function code(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
