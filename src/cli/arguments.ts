import { parseArgs } from 'node:util';
import { nearest } from '../config/nearest.ts';
import type { Flag } from './flag.ts';

/** The command line cut into words: the text given for each flag, not yet read. */
interface Arguments {
  readonly given: ReadonlyMap<Flag, readonly string[]>;
  readonly positionals: readonly string[];
  readonly problems: readonly string[];
}

/** Declares no options to parseArgs: it only cuts the words apart, so that every mistake can be told together. */
export function readArguments(argv: readonly string[], flags: readonly Flag[]): Arguments {
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
    // The word after an unknown flag is taken for its value: one mistake, one problem.
    if (text === undefined && next?.kind === 'positional') {
      text = next.value;
      at += 1;
    }
    if (spelling === undefined) problems.push(unknownFlag(token.rawName, [...spellings.keys()]));
    else if (spelling.implied === 'false' && token.value !== undefined) problems.push(`${token.rawName}: takes no value`);
    else if (text === undefined) problems.push(`${token.rawName}: the value is missing, expected ${spelling.flag.kind.expected}`);
    else given.set(spelling.flag, [...(given.get(spelling.flag) ?? []), text]);
  }
  return { given, positionals, problems };
}

/** A way to write a flag; one that implies its text needs no value. */
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
  const meant = nearest(word, known);
  return `unknown flag ${JSON.stringify(word)}${meant === undefined ? '' : `, did you mean ${meant}?`}`;
}
