import * as z from 'zod';
import { nearest, suggestion } from './nearest.ts';
import { type ConfigPath, quoted } from './problem.ts';
import { configSchema } from './schema.ts';

/** What the schema found wrong, in words for the operator. */
export interface SchemaProblem {
  readonly path: ConfigPath;
  readonly shownPath: ConfigPath;
  readonly message: string;
  readonly atKey: boolean;
}

export function schemaProblems(issue: z.core.$ZodIssue, schema: z.ZodType): readonly SchemaProblem[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const shown = shownPath(schema, path, issue.input);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownKey(schema, [...path, key], key, issue.input?.[key]));
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

/** What was expected, for the schemas that do not say it themselves: it becomes the issue's message. */
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

function unknownKey(schema: z.ZodType, path: ConfigPath, key: string, value: unknown): SchemaProblem {
  const known = knownKeys(path.slice(0, -1), schema);
  const near = nearest(key.replace(/:.*/s, ''), known);
  const message = near === undefined ? `unknown key, expected one of ${known.join(', ')}` : `unknown key, did you mean ${near}?`;
  return { path, shownPath: shownPath(schema, path, value), message, atKey: true };
}

/** A name of one's own without a value is not shown: in `{ password: one,two }` it is a part of the secret. */
function shownPath(schema: z.ZodType, path: ConfigPath, value: unknown): ConfigPath {
  const parent = path.slice(0, -1);
  return value === null && !knownKeys(parent, schema).includes(`${path.at(-1)}`) ? parent : path;
}

function describe(issue: z.core.$ZodIssue): string {
  if (issue.input === undefined) return `missing, expected ${issue.message}`;
  const values = issue.code === 'invalid_value' ? issue.values.map(String) : [];
  const hint = typeof issue.input === 'string' ? suggestion(issue.input, values) : '';
  return `found ${found(issue)}, expected ${issue.message}${hint}`;
}

function found(issue: z.core.$ZodIssue): string {
  const { input } = issue;
  if (input === null) return 'nothing';
  if (Array.isArray(input)) return input.length === 0 ? 'an empty list' : 'a list';
  if (typeof input === 'object') return 'a mapping';
  if (!isShown(issue)) return `a ${typeof input}`;
  return typeof input === 'string' ? quoted(input) : `${input}`;
}

/** A value is shown only where the schema asked for something that is no secret. */
function isShown(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'invalid_type') return issue.expected === 'number' || issue.expected === 'int';
  return issue.code !== 'invalid_union';
}

/** As much of JSON Schema as the configuration's needs. */
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

/** For editors: what the file may hold before `${VAR}` is replaced. */
export function configJsonSchema(): JsonSchema {
  return jsonSchema(configSchema);
}

/** The keys that may stand in the mapping at this path. */
export function knownKeys(path: readonly (string | number)[], schema: z.ZodType = configSchema): readonly string[] {
  let at = jsonSchema(schema);
  for (const part of path) at = at.items ?? at.properties?.[part] ?? (at.additionalProperties || {});
  return Object.keys(at.properties ?? {});
}

function jsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;
}
