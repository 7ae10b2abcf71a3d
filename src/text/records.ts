/** A column of a table: on a page, in a terminal, in JSON or CSV. What only one of these shows extends it there. */
export interface Column<Row, Cell> {
  readonly cell: (row: Row) => Cell;
  /** Numbers align to the right. */
  readonly isNumber?: boolean;
}

/** A cell as text or JSON; undefined and null are unknown. */
export type CellValue = string | number | boolean | null | undefined;

/** The fields of a record as JSON and CSV show it, by name, in their order; those of JSON alone may be lists and objects. */
export type Columns<Row, Cell = CellValue> = Readonly<Record<string, Column<Row, Cell>>>;

interface DocumentedColumn<Row, Cell> extends Column<Row, Cell> {
  readonly help: string;
}

type PropertyOf<Row, Cell> = { [Key in keyof Row]-?: Row[Key] extends Cell ? Key : never }[keyof Row];

/** Columns from a table that has the help of each, and the property of the row that it shows or a function of the row. */
export function documented<Row, Cell = CellValue>(
  table: Readonly<Record<string, readonly [help: string, shows: PropertyOf<Row, Cell> | ((row: Row) => Cell)]>>,
): Readonly<Record<string, DocumentedColumn<Row, Cell>>> {
  const columns = Object.entries(table).map(([name, [help, shows]]) => {
    const cell = typeof shows === 'function' ? shows : (row: Row) => row[shows] as Cell;
    return [name, { help, cell }] as const;
  });
  return Object.fromEntries(columns);
}

/** A JSON array with one object per line, in pieces. */
export function* jsonPieces<Row>(columns: Columns<Row>, rows: readonly Row[]): Iterable<string> {
  let separator = '[\n';
  for (const row of rows) {
    yield separator + jsonText(fieldsOf<Row>(columns, row));
    separator = ',\n';
  }
  yield rows.length === 0 ? '[]\n' : '\n]\n';
}

/** Small enough to start at once and not to block the event loop, large enough to limit the number of writes. */
export const CHUNK_CHARACTERS = 64 * 1024;

/** All but the last one are long. */
export function* chunksOf(pieces: Iterable<string>): Generator<string> {
  let chunk = '';
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}

export function fieldsOf<Row>(columns: Columns<Row> | Columns<Row, unknown>, row: Row): object {
  return Object.fromEntries(Object.entries(columns).map(([name, { cell }]) => [name, cell(row) ?? null]));
}

/** Escapes control and format characters, which does not change the data. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** RFC 4180 with a header line, in pieces; a record is always one line. JSON has the exact data. */
export function* csvPieces<Row>(columns: Columns<Row>, rows: readonly Row[]): Iterable<string> {
  const entries = Object.entries(columns);
  // Names are words.
  yield csvLine(entries.map(([name]) => name));
  for (const row of rows) yield csvLine(entries.map(([, { cell }]) => csvText(cell(row))));
}

function csvLine(cells: readonly string[]): string {
  return `${cells.join(',')}\r\n`;
}

/**
 * Where a spreadsheet would begin to evaluate a formula; it ignores leading spaces of any kind. One that separates cells by semicolons, and
 * reads a line as one text up to the first of them, begins a cell after each.
 */
const FORMULA = /(?<=^|;)(?=[\p{Zs}"]*[=+\-@\uff1d\uff0b\uff0d\uff20])/gu;

function csvText(value: CellValue): string {
  if (typeof value !== 'string' || value === '') return String(value ?? '');
  return `"${printable(value).replace(FORMULA, "'").replaceAll('"', '""')}"`;
}

/** Escapes control and format characters of text from the service, so that it cannot control the terminal. */
export function printable(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
