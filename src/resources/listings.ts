import type { ListingKind } from '../model/listing.ts';
import { RECORD_FIELDS, type Resource } from './fields.ts';
import { type RecordContext, readId, readResource, rejectedTexts } from './record.ts';

const LISTED = { path: 'resources', field: 'resources', idField: 'resource_id' };

/** The listing of resources. */
export function resourceListing(context: RecordContext): ListingKind<Resource> {
  return {
    ...LISTED,
    name: 'resources',
    fields: RECORD_FIELDS,
    read: (record, find) => readResource(record, context, find),
    rejectedTexts,
  };
}

/** The same listing, of which only the ids are kept. */
export const ID_LISTING: ListingKind<string> = { ...LISTED, name: 'ids', fields: [], rowsPerRecord: 3, read: readId };
