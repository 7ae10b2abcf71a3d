import { type Listing, type Part, READ_FIELDS, type ReadField } from '../station/listing.ts';
import type { Page } from './page.ts';

export interface ReceivedPage<Row> {
  readonly offset: number;
  readonly page: Page<Row>;
}

type Merged<Row> = Pick<Listing<Row>, 'parts' | 'size' | 'duplicates' | 'rejected' | 'invalidFields'>;

/** The pages as one list in the service's order, however they arrived: equal listings give equal bytes. */
export function mergePages<Row>(pages: readonly ReceivedPage<Row>[], idOf: (row: Row) => string): Merged<Row> {
  const ids = new Set<string>();
  const parts: Part<Row>[] = [];
  const invalidFields = Object.fromEntries(READ_FIELDS.map((field) => [field, 0])) as Record<ReadField, number>;
  let duplicates = 0;
  let rejected = 0;
  for (const { page } of pages.toSorted((a, b) => a.offset - b.offset)) {
    const before = ids.size;
    if (page.totalInvalid) invalidFields['page.total'] += 1;
    const fresh: Row[] = [];
    for (const [index, row] of page.rows.entries()) {
      if (ids.size === ids.add(idOf(row)).size) continue;
      fresh.push(row);
      for (const field of page.invalid.get(index) ?? []) invalidFields[field] += 1;
    }
    const taken = ids.size - before;
    // A page without duplicates is a part as it is: it can be recognised the next time.
    if (taken > 0) parts.push(taken === page.rows.length ? page.rows : fresh);
    duplicates += page.rows.length - taken;
    // A page of known ids alone came again as a whole: its rejected records were counted the first time.
    const repeated = taken === 0 && page.rows.length > 0;
    if (!repeated) rejected += page.received - page.rows.length;
  }
  return { parts, size: ids.size, duplicates, rejected, invalidFields };
}
