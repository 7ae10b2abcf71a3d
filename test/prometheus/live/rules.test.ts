import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { rulesFile } from '../../../prometheus/source/rules-file.ts';
import { temporaryFile } from '../../service/support/files.ts';
import { GROUP_ORDER } from '../promql/known-metrics.ts';

const run = promisify(execFile);
const FOLDER = new URL('../../../prometheus/', import.meta.url);

const unitTests = readdirSync(new URL('tests/', FOLDER)).map((file) => `test rules tests/${file}`);

describe('promtool', () => {
  it.each([
    'check rules rules.yml',
    'check config prometheus.yml',
    'check config prometheus-http-sd.yml',
    ...unitTests,
  ])('succeeds in prometheus/: %s', async (command) => {
    const { stdout } = await run('promtool', command.split(' '), { cwd: FOLDER });
    expect(stdout).toContain('SUCCESS');
  });
});

const JOB = 'job="telemetry-station-exporter"';

/** Of a station with the label, which an exporter has until it is killed at minute 30. */
function untilKilled(metric: string, labels: string, value: number): object {
  return { series: `${metric}{${JOB},instance="a",station="prod",tier="lab",${labels}}`, values: `${value}x30 stale` };
}

describe('a copy of the rules for stations with a label', () => {
  it('has the alerts on resources, also while the exporter is down', async () => {
    const copy = rulesFile().replaceAll(JOB, `${JOB},tier="lab"`);
    const resource = 'resource_id="1",name="web",display_name="Web",resource_type="vm"';
    const alerts = ['TelemetryStationManyResourcesFiring', 'TelemetryStationResourceFiring'];
    const firing = {
      expr: `group by (alertname) (ALERTS{alertname=~"${alerts.join('|')}",alertstate="firing"})`,
      exp_samples: alerts.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
    };
    const test = {
      interval: '1m',
      input_series: [
        { series: `up{${JOB},instance="a"}`, values: '1x30 0x60' },
        untilKilled('telemetry_station_up', '', 1),
        untilKilled('telemetry_station_last_known_resources', 'set="all"', 100),
        untilKilled('telemetry_station_last_known_resources', 'set="firing"', 30),
        untilKilled('telemetry_station_resource_firing', resource, 1),
      ],
      promql_expr_test: [
        { ...firing, eval_time: '20m' },
        { ...firing, eval_time: '80m' },
      ],
    };
    const rules = temporaryFile('rules.yml', copy);
    const tests = { rule_files: [rules], evaluation_interval: '1m', group_eval_order: GROUP_ORDER, tests: [test] };
    const { stdout } = await run('promtool', ['test', 'rules', temporaryFile('copy.yml', stringify(tests))]);
    expect(stdout).toContain('SUCCESS');
  });
});
