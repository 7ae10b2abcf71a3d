import { CLUSTER_LABEL } from '../../prometheus/promql/cluster.ts';
import { DEFAULT_PARAMETERS, OWNER_LABEL } from '../../prometheus/source/parameters.ts';
import { ruleGroups } from '../../prometheus/source/rules-file.ts';

/** docs/runbooks/README.md. */
export function runbookIndex(): string {
  const alerts = ruleGroups().flatMap(({ rules }) => rules.flatMap((rule) => ('alert' in rule ? [rule] : [])));
  const rows = alerts.map(({ alert, summary }) => {
    const { for: duration, severity, ...thresholds } = DEFAULT_PARAMETERS[alert];
    const threshold = Object.entries(thresholds).map(([name, value]) => `${name} ${value}`);
    return `| [${alert}](${alert}.md) | ${severity} | ${duration} | ${threshold.join(', ') || '–'} | ${summary} |`;
  });
  return `# Runbooks

One page per alert of \`prometheus/rules.yml\`: meaning, impact, diagnosis, resolution. In the queries, replace \`STATION\`, \`TYPE\`, \`UPSTREAM\` and \`INSTANCE\` with the labels of the alert; with several clusters, add the label \`${CLUSTER_LABEL}\` to the selectors.

| alert | severity | for | threshold | summary |
|---|---|---|---|---|
${rows.join('\n')}

| severity | meaning | notification |
|---|---|---|
| critical | data is missing or wrong now, or many resources fail at once | page the on-call engineer |
| warning | data is late or incomplete, or a single resource fires | during working hours; a single firing resource as your team handles those |
| info | alert coverage could be better | a report or a ticket |

Each alert has a \`runbook_url\`. In the Helm chart, \`prometheusRule.grafanaUrl\` adds a \`dashboard_url\` with the alert's labels and time, and \`web.externalUrl\` an \`exporter_url\` of the station's page;
\`prometheusRule.alerts\` sets \`for\`, \`severity\` and thresholds, \`prometheusRule.runbookUrl\` the base of \`runbook_url\`. The mixin has the same parameters. In \`prometheus/rules.yml\` both links
are comments: the command in its first lines writes a copy with your addresses; edit the rest in that copy.

Alerts about resources, and about types without alert rules, have the label \`${OWNER_LABEL}\` where [\`resource_labels\`](../configuration.md) sets it, so that Alertmanager can route them
to their owners. Each owner who lost more than half of the threshold of lost resources or lost capacity gets its own alert. Many firing resources of a station have an owner if all its resources had the same when the alert began; its text names the
owners with the most. If the operators of the exporter want these alerts too, give the route of the owners \`continue: true\`. Another label: \`prometheusRule.ownerLabel\` of the Helm chart, or replace \`${OWNER_LABEL}\` in your copy of the rules.

\`\`\`yaml
route:
  receiver: platform # stations, exporters, and resources without an owner, whose alerts do not have the label
  group_by: [alertname, ${CLUSTER_LABEL}, job, station]
  routes:
    - matchers: [${OWNER_LABEL} = storage]
      receiver: storage
    - matchers: [${OWNER_LABEL} != ""] # all other owners, one notification each
      receiver: owners
      group_by: [alertname, ${OWNER_LABEL}]
\`\`\`

Alerts keep the label \`${CLUSTER_LABEL}\` of their series, as do all recording rules and dashboards: clusters whose jobs and stations have the same names are never added up or compared. Without the label
they work as for one cluster. If it has another name, set \`clusterLabel\` of the Helm chart or the mixin, or replace it in your copy of the rules.

\`deploy/compose/alertmanager.yml\` inhibits the alerts that another one explains.

## Optional rules

Three kinds of rules need values of the Helm chart (\`prometheusRule.monitoredBy\` and so on) or the same parameters of the mixin; without values there are none. \`prometheus/optional-rules.yml\` has an example of each.

- \`monitoredBy\`: how Prometheus knows the resources of a type. Resources of the last complete listing that no target knows are counted by owner; stations without per-resource series are not included. The types of two entries must not overlap. Targets of the cluster of the exporter count, with \`anyCluster: true\` those of all clusters.
- \`expectedQuantities\`: the capacity that each station should have, by GPU model and unit; without a GPU model, of what has none. A station that no exporter publishes has neither an alert nor a row.
- \`prices\`: the price of a unit per hour, for the cost per hour by owner. Quantities without a price are not included.

An alert is left out with \`enabled: false\` among its values.

## Comparable listings

Alerts on lost capacity and on new resources without alert rules compare only listings that are verified complete, or that miss nothing but rejected records whose number has not changed for six hours.
`;
}
