import { setImmediate as pause } from 'node:timers/promises';
import * as z from 'zod';
import { type ConfigPath, formatPath } from '../schema/config-path.ts';
import type { Mapping } from '../schema/cross-check.ts';
import { nearest } from '../text/nearest.ts';
import { quoted, suggestion } from '../text/quoted.ts';
import { byPosition, formatProblem, type Problem } from './problem.ts';
import { readYaml, type YamlDocument, type YamlText } from './yaml-document.ts';

/** The value, or all problems in the order of the file. */
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

/** A missing key that an unknown one probably stands for is not reported, nor is a value whose substitution failed. */
function schemaProblems(
  issues: readonly z.core.$ZodIssue[],
  schema: z.ZodType,
  document: YamlDocument,
): Iterable<Problem> {
  const keys = jsonSchema(schema) as KeySchema;
  const found = issues.flatMap((issue) => issueProblems(issue, keys));
  const meantPaths = new Set(found.map(({ meant }) => meant && formatPath(meant)));
  const valueAt = (path: ConfigPath) =>
    path.reduce<unknown>((value, part) => (value as Mapping | undefined)?.[part], document.raw);
  const reported = new Set(document.problems.map(placeOf));
  const problems = new Map<string, Problem>();
  for (const { path, message, atKey } of found) {
    const value = valueAt(path);
    if (meantPaths.has(formatPath(path)) && value === undefined) continue;
    const problem = { ...document.problemAt(path, message, atKey), path: formatPath(shownPath(keys, path, value)) };
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
  /** The key that an unknown one probably stands for. */
  readonly meant?: ConfigPath;
}

interface MeantKey {
  readonly text: string;
  readonly path: ConfigPath;
}

function issueProblems(issue: z.core.$ZodIssue, keys: KeySchema): readonly SchemaProblem[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const problem = { path, message: issue.message, atKey: false };
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey(keys, path, key));
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

function unknownKey(keys: KeySchema, parent: ConfigPath, key: string): SchemaProblem {
  const problem = { path: [...parent, key], atKey: true };
  const meant = meantKey(keys, parent, key.replace(/:.*/s, ''));
  return meant === undefined
    ? { ...problem, message: `unknown key, expected one of ${knownKeys(keys, parent).join(', ')}` }
    : { ...problem, message: `unknown key, did you mean ${meant.text}?`, meant: [...parent, ...meant.path] };
}

/** The key of this mapping that the word is another spelling or a common name of, the same key of a mapping inside, or a similar key. */
function meantKey(keys: KeySchema, parent: ConfigPath, word: string): MeantKey | undefined {
  const known = knownKeys(keys, parent);
  const plain = (key: string) => key.toLowerCase().replaceAll(/[-_]/g, '');
  const singular = (key: string) => plain(key).replace(/s$/, '');
  const direct =
    known.find((key) => plain(key) === plain(word)) ??
    known.find((key) => singular(key) === singular(word)) ??
    known.find((key) => key === OTHER_NAMES[word]);
  for (const outer of direct === undefined ? known : []) {
    const isKeyAt = (...path: ConfigPath) => knownKeys(keys, [...parent, ...path]).includes(word);
    if (isKeyAt(outer)) return { text: `${outer}.${word}`, path: [outer, word] };
    if (isKeyAt(outer, 0)) return { text: `${word} in an entry of ${outer}`, path: [outer] };
  }
  const key = direct ?? nearest(word, known);
  return key === undefined ? undefined : { text: key, path: [key] };
}

/** What other exporters and clients call these keys. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  address: 'base_url',
  alertable: 'alertability',
  auth: 'authorization',
  basic: 'basic_auth',
  bearer_token: 'authorization',
  bearer_token_file: 'authorization',
  endpoint: 'base_url',
  group: 'resource_group',
  headers: 'http_headers',
  host: 'base_url',
  interval: 'cache',
  proxy: 'proxy_url',
  refresh_interval: 'cache',
  retries: 'max_retries',
  scrape_interval: 'cache',
  station: 'telemetry_station',
  tls: 'tls_config',
  token: 'authorization',
  url: 'base_url',
  user: 'username',
};

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

/** `keys`: of the mapping that was expected. */
function hint({ input, message, ...issue }: z.core.$ZodIssue, keys: readonly string[]): string {
  if (typeof input === 'string') {
    const [key = ''] = input.split(':', 1);
    if (key !== input && keys.includes(key)) return '; a space is missing after the colon';
    const meant = BOOLEAN_WORDS.get(input.toLowerCase());
    if (message === TYPES['boolean'] && meant !== undefined)
      return `, which is a string; write ${meant} without quotes`;
    return suggestion(input, issue.code === 'invalid_value' ? issue.values.map(String) : []);
  }
  return message === TYPES['string'] && (typeof input === 'number' || typeof input === 'boolean') ? '; quote it' : '';
}

/** What other versions of YAML, or quotes, make of true and false. */
const BOOLEAN_WORDS: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'yes', 'y', 'on'].map((word) => [word, true] as const),
  ...['false', 'no', 'n', 'off'].map((word) => [word, false] as const),
]);

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
  return typeof input === 'string' ? quoted(input) : `${input}`;
}

/** The part of JSON Schema that describes keys. */
interface KeySchema {
  readonly items?: KeySchema;
  readonly properties?: Readonly<Record<string, KeySchema>>;
  readonly additionalProperties?: KeySchema | false;
}

/** The keys of the mapping at this path. */
export function knownKeys(schema: KeySchema, path: ConfigPath): readonly string[] {
  let at = schema;
  for (const part of path) at = at.items ?? at.properties?.[part] ?? (at.additionalProperties || {});
  return Object.keys(at.properties ?? {});
}

/** The JSON Schema of what may be written. */
export function jsonSchema(schema: z.ZodType) {
  return z.toJSONSchema(schema, { io: 'input' });
}
