import { type Listing, type Origin, type Part, READ_FIELDS, type ReadField } from '../station/listing.ts';
import type { Page } from './page.ts';

export interface ReceivedPage<Row> {
  readonly offset: number;
  readonly page: Page<Row>;
}

type Merged<Row> = Pick<Listing<Row>, 'parts' | 'origins' | 'size' | 'duplicates' | 'rejected' | 'invalidFields'>;

/**
 * The pages as one list in the service's order, however they arrived: equal listings give equal bytes.
 * `distinct`: no two rows have the same id, and none need be looked for.
 */
export function mergePages<Row>(pages: readonly ReceivedPage<Row>[], idOf: (row: Row) => string, distinct: boolean): Merged<Row> {
  const ids = new Set<string>();
  const parts: Part<Row>[] = [];
  const origins: Origin[] = [];
  const invalidFields = Object.fromEntries(READ_FIELDS.map((field) => [field, 0])) as Record<ReadField, number>;
  let size = 0;
  let duplicates = 0;
  let rejected = 0;
  for (const { offset, page } of pages.toSorted((a, b) => a.offset - b.offset)) {
    const { rows, positions, invalid } = distinct ? page : withoutKnown(page, ids, idOf);
    if (page.totalInvalid) invalidFields['page.total'] += 1;
    for (const fields of invalid.values()) for (const field of fields) invalidFields[field] += 1;
    if (rows.length > 0) parts.push(rows);
    if (rows.length > 0) origins.push({ offset, positions, invalid });
    size += rows.length;
    duplicates += page.rows.length - rows.length;
    // A page of known ids alone came again as a whole: its rejected records were counted the first time.
    const repeated = rows.length === 0 && page.rows.length > 0;
    if (!repeated) rejected += page.received - page.rows.length;
  }
  return { parts, origins, size, duplicates, rejected, invalidFields };
}

type Kept<Row> = Pick<Page<Row>, 'rows' | 'positions' | 'invalid'>;

/** A page without known ids stays as it is: it can be recognised the next time. */
function withoutKnown<Row>(page: Page<Row>, ids: Set<string>, idOf: (row: Row) => string): Kept<Row> {
  const { rows, positions, invalid } = page;
  const fresh = [...rows.keys()].filter((index) => ids.size < ids.add(idOf(rows[index] as Row)).size);
  if (fresh.length === rows.length) return page;
  return {
    rows: fresh.map((index) => rows[index] as Row),
    positions: fresh.map((index) => positions?.[index] ?? index),
    invalid: new Map(fresh.flatMap((index, at) => (invalid.has(index) ? [[at, invalid.get(index) ?? []]] : []))),
  };
}
