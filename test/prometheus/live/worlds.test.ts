import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { rulesFile } from '../../../prometheus/source/rules-file.ts';
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
  const folder = await mkdtemp(join(tmpdir(), 'worlds-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const alerts = [...new Set(WORLDS.map(({ alert }) => alert))];
  await writeFile(join(folder, 'rules.yml'), rulesFile());
  const tests = { rule_files: ['rules.yml'], evaluation_interval: '1m', tests: alerts.map(unitTest) };
  await writeFile(join(folder, 'worlds.yml'), stringify(tests));
  const { stdout } = await promisify(execFile)('promtool', ['test', 'rules', 'worlds.yml'], { cwd: folder });
  expect(stdout).toContain('SUCCESS');
});
