import { Document, isMap, isSeq, Scalar, visit } from 'yaml';
import { exporterAlerts } from './exporter-alerts.ts';
import { recordingRules } from './recording.ts';
import { resourceAlerts } from './resource-alerts.ts';
import { type AlertingRule, type RecordingRule, RUNBOOK_URL } from './rule.ts';
import { stationAlerts } from './station-alerts.ts';

export const ruleGroups = [recordingRules, stationAlerts, resourceAlerts, exporterAlerts];

/** prometheus/rules.yml. */
export function rulesFile(): string {
  const groups = ruleGroups.map(({ name, rules }) => ({ name, rules: rules.map(ruleFields) }));
  const document = new Document({ groups });
  document.commentBefore = HEADER;
  commentRules(
    document,
    ruleGroups.flatMap(({ rules }) => rules.map(({ comment }) => comment)),
  );
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && node.value.includes('\n')) node.type = Scalar.BLOCK_LITERAL;
    },
  });
  return document.toString({ lineWidth: 0 });
}

const HEADER = ` Recording and alerting rules for telemetry-station-exporter; needs Prometheus 2.42 or later.
 Generated from prometheus/source by \`npm run generate\`. Runbooks: docs/runbooks.`;

function ruleFields(rule: RecordingRule | AlertingRule): object {
  if ('record' in rule) return { record: rule.record, expr: rule.expr };
  const { alert, expr, severity, summary, description } = rule;
  const annotations = { summary, description, runbook_url: `${RUNBOOK_URL}/${alert}.md` };
  return { alert, expr, for: rule.for, labels: { severity }, annotations };
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
