import { Document, isMap, isSeq, Scalar, visit } from 'yaml';
import { CLUSTER, CLUSTER_LABEL, withClusterLabel } from '../promql/cluster.ts';
import { exporterAlerts } from './exporter-alerts.ts';
import {
  DEFAULT_LINKS,
  DEFAULT_PARAMETERS,
  type Links,
  OWNER_LABEL,
  type Parameters,
  PLACEHOLDER_LINKS,
} from './parameters.ts';
import { coverageRules, recordingRules } from './recording.ts';
import { resourceAlerts } from './resource-alerts.ts';
import type { AlertingRule, RecordingRule } from './rule.ts';
import { stationAlerts } from './station-alerts.ts';

export const ruleGroups = (parameters: Parameters = DEFAULT_PARAMETERS, ownerLabel = OWNER_LABEL) => [
  recordingRules(ownerLabel),
  coverageRules(ownerLabel),
  stationAlerts(parameters),
  resourceAlerts(parameters, ownerLabel),
  exporterAlerts(parameters),
];

/** prometheus/rules.yml: its links to dashboards and to the exporter are comments, because it does not know their addresses. */
export function shippedRulesFile(): string {
  const { grafana, exporter } = PLACEHOLDER_LINKS;
  const rules = rulesFile(DEFAULT_PARAMETERS, { ...DEFAULT_LINKS, grafana, exporter });
  return rules.replace(/^( *)(dashboard_url|exporter_url): /gm, '$1# $2: ').replace('\n', `\n${LINKS_HEADER}`);
}

const LINKS_HEADER = `# Alerts link to dashboards and to pages of the exporter in a copy with their addresses:
#   sed -e 's|# \\(dashboard_url: .*\\)${PLACEHOLDER_LINKS.grafana}|\\1https://grafana.example.com|' -e 's|# \\(exporter_url: .*\\)${PLACEHOLDER_LINKS.exporter}|\\1https://exporter.example.com|' prometheus/rules.yml
`;

/** The rules with links to the given addresses, and with placeholders the rules of the Helm chart. */
export function rulesFile(
  parameters: Parameters = DEFAULT_PARAMETERS,
  links: Links = DEFAULT_LINKS,
  ownerLabel = OWNER_LABEL,
  clusterLabel = CLUSTER_LABEL,
): string {
  const groups = ruleGroups(parameters, ownerLabel);
  const document = new Document({
    groups: groups.map(({ name, interval, rules }) => ({
      name,
      ...(interval && { interval }),
      rules: rules.map((rule) => ruleFields(rule, parameters, links)),
    })),
  });
  document.commentBefore = HEADER;
  commentRules(
    document,
    groups.flatMap(({ rules }) => rules.map(({ comment }) => comment)),
  );
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && node.value.includes('\n')) node.type = Scalar.BLOCK_LITERAL;
    },
  });
  return withClusterLabel(document.toString({ lineWidth: 0 }), clusterLabel);
}

const HEADER = ` Recording and alerting rules for telemetry-station-exporter; needs Prometheus 2.42 or later.
 Generated from prometheus/source by \`npm run generate\`. Runbooks: docs/runbooks.`;

function ruleFields(rule: RecordingRule | AlertingRule, parameters: Parameters, links: Links): object {
  if ('record' in rule) return { record: rule.record, expr: rule.expr };
  const { alert, expr, labels, summary, description, first, dashboard } = rule;
  const annotations = {
    summary,
    description: `${description} First: ${first}`,
    runbook_url: `${links.runbooks}/${alert}.md`,
    ...(links.grafana && { dashboard_url: dashboardUrl(links.grafana, dashboard) }),
    ...(links.exporter && { exporter_url: `${links.exporter}/${STATION_PATH}` }),
  };
  return {
    alert,
    expr,
    for: parameters[alert].for,
    labels: { severity: parameters[alert].severity, ...labels },
    annotations,
  };
}

/** The path of the exporter's page, for alerts of a station; `urlquery` writes a space as +. */
const STATION_PATH = '{{ with $labels.station }}stations/{{ . | urlquery | reReplaceAll "\\\\+" "%20" }}{{ end }}';

/** Milliseconds an hour before the evaluation, so that the link of an old notification still shows its time. */
const LINK_START = '{{ query "1000 * (time() - 3600)" | first | value | printf "%.0f" }}';

const VARIABLES: Readonly<Record<AlertingRule['dashboard'], readonly string[]>> = {
  fleet: ['cluster', 'job'],
  station: ['cluster', 'job', 'station'],
  resources: ['cluster', 'job', 'station', 'resource_id'],
  exporter: ['cluster', 'job', 'instance', 'upstream', 'station'],
};

/** With the labels that the alert has. */
function dashboardUrl(grafana: string, dashboard: AlertingRule['dashboard']): string {
  const variables = VARIABLES[dashboard].map(
    (name) => `{{ with $labels.${name === 'cluster' ? CLUSTER : name} }}&var-${name}={{ . | urlquery }}{{ end }}`,
  );
  return `${grafana}/d/telemetry-station-${dashboard}?from=${LINK_START}&to=now${variables.join('')}`;
}

function commentRules(document: Document, comments: readonly string[]): void {
  const remaining = [...comments];
  visit(document, {
    Pair: (_, { key, value }) => {
      if (!(key instanceof Scalar) || key.value !== 'rules' || !isSeq(value)) return;
      for (const rule of value.items) if (isMap(rule)) rule.commentBefore = ` ${remaining.shift()}`;
    },
  });
}
