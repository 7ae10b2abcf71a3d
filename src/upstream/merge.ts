import { type Listing, READ_FIELDS, type ReadField } from '../station/listing.ts';
import type { ResourceRecord } from '../station/resource.ts';
import type { Page } from './page.ts';

export interface ReceivedPage {
  readonly offset: number;
  readonly page: Page;
}

/** The pages as one list in the service's order, however they arrived: equal listings give equal bytes. */
export function mergePages(pages: readonly ReceivedPage[]): Pick<Listing, 'records' | 'duplicates' | 'rejected' | 'invalidFields'> {
  const records = new Map<string, ResourceRecord>();
  const invalidFields = Object.fromEntries(READ_FIELDS.map((field) => [field, 0])) as Record<ReadField, number>;
  let duplicates = 0;
  let rejected = 0;
  for (const { page } of pages.toSorted((a, b) => a.offset - b.offset)) {
    const before = records.size;
    if (page.totalInvalid) invalidFields['page.total'] += 1;
    for (const { record, invalid } of page.records) {
      if (records.has(record.id)) continue;
      records.set(record.id, record);
      for (const field of invalid) invalidFields[field] += 1;
    }
    const fresh = records.size - before;
    duplicates += page.records.length - fresh;
    // A page of known ids alone came again as a whole: its rejected records were counted the first time.
    const repeated = fresh === 0 && page.records.length > 0;
    if (!repeated) rejected += page.received - page.records.length;
  }
  return { records, duplicates, rejected, invalidFields };
}
