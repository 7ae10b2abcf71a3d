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

const KNOWN = 'serve, check, list, record, simulate';

describe('parseFlags', () => {
  it('gives every flag its default', () => {
    expect(parseFlags([])).toEqual({
      ok: true,
      command: 'serve',
      operands: [],
      flags: {
        help: false,
        version: false,
        'config.file': 'config.yaml',
        'config.check': false,
        live: false,
        demo: false,
        format: 'table',
        'without-rules': false,
        output: '-',
        'simulate.port': 9843,
        'simulate.seed': 1,
        'simulate.page-cap': 200,
        'simulate.latency': 0,
        'simulate.fault': [],
        'web.listen-address': [{ port: 9842 }],
        'web.telemetry-path': '/metrics',
        'web.external-url': undefined,
        'web.enable-lifecycle': false,
        'web.max-requests': 40,
        'scrape.timeout': 10_000,
        'timeout-offset': 500,
        shard: 0,
        'total-shards': 1,
        'log.level': 'info',
        'log.format': 'logfmt',
      },
    });
  });

  it.each([[['--config.file=a.yaml']], [['--config.file', 'a.yaml']]])('reads a value from %j', (argv) => {
    expect(flagsOf(...argv)['config.file']).toBe('a.yaml');
  });

  it('keeps further equal signs in the value', () => {
    expect(flagsOf('--config.file=a=b.yaml')['config.file']).toBe('a=b.yaml');
  });

  it.each([
    ['--demo', true],
    ['--demo=true', true],
    ['--demo=false', false],
    ['--no-demo', false],
  ])('reads the switch %s as %s', (word, expected) => {
    expect(flagsOf(word).demo).toBe(expected);
  });

  it('takes -h for --help', () => {
    expect(flagsOf('-h').help).toBe(true);
  });

  it('never takes the word after a switch for its value', () => {
    expect(parseFlags(['--demo', 'serve'])).toMatchObject({ ok: true, command: 'serve', flags: { demo: true } });
  });

  it('replaces the default of a repeatable flag by all that is given', () => {
    expect(flagsOf('--web.listen-address=localhost:1', '--web.listen-address', '[::1]:2')['web.listen-address']).toEqual([
      { host: 'localhost', port: 1 },
      { host: '::1', port: 2 },
    ]);
  });

  it('takes what follows -- for no flag', () => {
    expect(parseFlags(['--demo', '--', 'serve'])).toMatchObject({ ok: true, command: 'serve' });
    expect(problemsOf('--', '--demo')).toEqual([`unknown command "--demo", known: ${KNOWN}`]);
  });

  it('names an unknown command and an argument too many', () => {
    expect(problemsOf('server', 'now')).toEqual([`unknown command "server", known: ${KNOWN}`, 'unexpected argument "now"']);
  });

  it('knows the command simulate and its flags', () => {
    const parsed = parseFlags(['simulate', '--simulate.port=0', '--simulate.seed=7']);
    expect(parsed).toMatchObject({ ok: true, command: 'simulate', flags: { 'simulate.port': 0, 'simulate.seed': 7 } });
  });

  it('refuses a flag of another command', () => {
    expect(problemsOf('--simulate.seed=7')).toEqual(['--simulate.seed: belongs to the command simulate alone']);
    expect(problemsOf('--live')).toEqual(['--live: belongs to the command check alone']);
    expect(problemsOf('check', '--live')).toEqual([]);
    expect(problemsOf('simulate', '--demo')).toEqual(['--demo: belongs to the commands serve, check, list, record alone']);
    expect(problemsOf('record', 'prod', '--format=csv')).toEqual(['--format: belongs to the command list alone']);
  });

  it.each([[['list', 'prod', '--format=csv']], [['list', '--format=csv', 'prod']], [['--format', 'csv', 'list', '--', 'prod']]])(
    'takes the station from %j',
    (argv) => {
      expect(parseFlags(argv)).toMatchObject({ ok: true, command: 'list', operands: ['prod'], flags: { format: 'csv' } });
    },
  );

  it('takes a station whose name begins with a dash after --', () => {
    expect(parseFlags(['list', '--', '-x'])).toMatchObject({ ok: true, operands: ['-x'] });
  });

  it('misses the station, and finds one too many', () => {
    expect(problemsOf('list')).toEqual(['list: expected a <station>']);
    expect(problemsOf('record', 'a', 'b', 'c')).toEqual(['unexpected argument "b"', 'unexpected argument "c"']);
    expect(problemsOf('simulate', 'a')).toEqual(['unexpected argument "a"']);
  });

  it.each(['--help', '--version'])('does not miss the station beside %s', (flag) => {
    expect(problemsOf('list', flag)).toEqual([]);
  });

  it('refuses to resize a recording', () => {
    expect(problemsOf('simulate', '--from=a.json', '--simulate.stations=3', '--simulate.resources=9')).toEqual([
      '--simulate.stations: a recording cannot be resized, leave out this or --from',
      '--simulate.resources: a recording cannot be resized, leave out this or --from',
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
  ])('does not know %j', (word, problem) => {
    expect(problemsOf(word)).toEqual([problem]);
  });

  it('reports an unknown flag once, with the word after it', () => {
    expect(problemsOf('--web.systemd-socket', 'on')).toEqual([expect.stringMatching(/^unknown flag "--web.systemd-socket"/)]);
  });

  it.each([[['--config.file']], [['--config.file', '--demo']], [['--config.file', '--', 'serve']]])('misses the value in %j', (argv) => {
    expect(problemsOf(...argv)).toEqual(['--config.file: the value is missing, expected a file name']);
  });

  it('refuses a value for a negated switch', () => {
    expect(problemsOf('--no-demo=true')).toEqual(['--no-demo: takes no value']);
  });

  it.each([[['--shard=0', '--shard=0']], [['--shard', '0', '--shard', '0']]])('refuses to be told twice by %j', (argv) => {
    expect(problemsOf(...argv)).toEqual(['--shard: expected once, given 2 times']);
  });

  it('refuses a switch that is given on and off', () => {
    expect(problemsOf('--demo', '--no-demo')).toEqual(['--demo: expected once, given 2 times']);
  });

  it('says what was expected of a wrong value', () => {
    expect(problemsOf('--log.level=loud')).toEqual(['--log.level: expected one of debug, info, warn, error, got "loud"']);
    expect(problemsOf('--shard=-1')).toEqual(['--shard: expected an integer of at least 0, or auto, got "-1"']);
    expect(problemsOf('--demo=yes')).toEqual(['--demo: expected true or false, got "yes"']);
  });

  it('keeps a password out of what it says', () => {
    expect(problemsOf('--web.external-url=http://user:pa/ss@example.com')).toEqual([
      '--web.external-url: expected an http or https URL without user, query and fragment, got "http://<secret>@example.com"',
    ]);
  });

  it('names each wrong value of a repeatable flag', () => {
    expect(problemsOf('--web.listen-address=a', '--web.listen-address=:1', '--web.listen-address=b')).toEqual([
      expect.stringMatching(/^--web.listen-address: .* got "a"$/),
      expect.stringMatching(/^--web.listen-address: .* got "b"$/),
    ]);
  });

  it('refuses a shard beyond the number of shards', () => {
    expect(problemsOf('--shard=2', '--total-shards=2')).toEqual(['--shard: expected less than --total-shards, which is 2, got 2']);
    expect(problemsOf('--shard=1', '--total-shards=2')).toEqual([]);
  });

  it('does not compare shards that could not be read', () => {
    expect(problemsOf('--shard=5', '--total-shards=many')).toEqual(['--total-shards: expected an integer of at least 1, got "many"']);
  });

  it('reports everything at once', () => {
    const argv = ['checkk', '--dmo', '--web.max-requests=1.5', '--scrape.timeout=soon', '--shard=3', '--config.file'];
    expect(problemsOf(...argv)).toEqual([
      `unknown command "checkk", known: ${KNOWN}`,
      'unknown flag "--dmo", did you mean --demo?',
      '--config.file: the value is missing, expected a file name',
      '--web.max-requests: expected an integer of at least 0, got "1.5"',
      '--scrape.timeout: expected a duration such as 1m30s or 0.5s, from 1ms to 1d, got "soon"',
      '--shard: expected less than --total-shards, which is 1, got 3',
    ]);
  });
});
