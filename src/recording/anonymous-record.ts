import { labelText } from '../station/label-text.ts';
import type { Pseudonyms } from './pseudonyms.ts';

/** A text that is none of what was expected in its place, whatever it was. */
const UNREADABLE = 'unreadable';

/**
 * A record with other ids and names, as odd as it was: what could be read of it can be read, what could not cannot. Fields that are not
 * known are left out, because nobody can say what they hold.
 */
export function anonymousRecord(record: unknown, pseudonyms: Pseudonyms): unknown {
  return known(record, FIELDS, pseudonyms);
}

/** Of a record whose id is all that counts. */
export function anonymousId(record: unknown, pseudonyms: Pseudonyms): unknown {
  return known(record, { resource_id: pseudonym }, pseudonyms);
}

/** What a page says of the listing; null for anything that says nothing. */
export function anonymousPage(page: unknown, pseudonyms: Pseudonyms): Readonly<Record<string, unknown>> | null {
  return isObject(page) ? pick(page, { offset: count, size: count, total: count }, pseudonyms) : null;
}

type Anonymous = (value: unknown, pseudonyms: Pseudonyms) => unknown;

const FIELDS: Readonly<Record<string, Anonymous>> = {
  resource_type: (value, pseudonyms) => known(value, { key: token, label: token }, pseudonyms),
  resource_id: pseudonym,
  create_time: (value) => (typeof value === 'string' && /^[\d:.TtZz +-]*$/.test(value) ? value : shape(value)),
  sku: token,
  state: token,
  display_name: pseudonym,
  alert_rules_count: count,
  name: pseudonym,
  gpu_model: token,
};

function known(value: unknown, fields: Readonly<Record<string, Anonymous>>, pseudonyms: Pseudonyms): unknown {
  return isObject(value) ? pick(value, fields, pseudonyms) : shape(value);
}

/** A field that is missing stays missing. */
function pick(
  value: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, Anonymous>>,
  pseudonyms: Pseudonyms,
): Readonly<Record<string, unknown>> {
  const there = Object.entries(fields).filter(([name]) => Object.hasOwn(value, name));
  return Object.fromEntries(there.map(([name, anonymous]) => [name, anonymous(value[name], pseudonyms)]));
}

/** Cut as the exporter cuts it, so that what it takes for the same stays the same. */
function pseudonym(value: unknown, pseudonyms: Pseudonyms): unknown {
  return typeof value === 'string' ? pseudonyms.of(labelText(value)) : shape(value);
}

/** What may be told as it is. JSON has no words for a number too large to be one. */
function token(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  return typeof value === 'string' ? value : shape(value);
}

function count(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : -1;
  return typeof value === 'string' && /^\d+$/.test(value) ? value : shape(value);
}

/** Nothing of a value but what kind it is. */
function shape(value: unknown): unknown {
  if (typeof value === 'string') return UNREADABLE;
  if (typeof value === 'number') return 0;
  if (Array.isArray(value)) return [];
  return isObject(value) ? {} : value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
