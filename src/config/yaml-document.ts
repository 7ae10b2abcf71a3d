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

/** A mistake at an offset of the text. */
export interface YamlProblem {
  readonly offset: number;
  readonly message: string;
}

/** A YAML text as far as it could be read: no document means that its structure is broken. */
export interface YamlSource {
  readonly problems: readonly YamlProblem[];
  readonly document?: Document.Parsed;
}

export function readYaml(text: string): YamlSource {
  const tooDeep = offsetOfTooDeep(text);
  if (tooDeep !== undefined) return { problems: [{ offset: tooDeep, message: WORDS.RESOURCE_EXHAUSTION }] };
  const document = parseDocument(text, {
    logLevel: 'error',
    merge: true,
    prettyErrors: false,
    resolveKnownTags: false,
    stringKeys: true,
    uniqueKeys: false,
  });
  const errors = [...document.errors, ...document.warnings.filter(({ code }) => code !== 'BAD_INDENT')];
  const mistakes = withoutEchoes(errors).map(mistake);
  return document.errors.every(({ code }) => HARMLESS.has(code)) ? { problems: mistakes, document } : { problems: mistakes };
}

/** Far more levels than a configuration has. */
const DEEPEST = 64;

/** Nesting without a bound exhausts the stack inside the reader, and where a regular expression meets that, nobody can catch it. */
function offsetOfTooDeep(text: string): number | undefined {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    Array.from(parser.next(lexeme));
    if (parser.stack.length > DEEPEST) return parser.offset - lexeme.length;
  }
  return undefined;
}

/** The rest of the document can be trusted in spite of these. */
const HARMLESS: ReadonlySet<ErrorCode> = new Set(['BAD_DQ_ESCAPE', 'BAD_SCALAR_START', 'MULTIPLE_DOCS', 'TAG_RESOLVE_FAILED']);

/** One misplaced token makes the reader stumble over all that follow, and one place over every level that ends there. */
function withoutEchoes(errors: readonly YAMLError[]): readonly YAMLError[] {
  const firsts = new Map<string, YAMLError>();
  for (const error of errors) {
    const cause = error.code === 'UNEXPECTED_TOKEN' ? error.code : `${error.code} at ${error.pos[0]}`;
    if (!firsts.has(cause)) firsts.set(cause, error);
  }
  return [...firsts.values()];
}

function mistake(error: YAMLError): YamlProblem {
  return { offset: error.pos[0], message: WORDS[error.code as keyof typeof WORDS] ?? error.message };
}

/** Instead of the reader's own words where those quote the text, which may hold a secret, or speak to programmers. */
const WORDS = {
  BAD_COLLECTION_TYPE: 'the tag does not fit the value, expected none',
  BAD_DIRECTIVE: 'unknown directive, expected none',
  BAD_DQ_ESCAPE: 'invalid escape sequence in a double-quoted string, expected \\\\ for a backslash, or single quotes',
  MULTIPLE_DOCS: 'a second document begins here, expected only one',
  NON_STRING_KEY: 'the key is a list or a mapping, expected a string',
  RESOURCE_EXHAUSTION: 'too many levels inside one another, expected the few that the configuration has',
  TAG_RESOLVE_FAILED: 'unknown tag, expected none; quote a string that begins with an exclamation mark',
  UNEXPECTED_TOKEN: `something stands where YAML does not allow it, expected a key or a value; quote a \${NAME} inside braces`,
} as const satisfies Partial<Record<ErrorCode, string>>;

/** The offset at which the path's value stands, or its key; of the mapping that should hold it when it is missing. */
export function locate(document: Document.Parsed, path: ConfigPath, atKey = false): number {
  let node: unknown = document.contents;
  let offset = startOf(node);
  for (const [depth, part] of path.entries()) {
    const holder = resolve(document, node);
    const pair = findPair(document, holder, String(part));
    node = isSeq(holder) ? holder.items[Number(part)] : pair?.value;
    if (pair === undefined && node === undefined) return offset;
    offset = atKey && depth === path.length - 1 ? startOf(pair?.key, node) : startOf(node, pair?.key);
  }
  return offset;
}

function resolve(document: Document.Parsed, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

/** A mapping's own keys come before merged ones; of a key that stands twice the last one counts. */
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

/** The offset of the first of these nodes that has one. */
export function startOf(...nodes: readonly unknown[]): number {
  for (const node of nodes) {
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

/** A document is read only when all its keys are scalars. */
export function keyText(key: unknown): string {
  return String((key as Scalar).value);
}

/** `<<`, which takes in the keys of another mapping; in quotes it is a key like any other. */
export function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
}
