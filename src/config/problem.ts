/** Keys and list positions from the top of the configuration. */
export type ConfigPath = readonly (string | number)[];

/** One mistake of the operator's and where it stands. */
export interface Problem {
  readonly file: string;
  /** Lines and columns count from 1. */
  readonly line: number;
  readonly column: number;
  /** Empty when no single key is meant. */
  readonly path: string;
  readonly message: string;
}

/** `file:line:column: path: what is wrong and what was expected` */
export function formatProblem({ file, line, column, path, message }: Problem): string {
  return [`${file}:${line}:${column}`, path, message].filter((part) => part !== '').join(': ');
}

/**
 * `stations[0].cache.ttl`; a key that would read as something else stands in brackets and quotes. A key is cut at a colon, because
 * in `{ password:secret }` the space was forgotten.
 */
export function formatPath(path: ConfigPath): string {
  return path.map((part, index) => (index === 0 ? formatPart(part).replace(/^\./, '') : formatPart(part))).join('');
}

function formatPart(part: string | number): string {
  if (typeof part === 'number') return `[${part}]`;
  return /^[A-Za-z_][\w-]*$/.test(part) ? `.${part}` : `[${quoted(part.replace(/:.*/s, ':…'))}]`;
}

const LONGEST = 60;

/** For showing in a message: one line, of bounded length. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
}
