import { RUNBOOK_URL } from '../../prometheus/source/rule.ts';
import { ruleGroups } from '../../prometheus/source/rules-file.ts';

/** docs/runbooks/README.md. */
export function runbookIndex(): string {
  const alerts = ruleGroups.flatMap(({ rules }) => rules.flatMap((rule) => ('alert' in rule ? [rule] : [])));
  const rows = alerts.map((rule) => `| [${rule.alert}](${rule.alert}.md) | ${rule.severity} | ${rule.for} | ${rule.summary} |`);
  return `# Runbooks

One page per alert of \`prometheus/rules.yml\`: meaning, impact, diagnosis, resolution. In the queries, replace \`STATION\`, \`TYPE\` and \`UNIT\` with the labels of the alert.

| alert | severity | for | summary |
|---|---|---|---|
${rows.join('\n')}

To host the runbooks elsewhere, replace the base of \`runbook_url\` in your copy of the rules:

\`\`\`sh
sed -i 's|${RUNBOOK_URL}|https://wiki.example.com/runbooks|' rules.yml
\`\`\`
`;
}
