import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import type * as z from 'zod';
import { type ConfigPath, formatPath, type Problem } from './problem.ts';
import { expectation, schemaProblems } from './schema-problem.ts';
import { isMergeKey, keyText, locate, readYaml, startOf, type YamlProblem } from './yaml-document.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

interface YamlText {
  /** Shown in problems. */
  readonly file: string;
  readonly text: string;
  /** Without it, no variables are substituted. */
  readonly env?: Environment;
}

export type CheckedYaml<Value> =
  | {
      readonly ok: true;
      readonly value: Value;
      /** The parsed YAML, before validation. */
      readonly raw: unknown;
      /** Locates a problem that was found after validation. */
      readonly problemAt: (path: ConfigPath, message: string) => Problem;
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Parses and validates the text; returns the value, or all problems in the order of the file. */
export function checkYaml<Schema extends z.ZodType>(schema: Schema, { file, text, env }: YamlText): CheckedYaml<z.output<Schema>> {
  const problem = ({ offset, path, message }: LocatedProblem) => ({ file, ...position(text, offset), path: formatPath(path), message });
  const reading = read(schema, text, env);
  if ('problems' in reading) return { ok: false, problems: reading.problems.toSorted((a, b) => a.offset - b.offset).map(problem) };
  const { value, raw, document } = reading;
  return { ok: true, value, raw, problemAt: (path, message) => problem({ offset: locate(document, path), path, message }) };
}

type Reading<Value> =
  | { readonly problems: readonly LocatedProblem[] }
  | { readonly value: Value; readonly raw: unknown; readonly document: Document.Parsed };

function read<Schema extends z.ZodType>(schema: Schema, text: string, env: Environment | undefined): Reading<z.output<Schema>> {
  const { problems: syntax, document } = readYaml(text);
  const problems: LocatedProblem[] = syntax.map((problem) => ({ ...problem, path: [] }));
  if (document === undefined) return { problems };
  const content = checkDocument(document, env);
  problems.push(...content);
  if (content.some(({ fatal }) => fatal === true)) return { problems };
  const plain = plainData(document);
  if (plain === undefined) return { problems: [...problems, TOO_MANY_ALIASES] };
  const { error, data } = schema.safeParse(plain.raw, { error: expectation, reportInput: true });
  problems.push(...issueProblems(schema, error?.issues ?? [], document, content));
  return data !== undefined && problems.length === 0 ? { value: data, raw: plain.raw, document } : { problems };
}

const TOO_MANY_ALIASES: LocatedProblem = { offset: 0, path: [], message: 'aliases expand to too much data, expected fewer of them' };

/** Returns undefined for aliases that expand exponentially or contain themselves. */
function plainData(document: Document.Parsed): { readonly raw: unknown } | undefined {
  try {
    return { raw: document.toJS() };
  } catch {
    return undefined;
  }
}

/** Drops duplicates, and problems of strings whose substitution already failed. */
function issueProblems(
  schema: z.ZodType,
  issues: readonly z.core.$ZodIssue[],
  document: Document.Parsed,
  content: readonly LocatedProblem[],
): readonly LocatedProblem[] {
  const reported = new Set(content.map(({ offset }) => offset));
  const unique = new Map<string, LocatedProblem>();
  for (const { path, shownPath, message, atKey } of schemaProblems(issues, schema)) {
    const offset = locate(document, path, atKey);
    if (!reported.has(offset)) unique.set(`${formatPath(path)}: ${message}`, { offset, path: shownPath, message });
  }
  return [...unique.values()];
}

function position(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

interface LocatedProblem extends YamlProblem {
  readonly path: ConfigPath;
  /** The document cannot be converted to plain data. */
  readonly fatal?: boolean;
}

interface Walk {
  readonly env: Environment | undefined;
  /** Those seen so far: an alias refers to a preceding anchor. */
  readonly anchors: Map<string, Node>;
}

/** Substitutes environment variables in strings, and reports what the conversion to plain data would hide or fail on. */
function checkDocument(document: Document.Parsed, env: Environment | undefined): readonly LocatedProblem[] {
  return [...nodeProblems(document.contents, [], { env, anchors: new Map() })];
}

function* nodeProblems(node: unknown, path: ConfigPath, walk: Walk): Iterable<LocatedProblem> {
  if (!isNode(node)) return;
  if (isAlias(node)) {
    if (walk.anchors.has(node.source)) return;
    const message = 'alias without a preceding anchor, expected a value; quote a string that starts with an asterisk';
    yield { path, offset: startOf(node), message, fatal: true };
    return;
  }
  keepAnchor(node, walk);
  if (isScalar(node)) yield* scalarProblems(node, path, walk.env);
  if (isMap(node)) yield* mapProblems(node, path, walk);
  if (isSeq(node)) for (const [index, item] of node.items.entries()) yield* nodeProblems(item, [...path, index], walk);
}

function keepAnchor(node: Scalar | YAMLMap | YAMLSeq, { anchors }: Walk): void {
  if (node.anchor !== undefined) anchors.set(node.anchor, node);
}

function* scalarProblems(scalar: Scalar, path: ConfigPath, env: Environment | undefined): Iterable<LocatedProblem> {
  if (env === undefined || typeof scalar.value !== 'string') return;
  const { text, problems } = substitute(scalar.value, env);
  scalar.value = text;
  for (const message of problems) yield { path, offset: startOf(scalar), message };
}

/** Replaces each `${NAME}` with the environment variable and each `$${` with a literal `${`. */
export function substitute(text: string, env: Environment): { readonly text: string; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const replaced = text.replaceAll(/\$\$\{|\$\{(?:([A-Za-z_]\w*)\})?/g, (match, name: string | undefined) => {
    if (match === '$${') return '${';
    const value = name !== undefined && Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined) return value;
    problems.push(name === undefined ? `expected \${NAME}, or $\${ for a literal \${` : `environment variable ${name} is not set`);
    return match;
  });
  return { text: replaced, problems };
}

function* mapProblems(map: YAMLMap, path: ConfigPath, walk: Walk): Iterable<LocatedProblem> {
  const seen = new Set<string>();
  for (const { key, value } of map.items) {
    const name = keyText(key);
    const keyPath = [...path, name];
    keepAnchor(key as Scalar, walk);
    yield* nodeProblems(value, keyPath, walk);
    if (isMergeKey(key)) {
      if (isMergeSource(value, walk)) continue;
      yield { path: keyPath, offset: startOf(value, key), message: 'expected a mapping to merge, or an alias of one', fatal: true };
    } else if (name === '__proto__') {
      yield { path: keyPath, offset: startOf(key), message: 'reserved key, expected another one' };
    } else if (seen.has(name)) {
      // A key without a value may be part of a secret that contains a comma.
      const shown = (isScalar(value) ? value.value : value) === null ? path : keyPath;
      yield { path: shown, offset: startOf(key), message: 'duplicate key, expected only once' };
    }
    seen.add(name);
  }
}

function isMergeSource(value: unknown, { anchors }: Walk): boolean {
  const source = (node: unknown) => (isAlias(node) ? anchors.get(node.source) : node);
  const merged = source(value);
  return isMap(merged) || (isSeq(merged) && merged.items.every((item) => isMap(source(item))));
}
