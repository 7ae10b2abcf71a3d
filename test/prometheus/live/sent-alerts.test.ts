import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { sentAlerts } from '../../../src/alerting/alerts.ts';
import { isAlert, shippedRules } from '../../../src/alerting/rules.ts';
import { temporaryFile } from '../../service/support/files.ts';

const run = promisify(execFile);
const FOLDER = new URL('../../../prometheus/', import.meta.url);
const JOB = 'job="telemetry-station-exporter"';

interface Expected {
  exp_labels: Record<string, string>;
}

interface RulesTest {
  rule_files: string[];
  tests: {
    input_series: { series: string }[];
    promql_expr_test?: unknown;
    alert_rule_test?: { alertname: string; exp_alerts?: Expected[] }[];
  }[];
}

/** Of a target that the Prometheus operator found. */
const TARGET = { job: 'j', instance: 'i', pod: 'p', namespace: 'monitoring' };

const alerts = sentAlerts((await shippedRules(new URL('../../../', import.meta.url))).filter(isAlert), {
  stations: [{ __name__: 'telemetry_station_up', ...TARGET, station: 's', upstream: 'u', team: 't' }],
  stationLabels: ['team'],
  owners: [],
  clusterLabel: 'cluster',
  config: undefined,
});

/** Only some stations, targets and kinds of capacity have these. */
const OPTIONAL = ['team', 'cluster', 'pod', 'gpu_model'];

const namesOf = (labels: object) =>
  Object.keys(labels)
    .filter((name) => ![...OPTIONAL, 'alertname'].includes(name))
    .toSorted();

describe('sentAlerts', () => {
  it.each(readdirSync(new URL('tests/', FOLDER)))(
    'has the labels that alerts have in Prometheus, of a target with a namespace and resources of a product: %s',
    async (file) => {
      const content = parse(readFileSync(new URL(`tests/${file}`, FOLDER), 'utf8'), { merge: true }) as RulesTest;
      content.rule_files = [fileURLToPath(new URL('rules.yml', FOLDER))];
      let compared = 0;
      for (const test of content.tests) {
        for (const input of test.input_series) {
          input.series = input.series.replace(JOB, `${JOB},namespace="monitoring"`);
          if (input.series.startsWith('telemetry_station_resource_firing{'))
            input.series = input.series.replace(/(,product="")?\}$/, ',product="compute"}');
        }
        delete test.promql_expr_test;
        for (const { alertname, exp_alerts = [] } of test.alert_rule_test ?? [])
          for (const expected of exp_alerts) {
            const { severity } = expected.exp_labels;
            const hasSet = (set: string | undefined) => set === expected.exp_labels['set'];
            const sent = alerts.find(
              ({ rule, labels }) => rule.name === alertname && labels['severity'] === severity && hasSet(labels['set']),
            );
            for (const [name, value] of [
              ['namespace', 'monitoring'],
              ['product', 'compute'],
            ] as const)
              if (sent?.labels[name] !== undefined) expected.exp_labels = { ...expected.exp_labels, [name]: value };
            expect([alertname, ...namesOf(sent?.labels ?? {})]).toEqual([alertname, ...namesOf(expected.exp_labels)]);
            compared += 1;
          }
      }
      expect(compared).toBeGreaterThan(0);
      const { stdout } = await run('promtool', ['test', 'rules', temporaryFile(file, stringify(content))]);
      expect(stdout).toContain('SUCCESS');
    },
  );
});
