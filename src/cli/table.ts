import stringWidth from 'string-width';

export interface Column {
  readonly heading: string;
  /** Numbers stand under each other by their last digit. */
  readonly right?: boolean;
}

/** Lines up cells under headings, each row with a cell for each, by the columns of the terminal that each character takes; without spaces at the ends of lines. */
export function textTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  return [...tableLines(columns, rows)].join('');
}

/** The same line by line: a large table never is one text. */
export function* tableLines(columns: readonly Column[], rows: readonly (readonly string[])[]): Iterable<string> {
  const headings = columns.map(({ heading }) => heading);
  const widths = headings.map(cellWidth);
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] as number, cellWidth(printable(cell)));
  for (const line of [headings, ...rows]) {
    const cells = line.map((cell, at) => padded(printable(cell), widths[at] as number, columns[at]?.right === true));
    yield `${cells.join('  ').trimEnd()}\n`;
  }
}

/** Text from the service as a terminal may have it: nothing in it moves the cursor, changes colours or turns the direction of what follows. */
export function printable(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

const ASCII = /^[ -~]*$/;
const ASCII_OR_HAN = /^[ -~\u4e00-\u9fff]*$/;

/** Most cells are plain, and that is told much faster than the width of any other text. */
function cellWidth(cell: string): number {
  if (ASCII.test(cell)) return cell.length;
  return ASCII_OR_HAN.test(cell) ? cell.length + cell.replace(/[ -~]/g, '').length : stringWidth(cell);
}

function padded(cell: string, width: number, right: boolean): string {
  const space = ' '.repeat(width - cellWidth(cell));
  return right ? space + cell : cell + space;
}
