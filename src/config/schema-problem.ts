import * as z from 'zod';
import { nearest, suggestion } from './nearest.ts';
import { type ConfigPath, quoted } from './problem.ts';
import { configSchema } from './schema.ts';

/** A problem that the schema found. */
export interface SchemaProblem {
  readonly path: ConfigPath;
  /** Without a last key that may be part of a secret. */
  readonly shownPath: ConfigPath;
  readonly message: string;
  readonly atKey: boolean;
}

export function schemaProblems(issues: readonly z.core.$ZodIssue[], schema: z.ZodType): readonly SchemaProblem[] {
  // Converting the schema takes much longer than the check itself.
  let converted: JsonSchema | undefined;
  const keysAt = (path: ConfigPath) => {
    converted ??= jsonSchema(schema);
    return knownKeys(converted, path);
  };
  return issues.flatMap((issue) => issueProblems(issue, keysAt));
}

type KeysAt = (path: ConfigPath) => readonly string[];

function issueProblems(issue: z.core.$ZodIssue, keysAt: KeysAt): readonly SchemaProblem[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const shown = shownPath(keysAt, path, issue.input);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey(keysAt, [...path, key], key, issue.input?.[key]));
    case 'invalid_key':
      return issue.issues.map(({ code, message }) => ({
        path,
        shownPath: shown,
        message: code === 'custom' ? message : `invalid key, expected ${message}`,
        atKey: true,
      }));
    case 'custom':
      return [{ path, shownPath: shown, message: issue.message, atKey: issue.params?.['atKey'] === true }];
    default:
      return [{ path, shownPath: shown, message: describe(issue), atKey: false }];
  }
}

/** The messages of schemas without their own: what was expected. */
export const expectation: z.core.$ZodErrorMap = (issue) => {
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

function unknownKey(keysAt: KeysAt, path: ConfigPath, key: string, value: unknown): SchemaProblem {
  const known = keysAt(path.slice(0, -1));
  const near = nearest(key.replace(/:.*/s, ''), known);
  const message = near === undefined ? `unknown key, expected one of ${known.join(', ')}` : `unknown key, did you mean ${near}?`;
  return { path, shownPath: shownPath(keysAt, path, value), message, atKey: true };
}

/** Omits an unknown key without a value: in `{ password: one,two }` it is part of the secret. */
function shownPath(keysAt: KeysAt, path: ConfigPath, value: unknown): ConfigPath {
  const parent = path.slice(0, -1);
  return value === null && !keysAt(parent).includes(`${path.at(-1)}`) ? parent : path;
}

function describe(issue: z.core.$ZodIssue): string {
  if (issue.input === undefined) return `missing, expected ${issue.message}`;
  const values = issue.code === 'invalid_value' ? issue.values.map(String) : [];
  const hint = typeof issue.input === 'string' ? suggestion(issue.input, values) : '';
  return `expected ${issue.message}, got ${got(issue)}${hint}`;
}

function got(issue: z.core.$ZodIssue): string {
  const { input } = issue;
  if (input === null) return 'null';
  if (Array.isArray(input)) return input.length === 0 ? 'an empty list' : 'a list';
  if (typeof input === 'object') return 'a mapping';
  if (!isShown(issue)) return `a ${typeof input}`;
  return typeof input === 'string' ? quoted(input) : `${input}`;
}

/** A value is shown only where the schema expects something that is not a secret. */
function isShown(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'invalid_type') return issue.expected === 'number' || issue.expected === 'int';
  return issue.code !== 'invalid_union';
}

/** The part of JSON Schema that the configuration uses. */
export interface JsonSchema {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | false;
}

/** For editors: describes the file before variables are substituted. */
export function configJsonSchema(): JsonSchema {
  return jsonSchema(configSchema);
}

/** The keys of the mapping at this path. */
export function knownKeys(schema: JsonSchema, path: ConfigPath): readonly string[] {
  let at = schema;
  for (const part of path) at = at.items ?? at.properties?.[part] ?? (at.additionalProperties || {});
  return Object.keys(at.properties ?? {});
}

export function jsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;
}
