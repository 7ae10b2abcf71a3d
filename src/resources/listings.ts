import type { FindRow, ListingKind, ReadRecord, RejectedRecord } from '../model/listing.ts';
import { INVALID, isObject, labelText, readText } from '../model/values.ts';
import { NO_FIELDS, RECORD_FIELDS, type RecordContext, type Resource, readResource, recordId } from './fields.ts';

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

function readId(record: unknown, find: FindRow<string>): ReadRecord<string> | undefined {
  const id = recordId(record);
  if (id === undefined) return undefined;
  const row = find(id) ?? labelText(id);
  // One copy of equal texts.
  return { row, id: id === row ? row : id, invalid: NO_FIELDS };
}

function rejectedTexts(record: Readonly<Record<string, unknown>>): RejectedRecord['texts'] {
  const type = record['resource_type'];
  return {
    name: textOrEmpty(record['name']),
    display_name: textOrEmpty(record['display_name']),
    resource_type: isObject(type) ? textOrEmpty(type['key']) : '',
  };
}

function textOrEmpty(value: unknown): string {
  const text = readText(value);
  return text === INVALID ? '' : text;
}
