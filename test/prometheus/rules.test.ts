import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { RUNBOOK_URL } from '../../prometheus/source/rule.ts';
import { rulesFile } from '../../prometheus/source/rules-file.ts';
import { knownMetrics, type Rule, shippedRules, unknownIn } from '../promql/known-metrics.ts';

const alerts = shippedRules().flatMap((rule): [string, Rule][] => (rule.alert === undefined ? [] : [[rule.alert, rule]]));
const metrics = knownMetrics();
const RUNBOOK_FOLDER = new URL('../../docs/runbooks/', import.meta.url);

describe('rulesFile', () => {
  it('matches prometheus/rules.yml', async () => {
    await expect(rulesFile()).toMatchFileSnapshot('../../prometheus/rules.yml');
  });
});

describe('prometheus/rules.yml', () => {
  it.each(shippedRules().map((rule) => [rule.record ?? rule.alert, rule.expr]))('queries only known metrics and labels: %s', (_, expr) => {
    expect(unknownIn(`${expr}`, metrics)).toEqual([]);
  });

  it.each(alerts)('has no template in a summary, so that notifications can be grouped by it: %s', (_, { annotations = {} }) => {
    expect(annotations['summary']).not.toContain('{{');
  });

  it.each(alerts)('links each alert to a runbook with meaning, impact, diagnosis and resolution: %s', (name, { annotations = {} }) => {
    expect(annotations['runbook_url']).toBe(`${RUNBOOK_URL}/${name}.md`);
    const text = readFileSync(new URL(`${name}.md`, RUNBOOK_FOLDER), 'utf8');
    const headings = text.split('\n').filter((line) => line.startsWith('#'));
    expect(headings).toEqual([`# ${name}`, '## Meaning', '## Impact', '## Diagnosis', '## Resolution']);
  });

  it.each(alerts)('has unit tests of each alert firing, not firing, and pending: %s', (name, rule) => {
    const tests = unitTestsOf(name);
    expect(tests.some((checks) => checks.every(({ exp_alerts }) => exp_alerts.length === 0))).toBe(true);
    const pendingMinutes = tests.flatMap((checks) => {
      const firing = checks.find(({ exp_alerts }) => exp_alerts.length > 0);
      if (firing === undefined) return [];
      const before = checks.map(({ eval_time }) => minutes(firing.eval_time) - minutes(eval_time));
      return before.filter((difference, index) => difference > 0 && checks[index]?.exp_alerts.length === 0);
    });
    expect(Math.min(...pendingMinutes)).toBeLessThan(minutes(`${rule.for}`));
  });

  it('has an alert for every runbook', () => {
    const runbooks = readdirSync(RUNBOOK_FOLDER).filter((file) => file !== 'README.md');
    expect(runbooks.toSorted()).toEqual(alerts.map(([name]) => `${name}.md`).toSorted());
  });
});

interface Check {
  readonly alertname: string;
  readonly eval_time: string;
  readonly exp_alerts: readonly object[];
}

/** The promtool unit tests that check an alert. */
function unitTestsOf(alert: string): Check[][] {
  const folder = new URL('../../prometheus/tests/', import.meta.url);
  const files = readdirSync(folder).map(
    (file) => parse(readFileSync(new URL(file, folder), 'utf8')) as { tests: { alert_rule_test?: Check[] }[] },
  );
  const tests = files.flatMap(({ tests }) => tests.map(({ alert_rule_test = [] }) => alert_rule_test));
  return tests.map((checks) => checks.filter(({ alertname }) => alertname === alert)).filter((checks) => checks.length > 0);
}

function minutes(duration: string): number {
  const units: Readonly<Record<string, number>> = { m: 1, h: 60, d: 1440 };
  return [...duration.matchAll(/(\d+)([mhd])/g)].reduce((sum, [, count, unit]) => sum + Number(count) * (units[`${unit}`] ?? 0), 0);
}
