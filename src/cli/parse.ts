import { readArguments } from './arguments.ts';
import { COMMANDS, type Command, type CommandName } from './commands.ts';
import type { Flag } from './flag.ts';
import { FLAGS, type FlagValues } from './flags.ts';

type ParsedFlags =
  | { readonly ok: true; readonly command: CommandName; readonly operands: readonly string[]; readonly flags: FlagValues }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The command line as a whole, or everything that is wrong with it. */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  const { given, positionals, problems: misread } = readArguments(argv, FLAGS);
  const readings = FLAGS.map((flag) => ({ name: flag.name, ...readFlag(flag, given.get(flag) ?? []) }));
  const flags = Object.fromEntries(readings.map(({ name, value }) => [name, value])) as FlagValues;
  const [name = COMMANDS[0].name, ...operands] = positionals;
  const command = COMMANDS.find((candidate) => candidate.name === name);
  const problems = [
    ...misread,
    ...readings.flatMap((reading) => reading.problems),
    ...shardProblems(flags),
    ...sourceProblems(flags),
    ...[...given.keys()].flatMap((flag) => misplaced(flag, name)),
    ...operandProblems(command, operands, flags),
  ];
  if (command === undefined) return { ok: false, problems: [unknownCommand(name), ...problems] };
  return problems.length === 0 ? { ok: true, command: command.name, operands, flags } : { ok: false, problems };
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

/** A recording has a size of its own. */
function sourceProblems({ from, ...flags }: FlagValues): readonly string[] {
  if (from === undefined) return [];
  const names = ['simulate.stations', 'simulate.resources'] as const;
  return names
    .filter((name) => flags[name] !== undefined)
    .map((name) => `--${name}: a recording cannot be resized, leave out this or --from`);
}

function misplaced({ name, only }: Flag, command: string): readonly string[] {
  if (only === undefined || only.some((candidate) => candidate === command)) return [];
  return [`--${name}: belongs to ${only.length === 1 ? 'the command' : 'the commands'} ${only.join(', ')} alone`];
}

/** Who asks for help may leave out the rest. */
function operandProblems(command: Command | undefined, given: readonly string[], { help, version }: FlagValues): readonly string[] {
  const expected = command?.operands ?? [];
  const missing = help || version ? [] : expected.slice(given.length);
  return [
    ...missing.map((operand) => `${command?.name}: expected a <${operand}>`),
    ...given.slice(expected.length).map((word) => `unexpected argument ${JSON.stringify(word)}`),
  ];
}

function unknownCommand(name: string): string {
  return `unknown command ${JSON.stringify(name)}, known: ${COMMANDS.map((command) => command.name).join(', ')}`;
}
