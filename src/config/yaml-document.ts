import {
  type Document,
  type ErrorCode,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import { type ConfigPath, formatPath } from '../schema/config-path.ts';
import type { Problem } from './problem.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface YamlText {
  /** Shown in problems; relative paths are resolved against its directory. */
  readonly file: string;
  readonly text: string;
  /** Without it, no variables are substituted. */
  readonly env?: Environment;
}

export function readYaml({ file, text, env }: YamlText): YamlDocument {
  const lines = new LineCounter();
  const problemAt: Locate = (offset, message, path = []) => {
    const { line, col: column } = lines.linePos(offset);
    return { file, line, column, path: formatPath(path), message };
  };
  const document = parseDocument(text, {
    lineCounter: lines,
    merge: true,
    prettyErrors: false,
    resolveKnownTags: false,
    stringKeys: true,
  });
  const { errors, warnings } = document;
  const syntaxErrors = [...errors, ...warnings.filter(({ code }) => code !== 'BAD_INDENT')];
  const problems = syntaxProblems(syntaxErrors, text, problemAt);
  const isUsable = errors.every(({ code }) => RECOVERABLE.has(code));
  return new YamlDocument(problemAt, problems, isUsable ? document : undefined, env);
}

type Locate = (offset: number, message: string, path?: ConfigPath) => Problem;

/** The plain data of a document, and the place of each value. */
export class YamlDocument {
  readonly problems: Problem[];
  /** Undefined when the structure, an alias or a merge key is invalid. */
  readonly raw: unknown;
  readonly #problemAt: Locate;
  readonly #root: unknown;
  /** The offsets of strings that contain environment variables. */
  readonly #substituted = new Set<number>();

  /** Without a document, the structure of the text is invalid. */
  constructor(problemAt: Locate, problems: Problem[], document?: Document.Parsed, env?: Environment) {
    this.#problemAt = problemAt;
    this.problems = problems;
    if (document === undefined) return;
    this.#resolve(document, env);
    if (expandedSize(document.contents) > MAX_EXPANDED_VALUES) {
      problems.push(
        problemAt(0, `aliases repeat their values to more than ${MAX_EXPANDED_VALUES} in all, expected fewer`),
      );
      return;
    }
    try {
      this.raw = document.toJS();
      this.#root = document.contents;
    } catch {
      // An alias without an anchor is already reported.
      if (problems.length === 0) problems.push(problemAt(0, 'expected a mapping, or an alias of one, after <<'));
    }
  }

  problemAt(path: ConfigPath, message: string, atKey = false): Problem {
    return this.#problemAt(this.#locate(path, atKey), message, path);
  }

  isSubstituted(path: ConfigPath): boolean {
    return this.#substituted.has(this.#locate(path));
  }

  /** The offset of the value at the path, or of its key; that of the enclosing mapping when it is missing. */
  #locate(path: ConfigPath, atKey = false): number {
    let node = this.#root;
    let offset = offsetOf(node);
    for (const [depth, part] of path.entries()) {
      const pair = isMap(node) ? pairOf(node, part) : undefined;
      node = isSeq(node) ? node.items[Number(part)] : pair?.value;
      if (pair === undefined && node === undefined) break;
      offset = atKey && depth === path.length - 1 ? offsetOf(pair?.key, node) : offsetOf(node, pair?.key);
    }
    return offset;
  }

  /** Replaces each alias with the value of the last preceding anchor of its name, and variables with their values. */
  #resolve(document: Document, env: Environment | undefined): void {
    const anchors = new Map<string, Node>();
    visit(document, {
      Alias: (key, alias, parents) => {
        const target = anchors.get(alias.source);
        const parent = parents.at(-1);
        if (target === undefined || parents.includes(target)) this.#report([...parents, alias], WITHOUT_ANCHOR);
        else if (isPair(parent)) parent.value = target;
        else if (isSeq(parent)) parent.items[Number(key)] = target;
      },
      Value: (key, node, parents) => {
        if (node.anchor !== undefined) anchors.set(node.anchor, node);
        if (isScalar(node) && key !== 'key' && env) this.#substitute(node, parents, env);
      },
    });
  }

  /** Replaces each `${NAME}` with the environment variable and each `$${` with a literal `${`. */
  #substitute(node: Scalar, parents: Nodes, env: Environment): void {
    const { value: text } = node;
    if (typeof text !== 'string') return;
    node.value = text.replaceAll(/\$\$\{|\$\{(?:([A-Za-z_]\w*)\})?/g, (match, name: string | undefined) => {
      if (match === '$${') return '${';
      const value = name !== undefined && Object.hasOwn(env, name) ? env[name] : undefined;
      if (value !== undefined) return value;
      const unset = `environment variable ${name} is not set`;
      this.#report([...parents, node], name === undefined ? `expected \${NAME}, or $\${ for a literal \${` : unset);
      return match;
    });
    if (node.value !== text) this.#substituted.add(offsetOf(node));
  }

  #report(nodes: Nodes, message: string): void {
    this.problems.push(this.#problemAt(offsetOf(nodes.at(-1)), message, pathOf(nodes)));
  }
}

/** Aliases of aliases multiply: a few lines of them would block the process. */
const MAX_EXPANDED_VALUES = 500_000;

/** How many nodes are read when each alias is read as the value that has replaced it. */
function expandedSize(node: unknown, sizes = new Map<unknown, number>()): number {
  if (isPair(node)) return expandedSize(node.value, sizes);
  if (!isMap(node) && !isSeq(node)) return 1;
  const known = sizes.get(node);
  if (known !== undefined) return known;
  const size = node.items.reduce<number>((sum, item) => sum + expandedSize(item, sizes), 1);
  sizes.set(node, size);
  return size;
}

type Nodes = readonly unknown[];

function pathOf(nodes: Nodes): ConfigPath {
  return nodes.flatMap<string | number>((node, depth) => {
    if (isPair(node)) return [keyNameOf(node)];
    return isSeq(node) && depth < nodes.length - 1 ? [node.items.indexOf(nodes[depth + 1])] : [];
  });
}

/** The own keys of a mapping override merged ones, and the last of duplicate keys counts. */
function pairOf(map: YAMLMap, name: unknown): Pair | undefined {
  const own = map.items.findLast((pair) => keyNameOf(pair) === name && !isMergeKey(pair.key));
  if (own !== undefined) return own;
  const sources = map.items.flatMap(sourcesOf) as YAMLMap[];
  return sources.map((source) => pairOf(source, name)).find((pair) => pair !== undefined);
}

function keyNameOf({ key }: Pair): string {
  return String((key as Scalar).value);
}

/** The mappings that a merge key merges; none of any other key. */
function sourcesOf({ key, value }: Pair): readonly unknown[] {
  if (!isMergeKey(key)) return [];
  return isSeq(value) ? value.items : [value];
}

/** Whether the key is `<<`; quoted, it is an ordinary key. */
function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
}

const WITHOUT_ANCHOR =
  'alias without a preceding anchor, expected a value; quote a string that starts with an asterisk';

/** Errors after which the document is still usable. */
const RECOVERABLE: ReadonlySet<ErrorCode> = new Set([
  'BAD_DQ_ESCAPE',
  'BAD_SCALAR_START',
  'DUPLICATE_KEY',
  'MULTIPLE_DOCS',
  'TAG_RESOLVE_FAILED',
]);

/** Errors that follow each other from line to line. */
const ONCE: ReadonlySet<ErrorCode> = new Set(['TAB_AS_INDENT', 'UNEXPECTED_TOKEN']);

/** The first of the errors that one misplaced token, one position or one unquoted variable causes. */
function syntaxProblems(errors: readonly YAMLError[], text: string, problemAt: Locate): Problem[] {
  const variable = errors.find(({ pos: [offset] }) => text.startsWith('${', offset - 1));
  if (variable) return [problemAt(variable.pos[0], UNQUOTED_VARIABLE)];
  const firsts = new Map<ErrorCode | number, Problem>();
  for (const { code, message, pos } of errors) {
    const [offset] = pos;
    const cause = ONCE.has(code) ? code : offset;
    if (!firsts.has(cause)) firsts.set(cause, problemAt(offset, MESSAGES[code] ?? MESSAGES[message] ?? message));
  }
  return [...firsts.values()];
}

const UNQUOTED_VARIABLE = `expected quotes around \${NAME} inside { } and [ ]: "\${NAME}"`;

const KEY_AND_VALUE = 'expected "key: value"; check the colon and the indentation';

/** By code, or by message where one code has many: the parser's own may quote a secret or name its own terms. */
const MESSAGES: Readonly<Record<string, string>> = {
  BAD_COLLECTION_TYPE: 'tag does not match the value, expected none',
  BAD_DIRECTIVE: 'unknown directive, expected none',
  BAD_DQ_ESCAPE: 'invalid escape sequence in a double-quoted string, expected \\\\ for a backslash, or single quotes',
  BAD_SCALAR_START: 'value starts with a reserved character, expected quotes around it',
  DUPLICATE_KEY: 'duplicate key, expected only once',
  BLOCK_AS_IMPLICIT_KEY: 'second ": " in one line, or a wrong indentation; quote a value that contains ": "',
  MULTILINE_IMPLICIT_KEY: KEY_AND_VALUE,
  MULTIPLE_DOCS: 'second document, expected only one',
  NON_STRING_KEY: 'expected a string as key, got a list or a mapping',
  TAB_AS_INDENT: 'tab as indentation, expected spaces',
  TAG_RESOLVE_FAILED: 'unknown tag, expected none; quote a string that starts with an exclamation mark',
  UNEXPECTED_TOKEN: 'unexpected token, expected a key or a value',
  'Implicit map keys need to be followed by map values': KEY_AND_VALUE,
  'Missing closing "quote': 'missing closing double quote',
  "Missing closing 'quote": 'missing closing single quote',
};

/** The offset of the first node that has one; a pair has that of its key. */
function offsetOf(...nodes: readonly unknown[]): number {
  for (const node of nodes) {
    if (isPair(node)) return offsetOf(node.key);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}
