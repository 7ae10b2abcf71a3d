import type { FilterName, Filters } from './call.ts';

/** Any JSON value as a record, with what the service knows of it and does not send. */
export interface Entry {
  readonly record: unknown;
  readonly product?: string;
  readonly alertable?: boolean;
}

/** The records of the entries that pass every filter. */
export function select(entries: readonly Entry[], filters: Filters): readonly unknown[] {
  const passes = (Object.keys(filters) as FilterName[]).map((name) => PASS[name](new Set(filters[name])));
  return entries.filter((entry) => passes.every((pass) => pass(entry))).map(({ record }) => record);
}

type Pass = (entry: Entry) => boolean;

const PASS: Readonly<Record<FilterName, (values: ReadonlySet<unknown>) => Pass>> = {
  resource_ids: (ids) => (entry) => ids.has(field(entry.record, 'resource_id')),
  resource_type: typeAmong,
  resource_types: typeAmong,
  product: (products) => (entry) => products.has(entry.product),
  resource_display_name_prefix: (prefixes) => (entry) => {
    const displayName = field(entry.record, 'display_name');
    return typeof displayName === 'string' && [...prefixes].every((prefix) => displayName.startsWith(`${prefix}`));
  },
  enabled_alert: () => (entry) => entry.alertable === true,
};

function typeAmong(types: ReadonlySet<unknown>): Pass {
  return (entry) => types.has(field(field(entry.record, 'resource_type'), 'key'));
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
