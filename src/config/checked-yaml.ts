import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Node, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import type * as z from 'zod';
import { type Environment, substitute } from './environment.ts';
import { type ConfigPath, formatPath, type Problem } from './problem.ts';
import { expectation, schemaProblems } from './schema-problem.ts';
import { isMergeKey, keyText, locate, readYaml, startOf, type YamlProblem } from './yaml-document.ts';

interface YamlText {
  /** For messages. */
  readonly file: string;
  readonly text: string;
  /** Left out: texts stay as they are written. */
  readonly env?: Environment;
}

export type CheckedYaml<Value> =
  | {
      readonly ok: true;
      readonly value: Value;
      /** The file as plain data, before the schema read it. */
      readonly raw: unknown;
      /** A mistake that the text alone does not show. */
      readonly problemAt: (path: ConfigPath, message: string) => Problem;
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** The text as the schema reads it, or every problem in it, in the order of the file. */
export function checkYaml<Schema extends z.ZodType>(schema: Schema, { file, text, env }: YamlText): CheckedYaml<z.output<Schema>> {
  const problem = ({ offset, path, message }: Finding) => ({ file, ...position(text, offset), path: formatPath(path), message });
  const reading = read(schema, text, env);
  if ('findings' in reading) return { ok: false, problems: reading.findings.toSorted((a, b) => a.offset - b.offset).map(problem) };
  const { value, raw, document } = reading;
  return { ok: true, value, raw, problemAt: (path, message) => problem({ offset: locate(document, path), path, message }) };
}

type Reading<Value> =
  | { readonly findings: readonly Finding[] }
  | { readonly value: Value; readonly raw: unknown; readonly document: Document.Parsed };

function read<Schema extends z.ZodType>(schema: Schema, text: string, env: Environment | undefined): Reading<z.output<Schema>> {
  const { problems: mistakes, document } = readYaml(text);
  const findings: Finding[] = mistakes.map((mistake) => ({ ...mistake, path: [] }));
  if (document === undefined) return { findings };
  const content = checkDocument(document, env);
  findings.push(...content);
  if (content.some(({ fatal }) => fatal === true)) return { findings };
  const plain = plainData(document);
  if (plain === undefined) return { findings: [...findings, EXPLODING] };
  const { error, data } = schema.safeParse(plain.raw, { error: expectation, reportInput: true });
  findings.push(...issueFindings(schema, error?.issues ?? [], document, content));
  return data !== undefined && findings.length === 0 ? { value: data, raw: plain.raw, document } : { findings };
}

const EXPLODING: Finding = { offset: 0, path: [], message: 'the aliases repeat too much, expected fewer of them' };

/** The reader refuses aliases that multiply, and those that hold themselves. */
function plainData(document: Document.Parsed): { readonly raw: unknown } | undefined {
  try {
    return { raw: document.toJS() };
  } catch {
    return undefined;
  }
}

/** One finding per mistake: a string that the environment should have filled is not judged a second time. */
function issueFindings(
  schema: z.ZodType,
  issues: readonly z.core.$ZodIssue[],
  document: Document.Parsed,
  content: readonly Finding[],
): readonly Finding[] {
  const judged = new Set(content.map(({ offset }) => offset));
  const found = new Map<string, Finding>();
  for (const { path, shownPath, message, atKey } of issues.flatMap((issue) => schemaProblems(issue, schema))) {
    const offset = locate(document, path, atKey);
    if (!judged.has(offset)) found.set(`${formatPath(path)}: ${message}`, { offset, path: shownPath, message });
  }
  return [...found.values()];
}

function position(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

/** A mistake whose path in the configuration is known. */
interface Finding extends YamlProblem {
  readonly path: ConfigPath;
  /** The document cannot be turned into plain data. */
  readonly fatal?: boolean;
}

interface Walk {
  readonly env: Environment | undefined;
  /** Those met so far: an alias reaches back only. */
  readonly anchors: Map<string, Node>;
}

/** Puts the environment, if any, into the document's strings, and tells what plain data would hide or fail on. */
function checkDocument(document: Document.Parsed, env: Environment | undefined): readonly Finding[] {
  return [...nodeFindings(document.contents, [], { env, anchors: new Map() })];
}

function* nodeFindings(node: unknown, path: ConfigPath, walk: Walk): Iterable<Finding> {
  if (!isNode(node)) return;
  if (isAlias(node)) {
    if (walk.anchors.has(node.source)) return;
    const message = 'found an alias without an anchor before it, expected a value; quote a string that begins with an asterisk';
    yield { path, offset: startOf(node), message, fatal: true };
    return;
  }
  keepAnchor(node, walk);
  if (isScalar(node)) yield* scalarFindings(node, path, walk.env);
  if (isMap(node)) yield* mapFindings(node, path, walk);
  if (isSeq(node)) for (const [index, item] of node.items.entries()) yield* nodeFindings(item, [...path, index], walk);
}

function keepAnchor(node: Scalar | YAMLMap | YAMLSeq, { anchors }: Walk): void {
  if (node.anchor !== undefined) anchors.set(node.anchor, node);
}

function* scalarFindings(scalar: Scalar, path: ConfigPath, env: Environment | undefined): Iterable<Finding> {
  if (env === undefined || typeof scalar.value !== 'string') return;
  const { text, problems } = substitute(scalar.value, env);
  scalar.value = text;
  for (const message of problems) yield { path, offset: startOf(scalar), message };
}

function* mapFindings(map: YAMLMap, path: ConfigPath, walk: Walk): Iterable<Finding> {
  const seen = new Set<string>();
  for (const { key, value } of map.items) {
    const name = keyText(key);
    const keyPath = [...path, name];
    keepAnchor(key as Scalar, walk);
    yield* nodeFindings(value, keyPath, walk);
    if (isMergeKey(key)) {
      if (isMergeSource(value, walk)) continue;
      yield { path: keyPath, offset: startOf(value, key), message: 'found no mapping to merge, expected an alias of one', fatal: true };
    } else if (name === '__proto__') {
      yield { path: keyPath, offset: startOf(key), message: 'this name cannot be used, expected another one' };
    } else if (seen.has(name)) {
      // A name without a value may be a part of a secret that holds a comma.
      const shown = (isScalar(value) ? value.value : value) === null ? path : keyPath;
      yield { path: shown, offset: startOf(key), message: 'the key stands here a second time, expected only once' };
    }
    seen.add(name);
  }
}

function isMergeSource(value: unknown, { anchors }: Walk): boolean {
  const source = (node: unknown) => (isAlias(node) ? anchors.get(node.source) : node);
  const merged = source(value);
  return isMap(merged) || (isSeq(merged) && merged.items.every((item) => isMap(source(item))));
}
