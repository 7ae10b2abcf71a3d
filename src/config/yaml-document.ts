import {
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  type Pair,
  Parser,
  parseDocument,
  type Scalar,
  type YAMLError,
} from 'yaml';
import type { ConfigPath } from './problem.ts';

/** A problem at an offset of the text. */
export interface YamlProblem {
  readonly offset: number;
  readonly message: string;
}

/** Without a document, the structure of the text is invalid. */
export interface YamlReading {
  readonly problems: readonly YamlProblem[];
  readonly document?: Document.Parsed;
}

export function readYaml(text: string): YamlReading {
  const tooDeep = offsetOfTooDeep(text);
  if (tooDeep !== undefined) return { problems: [{ offset: tooDeep, message: MESSAGES.RESOURCE_EXHAUSTION }] };
  const document = parseDocument(text, {
    logLevel: 'error',
    merge: true,
    prettyErrors: false,
    resolveKnownTags: false,
    stringKeys: true,
    uniqueKeys: false,
  });
  const errors = [...document.errors, ...document.warnings.filter(({ code }) => code !== 'BAD_INDENT')];
  const problems = withoutFollowUps(errors).map(problemOf);
  return document.errors.every(({ code }) => RECOVERABLE.has(code)) ? { problems, document } : { problems };
}

/** Far deeper than the configuration schema. */
const MAX_DEPTH = 64;

/** Unbounded nesting overflows the stack inside the parser, which cannot always be caught. */
function offsetOfTooDeep(text: string): number | undefined {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    Array.from(parser.next(lexeme));
    if (parser.stack.length > MAX_DEPTH) return parser.offset - lexeme.length;
  }
  return undefined;
}

/** Errors after which the document is still usable. */
const RECOVERABLE: ReadonlySet<ErrorCode> = new Set(['BAD_DQ_ESCAPE', 'BAD_SCALAR_START', 'MULTIPLE_DOCS', 'TAG_RESOLVE_FAILED']);

/** Keeps the first of the errors that one misplaced token or one position causes. */
function withoutFollowUps(errors: readonly YAMLError[]): readonly YAMLError[] {
  const firsts = new Map<string, YAMLError>();
  for (const error of errors) {
    const cause = error.code === 'UNEXPECTED_TOKEN' ? error.code : `${error.code} at ${error.pos[0]}`;
    if (!firsts.has(cause)) firsts.set(cause, error);
  }
  return [...firsts.values()];
}

function problemOf(error: YAMLError): YamlProblem {
  return { offset: error.pos[0], message: MESSAGES[error.code as keyof typeof MESSAGES] ?? error.message };
}

/** Replace the parser's own messages, which may quote a secret. */
const MESSAGES = {
  BAD_COLLECTION_TYPE: 'tag does not match the value, expected none',
  BAD_DIRECTIVE: 'unknown directive, expected none',
  BAD_DQ_ESCAPE: 'invalid escape sequence in a double-quoted string, expected \\\\ for a backslash, or single quotes',
  MULTIPLE_DOCS: 'second document, expected only one',
  NON_STRING_KEY: 'expected a string as key, got a list or a mapping',
  RESOURCE_EXHAUSTION: `expected at most ${MAX_DEPTH} nested levels`,
  TAG_RESOLVE_FAILED: 'unknown tag, expected none; quote a string that starts with an exclamation mark',
  UNEXPECTED_TOKEN: `unexpected token, expected a key or a value; quote \${NAME} inside braces`,
} as const satisfies Partial<Record<ErrorCode, string>>;

/** The offset of the value at the path, or of its key; that of the enclosing mapping when it is missing. */
export function locate(document: Document.Parsed, path: ConfigPath, atKey = false): number {
  let node: unknown = document.contents;
  let offset = startOf(node);
  for (const [depth, part] of path.entries()) {
    const parent = resolve(document, node);
    const pair = findPair(document, parent, String(part));
    node = isSeq(parent) ? parent.items[Number(part)] : pair?.value;
    if (pair === undefined && node === undefined) return offset;
    offset = atKey && depth === path.length - 1 ? startOf(pair?.key, node) : startOf(node, pair?.key);
  }
  return offset;
}

function resolve(document: Document.Parsed, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

/** A mapping's own keys override merged ones, and the last of duplicate keys wins. */
function findPair(document: Document.Parsed, map: unknown, key: string): Pair | undefined {
  if (!isMap(map)) return undefined;
  const own = map.items.findLast((pair) => keyText(pair.key) === key && !isMergeKey(pair.key));
  if (own !== undefined) return own;
  for (const { value } of map.items.filter((pair) => isMergeKey(pair.key))) {
    const merged = resolve(document, value);
    for (const source of isSeq(merged) ? merged.items : [merged]) {
      const pair = findPair(document, resolve(document, source), key);
      if (pair !== undefined) return pair;
    }
  }
  return undefined;
}

/** The offset of the first node that has one. */
export function startOf(...nodes: readonly unknown[]): number {
  for (const node of nodes) {
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

/** Keys are always scalars: `stringKeys` rejects others. */
export function keyText(key: unknown): string {
  return String((key as Scalar).value);
}

/** Whether the key is `<<`; quoted, it is an ordinary key. */
export function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
}
