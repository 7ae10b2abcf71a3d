import { RUNBOOKS } from './rule.ts';
import { ruleGroups } from './rules-file.ts';

/** docs/runbooks/README.md, made from the alerts. */
export function runbookIndex(): string {
  const alerts = ruleGroups.flatMap(({ rules }) => rules.flatMap((rule) => ('alert' in rule ? [rule] : [])));
  const rows = alerts.map(({ alert, severity, for: wait, summary }) => `| [${alert}](${alert}.md) | ${severity} | ${wait} | ${summary} |`);
  return `# Runbooks

One page for each alert of \`prometheus/rules.yml\`: what it means, how to check, how to mend. In the queries, put the alert's own labels in place of \`STATION\`, \`TYPE\` and \`UNIT\`.

| alert | severity | waits | says |
|---|---|---|---|
${rows.join('\n')}

The \`runbook_url\` of all alerts begins with one address. To keep the pages elsewhere, replace it in your copy of the rules:

\`\`\`sh
sed -i 's|${RUNBOOKS}|https://wiki.example.com/runbooks|' rules.yml
\`\`\`
`;
}
