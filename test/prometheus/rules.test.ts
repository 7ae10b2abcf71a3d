import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { RUNBOOKS } from '../../prometheus/source/rule.ts';
import { rulesFile } from '../../prometheus/source/rules-file.ts';
import { type Rule, shippedRules } from '../grafana/known.ts';

const alerts = shippedRules().flatMap((rule): [string, Rule][] => (rule.alert === undefined ? [] : [[rule.alert, rule]]));
const RUNBOOK_FOLDER = new URL('../../docs/runbooks/', import.meta.url);

describe('rulesFile', () => {
  it('is what prometheus/rules.yml says', async () => {
    await expect(rulesFile()).toMatchFileSnapshot('../../prometheus/rules.yml');
  });
});

describe('every alert', () => {
  it.each(alerts)('waits, and says how bad it is: %s', (_, rule) => {
    expect(rule.for).toMatch(/^\d+[smhd]$/);
    expect(['critical', 'warning', 'info']).toContain(rule.labels?.['severity']);
  });

  it.each(alerts)('has a constant summary, and a description with its value: %s', (_, { annotations = {} }) => {
    expect(annotations['summary']).toMatch(/^[^{]+\.$/);
    expect(annotations['description']).toContain('{{ $value');
  });

  it.each(alerts.filter(([, { expr }]) => !expr.startsWith('absent')))(
    'names its labels in the description: %s',
    (_, { annotations = {} }) => {
      expect(annotations['description']).toContain('{{ $labels.');
    },
  );

  it.each(alerts)('has a runbook that says what it means, how to check and how to mend: %s', (name, { annotations = {} }) => {
    expect(annotations['runbook_url']).toBe(`${RUNBOOKS}/${name}.md`);
    const text = readFileSync(new URL(`${name}.md`, RUNBOOK_FOLDER), 'utf8');
    const headings = text.split('\n').filter((line) => line.startsWith('#'));
    expect(headings).toEqual([`# ${name}`, '## What it means', '## How to check', '## How to mend']);
  });

  it.each(alerts)('is tested firing, quiet, and shortly before its wait is over: %s', (name, rule) => {
    const checks = testsOf(name);
    expect(checks.some((test) => test.every(({ exp_alerts }) => exp_alerts.length === 0))).toBe(true);
    const pending = checks.flatMap((test) => {
      const fires = test.find(({ exp_alerts }) => exp_alerts.length > 0);
      const quiet = test.filter(
        ({ exp_alerts, eval_time }) => exp_alerts.length === 0 && minutes(eval_time) < minutes(fires?.eval_time ?? '0m'),
      );
      return fires ? quiet.map(({ eval_time }) => minutes(fires.eval_time) - minutes(eval_time)) : [];
    });
    expect(Math.min(...pending)).toBeLessThan(minutes(`${rule.for}`));
  });

  it('has no runbook without an alert', () => {
    const pages = readdirSync(RUNBOOK_FOLDER).filter((file) => file !== 'README.md');
    expect(pages.toSorted()).toEqual(alerts.map(([name]) => `${name}.md`).toSorted());
  });
});

interface Check {
  readonly alertname: string;
  readonly eval_time: string;
  readonly exp_alerts: readonly object[];
}

/** What promtool's tests check of an alert, test by test. */
function testsOf(alert: string): Check[][] {
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
