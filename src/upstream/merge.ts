import { type Listing, type Origin, type Part, READ_FIELDS, type ReadField } from '../station/listing.ts';
import type { Page } from './page.ts';

export interface ReceivedPage<Row> {
  readonly offset: number;
  readonly page: Page<Row>;
}

type Merged<Row> = Pick<Listing<Row>, 'parts' | 'origins' | 'size' | 'duplicates' | 'rejected' | 'invalidFields'>;

/** The pages as one list in the service's order, however they arrived: equal listings give equal bytes. */
export function mergePages<Row>(pages: readonly ReceivedPage<Row>[], idOf: (row: Row) => string): Merged<Row> {
  const ids = new Set<string>();
  const parts: Part<Row>[] = [];
  const origins: Origin[] = [];
  const invalidFields = Object.fromEntries(READ_FIELDS.map((field) => [field, 0])) as Record<ReadField, number>;
  let duplicates = 0;
  let rejected = 0;
  for (const { offset, page } of pages.toSorted((a, b) => a.offset - b.offset)) {
    const before = ids.size;
    if (page.totalInvalid) invalidFields['page.total'] += 1;
    const fresh: number[] = [];
    for (const [index, row] of page.rows.entries()) {
      if (ids.size === ids.add(idOf(row)).size) continue;
      fresh.push(index);
      for (const field of page.invalid.get(index) ?? []) invalidFields[field] += 1;
    }
    const taken = ids.size - before;
    // A page without duplicates is a part as it is: it can be recognised the next time.
    const { rows, positions, invalid } = taken === page.rows.length ? page : remaining(page, fresh);
    if (taken > 0) parts.push(rows);
    if (taken > 0) origins.push({ offset, positions, invalid });
    duplicates += page.rows.length - taken;
    // A page of known ids alone came again as a whole: its rejected records were counted the first time.
    const repeated = taken === 0 && page.rows.length > 0;
    if (!repeated) rejected += page.received - page.rows.length;
  }
  return { parts, origins, size: ids.size, duplicates, rejected, invalidFields };
}

/** Of a page the rows at some indices. */
function remaining<Row>({ rows, positions, invalid }: Page<Row>, indices: readonly number[]): Omit<Origin, 'offset'> & { rows: Part<Row> } {
  return {
    rows: indices.map((index) => rows[index] as Row),
    positions: indices.map((index) => positions?.[index] ?? index),
    invalid: new Map(indices.flatMap((index, at) => (invalid.has(index) ? [[at, invalid.get(index) ?? []]] : []))),
  };
}
