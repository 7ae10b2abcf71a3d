import stringWidth from 'string-width';

export interface Column {
  readonly heading: string;
  /** Numbers stand under each other by their last digit. */
  readonly right?: boolean;
}

/** Lines up cells under headings, by the columns of the terminal that each character takes; without spaces at the ends of lines. */
export function textTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const lines = [columns.map(({ heading }) => heading), ...rows.map((row) => row.map(printable))];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => stringWidth(line[at] ?? ''))));
  const joined = lines.map((line) => line.map((cell, at) => padded(cell, widths[at] ?? 0, columns[at]?.right === true)).join('  '));
  return joined.map((line) => `${line.trimEnd()}\n`).join('');
}

/** Text from the service as a terminal may have it: nothing in it moves the cursor, changes colours or turns the direction of what follows. */
export function printable(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

function padded(cell: string, width: number, right: boolean): string {
  const room = ' '.repeat(Math.max(0, width - stringWidth(cell)));
  return right ? room + cell : cell + room;
}
