import { changedBy, type FaultEffect, type ListingBody, type PageRequest } from './faults.ts';
import type { FilterName, Filters } from './listing-request.ts';

/** A record (any JSON value), and the properties the service filters by without sending them. */
export interface SourceEntry {
  readonly record: unknown;
  readonly product?: string;
  readonly alertable?: boolean;
}

/** A page of the records that match the filters, changed by the effects in order. */
export function listingPage(
  entries: readonly SourceEntry[],
  requested: PageRequest,
  effects: readonly FaultEffect[],
): ListingBody {
  const { filters, offset, size } = changedBy(effects, 'page', requested);
  const selected = select(entries, filters);
  const all = { records: selected, total: selected.length, requested };
  const { records, total } = changedBy(effects, 'listing', all);
  return { resources: records.slice(offset, offset + size), page: { offset, size, total } };
}

function select(entries: readonly SourceEntry[], filters: Filters): readonly unknown[] {
  const wanted = (Object.keys(filters) as FilterName[]).map((name) => [name, new Set(filters[name])] as const);
  return entries
    .filter((entry) => wanted.every(([name, values]) => FILTERS[name](entry, values)))
    .map(({ record }) => record);
}

const FILTERS: Readonly<Record<FilterName, (entry: SourceEntry, values: ReadonlySet<unknown>) => boolean>> = {
  resource_ids: ({ record }, ids) => ids.has(fieldOf(record, 'resource_id')),
  resource_type: hasType,
  resource_types: hasType,
  product: ({ product }, products) => products.has(product),
  resource_display_name_prefix: ({ record }, prefixes) => {
    const displayName = fieldOf(record, 'display_name');
    return typeof displayName === 'string' && [...prefixes].every((prefix) => displayName.startsWith(`${prefix}`));
  },
  enabled_alert: ({ alertable }) => alertable === true,
};

function hasType({ record }: SourceEntry, types: ReadonlySet<unknown>): boolean {
  return types.has(fieldOf(fieldOf(record, 'resource_type'), 'key'));
}

/** undefined if the value has no fields. */
export function fieldOf(value: unknown, name: string): unknown {
  return Reflect.get(Object(value), name);
}
