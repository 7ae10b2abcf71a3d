import stringWidth from 'string-width';
import type { CellValue, Column } from '../text/records.ts';
import { printable } from '../text/records.ts';

/** A column in a terminal; an unknown value is an empty cell. */
export interface TextColumn<Row> extends Column<Row, CellValue> {
  readonly heading: string;
  /** On a terminal that is too narrow, the columns with the highest number are omitted first, together; without one never. */
  readonly rank?: number;
  /** Cells are shortened to this width before a column is omitted. */
  readonly minWidth?: number;
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
export function tableOf<Row>(columns: readonly TextColumn<Row>[], rows: readonly Row[], screen?: Screen): Table {
  const available = screen?.columns ?? Number.POSITIVE_INFINITY;
  const measured = columns.map(({ cell, rank = 0, ...column }): MeasuredColumn => {
    const texts = [column.heading, ...rows.map((row) => printable(String(cell(row) ?? '')))];
    return { ...column, rank, texts, width: texts.reduce((width, text) => Math.max(width, displayWidth(text)), 0) };
  });
  const upTo = (last: number) => measured.filter(({ rank }) => rank <= last);
  const shown = measured.filter(({ rank }) => rank === 0 || tableWidth(upTo(rank), 0) <= available);
  let maxWidth = Math.max(...shown.map(({ width }) => width));
  while (maxWidth > 0 && tableWidth(shown, maxWidth) > available) maxWidth -= 1;
  return {
    lines: tableLines(shown, maxWidth, rows.length, screen?.hasColours === true),
    omitted: measured.filter((column) => !shown.includes(column)).map(({ heading }) => heading),
  };
}

interface MeasuredColumn extends Omit<TextColumn<never>, 'cell'> {
  readonly rank: number;
  readonly texts: readonly string[];
  readonly width: number;
}

const GAP = '  ';
const MIN_WIDTH = 16;

function tableWidth(columns: readonly MeasuredColumn[], maxWidth: number): number {
  return columns.reduce((sum, column) => sum + shownWidth(column, maxWidth) + GAP.length, -GAP.length);
}

/** Its cells are shortened to `maxWidth`, but not below its least width. */
function shownWidth({ heading, width, minWidth = MIN_WIDTH }: MeasuredColumn, maxWidth: number): number {
  return Math.min(width, Math.max(maxWidth, minWidth, heading.length));
}

function* tableLines(
  columns: readonly MeasuredColumn[],
  maxWidth: number,
  rows: number,
  hasColours: boolean,
): Iterable<string> {
  for (let at = 0; at <= rows; at += 1) {
    const cells = columns.map((column) => {
      const { texts, isNumber, colour } = column;
      const width = shownWidth(column, maxWidth);
      const text = texts[at] as string;
      const cut = shortened(text, width);
      const space = ' '.repeat(width - displayWidth(cut));
      const shown = hasColours ? coloured(cut, colour?.(text)) : cut;
      return isNumber ? space + shown : shown + space;
    });
    yield `${cells.join(GAP).trimEnd()}\n`;
  }
}

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
  let excess = displayWidth(text) - width;
  if (excess <= 0) return text;
  const start = Array.from(graphemes.segment(text), ({ segment }) => segment);
  const end = start.splice(Math.ceil(start.length / 2));
  while (excess >= 0) {
    const dropped = start.length > end.length ? start.pop() : end.shift();
    excess -= displayWidth(dropped as string);
  }
  return [...start, '…', ...end].join('');
}
