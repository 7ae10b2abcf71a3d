import stringWidth from 'string-width';
import { printable } from '../inventory/records.ts';

export interface Column<Row> {
  readonly heading: string;
  /** Without a value it is empty. */
  readonly cell: (row: Row) => string | number | boolean | null | undefined;
  /** Aligns to the right, for numbers. */
  readonly right?: boolean;
  /** On a terminal that is too narrow, the columns with the highest number are omitted first, together; without one never. */
  readonly rank?: number;
  /** Cells are shortened to this width before a column is omitted. */
  readonly minWidth?: number;
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

interface Table {
  /** Yields line by line, so that a large table is never a single string. */
  readonly lines: Iterable<string>;
  /** The headings of columns for which the terminal is too narrow. */
  readonly omitted: readonly string[];
}

/** Aligns cells by their display width, without trailing spaces. Without a screen nothing is cut. */
export function tableOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[], screen?: Screen): Table {
  const measured = columns.map(({ cell, ...column }) => {
    const texts = [column.heading, ...rows.map((row) => printable(String(cell(row) ?? '')))];
    return { ...column, texts, width: texts.reduce((width, text) => Math.max(width, displayWidth(text)), 0) };
  });
  const shown = fitted(measured, screen?.columns ?? Number.POSITIVE_INFINITY);
  const ranks = new Set(shown.map(({ rank }) => rank));
  return {
    lines: tableLines(shown, rows.length, screen?.hasColours === true),
    omitted: columns.filter(({ rank }) => !ranks.has(rank)).map(({ heading }) => heading),
  };
}

interface MeasuredColumn extends Omit<Column<never>, 'cell'> {
  /** The heading, and the cell of each row. */
  readonly texts: readonly string[];
  readonly width: number;
}

const GAP = '  ';
const MIN_WIDTH = 16;

/** Omits columns until the others fit with their least widths, then shortens the widest ones. */
function fitted(columns: readonly MeasuredColumn[], available: number): readonly MeasuredColumn[] {
  const shortenedTo = (maxWidth: number) => (column: MeasuredColumn) => {
    const { heading, width, minWidth = MIN_WIDTH } = column;
    return { ...column, width: Math.min(width, Math.max(maxWidth, minWidth, displayWidth(heading))) };
  };
  const fits = (shown: readonly MeasuredColumn[]) =>
    shown.reduce((sum, { width }) => sum + width + GAP.length, -GAP.length) <= available;
  const ranks = columns.map(({ rank = 0 }) => rank);
  let shown = columns;
  for (const last of ranks.toSorted((a, b) => b - a))
    if (last > 0 && !fits(shown.map(shortenedTo(0)))) shown = shown.filter(({ rank }) => rank !== last);
  let maxWidth = Math.max(...shown.map(({ width }) => width));
  while (maxWidth > 0 && !fits(shown.map(shortenedTo(maxWidth)))) maxWidth -= 1;
  return shown.map(shortenedTo(maxWidth));
}

function* tableLines(columns: readonly MeasuredColumn[], rows: number, hasColours: boolean): Iterable<string> {
  for (let at = 0; at <= rows; at += 1) {
    const cells = columns.map(({ texts, width, right, colour }) => {
      const text = texts[at] as string;
      const cut = shortened(text, width);
      const space = ' '.repeat(width - displayWidth(cut));
      const shown = hasColours ? coloured(cut, colour?.(text)) : cut;
      return right ? space + shown : shown + space;
    });
    yield `${cells.join(GAP).trimEnd()}\n`;
  }
}

/** Colours of the terminal's theme. */
export function coloured(text: string, colour: Colour | undefined): string {
  return colour === undefined || text === '' ? text : `\u001b[${COLOURS[colour]}m${text}\u001b[0m`;
}

/** Han is counted here because `stringWidth` takes 50 µs for such a name. */
function displayWidth(text: string): number {
  return /^[ -~\u4e00-\u9fff]*$/.test(text) ? text.length + text.replace(/[ -~]/g, '').length : stringWidth(text);
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cut in the middle, between characters as a reader sees them, with an ellipsis of one column. */
function shortened(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  const characters = Array.from(graphemes.segment(text), ({ segment }) => segment);
  const end = fitting(characters.toReversed(), Math.floor((width - 1) / 2)).reverse();
  const start = fitting(characters, width - 1 - displayWidth(end.join('')));
  return [...start, '…', ...end].join('');
}

function fitting(characters: readonly string[], width: number): string[] {
  let used = 0;
  const end = characters.findIndex((character) => {
    used += displayWidth(character);
    return used > width;
  });
  return characters.slice(0, end === -1 ? characters.length : end);
}
