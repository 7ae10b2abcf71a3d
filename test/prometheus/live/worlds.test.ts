import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { rulesFile } from '../../../prometheus/source/rules-file.ts';
import { temporaryFile } from '../../service/support/files.ts';
import { WORLD_MINUTES, WORLDS, type World } from '../../status/threshold-worlds.ts';
import { GROUP_ORDER } from '../promql/known-metrics.ts';

type Verdict = Pick<World, 'alert' | 'severity'>;

/** Of promtool: every world is a station that an exporter refreshes. */
function unitTest({ alert, severity }: Verdict): object {
  const worlds = WORLDS.filter((world) => world.alert === alert && world.severity === severity);
  const job = 'job="telemetry-station-exporter"';
  const ofSeverity = severity === undefined ? '' : `,severity="${severity}"`;
  return {
    name: `${alert} ${severity ?? ''}`,
    interval: '1m',
    input_series: [
      { series: `telemetry_station_exporter_time_seconds{${job}}`, values: `0+60x${WORLD_MINUTES}` },
      ...worlds.flatMap(({ name, series, up }) => [
        {
          series: `telemetry_station_up{${job},station="${name}"}`,
          values: up?.join(' ') ?? `1x${WORLD_MINUTES}`,
        },
        ...series.map(({ metric, labels = '', values }) => ({
          series: `${metric}{${job},station="${name}",${labels}}`,
          values: values.join(' '),
        })),
      ]),
    ],
    promql_expr_test: [
      {
        expr: `count by (station) (ALERTS{alertname="${alert}",alertstate="firing"${ofSeverity}})`,
        eval_time: `${WORLD_MINUTES}m`,
        exp_samples: worlds
          .filter(({ isProblem }) => isProblem)
          .map(({ name }) => ({ labels: `{station="${name}"}`, value: 1 })),
      },
    ],
  };
}

it('has the verdict of the pages in every world', async () => {
  const verdicts = new Map(WORLDS.map(({ alert, severity }) => [`${alert} ${severity}`, { alert, severity }]));
  const rules = temporaryFile('rules.yml', rulesFile());
  const tests = {
    rule_files: [rules],
    evaluation_interval: '1m',
    group_eval_order: GROUP_ORDER,
    tests: [...verdicts.values()].map(unitTest),
  };
  const worlds = temporaryFile('worlds.yml', stringify(tests));
  const { stdout } = await promisify(execFile)('promtool', ['test', 'rules', worlds]);
  expect(stdout).toContain('SUCCESS');
});
