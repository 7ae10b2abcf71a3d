import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { rulesFile } from '../../../prometheus/source/rules-file.ts';
import { temporaryFile } from '../../service/support/files.ts';
import { WORLD_MINUTES, WORLDS } from '../../status/threshold-worlds.ts';

/** Of promtool: every world is a station. */
function unitTest(alert: string): object {
  const worlds = WORLDS.filter((world) => world.alert === alert);
  return {
    name: alert,
    interval: '1m',
    input_series: worlds.flatMap(({ name, series }) =>
      series.map(({ metric, labels = '', values }) => ({
        series: `${metric}{job="telemetry-station-exporter",station="${name}",${labels}}`,
        values: values.join(' '),
      })),
    ),
    promql_expr_test: [
      {
        expr: `count by (station) (ALERTS{alertname="${alert}",alertstate="firing"})`,
        eval_time: `${WORLD_MINUTES}m`,
        exp_samples: worlds
          .filter(({ isProblem }) => isProblem)
          .map(({ name }) => ({ labels: `{station="${name}"}`, value: 1 })),
      },
    ],
  };
}

it('has the verdict of the pages in every world', async () => {
  const alerts = [...new Set(WORLDS.map(({ alert }) => alert))];
  const rules = temporaryFile('rules.yml', rulesFile());
  const tests = { rule_files: [rules], evaluation_interval: '1m', tests: alerts.map(unitTest) };
  const worlds = temporaryFile('worlds.yml', stringify(tests));
  const { stdout } = await promisify(execFile)('promtool', ['test', 'rules', worlds]);
  expect(stdout).toContain('SUCCESS');
});
