import { readFileSync } from 'node:fs';
import { THRESHOLDS } from '../../src/status/thresholds.ts';
import parameters from './parameters.json' with { type: 'json' };

/** prometheus/rules.yml: the template with the default parameters. The Helm chart and the mixin replace the same placeholders with other values. */
export function rulesFile(): string {
  const values = placeholderValues();
  const rules = RULES_TEMPLATE.replace(/<<([\w.]+)>>/g, (_, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`rules.tpl.yml: no parameter ${name}`);
    return value;
  });
  return `${HEADER}${rules}`;
}

/** Of the Helm chart too, which has a copy of it. */
export const RULES_TEMPLATE = readFileSync(new URL('rules.tpl.yml', import.meta.url), 'utf8');

/** parameters.json or the values of the Helm chart, with the thresholds in their lines: one for each alert that has any. */
export function withThresholds(text: string): string {
  return text.replace(
    /^( {4}("?)(TelemetryStation\w+)"?: )\{.*\}/gm,
    (line, start: string, quote: string, alert: string) => {
      const thresholds = new Map<string, object>(Object.entries(THRESHOLDS)).get(alert);
      if (thresholds === undefined) throw new Error(`${line.trim()}: the alert has no threshold`);
      const entries = Object.entries(thresholds).map(([name, value]) => `${quote}${name}${quote}: ${value}`);
      return `${start}{ ${entries.join(', ')} }`;
    },
  );
}

const HEADER = `# Alerting rules for telemetry-station-exporter; needs Prometheus 2.42 or later.
# Generated from prometheus/source/rules.tpl.yml by \`npm run generate\`. docs/runbooks/README.md describes how to adjust a copy.
`;

function placeholderValues(): ReadonlyMap<string, string> {
  const { job, clusterLabel, runbookUrl } = parameters;
  const thresholds = Object.entries(THRESHOLDS).flatMap(([alert, values]) =>
    Object.entries(values).map(([name, value]): [string, string] => [`${alert}.${name}`, `${value}`]),
  );
  return new Map([
    ['selector', `job="${job}"`],
    ['clusterLabel', clusterLabel],
    ['runbookUrl', runbookUrl],
    ...thresholds,
  ]);
}
