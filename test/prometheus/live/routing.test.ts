import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Labels } from '../../../src/alerting/labels.ts';
import { alertmanagerConfig, destinationsOf } from '../../../src/alerting/routing.ts';
import { temporaryFile } from '../../service/support/files.ts';

const run = promisify(execFile);

const NAMES = ['alertname', 'severity', 'team'];
const VALUES = ['', 'a', 'b', 'ab', 'b c', 'say "hi", {x}', '\\d+'];
const PATTERNS = ['a|b', 'a.*', '', '.+', '[ab]{1,2}', '(?i)A', '"?say.*', '\\\\d\\+'];
const RECEIVERS = ['one', 'two', 'three', 'four'];

const name = fc.constantFrom(...NAMES);
const value = fc.constantFrom(...VALUES);
const pattern = fc.constantFrom(...PATTERNS);
const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"');

/** One of the ways to write a matcher. */
const matcher = fc
  .tuple(
    name,
    fc.oneof(fc.tuple(fc.constantFrom('=', '!='), value), fc.tuple(fc.constantFrom('=~', '!~'), pattern)),
    fc.constantFrom('', ' '),
  )
  .map(([label, [operator, text], space]) =>
    /^\w+$/.test(text) && space === ''
      ? `${label}${operator}${text}`
      : `${label}${space}${operator}${space}"${escaped(text)}"`,
  );
const matcherList = fc.oneof(
  fc.array(matcher, { maxLength: 2 }),
  fc.tuple(matcher, matcher).map(([one, other]) => [`{${one}, ${other},}`]),
);

const conditions = (prefix: string) => ({
  [`${prefix}match`]: fc.dictionary(name, value, { maxKeys: 1 }),
  [`${prefix}match_re`]: fc.dictionary(name, pattern, { maxKeys: 1 }),
  [`${prefix}matchers`]: matcherList,
});

const settings = {
  receiver: fc.constantFrom(...RECEIVERS),
  group_by: fc.oneof(fc.subarray(NAMES), fc.constant(['...'])),
  repeat_interval: fc.constantFrom('1h', '4h', '2d'),
};

const { route } = fc.letrec<{ route: object }>((tie) => ({
  route: fc.record(
    {
      ...settings,
      ...conditions(''),
      continue: fc.boolean(),
      routes: fc.array(tie('route'), { maxLength: 3 }),
    },
    { requiredKeys: [] },
  ),
}));

const tree = fc.record({ ...settings, routes: fc.array(route, { minLength: 1, maxLength: 4 }) });
const labels: fc.Arbitrary<Labels> = fc.record({
  alertname: fc.constantFrom('a', 'b', 'ab'),
  severity: value,
  team: value,
});

const TREES = 200;

const samples = fc.sample(fc.record({ route: tree, alerts: fc.tuple(labels, labels) }), TREES);

const withReceivers = (config: object) => ({ ...config, receivers: RECEIVERS.map((receiver) => ({ name: receiver })) });

const expected = (config: ReturnType<typeof alertmanagerConfig.parse>, alert: Labels) =>
  destinationsOf(alert, config.route).map(({ receiver }) => receiver);

describe('destinationsOf', () => {
  it('names the receivers that amtool names, in their order, for random trees', async () => {
    const cases = samples.flatMap(({ route: root, alerts }) => {
      const config = withReceivers({ route: root });
      const file = temporaryFile('alertmanager.yml', stringify(config));
      return alerts.map((alert) => ({ file, alert, receivers: expected(alertmanagerConfig.parse(config), alert) }));
    });
    const ofAmtool = async ({ file, alert }: (typeof cases)[number]) => {
      const given = Object.entries(alert).map(([label, text]) => `${label}="${escaped(text)}"`);
      const { stdout } = await run('amtool', ['config', 'routes', 'test', `--config.file=${file}`, ...given]);
      return stdout.trim().split(',');
    };
    const pending = [...cases.entries()];
    const actual: string[][] = [];
    const work = async () => {
      for (let next = pending.pop(); next; next = pending.pop()) actual[next[0]] = await ofAmtool(next[1]);
    };
    await Promise.all([work(), work(), work()]);
    expect(actual).toEqual(cases.map(({ receivers }) => receivers));
    // Not all end at the root.
    expect(new Set(actual.map((names) => names.join())).size).toBeGreaterThan(10);
  });
});
