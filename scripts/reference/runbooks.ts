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

One page per alert of \`prometheus/rules.yml\`: meaning, impact, diagnosis, resolution. In the queries, replace \`STATION\`, \`TYPE\`, \`UPSTREAM\` and \`INSTANCE\` with the labels of the alert.

| alert | severity | for | threshold | summary |
|---|---|---|---|---|
${rows.join('\n')}

| severity | meaning | notification |
|---|---|---|
| critical | data is missing or wrong now, or many resources fail at once | page the on-call engineer |
| warning | data is late or incomplete, or becomes so without action | during working hours, or at once for a single firing resource, as your team handles those |
| info | alert coverage could be better | a report or a ticket |

Each alert has a \`runbook_url\`. The rules of the Helm chart also have a \`dashboard_url\` with the alert's labels and time, and an \`exporter_url\` of the station's page, where \`prometheusRule.grafanaUrl\` and \`web.externalUrl\` are set.

The Helm chart sets \`for\`, \`severity\` and the thresholds by \`prometheusRule.alerts\`, and the base of
\`runbook_url\` by \`prometheusRule.runbookUrl\`. Elsewhere edit your copy of the rules.

Alerts about resources, and about types without alert rules, have the label \`${OWNER_LABEL}\` where [\`resource_labels\`](../configuration.md) sets it, so that Alertmanager can route them
to their owners. The Helm chart takes another label from \`prometheusRule.ownerLabel\`; elsewhere replace \`${OWNER_LABEL}\` in your copy of the rules. An alert of a resource
without an owner has no such label:

\`\`\`yaml
route:
  receiver: platform # stations, exporters, and resources without an owner
  group_by: [alertname, job, station]
  routes:
    - matchers: [${OWNER_LABEL} = storage]
      receiver: storage
    - matchers: [${OWNER_LABEL} != ""] # all other owners, one notification each
      receiver: owners
      group_by: [alertname, ${OWNER_LABEL}]
\`\`\`

One cause, one notification: \`deploy/compose/alertmanager.yml\` inhibits the alerts that another one explains.
`;
}
