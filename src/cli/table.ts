import stringWidth from 'string-width';
import { printable } from '../station/records.ts';

export interface Column {
  readonly heading: string;
  /** Aligns to the right, for numbers. */
  readonly right?: boolean;
}

/** Aligns cells by their display width, without trailing spaces; each row has one cell per column. */
export function textTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  return [...tableLines(columns, rows)].join('');
}

/** Yields the table line by line, so that a large one is never a single string. */
export function* tableLines(columns: readonly Column[], rows: readonly (readonly string[])[]): Iterable<string> {
  const headings = columns.map(({ heading }) => heading);
  const widths = headings.map(cellWidth);
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] as number, cellWidth(printable(cell)));
  for (const line of [headings, ...rows]) {
    const cells = line.map((cell, at) => padded(printable(cell), widths[at] as number, columns[at]?.right === true));
    yield `${cells.join('  ').trimEnd()}\n`;
  }
}

const ASCII = /^[ -~]*$/;
const ASCII_OR_HAN = /^[ -~\u4e00-\u9fff]*$/;

/** ASCII and Han are handled here because `stringWidth` is much slower. */
function cellWidth(cell: string): number {
  if (ASCII.test(cell)) return cell.length;
  return ASCII_OR_HAN.test(cell) ? cell.length + cell.replace(/[ -~]/g, '').length : stringWidth(cell);
}

function padded(cell: string, width: number, right: boolean): string {
  const space = ' '.repeat(width - cellWidth(cell));
  return right ? space + cell : cell + space;
}
