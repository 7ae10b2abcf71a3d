import {
  Composer,
  type Document,
  type ErrorCode,
  isNode,
  isScalar,
  Lexer,
  Parser,
  type Scalar,
  type YAMLError,
} from 'yaml';

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
  return reading(documents, text);
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

function reading([document, second]: readonly Document.Parsed[], text: string): YamlReading {
  const { errors, warnings } = document as Document.Parsed;
  const found = withoutFollowUps([...errors, ...warnings.filter(({ code }) => code !== 'BAD_INDENT')], text);
  const problems =
    second === undefined ? found : [...found, { offset: second.range[0], message: MESSAGES.MULTIPLE_DOCS }];
  return errors.every(({ code }) => RECOVERABLE.has(code))
    ? { problems, document: document as Document.Parsed }
    : { problems };
}

/** Errors after which the document is still usable. */
const RECOVERABLE: ReadonlySet<ErrorCode> = new Set(['BAD_DQ_ESCAPE', 'BAD_SCALAR_START', 'TAG_RESOLVE_FAILED']);

interface FoundError extends YamlProblem {
  /** Errors with the same cause are reported once. */
  readonly cause: string | number;
}

/** Keeps the first of the errors that one misplaced token, one position or one unquoted variable causes. */
function withoutFollowUps(errors: readonly YAMLError[], text: string): readonly YamlProblem[] {
  const firsts = new Map<string | number, FoundError>();
  let variableLine: number | undefined;
  for (const error of errors) {
    const found = foundError(error, text);
    const line = text.lastIndexOf('\n', found.offset - 1);
    if (found.message === UNQUOTED_VARIABLE) variableLine = line;
    else if (variableLine === line || (variableLine !== undefined && error.code === 'UNEXPECTED_TOKEN')) continue;
    if (!firsts.has(found.cause)) firsts.set(found.cause, found);
  }
  return [...firsts.values()];
}

function foundError({ code, pos: [offset], message }: YAMLError, text: string): FoundError {
  if (text.startsWith('${', offset - 1)) return { offset, message: UNQUOTED_VARIABLE, cause: offset };
  const known = MESSAGES[code as keyof typeof MESSAGES] ?? MISSING[message] ?? message;
  return { offset, message: known, cause: ONCE.has(code) ? code : offset };
}

/** Errors that follow each other from line to line. */
const ONCE: ReadonlySet<ErrorCode> = new Set(['TAB_AS_INDENT', 'UNEXPECTED_TOKEN']);

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
