import { quoted } from '../text/quoted.ts';
import { countText, firstOf } from '../text/words.ts';

/** A problem of a configuration file and its position. */
export interface Problem {
  readonly file: string;
  /** Lines and columns count from 1. */
  readonly line: number;
  readonly column: number;
  /** Empty when the problem concerns no single key. */
  readonly path: string;
  readonly message: string;
}

export function unreadable(file: string, { message }: Error, hint = ''): Problem {
  return { file, line: 1, column: 1, path: '', message: `cannot be read: ${message}${hint}` };
}

export function byPosition(a: Problem, b: Problem): number {
  return a.line - b.line || a.column - b.column;
}

const MAX_SHOWN_PROBLEMS = 100;

/** One line per problem; a long list ends with the number of those left out. */
export function formatProblems(problems: readonly Problem[]): readonly string[] {
  return firstOf(problems.map(formatProblem), MAX_SHOWN_PROBLEMS, (more) => `and ${countText(more, 'more problem')}`);
}

/** `file:line:column: path: what is wrong and what was expected` */
export function formatProblem({ file, line, column, path, message }: Problem): string {
  return [`${file}:${line}:${column}`, path, message].filter((part) => part !== '').join(': ');
}

const MAX_LISTED_PROBLEMS = 20;

/** Quotes names for a message; a long list ends with the number of those left out. */
export function listed(names: readonly string[]): string {
  return firstOf(names.map(quoted), MAX_LISTED_PROBLEMS).join(', ');
}
