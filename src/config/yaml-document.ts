import { Composer, type Document, type ErrorCode, isNode, isScalar, Lexer, Parser, type Scalar, type YAMLError } from 'yaml';

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

/** About ten milliseconds of work. */
const LEXEMES_PER_STEP = 5000;

/** Parses the text in short steps: each `next` is one. */
export function* readYaml(text: string): Generator<void, YamlReading> {
  const parser = new Parser();
  const composer = new Composer(OPTIONS);
  const documents: Document.Parsed[] = [];
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) documents.push(...composer.next(token));
    // Unbounded nesting overflows the stack inside the composer, which cannot always be caught.
    if (parser.stack.length > MAX_DEPTH)
      return { problems: [{ offset: parser.offset - lexeme.length, message: MESSAGES.RESOURCE_EXHAUSTION }] };
    lexemes += 1;
    if (lexemes % LEXEMES_PER_STEP === 0) yield;
  }
  yield;
  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end(true, text.length));
  return reading(documents);
}

const OPTIONS = {
  logLevel: 'error',
  merge: true,
  prettyErrors: false,
  resolveKnownTags: false,
  stringKeys: true,
  uniqueKeys: false,
} as const;

/** Far deeper than the configuration schema. */
export const MAX_DEPTH = 64;

function reading([document, second]: readonly Document.Parsed[]): YamlReading {
  const { errors, warnings } = document as Document.Parsed;
  const found = withoutFollowUps([...errors, ...warnings.filter(({ code }) => code !== 'BAD_INDENT')]).map(problemOf);
  const problems = second === undefined ? found : [...found, { offset: second.range[0], message: MESSAGES.MULTIPLE_DOCS }];
  return errors.every(({ code }) => RECOVERABLE.has(code)) ? { problems, document: document as Document.Parsed } : { problems };
}

/** Errors after which the document is still usable. */
const RECOVERABLE: ReadonlySet<ErrorCode> = new Set(['BAD_DQ_ESCAPE', 'BAD_SCALAR_START', 'TAG_RESOLVE_FAILED']);

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
