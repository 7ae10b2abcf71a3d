import { describe, expect, it } from 'vitest';
import type { FlagValues } from '../../src/cli/flags.ts';
import { parseFlags } from '../../src/cli/parse.ts';

function flagsOf(...argv: string[]): FlagValues {
  const parsed = parseFlags(argv);
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  return parsed.flags;
}

function problemsOf(...argv: string[]): readonly string[] {
  const parsed = parseFlags(argv);
  return parsed.ok ? [] : parsed.problems;
}

const KNOWN = 'serve, check, list, record, simulate, completion, help, version';

describe('parseFlags', () => {
  it('uses the defaults', () => {
    expect(parseFlags([])).toEqual({
      ok: true,
      command: 'serve',
      operands: [],
      flags: {
        help: false,
        version: false,
        'config.file': 'config.yaml',
        'config.check': false,
        'config.auto-reload-interval': 0,
        live: false,
        demo: false,
        format: 'table',
        'without-rules': false,
        wide: false,
        output: '-',
        'simulate.port': 9843,
        'simulate.seed': 1,
        'simulate.page-cap': 200,
        'simulate.names': 'random',
        'simulate.latency': 0,
        'simulate.fault': [],
        'web.listen-address': [{ port: 9842 }],
        'web.telemetry-path': '/metrics',
        'web.external-url': undefined,
        'web.allowed-hosts': [],
        'web.enable-lifecycle': false,
        'web.max-connections': 2048,
        'web.max-connections-per-address': 1024,
        'web.max-requests': 40,
        'web.max-response-memory': 64 * 1024 * 1024,
        'scrape.timeout': 10_000,
        'timeout-offset': 500,
        shard: 0,
        'total-shards': 1,
        'log.level': 'info',
        'log.format': 'logfmt',
        'log.buffer-size': 1_048_576,
        'log.changes': false,
      },
    });
  });

  it.each([[['--config.file=a.yaml']], [['--config.file', 'a.yaml']]])('parses a value from %j', (argv) => {
    expect(flagsOf(...argv)['config.file']).toBe('a.yaml');
  });

  it('keeps equal signs in the value', () => {
    expect(flagsOf('--config.file=a=b.yaml')['config.file']).toBe('a=b.yaml');
  });

  it.each([
    ['--demo', true],
    ['--demo=true', true],
    ['--demo=false', false],
    ['--no-demo', false],
  ])('parses the boolean flag %s as %s', (word, expected) => {
    expect(flagsOf(word).demo).toBe(expected);
  });

  it('accepts -h for --help', () => {
    expect(flagsOf('-h').help).toBe(true);
  });

  it('does not use the word after a boolean flag as its value', () => {
    expect(parseFlags(['--demo', 'serve'])).toMatchObject({ ok: true, command: 'serve', flags: { demo: true } });
  });

  it('replaces the default of a repeatable flag with all given values', () => {
    expect(
      flagsOf('--web.listen-address=localhost:1', '--web.listen-address', '[::1]:2')['web.listen-address'],
    ).toEqual([
      { host: 'localhost', port: 1 },
      { host: '::1', port: 2 },
    ]);
  });

  it('does not parse flags after --', () => {
    expect(parseFlags(['--demo', '--', 'serve'])).toMatchObject({ ok: true, command: 'serve' });
    expect(problemsOf('--', '--demo')).toEqual([`unknown command "--demo", expected one of ${KNOWN}`]);
  });

  it('reports an unknown command and an extra argument', () => {
    expect(problemsOf('fly', 'now')).toEqual([`unknown command "fly", expected one of ${KNOWN}`]);
    expect(problemsOf('version', 'now')).toEqual(['unexpected argument "now"']);
  });

  it('reports an operand that is not one of the known words', () => {
    expect(problemsOf('help', 'lst')).toEqual([`<command>: expected one of ${KNOWN}, got "lst"; did you mean "list"?`]);
    expect(problemsOf('completion', 'tcsh')).toEqual(['<shell>: expected one of bash, zsh, fish, got "tcsh"']);
    expect(problemsOf('completion')).toEqual(['completion: missing <shell>, expected one of bash, zsh, fish']);
    expect(problemsOf('help')).toEqual([]);
  });

  it.each([
    [['list', 'prod', '--sort', '-alert_rules']],
    [['list', 'prod', '--sort=-alert_rules']],
    [['--sort', '-alert_rules', 'list', 'prod']],
  ])('parses the descending order in %j', (argv) => {
    expect(parseFlags(argv)).toMatchObject({
      ok: true,
      operands: ['prod'],
      flags: { sort: { by: 'alert_rules', descending: true } },
    });
  });

  it('reports one problem for a value or a flag with a dash', () => {
    expect(problemsOf('list', 'prod', '--sort', '-alert_rule')).toEqual([
      expect.stringMatching(/^--sort: expected one of .*, got "-alert_rule"/),
    ]);
    expect(problemsOf('--shard', '-1')).toEqual(['--shard: expected an integer of at least 0, or auto, got "-1"']);
    expect(problemsOf('-alert_rules')).toEqual(['unknown flag "-alert_rules"']);
    expect(problemsOf('list', 'prod', '--sort', '-h')).toEqual([expect.stringMatching(/^--sort: missing value/)]);
  });

  it('accepts the flags of serve where the same configuration is used', () => {
    for (const command of [['check'], ['list', 'prod'], ['record', 'prod']]) {
      expect(problemsOf(...command, '--config.file=a.yaml', '--web.listen-address=:1', '--log.level=debug')).toEqual(
        [],
      );
    }
    expect(problemsOf('simulate', '--config.file=a.yaml')).toEqual([
      '--config.file: only valid with serve, check, list, record, got simulate',
    ]);
    expect(problemsOf('version', '--log.level=debug')).toEqual(['--log.level: only valid with serve, got version']);
  });

  it('parses the command simulate with its flags', () => {
    const parsed = parseFlags(['simulate', '--simulate.port=0', '--simulate.seed=7']);
    expect(parsed).toMatchObject({ ok: true, command: 'simulate', flags: { 'simulate.port': 0, 'simulate.seed': 7 } });
  });

  it('rejects a flag of another command', () => {
    expect(problemsOf('--simulate.seed=7')).toEqual(['--simulate.seed: only valid with simulate, got serve']);
    expect(problemsOf('--live')).toEqual(['--live: only valid with check, got serve']);
    expect(problemsOf('check', '--live')).toEqual([]);
    expect(problemsOf('simulate', '--demo')).toEqual([
      '--demo: only valid with serve, check, list, record, got simulate',
    ]);
    expect(problemsOf('record', 'prod', '--format=csv')).toEqual(['--format: only valid with check, list, got record']);
  });

  it.each([
    [['list', 'prod', '--format=csv']],
    [['list', '--format=csv', 'prod']],
    [['--format', 'csv', 'list', '--', 'prod']],
  ])('parses the station from %j', (argv) => {
    expect(parseFlags(argv)).toMatchObject({ ok: true, command: 'list', operands: ['prod'], flags: { format: 'csv' } });
  });

  it('accepts a station that starts with a dash after --', () => {
    expect(parseFlags(['list', '--', '-x'])).toMatchObject({ ok: true, operands: ['-x'] });
  });

  it('reports a missing and an extra station', () => {
    expect(problemsOf('list')).toEqual(['list: missing <station>']);
    expect(problemsOf('record', 'a', 'b', 'c')).toEqual(['unexpected argument "b"', 'unexpected argument "c"']);
    expect(problemsOf('simulate', 'a')).toEqual(['unexpected argument "a"']);
  });

  it.each(['--help', '--version'])('does not require the station with %s', (flag) => {
    expect(problemsOf('list', flag)).toEqual([]);
  });

  it('requires --live with limits on resources without alert rules', () => {
    const limits = ['--min-coverage=0.95', '--max-without-rules=0'];
    expect(problemsOf('check', ...limits)).toEqual([
      '--min-coverage: requires --live',
      '--max-without-rules: requires --live',
    ]);
    expect(problemsOf('check', '--live', ...limits)).toEqual([]);
    expect(problemsOf('check', '--live', '--min-coverage=95')).toEqual([
      '--min-coverage: expected a share from 0 to 1, such as 0.95, got "95"',
    ]);
  });

  it('rejects sizes together with a recording', () => {
    expect(problemsOf('simulate', '--from=a.json', '--simulate.stations=3', '--simulate.resources=9')).toEqual([
      '--simulate.stations: cannot be combined with --from',
      '--simulate.resources: cannot be combined with --from',
    ]);
    expect(problemsOf('simulate', '--from=a.json', '--simulate.latency=1s')).toEqual([]);
  });

  it.each([
    ['--lod.level=debug', 'unknown flag "--lod.level", did you mean --log.level?'],
    ['--listen-address=:1', 'unknown flag "--listen-address", did you mean --web.listen-address?'],
    ['--no-dem', 'unknown flag "--no-dem", did you mean --no-demo?'],
    ['--entirely-different', 'unknown flag "--entirely-different"'],
    ['--no-shard', 'unknown flag "--no-shard", did you mean --shard?'],
    ['--__proto__=1', 'unknown flag "--__proto__"'],
    ['--constructor', 'unknown flag "--constructor"'],
    ['-x', 'unknown flag "-x"'],
    ['--\u001b[2J', 'unknown flag "--\\u001b[2J"'],
  ])('rejects the unknown flag %j', (word, problem) => {
    expect(problemsOf(word)).toEqual([problem]);
  });

  it('reports an unknown flag and its value once', () => {
    expect(problemsOf('--web.systemd-socket', 'on')).toEqual([
      expect.stringMatching(/^unknown flag "--web.systemd-socket"/),
    ]);
  });

  it.each([[['--config.file']], [['--config.file', '--demo']], [['--config.file', '--', 'serve']]])(
    'reports the missing value in %j',
    (argv) => {
      expect(problemsOf(...argv)).toEqual(['--config.file: missing value, expected a file name']);
    },
  );

  it('rejects a value for a negated flag', () => {
    expect(problemsOf('--no-demo=true')).toEqual(['--no-demo: takes no value']);
  });

  it.each([[['--shard=0', '--shard=0']], [['--shard', '0', '--shard', '0']]])('rejects the duplicate in %j', (argv) => {
    expect(problemsOf(...argv)).toEqual(['--shard: expected once, got 2 times']);
  });

  it('rejects a flag together with its negation', () => {
    expect(problemsOf('--demo', '--no-demo')).toEqual(['--demo: expected once, got 2 times']);
  });

  it('reports the expected values', () => {
    expect(problemsOf('--log.level=loud')).toEqual([
      '--log.level: expected one of debug, info, warn, error, got "loud"',
    ]);
    expect(problemsOf('--shard=-1')).toEqual(['--shard: expected an integer of at least 0, or auto, got "-1"']);
    expect(problemsOf('--demo=yes')).toEqual(['--demo: expected true or false, got "yes"']);
  });

  it('names the wrong part of a list', () => {
    expect(problemsOf('list', 'prod', '--columns=state,size')).toEqual([
      expect.stringMatching(/^--columns: expected different names out of resource_id, .*, got "size"$/),
    ]);
  });

  it('does not show a password', () => {
    expect(problemsOf('--web.external-url=http://user:pa/ss@example.com')).toEqual([
      '--web.external-url: expected an http or https URL without user, query and fragment, got "http://<secret>@example.com"',
    ]);
  });

  it('reports each invalid value of a repeatable flag', () => {
    expect(problemsOf('--web.listen-address=a', '--web.listen-address=:1', '--web.listen-address=b')).toEqual([
      expect.stringMatching(/^--web.listen-address: .* got "a"$/),
      expect.stringMatching(/^--web.listen-address: .* got "b"$/),
    ]);
  });

  it('rejects a shard that is not below the number of shards', () => {
    expect(problemsOf('--shard=2', '--total-shards=2')).toEqual([
      '--shard: expected less than --total-shards (2), got 2',
    ]);
    expect(problemsOf('--shard=1', '--total-shards=2')).toEqual([]);
  });

  it('does not compare invalid shards', () => {
    expect(problemsOf('--shard=5', '--total-shards=many')).toEqual([
      '--total-shards: expected an integer of at least 1, got "many"',
    ]);
  });

  it('reports all problems at once', () => {
    const argv = ['checkk', '--dmo', '--web.max-requests=1.5', '--scrape.timeout=soon', '--shard=3', '--config.file'];
    expect(problemsOf(...argv)).toEqual([
      `unknown command "checkk", expected one of ${KNOWN}; did you mean "check"?`,
      'unknown flag "--dmo", did you mean --demo?',
      '--config.file: missing value, expected a file name',
      '--web.max-requests: expected an integer of at least 0, got "1.5"',
      '--scrape.timeout: expected a duration such as 1m30s or 0.5s, from 1ms to 1d, got "soon"',
      '--shard: expected less than --total-shards (1), got 3',
    ]);
  });
});
