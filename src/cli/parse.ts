import { nearest, suggestion } from '../config/nearest.ts';
import { COMMAND_NAMES, COMMANDS, type CommandName, DEFAULT_COMMAND, isCommandName, type Operand } from './commands.ts';
import type { Flag } from './flag-kind.ts';
import { FLAGS, type FlagValues } from './flags.ts';

type ParsedFlags =
  | {
      readonly ok: true;
      readonly command: CommandName;
      readonly operands: readonly string[];
      readonly flags: FlagValues;
    }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Parses the command line, or returns all its problems. */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  const { given, positionals, problems: argumentProblems } = readArguments(argv, FLAGS);
  const readings = FLAGS.map((flag) => ({ name: flag.name, ...readFlag(flag, given.get(flag) ?? []) }));
  const flags = Object.fromEntries(readings.map(({ name, value }) => [name, value])) as FlagValues;
  const [name = DEFAULT_COMMAND, ...operands] = positionals;
  const command = isCommandName(name) ? name : undefined;
  const problems = [
    ...argumentProblems,
    ...readings.flatMap((reading) => reading.problems),
    ...shardProblems(flags),
    ...sourceProblems(flags),
  ];
  if (command === undefined) return { ok: false, problems: [unknownCommand(name), ...problems] };
  problems.push(
    ...[...given.keys()].flatMap((flag) => commandProblems(flag, command)),
    ...operandProblems(command, operands, flags),
  );
  return problems.length === 0 ? { ok: true, command, operands, flags } : { ok: false, problems };
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
  return shard !== 'auto' && shard >= total
    ? [`--shard: expected less than --total-shards (${total}), got ${shard}`]
    : [];
}

function sourceProblems({ from, ...flags }: FlagValues): readonly string[] {
  if (from === undefined) return [];
  const names = ['simulate.stations', 'simulate.resources'] as const;
  return names.filter((name) => flags[name] !== undefined).map((name) => `--${name}: cannot be combined with --from`);
}

function commandProblems({ name, only }: Flag, command: CommandName): readonly string[] {
  if (only === undefined || only.includes(command)) return [];
  if (only.includes('serve') && COMMANDS[command].acceptsServeFlags) return [];
  return [`--${name}: only valid with ${only.join(', ')}, got ${command}`];
}

/** --help and --version require no operands. */
function operandProblems(
  command: CommandName,
  given: readonly string[],
  { help, version }: FlagValues,
): readonly string[] {
  const { operands: expected = [] } = COMMANDS[command];
  const missing = help || version ? [] : expected.slice(given.length).filter(({ optional }) => !optional);
  return [
    ...missing.map(
      ({ name, values }) => `${command}: missing <${name}>${values ? `, expected one of ${values.join(', ')}` : ''}`,
    ),
    ...expected.flatMap((operand, at) => valueProblems(operand, given[at])),
    ...given.slice(expected.length).map((word) => `unexpected argument ${JSON.stringify(word)}`),
  ];
}

function valueProblems({ name, values }: Operand, word: string | undefined): readonly string[] {
  if (word === undefined || values === undefined || values.includes(word)) return [];
  return [`<${name}>: expected one of ${values.join(', ')}, got ${JSON.stringify(word)}${suggestion(word, values)}`];
}

function unknownCommand(name: string): string {
  return `unknown command ${JSON.stringify(name)}, expected one of ${COMMAND_NAMES.join(', ')}${suggestion(name, COMMAND_NAMES)}`;
}

/** The unparsed values of each flag. */
interface Arguments {
  readonly given: ReadonlyMap<Flag, readonly string[]>;
  readonly positionals: readonly string[];
  readonly problems: readonly string[];
}

function readArguments(argv: readonly string[], flags: readonly Flag[]): Arguments {
  const spellings = new Map(flags.flatMap(spellingsOf));
  const given = new Map<Flag, readonly string[]>();
  const positionals: string[] = [];
  const problems: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] as string;
    if (word === '--') {
      positionals.push(...argv.slice(at + 1));
      break;
    }
    if (!isFlag(word)) {
      positionals.push(word);
      continue;
    }
    const { name, value } = splitFlag(word);
    const spelling = spellings.get(name);
    let text = value ?? spelling?.implied;
    const next = argv[at + 1];
    // The word after an unknown flag counts as its value, to report a single problem.
    if (text === undefined && next !== undefined && (!isFlag(next) || (spelling && isDashedValue(next, spellings)))) {
      text = next;
      at += 1;
    }
    if (spelling === undefined) problems.push(unknownFlag(name, [...spellings.keys()]));
    else if (spelling.implied === 'false' && value !== undefined) problems.push(`${name}: takes no value`);
    else if (text === undefined) problems.push(`${name}: missing value, expected ${spelling.flag.kind.expected}`);
    else given.set(spelling.flag, [...(given.get(spelling.flag) ?? []), text]);
  }
  return { given, positionals, problems };
}

/** A single dash is a file name. */
function isFlag(word: string): boolean {
  return word.startsWith('-') && word !== '-';
}

function splitFlag(word: string): { readonly name: string; readonly value: string | undefined } {
  const equals = word.indexOf('=');
  return equals === -1
    ? { name: word, value: undefined }
    : { name: word.slice(0, equals), value: word.slice(equals + 1) };
}

/** A word such as -created, as the value of a flag that needs one. */
function isDashedValue(word: string, spellings: ReadonlyMap<string, Spelling>): boolean {
  return !word.startsWith('--') && !spellings.has(word);
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
