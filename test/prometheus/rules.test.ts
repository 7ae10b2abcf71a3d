import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CLUSTER, CLUSTER_LABEL } from '../../prometheus/promql/cluster.ts';
import { parsePromql } from '../../prometheus/promql/parse.ts';
import {
  DEFAULT_PARAMETERS,
  OWNER_LABEL,
  OWNER_PLACEHOLDER,
  PLACEHOLDER_LINKS,
  PLACEHOLDERS,
  RUNBOOK_URL,
} from '../../prometheus/source/parameters.ts';
import { rulesFile, shippedRulesFile } from '../../prometheus/source/rules-file.ts';
import { expressionsOf, panelsOf, shippedDashboards } from '../grafana/shipped-dashboards.ts';
import { knownMetrics, type Rule, shippedRules, unknownIn } from './promql/known-metrics.ts';

const LINKED = { runbooks: RUNBOOK_URL, grafana: 'https://grafana', exporter: 'https://exporter' };
const alerts = shippedRules(rulesFile(DEFAULT_PARAMETERS, LINKED)).flatMap((rule): [string, Rule][] =>
  rule.alert === undefined ? [] : [[rule.alert, rule]],
);
const metrics = knownMetrics();
const CHART = '../../deploy/helm/telemetry-station-exporter';
const CHART_RULES = rulesFile(PLACEHOLDERS, PLACEHOLDER_LINKS, OWNER_PLACEHOLDER, CLUSTER);

describe('shippedRulesFile', () => {
  it('matches prometheus/rules.yml', async () => {
    await expect(shippedRulesFile()).toMatchFileSnapshot('../../prometheus/rules.yml');
  });

  it('has alerts without empty or broken links', () => {
    expect(parse(shippedRulesFile())).toEqual(parse(rulesFile()));
  });

  it('links alerts to dashboards and to the exporter with the command in its first lines', () => {
    const [, command = ''] = /^# {3}(sed .*) prometheus\/rules\.yml$/m.exec(shippedRulesFile()) ?? [];
    const linked = execFileSync('sh', ['-c', command], { input: shippedRulesFile(), encoding: 'utf8' });
    const links = { grafana: 'https://grafana.example.com', exporter: 'https://exporter.example.com' };
    expect(parse(linked)).toEqual(parse(rulesFile(DEFAULT_PARAMETERS, { runbooks: RUNBOOK_URL, ...links })));
  });
});

describe('the rules of the Helm chart', () => {
  it('match rules.tpl.yml, with a placeholder for each value', async () => {
    await expect(CHART_RULES).toMatchFileSnapshot(`${CHART}/files/rules.tpl.yml`);
  });

  it('are those of prometheus/rules.yml with the default values', () => {
    const { prometheusRule: values, clusterLabel } = parse(
      readFileSync(new URL(`${CHART}/values.yaml`, import.meta.url), 'utf8'),
    );
    const { TelemetryStationScrapeSlow: slow, ...parameters } = values.alerts;
    const { TelemetryStationScrapeSlow: defaultSlow, ...defaults } = DEFAULT_PARAMETERS;
    expect(parameters).toEqual(defaults);
    expect(slow).toEqual({ ...defaultSlow, seconds: null });
    expect([values.runbookUrl, values.grafanaUrl, values.ownerLabel]).toEqual([RUNBOOK_URL, '', OWNER_LABEL]);
    expect(clusterLabel).toBe(CLUSTER_LABEL);
  });

  it('have a placeholder for each value, and no other', () => {
    const placeholders = new Set([...CHART_RULES.matchAll(/<<[^>]*>>/g)].map(([text]) => text));
    const values = Object.entries(DEFAULT_PARAMETERS).flatMap(([alert, keys]) =>
      Object.keys(keys).map((key) => `<<${alert}.${key}>>`),
    );
    expect(placeholders).toEqual(new Set([...values, ...Object.values(PLACEHOLDER_LINKS), OWNER_PLACEHOLDER, CLUSTER]));
  });
});

describe('prometheus/rules.yml', () => {
  it.each(shippedRules().map((rule) => [rule.record ?? rule.alert, rule.expr]))(
    'queries only known metrics and labels: %s',
    (_, expr) => {
      expect(unknownIn(`${expr}`, metrics)).toEqual([]);
    },
  );

  it.each(alerts)(
    'links each alert to a dashboard with station and time, and to the exporter: %s',
    (_, { annotations = {} }) => {
      const { pathname, searchParams } = new URL(
        `${annotations['dashboard_url']}`.replace(/\{\{ with .*?\}\}|\{\{ end \}\}/g, ''),
      );
      expect(shippedDashboards().map(([, { uid }]) => `/d/${uid}`)).toContain(pathname);
      expect(searchParams.get('from')).toContain('time()');
      expect(searchParams.get('to')).toBe('now');
      expect(searchParams.get('var-station') ?? searchParams.get('var-job')).toBeTruthy();
      expect(annotations['exporter_url']).toMatch(/^https:\/\/exporter\/\{\{ with \$labels\.station \}\}stations\//);
    },
  );

  it('links each alert to its runbook, and has an alert for every runbook', () => {
    const runbooks = readdirSync(new URL('../../docs/runbooks/', import.meta.url)).filter(
      (file) => file !== 'README.md',
    );
    expect(runbooks.toSorted()).toEqual(alerts.map(([name]) => `${name}.md`).toSorted());
    const linked = alerts.map(([, { annotations }]) => annotations?.['runbook_url']);
    expect(linked).toEqual(alerts.map(([name]) => `${RUNBOOK_URL}/${name}.md`));
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

  it('goes by what states mean: neither rules nor dashboards have the name or a pattern of a state', () => {
    const files = [rulesFile(), CHART_RULES, ...shippedDashboards().map(([, dashboard]) => JSON.stringify(dashboard))];
    expect(files.filter((text) => /ALERTSTATE_/i.test(text))).toEqual([]);
    const expressions = [
      ...shippedRules().map(({ expr }) => expr),
      ...shippedDashboards().flatMap(([, dashboard]) => expressionsOf(panelsOf(dashboard))),
    ];
    const matchers = expressions.flatMap((expr) =>
      parsePromql(expr).selectors.flatMap((selector) => selector.matchers),
    );
    expect(matchers.filter(({ label }) => label === 'alert_state').length).toBeGreaterThan(10);
    expect(matchers.filter(({ label }) => label === 'state')).toEqual([]);
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
  return tests
    .map((checks) => checks.filter(({ alertname }) => alertname === alert))
    .filter((checks) => checks.length > 0);
}

function minutes(duration: string): number {
  const units: Readonly<Record<string, number>> = { m: 1, h: 60, d: 1440 };
  return [...duration.matchAll(/(\d+)([mhd])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (units[`${unit}`] ?? 0),
    0,
  );
}

describe('README', () => {
  it('names exactly the alerts that page', () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const answer = readme.match(/^\*\*Which alerts page\?\*\*.*?\n\n/ms)?.[0] ?? '';
    const critical = alerts.filter(([, { labels }]) => labels?.['severity'] === 'critical').map(([name]) => name);
    expect(answer.match(/TelemetryStation\w+/g)).toEqual(critical);
  });
});
