import { setImmediate as pause } from 'node:timers/promises';
import type * as z from 'zod';
import { type ConfigPath, formatPath } from '../schema/config-path.ts';
import type { Mapping } from '../schema/cross-check.ts';
import { nearest } from '../text/nearest.ts';
import { quoted, suggestion } from '../text/quoted.ts';
import { type KeySchema, keySchema, knownKeys } from './key-schema.ts';
import { byPosition, formatProblem, type Problem } from './problem.ts';
import { readYaml, type YamlDocument, type YamlText } from './yaml-document.ts';

type CheckedYaml<Value> = { readonly document: YamlDocument } & (
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly Problem[] }
);

export async function checkYaml<Schema extends z.ZodType>(
  schema: Schema,
  source: YamlText,
): Promise<CheckedYaml<z.output<Schema>>> {
  const document = readYaml(source);
  const problems = [...document.problems];
  if (document.raw !== undefined) {
    // A file with a thousand stations takes some hundred milliseconds to parse, and as long to validate.
    await pause();
    const { error, data } = schema.safeParse(document.raw, { error: expectation, reportInput: true });
    if (error === undefined && problems.length === 0) return { ok: true, value: data, document };
    problems.push(...schemaProblems(error?.issues ?? [], schema, document));
  }
  return { ok: false, problems: problems.toSorted(byPosition), document };
}

/** A value whose substitution failed is not reported again. */
function schemaProblems(
  issues: readonly z.core.$ZodIssue[],
  schema: z.ZodType,
  document: YamlDocument,
): Iterable<Problem> {
  const keys = keySchema(schema);
  const valueAt = (path: ConfigPath) =>
    path.reduce<unknown>((value, part) => (value as Mapping | undefined)?.[part], document.raw);
  const reported = new Set(document.problems.map(placeOf));
  const problems = new Map<string, Problem>();
  for (const { path, message, atKey } of issues.flatMap((issue) => issueProblems(issue, keys))) {
    const shown = formatPath(shownPath(keys, path, valueAt(path)));
    const problem = { ...document.problemAt(path, message, atKey), path: shown };
    // Some are found twice.
    if (!reported.has(placeOf(problem))) problems.set(formatProblem(problem), problem);
  }
  return problems.values();
}

function placeOf({ line, column }: Problem): string {
  return `${line}:${column}`;
}

interface SchemaProblem {
  readonly path: ConfigPath;
  readonly message: string;
  readonly atKey: boolean;
}

function issueProblems(issue: z.core.$ZodIssue, keys: KeySchema): readonly SchemaProblem[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const problem = { path, message: issue.message, atKey: false };
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey(keys, path, key), atKey: true }));
    case 'invalid_key':
      return issue.issues.map(({ code, message }) => ({
        ...problem,
        message: code === 'custom' ? message : `invalid key, expected ${message}`,
        atKey: true,
      }));
    case 'custom':
      return [{ ...problem, atKey: issue.params?.['atKey'] === true }];
    default:
      return [{ ...problem, message: describe(issue, path, knownKeys(keys, path)) }];
  }
}

/** The messages of schemas without their own: what was expected. */
const expectation: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_value') return `one of ${issue.values.join(', ')}`;
  return issue.code === 'invalid_type' ? TYPES[issue.expected] : undefined;
};

const TYPES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  object: 'a mapping',
  record: 'a mapping',
  string: 'a string',
};

/** Names the plural, the same key of a mapping inside, a similar key, or all that are known. */
function unknownKey(keys: KeySchema, parent: ConfigPath, key: string): string {
  const known = knownKeys(keys, parent);
  const word = key.replace(/:.*/s, '');
  if (known.includes(`${word}s`)) return `unknown key, did you mean ${word}s?`;
  for (const outer of known) {
    const isKeyAt = (...path: ConfigPath) => knownKeys(keys, [...parent, ...path]).includes(word);
    if (isKeyAt(outer)) return `unknown key, did you mean ${outer}.${word}?`;
    if (isKeyAt(outer, 0)) return `unknown key, did you mean ${word} in an entry of ${outer}?`;
  }
  const meant = nearest(word, known) ?? nearest(word.toLowerCase().replaceAll('-', '_'), known);
  return meant === undefined
    ? `unknown key, expected one of ${known.join(', ')}`
    : `unknown key, did you mean ${meant}?`;
}

/** Omits an unknown key without a value: in `{ password: one,two }` it is part of the secret. */
function shownPath(keys: KeySchema, path: ConfigPath, value: unknown): ConfigPath {
  const parent = path.slice(0, -1);
  return value === null && !knownKeys(keys, parent).includes(`${path.at(-1)}`) ? parent : path;
}

function describe(issue: z.core.$ZodIssue, path: ConfigPath, keys: readonly string[]): string {
  if (issue.input === null && path.length === 0) return `the file is empty, expected ${issue.message}`;
  if (issue.input === undefined) return `missing, expected ${issue.message}`;
  return `expected ${issue.message}, got ${got(issue)}${hint(issue, keys)}`;
}

function hint({ input, message, ...issue }: z.core.$ZodIssue, keys: readonly string[]): string {
  if (typeof input === 'string') {
    const [key = ''] = input.split(':', 1);
    if (key !== input && keys.includes(key)) return '; a space is missing after the colon';
    return suggestion(input, issue.code === 'invalid_value' ? issue.values.map(String) : []);
  }
  return message === TYPES['string'] && (typeof input === 'number' || typeof input === 'boolean') ? '; quote it' : '';
}

function got(issue: z.core.$ZodIssue): string {
  const { input } = issue;
  if (input === null) return 'null';
  if (Array.isArray(input)) return input.length === 0 ? 'an empty list' : 'a list';
  if (typeof input === 'object') return 'a mapping';
  // A value is shown only where the schema expects something that is not a secret.
  const isShown =
    issue.code === 'invalid_type'
      ? issue.expected === 'number' || issue.expected === 'boolean'
      : issue.code !== 'invalid_union';
  if (!isShown) return `a ${typeof input}`;
  return typeof input === 'string' ? quoted(input) : String(input);
}
