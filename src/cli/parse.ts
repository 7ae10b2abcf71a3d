import { parseArgs } from 'node:util';
import { HIDDEN } from '../schema/secret.ts';
import { nearest } from '../text/nearest.ts';
import { suggestion } from '../text/quoted.ts';
import { COMMAND_NAMES, COMMANDS, type CommandName, DEFAULT_COMMAND, isCommandName } from './commands.ts';
import type { Flag } from './flag-type.ts';
import { FLAGS, type FlagValues } from './flags.ts';

type ParsedFlags =
  | {
      readonly ok: true;
      readonly command: CommandName;
      readonly operand: string;
      readonly flags: FlagValues;
    }
  | { readonly ok: false; readonly problems: readonly string[] };

export function parseFlags(argv: readonly string[]): ParsedFlags {
  const { given, positionals, problems } = readArguments(argv);
  const values = FLAGS.map((flag) => [flag.name, readFlag(flag, given.get(flag) ?? [], problems)]);
  const flags = Object.fromEntries(values) as FlagValues;
  const [command = DEFAULT_COMMAND, ...operands] = positionals;
  problems.push(...combinationProblems(flags, command));
  if (!isCommandName(command)) {
    const expected = `expected one of ${COMMAND_NAMES.join(', ')}${suggestion(command, COMMAND_NAMES)}`;
    return { ok: false, problems: [`unknown command ${JSON.stringify(command)}, ${expected}`, ...problems] };
  }
  for (const flag of given.keys()) problems.push(...commandProblems(flag, command));
  problems.push(...operandProblems(command, operands, flags));
  return problems.length === 0 ? { ok: true, command, operand: operands[0] ?? '', flags } : { ok: false, problems };
}

function readFlag(flag: Flag, given: readonly string[], problems: string[]): unknown {
  const { name, type, default: defaultValue, isRepeatable } = flag;
  const texts = given.length === 0 && defaultValue !== undefined ? [defaultValue] : given;
  const values = texts.map((text) => {
    const value = type.parse(text);
    if (value === undefined) problems.push(`--${name}: expected ${type.expected}, got ${quotedValue(text)}`);
    return value;
  });
  if (!isRepeatable && given.length > 1) problems.push(`--${name}: expected once, got ${given.length} times`);
  return flag.value(values);
}

function quotedValue(text: string): string {
  return JSON.stringify(text.replace(/\/\/.*@/s, `//${HIDDEN}@`));
}

/** Compares only valid values: invalid ones are already reported. */
function combinationProblems(
  { shard, 'total-shards': total, from, ...flags }: FlagValues,
  command: string,
): readonly string[] {
  const sizes = ['simulate.stations', 'simulate.resources'] as const;
  const unused = sizes.filter((name) => from !== undefined && flags[name] !== undefined);
  const limits = ['min-coverage', 'max-without-rules', 'max-uncovered-age'] as const;
  return [
    ...(shard !== 'auto' && shard >= total
      ? [`--shard: expected less than --total-shards (${total}), got ${shard}`]
      : []),
    ...unused.map((name) => `--${name}: cannot be combined with --from`),
    ...limits.filter((name) => flags[name] !== undefined && !flags.live).map((name) => `--${name}: requires --live`),
    ...(['prometheus', 'alertmanager'] as const)
      .filter((name) => flags[`${name}.config.file`] !== undefined && flags[`${name}.url`] === undefined)
      .map((name) => `--${name}.config.file: requires --${name}.url`),
    ...(command === 'drill' && flags['alertmanager.url'] === undefined && !flags.help
      ? ['drill: requires --alertmanager.url']
      : []),
    ...(command === 'check' && flags.label.length > 0 && !flags.live ? ['--label: requires --live'] : []),
  ];
}

function commandProblems({ name, only }: Flag, command: CommandName): readonly string[] {
  // With --config.check, list, record and drill would check the configuration and succeed without a result of their own.
  const wouldOnlyCheck = name === 'config.check' && command !== 'check';
  const acceptsServeFlags = COMMANDS[command].acceptsServeFlags && !wouldOnlyCheck;
  const isAccepted = only.includes(command) || (only.includes('serve') && acceptsServeFlags);
  return isAccepted ? [] : [`--${name}: only valid with ${only.join(', ')}, got ${command}`];
}

function operandProblems(command: CommandName, given: readonly string[], { help, version }: FlagValues) {
  const { operand, isOptional } = COMMANDS[command];
  if (operand !== undefined && !isOptional && given.length === 0)
    return help || version ? [] : [`${command}: missing <${operand}>`];
  return given.slice(operand === undefined ? 0 : 1).map((word) => `unexpected argument ${JSON.stringify(word)}`);
}

function readArguments(argv: readonly string[]) {
  const given = new Map<Flag, readonly string[]>();
  const positionals: string[] = [];
  const problems: string[] = [];
  const { tokens } = parseArgs({ args: [...argv], options: OPTIONS, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const word = argv[token.index] ?? '';
    const spelling = SPELLINGS.get(token.rawName);
    const isKnown = spelling !== undefined && (word.startsWith('--') || word === token.rawName);
    if (isKnown) readValue(token, spelling, given, problems);
    else problems.push(unknownFlag(word.replace(/=.*/s, '')));
  }
  // parseArgs divides an unknown -name into several.
  return { given, positionals, problems: [...new Set(problems)] };
}

interface OptionToken {
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function readValue(
  { rawName, value, inlineValue }: OptionToken,
  { flag, implied }: Spelling,
  given: Map<Flag, readonly string[]>,
  problems: string[],
): void {
  const isNextFlag = inlineValue === false && isFlag(value);
  const text = isNextFlag ? undefined : (value ?? implied);
  if (implied === 'false' && inlineValue) problems.push(`${rawName}: takes no value`);
  else if (text === undefined) problems.push(`${rawName}: missing value, expected ${flag.type.expected}`);
  else given.set(flag, [...(given.get(flag) ?? []), text]);
}

/** A word such as -created is a value. */
function isFlag(word = ''): boolean {
  return word.startsWith('--') || SPELLINGS.has(word);
}

function unknownFlag(name: string): string {
  const near = nearest(name, [...SPELLINGS.keys()]);
  return `unknown flag ${JSON.stringify(name)}${near === undefined ? '' : `, did you mean ${near}?`}`;
}

/** A name of a flag; one with an implied value needs no argument. */
interface Spelling {
  readonly flag: Flag;
  readonly implied?: string;
}

const SPELLINGS: ReadonlyMap<string, Spelling> = new Map(FLAGS.flatMap(spellingsOf));

function spellingsOf(flag: Flag): [string, Spelling][] {
  const { name, short, type } = flag;
  if (type.placeholder !== undefined) return [[`--${name}`, { flag }]];
  const words = short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];
  return [
    ...words.map((word): [string, Spelling] => [word, { flag, implied: 'true' }]),
    [`--no-${name}`, { flag, implied: 'false' }],
  ];
}

/** Only flags with a value are declared: parseArgs takes all others for booleans. */
const OPTIONS = Object.fromEntries(
  FLAGS.filter(({ type }) => type.placeholder !== undefined).map(({ name }) => [name, { type: 'string' as const }]),
);
