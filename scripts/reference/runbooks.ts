import { parse } from 'yaml';
import { rulesFile } from '../../prometheus/source/rules-file.ts';
import { THRESHOLDS } from '../../src/status/thresholds.ts';

const START = '<!-- Generated from prometheus/source by `npm run generate`; do not edit. -->';
const END = '<!-- End of generated table. -->';

interface Alert {
  readonly alert: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

interface RecordingRule {
  readonly record: string;
}

/** Replaces the generated table of alerts in the page. */
export function withAlertTable(page: string): string {
  const [before, rest = ''] = page.split(START);
  const [, after = ''] = rest.split(END);
  return `${before}${START}\n\n${alertTable()}\n\n${END}${after}`;
}

function alertTable(): string {
  const { groups } = parse(rulesFile()) as { groups: { rules: (Alert | RecordingRule)[] }[] };
  const thresholds: Readonly<Record<string, Readonly<Record<string, number>>>> = THRESHOLDS;
  const alerts = groups.flatMap(({ rules }) => rules).filter((rule): rule is Alert => 'alert' in rule);
  const hasBothSeverities = (name: string) => alerts.filter(({ alert }) => alert === name).length > 1;
  const rows = alerts.map(({ alert, for: pending = '–', labels, annotations }) => {
    const values = Object.entries(thresholds[alert] ?? {})
      .filter(([name]) => !hasBothSeverities(alert) || name.startsWith('critical') === (labels.severity === 'critical'))
      .map(([name, value]) => `${name} ${value}`);
    return `| [${alert}](${alert}.md) | ${labels.severity} | ${pending} | ${values.join(', ') || '–'} | ${annotations.summary} |`;
  });
  return ['| alert | severity | for | threshold | summary |', '|---|---|---|---|---|', ...rows].join('\n');
}
