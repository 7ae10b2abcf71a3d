/** A column of a table: on a page, in a terminal, in JSON or CSV. What only one of these shows extends it there. */
export interface Column<Row, Cell> {
  readonly cell: (row: Row) => Cell;
  /** Numbers align to the right. */
  readonly isNumber?: boolean;
}

/** A cell as text or JSON; undefined and null are unknown. */
export type CellValue = string | number | boolean | null | undefined;
