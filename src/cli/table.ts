import stringWidth from 'string-width';
import { printable } from '../inventory/records.ts';

export interface Column {
  readonly heading: string;
  /** Of its cells in a row, if not the heading: two columns may have the same one. */
  readonly key?: string;
  /** Aligns to the right, for numbers. */
  readonly right?: boolean;
  /** On a terminal that is too narrow, the columns with the highest number are omitted first; without one never. */
  readonly rank?: number;
  /** Cells are shortened to this width before a column is omitted. */
  readonly minWidth?: number;
  /** On a terminal with colours. */
  readonly colour?: (cell: string) => Colour | undefined;
}

/** Cells by the key of their column. */
export type Row = Readonly<Record<string, string>>;

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
export function tableOf(columns: readonly Column[], rows: readonly Row[], screen?: Screen): Table {
  const measured = columns.map((column) => {
    const { heading, key = heading } = column;
    return { ...column, key, width: naturalWidth(heading, key, rows) };
  });
  const shown = screen === undefined ? measured : fitted(measured, screen.columns);
  const shownKeys = new Set(shown.map(({ key }) => key));
  return {
    lines: tableLines(shown, rows, screen?.hasColours === true),
    omitted: measured.filter(({ key }) => !shownKeys.has(key)).map(({ heading }) => heading),
  };
}

interface MeasuredColumn extends Column {
  readonly key: string;
  readonly width: number;
}

function naturalWidth(heading: string, key: string, rows: readonly Row[]): number {
  return rows.reduce((width, row) => Math.max(width, displayWidth(printable(row[key] ?? ''))), displayWidth(heading));
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

function* tableLines(columns: readonly MeasuredColumn[], rows: readonly Row[], hasColours: boolean): Iterable<string> {
  yield line(columns, ({ heading }) => [heading, heading]);
  for (const row of rows) {
    yield line(columns, ({ key, width, colour }) => {
      const cell = row[key] ?? '';
      const text = shortened(printable(cell), width);
      return [text, hasColours ? coloured(text, colour?.(cell)) : text];
    });
  }
}

/** The text of each cell, and how it is shown: a colour has no width. */
function line(
  columns: readonly MeasuredColumn[],
  cellOf: (column: MeasuredColumn) => readonly [text: string, shown: string],
): string {
  const cells = columns.map((column) => {
    const [text, shown] = cellOf(column);
    const space = ' '.repeat(column.width - displayWidth(text));
    return column.right ? space + shown : shown + space;
  });
  return `${cells.join(GAP).trimEnd()}\n`;
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
