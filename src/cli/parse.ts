import { parseArgs } from 'node:util';
import { nearest, suggestion } from '../config/nearest.ts';
import { COMMANDS, type Command, type CommandName } from './commands.ts';
import type { Flag } from './flag-kind.ts';
import { FLAGS, type FlagValues } from './flags.ts';

type ParsedFlags =
  | { readonly ok: true; readonly command: CommandName; readonly operands: readonly string[]; readonly flags: FlagValues }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Parses the command line, or returns all its problems. */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  const { given, positionals, problems: argumentProblems } = readArguments(argv, FLAGS);
  const readings = FLAGS.map((flag) => ({ name: flag.name, ...readFlag(flag, given.get(flag) ?? []) }));
  const flags = Object.fromEntries(readings.map(({ name, value }) => [name, value])) as FlagValues;
  const [name = COMMANDS[0].name, ...operands] = positionals;
  const command = COMMANDS.find((candidate) => candidate.name === name);
  const problems = [
    ...argumentProblems,
    ...readings.flatMap((reading) => reading.problems),
    ...shardProblems(flags),
    ...sourceProblems(flags),
    ...[...given.keys()].flatMap((flag) => commandProblems(flag, name)),
    ...operandProblems(command, operands, flags),
  ];
  if (command === undefined) return { ok: false, problems: [unknownCommand(name), ...problems] };
  return problems.length === 0 ? { ok: true, command: command.name, operands, flags } : { ok: false, problems };
}

function readFlag({ name, kind, default: defaultValue, repeatable }: Flag, given: readonly string[]) {
  const texts = given.length === 0 && defaultValue !== undefined ? [defaultValue] : given;
  const values = texts.map((text) => kind.parse(text));
  const problems = texts
    .filter((_, at) => values[at] === undefined)
    .map((text) => `--${name}: expected ${kind.expected}, got ${quotedValue(text)}`);
  if (repeatable !== true && given.length > 1) problems.push(`--${name}: expected once, got ${given.length} times`);
  return { value: repeatable === true ? values : values[0], problems };
}

/** Hides the credentials of a URL. */
function quotedValue(text: string): string {
  return JSON.stringify(text.replace(/\/\/.*@/s, '//<secret>@'));
}

/** Compares only valid values: invalid ones are already reported. */
function shardProblems({ shard, 'total-shards': total }: FlagValues): readonly string[] {
  return shard !== 'auto' && shard >= total ? [`--shard: expected less than --total-shards (${total}), got ${shard}`] : [];
}

function sourceProblems({ from, ...flags }: FlagValues): readonly string[] {
  if (from === undefined) return [];
  const names = ['simulate.stations', 'simulate.resources'] as const;
  return names.filter((name) => flags[name] !== undefined).map((name) => `--${name}: cannot be combined with --from`);
}

function commandProblems({ name, only }: Flag, command: string): readonly string[] {
  if (only === undefined || only.some((candidate) => candidate === command)) return [];
  return [`--${name}: only valid with ${only.join(', ')}, got ${command}`];
}

/** --help and --version require no operands. */
function operandProblems(command: Command | undefined, given: readonly string[], { help, version }: FlagValues): readonly string[] {
  const expected = command?.operands ?? [];
  const missing = help || version ? [] : expected.slice(given.length);
  return [
    ...missing.map((operand) => `${command?.name}: missing <${operand}>`),
    ...given.slice(expected.length).map((word) => `unexpected argument ${JSON.stringify(word)}`),
  ];
}

function unknownCommand(name: string): string {
  const known = COMMANDS.map((command) => command.name);
  return `unknown command ${JSON.stringify(name)}, expected one of ${known.join(', ')}${suggestion(name, known)}`;
}

/** The unparsed values of each flag. */
interface Arguments {
  readonly given: ReadonlyMap<Flag, readonly string[]>;
  readonly positionals: readonly string[];
  readonly problems: readonly string[];
}

/** Uses parseArgs only as a tokenizer, because it reports the first problem alone. */
function readArguments(argv: readonly string[], flags: readonly Flag[]): Arguments {
  const { tokens } = parseArgs({ args: [...argv], options: {}, strict: false, allowPositionals: true, tokens: true });
  const spellings = new Map(flags.flatMap(spellingsOf));
  const given = new Map<Flag, readonly string[]>();
  const positionals: string[] = [];
  const problems: string[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token?.kind === 'positional') positionals.push(token.value);
    if (token?.kind !== 'option') continue;
    const spelling = spellings.get(token.rawName);
    let text = token.value ?? spelling?.implied;
    const next = tokens[at + 1];
    // The word after an unknown flag counts as its value, to report a single problem.
    if (text === undefined && next?.kind === 'positional') {
      text = next.value;
      at += 1;
    }
    if (spelling === undefined) problems.push(unknownFlag(token.rawName, [...spellings.keys()]));
    else if (spelling.implied === 'false' && token.value !== undefined) problems.push(`${token.rawName}: takes no value`);
    else if (text === undefined) problems.push(`${token.rawName}: missing value, expected ${spelling.flag.kind.expected}`);
    else given.set(spelling.flag, [...(given.get(spelling.flag) ?? []), text]);
  }
  return { given, positionals, problems };
}

/** A name of a flag; one with an implied value needs no argument. */
interface Spelling {
  readonly flag: Flag;
  readonly implied?: 'true' | 'false';
}

function spellingsOf(flag: Flag): readonly (readonly [string, Spelling])[] {
  const { name, short, kind } = flag;
  if (kind.placeholder !== undefined) return [[`--${name}`, { flag }]];
  const on: Spelling = { flag, implied: 'true' };
  const words = short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];
  return [...words.map((word) => [word, on] as const), [`--no-${name}`, { flag, implied: 'false' }]];
}

function unknownFlag(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return `unknown flag ${JSON.stringify(word)}${near === undefined ? '' : `, did you mean ${near}?`}`;
}
