import { readArguments } from './arguments.ts';
import { COMMANDS, type CommandName } from './commands.ts';
import { FLAGS, type Flag, type FlagValues } from './flags.ts';

type ParsedFlags =
  | { readonly ok: true; readonly command: CommandName; readonly flags: FlagValues }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The command line as a whole, or everything that is wrong with it. */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  const { given, positionals, problems: misread } = readArguments(argv, FLAGS);
  const readings = FLAGS.map((flag) => ({ name: flag.name, ...readFlag(flag, given.get(flag) ?? []) }));
  const flags = Object.fromEntries(readings.map(({ name, value }) => [name, value])) as FlagValues;
  const [name = COMMANDS[0].name, ...rest] = positionals;
  const command = COMMANDS.find((candidate) => candidate.name === name)?.name;
  const problems = [
    ...misread,
    ...readings.flatMap((reading) => reading.problems),
    ...shardProblems(flags),
    ...[...given.keys()].flatMap((flag) => misplaced(flag, name)),
    ...rest.map((word) => `unexpected argument ${JSON.stringify(word)}`),
  ];
  if (command === undefined) return { ok: false, problems: [unknownCommand(name), ...problems] };
  return problems.length === 0 ? { ok: true, command, flags } : { ok: false, problems };
}

function readFlag({ name, kind, default: standard, repeatable }: Flag, given: readonly string[]) {
  const texts = given.length === 0 && standard !== undefined ? [standard] : given;
  const values = texts.map((text) => kind.parse(text));
  const problems = texts
    .filter((_, at) => values[at] === undefined)
    .map((text) => `--${name}: expected ${kind.expected}, got ${shown(text)}`);
  if (repeatable !== true && given.length > 1) problems.push(`--${name}: expected once, given ${given.length} times`);
  return { value: repeatable === true ? values : values[0], problems };
}

/** A URL may hold a password. */
function shown(text: string): string {
  return JSON.stringify(text.replace(/\/\/.*@/s, '//<secret>@'));
}

/** Silent when either of the two could not be read: that is a problem already. */
function shardProblems({ shard, 'total-shards': total }: FlagValues): readonly string[] {
  return shard !== 'auto' && shard >= total ? [`--shard: expected less than --total-shards, which is ${total}, got ${shard}`] : [];
}

function misplaced({ name, only }: Flag, command: string): readonly string[] {
  return only === undefined || only === command ? [] : [`--${name}: belongs to the command ${only} alone`];
}

function unknownCommand(name: string): string {
  return `unknown command ${JSON.stringify(name)}, known: ${COMMANDS.map((command) => command.name).join(', ')}`;
}
