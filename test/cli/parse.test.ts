import { describe, expect, it } from 'vitest';
import { parseFlags } from '../../src/cli/parse.ts';

const KNOWN = 'serve, check, list, record, simulate, drill';

const CSV_OF_PROD = { command: 'list', operand: 'prod', flags: { format: 'csv' } };
const MISSING_FILE = '--config.file: missing value, expected a file name';

describe('parseFlags', () => {
  it.each<readonly [line: string, parsed: object]>([
    ['--config.file=a.yaml', { flags: { 'config.file': 'a.yaml' } }],
    ['--config.file=a=b.yaml', { flags: { 'config.file': 'a=b.yaml' } }],
    ['--demo', { flags: { demo: true } }],
    ['--demo=false', { flags: { demo: false } }],
    ['--no-demo', { flags: { demo: false } }],
    ['-h', { flags: { help: true } }],
    ['--demo -- serve', { command: 'serve' }],
    [
      '--web.listen-address=localhost:1 --web.listen-address [::1]:2',
      {
        flags: {
          'web.listen-address': [
            { host: 'localhost', port: 1 },
            { host: '::1', port: 2 },
          ],
        },
      },
    ],
    ['list prod --sort -alert_rules', { operand: 'prod', flags: { sort: '-alert_rules' } }],
    ['list --format=csv prod', CSV_OF_PROD],
    ['--format csv list -- prod', CSV_OF_PROD],
    ['list -- -x', { operand: '-x' }],
    ['record --help', { command: 'record' }],
    [
      'simulate --simulate.port=0 --simulate.seed=7',
      { command: 'simulate', flags: { 'simulate.port': 0, 'simulate.seed': 7 } },
    ],
    ['check --live --min-coverage=0.95 --max-without-rules=0', { flags: { 'min-coverage': 0.95 } }],
    ['check --live --max-uncovered-age=2w', { flags: { 'max-uncovered-age': 1_209_600_000 } }],
    // The flags of serve are accepted where the same configuration is used.
    ['check --config.check', { command: 'check' }],
    ...['check', 'list prod', 'record prod'].map((command): [string, object] => [
      `${command} --config.file=a.yaml --web.listen-address=:1 --log.level=debug`,
      { flags: { 'config.file': 'a.yaml' } },
    ]),
  ])('parses %s', (line, parsed) => {
    expect(parseFlags(line.split(' '))).toMatchObject({ ok: true, ...parsed });
  });

  it.each<[line: string, ...problems: (string | RegExp)[]]>([
    ['-- --demo', `unknown command "--demo", expected one of ${KNOWN}`],
    ['record', 'record: missing <station>'],
    ['record a b c', 'unexpected argument "b"', 'unexpected argument "c"'],
    ['check config.yaml', 'unexpected argument "config.yaml"'],
    ['check \u001b[2J.yaml', 'unexpected argument "\\u001b[2J.yaml"'],
    // A value or a flag with a dash is one problem.
    ['list prod --sort -alert_rule', /^--sort: expected one of .*, got "-alert_rule"/],
    ['--shard -1', '--shard: expected an integer of at least 0, or auto, got "-1"'],
    ['-alert_rules', 'unknown flag "-alert_rules"'],
    ['list prod --sort -h', /^--sort: missing value/],
    ['simulate --config.file=a.yaml', '--config.file: only valid with serve, check, list, record, drill, got simulate'],
    ...['list prod', 'record prod', 'drill --alertmanager.url=http://a'].map((command): [string, string] => [
      `${command} --config.check`,
      `--config.check: only valid with serve, got ${command.split(' ')[0]}`,
    ]),
    ['simulate --log.level=debug', '--log.level: only valid with serve, got simulate'],
    [
      'check --min-coverage=0.95 --max-without-rules=0',
      '--min-coverage: requires --live',
      '--max-without-rules: requires --live',
    ],
    ['check --max-uncovered-age=7d', '--max-uncovered-age: requires --live'],
    ['check --label=team=web', '--label: requires --live'],
    [
      'simulate --from=a.json --simulate.stations=3 --simulate.resources=9',
      '--simulate.stations: cannot be combined with --from',
      '--simulate.resources: cannot be combined with --from',
    ],
    ['--lod.level=debug', 'unknown flag "--lod.level", did you mean --log.level?'],
    ['--no-dem', 'unknown flag "--no-dem", did you mean --no-demo?'],
    ['--entirely-different', 'unknown flag "--entirely-different"'],
    ['-log.level=debug check', 'unknown flag "-log.level", did you mean --log.level?'],
    ['--\u001b[2J', 'unknown flag "--\\u001b[2J"'],
    ['--config.file --demo', MISSING_FILE],
    ['--no-demo=true', '--no-demo: takes no value'],
    ['--shard=0 --shard=0', '--shard: expected once, got 2 times'],
    ['--demo=yes', '--demo: expected true or false, got "yes"'],
    [
      '--web.external-url=http://user:pa/ss@example.com',
      '--web.external-url: expected an http or https URL without user, query and fragment, got "http://<secret>@example.com"',
    ],
    [
      '--web.listen-address=a --web.listen-address=:1 --web.listen-address=b',
      /^--web.listen-address: .* got "a"$/,
      /^--web.listen-address: .* got "b"$/,
    ],
    ['--shard=2 --total-shards=2', '--shard: expected less than --total-shards (2), got 2'],
    [
      'checkk --dmo --web.max-requests=1.5 --scrape.timeout=soon --shard=3 --config.file',
      `unknown command "checkk", expected one of ${KNOWN}; did you mean "check"?`,
      'unknown flag "--dmo", did you mean --demo?',
      MISSING_FILE,
      '--web.max-requests: expected an integer of at least 0, got "1.5"',
      '--scrape.timeout: expected a duration such as 1m30s or 0.5s, from 1ms to 1d, got "soon"',
      '--shard: expected less than --total-shards (1), got 3',
    ],
  ])('rejects %s with all problems at once', (line, ...problems) => {
    expect(parseFlags(line.split(' '))).toEqual({
      ok: false,
      problems: problems.map((problem) => (typeof problem === 'string' ? problem : expect.stringMatching(problem))),
    });
  });
});
