import stringWidth from 'string-width';
import { printable } from '../inventory/records.ts';

export interface Column {
  readonly heading: string;
  /** Aligns to the right, for numbers. */
  readonly right?: boolean;
  /** On a terminal that is too narrow, the columns with the highest number are omitted first; 0, the default, is always shown. */
  readonly rank?: number;
  /** Cells are shortened to this width before a column is omitted; without it to the width of the heading. */
  readonly minWidth?: number;
  /** Shortens in the middle, for values with a common beginning. */
  readonly keepEnd?: boolean;
  /** On a terminal with colours. */
  readonly colour?: (cell: string) => Colour | undefined;
}

/** A terminal; of unknown width it has infinitely many columns. */
export interface Screen {
  readonly columns: number;
  readonly hasColours: boolean;
}

const COLOURS = { red: 31, green: 32, yellow: 33 } as const;

export type Colour = keyof typeof COLOURS;

type Rows = readonly (readonly string[])[];

interface Table {
  /** Yields line by line, so that a large table is never a single string. */
  readonly lines: Iterable<string>;
  /** The headings of columns for which the terminal is too narrow. */
  readonly omitted: readonly string[];
}

const GAP = '  ';

/** Aligns cells by their display width, without trailing spaces; each row has one cell per column. Without a screen nothing is cut. */
export function tableOf(columns: readonly Column[], rows: Rows, screen?: Screen): Table {
  const natural = columns.map(({ heading }) => displayWidth(heading));
  for (const row of rows)
    for (const [at, cell] of row.entries())
      natural[at] = Math.max(natural[at] as number, displayWidth(printable(cell)));
  const widths = screen === undefined ? natural : fittedWidths(columns, natural, screen.columns);
  return {
    lines: tableLines(columns, rows, widths, screen?.hasColours === true),
    omitted: columns.flatMap(({ heading }, at) => (widths[at] === undefined ? [heading] : [])),
  };
}

/** Omits and shortens columns until they fit; undefined: omitted. */
export function fittedWidths(
  columns: readonly Column[],
  natural: readonly number[],
  available: number,
): readonly (number | undefined)[] {
  const widths: (number | undefined)[] = [...natural];
  const least = columns.map(({ heading, minWidth = 0 }, at) =>
    Math.min(natural[at] as number, Math.max(displayWidth(heading), minWidth)),
  );
  while (totalWidth(least.filter((_, at) => widths[at] !== undefined)) > available) {
    const last = lastRanked(columns, widths);
    if (last === undefined) break;
    widths[last] = undefined;
  }
  for (let excess = totalWidth(widths.filter((width) => width !== undefined)) - available; excess > 0; excess -= 1) {
    const widest = widestAbove(least, widths);
    if (widest === undefined) break;
    widths[widest] = (widths[widest] as number) - 1;
  }
  return widths;
}

function totalWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, GAP.length * (widths.length - 1));
}

function lastRanked(columns: readonly Column[], widths: readonly (number | undefined)[]): number | undefined {
  let last: number | undefined;
  for (const [at, { rank = 0 }] of columns.entries()) {
    if (widths[at] !== undefined && rank > 0 && rank >= (columns[last ?? -1]?.rank ?? 0)) last = at;
  }
  return last;
}

function widestAbove(least: readonly number[], widths: readonly (number | undefined)[]): number | undefined {
  let widest: number | undefined;
  for (const [at, width = 0] of widths.entries()) {
    if (width > (least[at] as number) && width > (widths[widest ?? -1] ?? 0)) widest = at;
  }
  return widest;
}

function* tableLines(
  columns: readonly Column[],
  rows: Rows,
  widths: readonly (number | undefined)[],
  hasColours: boolean,
): Iterable<string> {
  const shown = columns.flatMap((column, at) => (widths[at] === undefined ? [] : [{ column, at, width: widths[at] }]));
  yield `${shown
    .map(({ column: { heading, right }, width }) => padded(heading, heading, width, right))
    .join(GAP)
    .trimEnd()}\n`;
  for (const row of rows) {
    const cells = shown.map(({ column, at, width }) => {
      const cell = row[at] ?? '';
      const text = shortened(printable(cell), width, column.keepEnd);
      return padded(text, hasColours ? coloured(text, column.colour?.(cell)) : text, width, column.right);
    });
    yield `${cells.join(GAP).trimEnd()}\n`;
  }
}

/** Colours of the terminal's theme. */
export function coloured(text: string, colour: Colour | undefined): string {
  return colour === undefined || text === '' ? text : `\u001b[${COLOURS[colour]}m${text}\u001b[0m`;
}

const ASCII = /^[ -~]*$/;
const ASCII_OR_HAN = /^[ -~\u4e00-\u9fff]*$/;

/** ASCII and Han are handled here because `stringWidth` is much slower. */
function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  return ASCII_OR_HAN.test(text) ? text.length + text.replace(/[ -~]/g, '').length : stringWidth(text);
}

const ELLIPSIS = '…';
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cut between characters as a reader sees them, with an ellipsis of one column. */
function shortened(text: string, width: number, keepEnd = false): string {
  if (displayWidth(text) <= width) return text;
  const characters = Array.from(graphemes.segment(text), ({ segment }) => segment);
  const end = keepEnd ? fitting(characters.toReversed(), Math.floor((width - 1) / 2)).reverse() : [];
  const start = fitting(characters, width - 1 - displayWidth(end.join('')));
  return [...start, ELLIPSIS, ...end].join('');
}

function fitting(characters: readonly string[], width: number): string[] {
  let used = 0;
  const end = characters.findIndex((character) => {
    used += displayWidth(character);
    return used > width;
  });
  return characters.slice(0, end === -1 ? characters.length : end);
}

/** `shown` is the text with its colour, which has no width. */
function padded(text: string, shown: string, width: number, right = false): string {
  const space = ' '.repeat(width - displayWidth(text));
  return right ? space + shown : shown + space;
}
