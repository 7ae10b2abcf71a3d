import {
  Composer,
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  type Scalar,
  visit,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import type { ConfigPath } from './problem.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A problem at an offset of the text. */
export interface YamlProblem {
  readonly offset: number;
  readonly path: ConfigPath;
  readonly message: string;
}

/** About ten milliseconds of work. */
const LEXEMES_PER_STEP = 5000;

/** Far deeper than the configuration schema. */
const MAX_DEPTH = 64;

/** The values that all aliases and merge keys of a file may add; aliases of aliases multiply. */
const MAX_ALIASED_VALUES = 1_000_000;

/** Parses the text in short steps: each `next` is one. Without `env`, no variables are substituted. */
export function* readYaml(text: string, env: Environment | undefined): Generator<void, YamlDocument> {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer({ prettyErrors: false, resolveKnownTags: false, stringKeys: true, uniqueKeys: false });
  const documents: Document.Parsed[] = [];
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) documents.push(...composer.next(token));
    // Unbounded nesting overflows the stack inside the composer, which cannot always be caught.
    if (parser.stack.length > MAX_DEPTH) {
      const problem = { offset: parser.offset - lexeme.length, path: [], message: MESSAGES.RESOURCE_EXHAUSTION };
      return new YamlDocument(lines, [problem]);
    }
    lexemes += 1;
    if (lexemes % LEXEMES_PER_STEP === 0) yield;
  }
  yield;
  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end(true, text.length));
  yield;
  const [document, second] = documents as [Document.Parsed, ...Document.Parsed[]];
  const { errors, warnings, contents } = document;
  const problems = withoutFollowUps([...errors, ...warnings.filter(({ code }) => code !== 'BAD_INDENT')], text);
  if (second) problems.push({ offset: second.range[0], path: [], message: MESSAGES.MULTIPLE_DOCS });
  if (!errors.every(({ code }) => RECOVERABLE.has(code))) return new YamlDocument(lines, problems);
  resolveAliases(document);
  // A value takes at least one character.
  return new YamlDocument(lines, problems, contents, env, text.length + MAX_ALIASED_VALUES);
}

/** Replaces each alias with the value of the last preceding anchor of its name. */
function resolveAliases(document: Document): void {
  const anchors = new Map<string, Node>();
  visit(document, {
    Node: (_, node) => {
      if ('anchor' in node && node.anchor !== undefined) anchors.set(node.anchor, node);
    },
    Alias: (key, { source }, ancestors) => {
      const target = anchors.get(source);
      const parent = ancestors.at(-1);
      if (target && isPair(parent)) parent.value = target;
      else if (target && isSeq(parent)) parent.items[Number(key)] = target;
    },
  });
}

/** The plain data of a document, with merge keys expanded, and the place of each value. */
export class YamlDocument {
  readonly problems: YamlProblem[];
  /** Undefined when the structure, an alias or a merge key is invalid. */
  readonly data: { readonly raw: unknown } | undefined;
  readonly #lines: LineCounter;
  readonly #root: unknown;
  readonly #env: Environment | undefined;
  readonly #pairs = new Map<YAMLMap, ReadonlyMap<string, Pair>>();
  /** After substitution. */
  readonly #strings = new Map<Scalar, string>();
  #valuesLeft: number;
  #isUsable: boolean;

  /** Without a root, the structure of the text is invalid. */
  constructor(lines: LineCounter, problems: readonly YamlProblem[], root?: unknown, env?: Environment, maxValues = 0) {
    this.#lines = lines;
    this.problems = [...problems];
    this.#root = root;
    this.#env = env;
    this.#valuesLeft = maxValues;
    this.#isUsable = root !== undefined;
    const raw = this.#valueOf(root, []);
    this.data = this.#isUsable ? { raw } : undefined;
  }

  position(offset: number): { readonly line: number; readonly column: number } {
    const { line, col } = this.#lines.linePos(offset);
    return { line, column: col };
  }

  /** The offset of the value at the path, or of its key; that of the enclosing mapping when it is missing. */
  locate(path: ConfigPath, atKey = false): number {
    return this.#find(path, atKey).offset;
  }

  /** Whether the string at the path contains environment variables. */
  isSubstituted(path: ConfigPath): boolean {
    const { node } = this.#find(path, false);
    return isScalar(node) && (this.#strings.get(node) ?? node.value) !== node.value;
  }

  #find(path: ConfigPath, atKey: boolean): { readonly offset: number; readonly node: unknown } {
    let node = this.#root;
    let offset = startOf(node);
    for (const [depth, part] of path.entries()) {
      const pair = isMap(node) ? this.#pairsOf(node, []).get(String(part)) : undefined;
      node = isSeq(node) ? node.items[Number(part)] : pair?.value;
      if (pair === undefined && node === undefined) break;
      offset = atKey && depth === path.length - 1 ? startOf(pair?.key, node) : startOf(node, pair?.key);
    }
    return { offset, node };
  }

  #valueOf(node: unknown, path: ConfigPath): unknown {
    // At a limit, the rest of the document is not expanded.
    if (this.#valuesLeft === 0) return undefined;
    this.#valuesLeft -= 1;
    const isTooDeep = path.length > MAX_DEPTH;
    if (isTooDeep || this.#valuesLeft === 0) {
      this.#valuesLeft = 0;
      return this.#reject(node, path.slice(0, 2), isTooDeep ? TOO_DEEP : tooLarge());
    }
    if (isAlias(node)) return this.#reject(node, path, WITHOUT_ANCHOR);
    if (isSeq(node)) return node.items.map((item, index) => this.#valueOf(item, [...path, index]));
    if (isMap(node)) {
      const pairs = [...this.#pairsOf(node, path)];
      return Object.fromEntries(pairs.map(([key, { value }]) => [key, this.#valueOf(value, [...path, key])]));
    }
    return isScalar(node) ? this.#scalar(node, path) : null;
  }

  #scalar(node: Scalar, path: ConfigPath): unknown {
    if (this.#env === undefined || typeof node.value !== 'string') return node.value;
    const known = this.#strings.get(node);
    if (known !== undefined) return known;
    const { text, problems } = substitute(node.value, this.#env);
    for (const message of problems) this.#report(node, path, message);
    this.#strings.set(node, text);
    return text;
  }

  /** The pairs of a mapping by key: its own keys override merged ones, and the last of duplicate keys wins. */
  #pairsOf(map: YAMLMap, path: ConfigPath): ReadonlyMap<string, Pair> {
    const known = this.#pairs.get(map);
    if (known !== undefined) return known;
    const pairs = new Map<string, Pair>();
    this.#pairs.set(map, pairs);
    for (const pair of map.items) if (!isMergeKey(pair.key)) this.#addPair(pairs, pair, path);
    const merged = map.items.flatMap(({ key, value }) => (isMergeKey(key) ? [value] : []));
    for (const value of merged)
      for (const source of isSeq(value) ? value.items : [value]) this.#mergePairs(pairs, source, [...path, '<<']);
    return pairs;
  }

  #addPair(pairs: Map<string, Pair>, pair: Pair, path: ConfigPath): void {
    const name = String((pair.key as Scalar).value);
    // A key without a value may be part of a secret that contains a comma.
    const isBare = (isScalar(pair.value) ? pair.value.value : pair.value) === null;
    if (name === '__proto__') this.#report(pair.key, [...path, name], 'reserved key, expected another one');
    else if (pairs.has(name))
      this.#report(pair.key, isBare ? path : [...path, name], 'duplicate key, expected only once');
    pairs.set(name, pair);
  }

  #mergePairs(pairs: Map<string, Pair>, source: unknown, path: ConfigPath): undefined {
    if (!isMap(source)) return this.#reject(source, path, 'expected a mapping to merge, or an alias of one');
    for (const [name, pair] of this.#pairsOf(source, path)) if (!pairs.has(name)) pairs.set(name, pair);
  }

  #report(node: unknown, path: ConfigPath, message: string): void {
    this.problems.push({ offset: startOf(node), path, message });
  }

  #reject(node: unknown, path: ConfigPath, message: string): undefined {
    this.#report(node, path, message);
    this.#isUsable = false;
  }
}

const WITHOUT_ANCHOR =
  'alias without a preceding anchor, expected a value; quote a string that starts with an asterisk';
const TOO_DEEP = `aliases expand to more than ${MAX_DEPTH} nested levels, expected fewer`;
/** Not a constant: formatting the number loads the data of locales, which takes a while at start. */
const tooLarge = () => `aliases expand to more than ${MAX_ALIASED_VALUES.toLocaleString('en')} values, expected fewer`;

/** Replaces each `${NAME}` with the environment variable and each `$${` with a literal `${`. */
export function substitute(
  text: string,
  env: Environment,
): { readonly text: string; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const replaced = text.replaceAll(/\$\$\{|\$\{(?:([A-Za-z_]\w*)\})?/g, (match, name: string | undefined) => {
    if (match === '$${') return '${';
    const value = name !== undefined && Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined) return value;
    problems.push(
      name === undefined ? `expected \${NAME}, or $\${ for a literal \${` : `environment variable ${name} is not set`,
    );
    return match;
  });
  return { text: replaced, problems };
}

/** Errors after which the document is still usable. */
const RECOVERABLE: ReadonlySet<ErrorCode> = new Set(['BAD_DQ_ESCAPE', 'BAD_SCALAR_START', 'TAG_RESOLVE_FAILED']);

/** Errors that follow each other from line to line. */
const ONCE: ReadonlySet<ErrorCode> = new Set(['TAB_AS_INDENT', 'UNEXPECTED_TOKEN']);

/** Keeps the first of the errors that one misplaced token, one position or one unquoted variable causes. */
function withoutFollowUps(errors: readonly YAMLError[], text: string): YamlProblem[] {
  const firsts = new Map<ErrorCode | number, YamlProblem>();
  let variableLine: number | undefined;
  for (const { code, message, pos } of errors) {
    const [offset] = pos;
    const line = text.lastIndexOf('\n', offset - 1);
    const isVariable = text.startsWith('${', offset - 1);
    if (isVariable) variableLine = line;
    const isFollowUp = variableLine === line || (variableLine !== undefined && code === 'UNEXPECTED_TOKEN');
    const cause = ONCE.has(code) ? code : offset;
    if (firsts.has(cause) || (isFollowUp && !isVariable)) continue;
    const known = MESSAGES[code as keyof typeof MESSAGES] ?? MISSING[message] ?? message;
    firsts.set(cause, { offset, path: [], message: isVariable ? UNQUOTED_VARIABLE : known });
  }
  return [...firsts.values()];
}

const UNQUOTED_VARIABLE = `expected quotes around \${NAME} inside { } and [ ]: "\${NAME}"`;

const KEY_AND_VALUE = 'expected "key: value"; check the colon and the indentation';

/** Replace the parser's own messages, which may quote a secret or name its own terms. */
const MESSAGES = {
  BAD_COLLECTION_TYPE: 'tag does not match the value, expected none',
  BAD_DIRECTIVE: 'unknown directive, expected none',
  BAD_DQ_ESCAPE: 'invalid escape sequence in a double-quoted string, expected \\\\ for a backslash, or single quotes',
  BAD_SCALAR_START: 'value starts with a reserved character, expected quotes around it',
  BLOCK_AS_IMPLICIT_KEY: 'second ": " in one line, or a wrong indentation; quote a value that contains ": "',
  MULTILINE_IMPLICIT_KEY: KEY_AND_VALUE,
  MULTIPLE_DOCS: 'second document, expected only one',
  NON_STRING_KEY: 'expected a string as key, got a list or a mapping',
  RESOURCE_EXHAUSTION: `expected at most ${MAX_DEPTH} nested levels`,
  TAB_AS_INDENT: 'tab as indentation, expected spaces',
  TAG_RESOLVE_FAILED: 'unknown tag, expected none; quote a string that starts with an exclamation mark',
  UNEXPECTED_TOKEN: 'unexpected token, expected a key or a value',
} as const satisfies Partial<Record<ErrorCode, string>>;

/** What the parser misses: one code for many messages. */
const MISSING: Readonly<Record<string, string>> = {
  'Implicit map keys need to be followed by map values': KEY_AND_VALUE,
  'Missing closing "quote': 'missing closing double quote',
  "Missing closing 'quote": 'missing closing single quote',
};

/** The offset of the first node that has one. */
function startOf(...nodes: readonly unknown[]): number {
  for (const node of nodes) {
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

/** Whether the key is `<<`; quoted, it is an ordinary key. */
function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
}
