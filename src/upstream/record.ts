import { hash } from 'node:crypto';
import { isObject, labelText, type Quantity, type RecordField, type Resource } from '../station/resource.ts';

interface ReadResource {
  readonly row: Resource;
  /** Fields whose values are invalid. */
  readonly invalid: readonly RecordField[];
  /** Characters of all its texts. */
  readonly textLength: number;
}

/** Reads one record; undefined when it has no valid id. No record makes the listing fail. */
export function readResource(record: unknown, texts: InternedTexts): ReadResource | undefined {
  if (!isObject(record)) return undefined;
  const id = readRecordId(record);
  if (id === undefined) return undefined;
  let invalid = NO_FIELDS;
  const valid = <T>(field: RecordField, value: T | Invalid, otherwise: T): T => {
    if (value !== INVALID) return value;
    invalid = [...invalid, field];
    return otherwise;
  };
  const type = resourceType(record['resource_type']);
  if (type.isInvalid) invalid = ['resource_type'];
  const sku = valid('sku', text(record['sku']), '');
  const row = {
    id,
    name: valid('name', text(record['name']), ''),
    displayName: valid('display_name', text(record['display_name']), ''),
    type: texts.intern(type.key),
    typeLabel: texts.intern(type.label),
    state: texts.intern(valid('state', token(record['state']), '')),
    sku: texts.intern(sku),
    quantity: texts.quantity(sku),
    gpuModel: texts.intern(valid('gpu_model', text(record['gpu_model']), '')),
    alertRules: valid('alert_rules_count', optional(record['alert_rules_count'], wholeNumber), undefined),
    createdSeconds: valid('create_time', optional(record['create_time'], timestamp), undefined),
    product: '',
    alertable: undefined,
  };
  const unique = id.length + row.name.length + row.displayName.length;
  const shared = row.type.length + row.typeLabel.length + row.state.length + row.sku.length + row.gpuModel.length;
  return { row, invalid, textLength: unique + shared };
}

/** Reads the id of a record, for listings of which only the ids matter. */
export function readId(
  record: unknown,
): { readonly row: string; readonly invalid: readonly RecordField[]; readonly textLength: number } | undefined {
  const id = isObject(record) ? readRecordId(record) : undefined;
  return id === undefined ? undefined : { row: id, invalid: NO_FIELDS, textLength: id.length };
}

const NO_FIELDS: readonly RecordField[] = [];

function readRecordId(record: Readonly<Record<string, unknown>>): string | undefined {
  const id = record['resource_id'];
  return typeof id === 'string' && id !== '' ? labelText(id) : undefined;
}

/** Identifies a record among others: its id, or a digest of a record without a valid one; undefined for one nested too deep to be written as JSON. */
export function recordKey(record: unknown): string | undefined {
  const id = isObject(record) ? readRecordId(record) : undefined;
  if (id !== undefined) return `id ${id}`;
  const json = jsonOf(record);
  return json === undefined ? undefined : `record ${hash('sha256', json, 'base64')}`;
}

/** undefined: nested too deep. */
export function jsonOf(record: unknown): string | undefined {
  try {
    return JSON.stringify(record);
  } catch {
    return undefined;
  }
}

const INVALID = Symbol('invalid');
type Invalid = typeof INVALID;

/** A JSON number, or a decimal string as gateways write 64-bit integers; an integer of at least 0. */
export function wholeNumber(value: unknown): number | Invalid {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 ? number : INVALID;
}

function resourceType(value: unknown): { key: string; label: string; isInvalid: boolean } {
  if (!isObject(value)) return { key: '', label: '', isInvalid: !isMissing(value) };
  const key = text(value['key']);
  const label = text(value['label']);
  const isInvalid = key === INVALID || label === INVALID;
  return { key: key === INVALID ? '' : key, label: label === INVALID ? '' : label, isInvalid };
}

function text(value: unknown): string | Invalid {
  if (isMissing(value)) return '';
  return typeof value === 'string' ? labelText(value) : INVALID;
}

/** An enum value: its name, or the number that a gateway prints for a name it does not know. */
function token(value: unknown): string | Invalid {
  return text(typeof value === 'number' ? String(value) : value);
}

function timestamp(value: unknown): number | Invalid {
  return (typeof value === 'string' ? readTimestamp(value) : undefined) ?? INVALID;
}

function optional(value: unknown, read: (value: unknown) => number | Invalid): number | undefined | Invalid {
  return isMissing(value) ? undefined : read(value);
}

function isMissing(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** Enough for the types, states and skus of real stations; with more, the table is cleared and starts again. */
const MAX_TEXTS = 10_000;

/** Longer texts are not shared by many resources. */
const MAX_TEXT_LENGTH = 128;

/** Keeps one copy of texts and quantities that many resources share. */
export class InternedTexts {
  readonly #texts = new Map<string, string>();
  readonly #quantities = new Map<string, Quantity | undefined>();

  intern(text: string): string {
    const interned = this.#texts.get(text);
    if (interned !== undefined) return interned;
    if (text.length <= MAX_TEXT_LENGTH) addBounded(this.#texts, text, text);
    return text;
  }

  quantity(sku: string): Quantity | undefined {
    const interned = this.#quantities.get(sku);
    if (interned !== undefined || sku === '') return interned;
    const quantity = readQuantity(sku);
    if (sku.length <= MAX_TEXT_LENGTH) addBounded(this.#quantities, sku, quantity);
    return quantity;
  }
}

function addBounded<Value>(map: Map<string, Value>, key: string, value: Value): void {
  if (map.size >= MAX_TEXTS) map.clear();
  map.set(key, value);
}

function readQuantity(sku: string): Quantity | undefined {
  const [, quantity, unit] = /^\s*(\d+(?:\.\d+)?)\s+(\S+)\s*$/.exec(sku) ?? [];
  if (quantity === undefined || unit === undefined) return undefined;
  const value = Number(quantity);
  return Number.isFinite(value) ? { value, unit } : undefined;
}

const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
const DAYS_BEFORE_1970 = 719_162;

/** Parses an RFC 3339 timestamp to Unix seconds; undefined for anything else, for dates that do not exist and for times before 1970. */
export function readTimestamp(text: string): number | undefined {
  const day = dayOf(digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10));
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  if (!(isSeparated(text) && hour <= 23 && minute <= 59 && second <= 59)) return undefined;
  const end = endOfFraction(text);
  const seconds = day * 86_400 + (hour * 60 + minute - offsetMinutes(text, end)) * 60 + second;
  // NaN if any part is invalid.
  if (!(seconds >= 0)) return undefined;
  return end === 19 ? seconds : withFraction(seconds, text.slice(20, end));
}

/** NaN for anything but digits, including past the end of the text. */
function digits(text: string, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at += 1) {
    const digit = text.charCodeAt(at) - 48;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

function isSeparated(text: string): boolean {
  const between = text[10];
  const isDateAndTime = between === 'T' || between === 't' || between === ' ';
  return isDateAndTime && text[4] === '-' && text[7] === '-' && text[13] === ':' && text[16] === ':';
}

/** Days since 1970; NaN for a day that does not exist. */
function dayOf(year: number, month: number, day: number): number {
  const before = DAYS_BEFORE_MONTH[month - 1];
  const after = DAYS_BEFORE_MONTH[month];
  if (before === undefined || after === undefined) return Number.NaN;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 1 : 0;
  if (!(day >= 1 && day <= after - before + (month === 2 ? leap : 0))) return Number.NaN;
  const past = year - 1;
  const leaps = Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400) + (month > 2 ? leap : 0);
  return past * 365 + leaps + before + day - 1 - DAYS_BEFORE_1970;
}

/** The index of the UTC offset; 0 for a decimal point without digits. */
function endOfFraction(text: string): number {
  if (text[19] !== '.') return 19;
  let end = 20;
  while (text.charCodeAt(end) >= 48 && text.charCodeAt(end) <= 57) end += 1;
  return end === 20 ? 0 : end;
}

function offsetMinutes(text: string, at: number): number {
  const sign = text[at];
  if (sign === 'Z' || sign === 'z') return text.length === at + 1 ? 0 : Number.NaN;
  if ((sign !== '+' && sign !== '-') || text[at + 3] !== ':' || text.length !== at + 6) return Number.NaN;
  const hours = digits(text, at + 1, at + 3);
  const minutes = digits(text, at + 4, at + 6);
  if (!(hours <= 23 && minutes <= 59)) return Number.NaN;
  return (sign === '-' ? -1 : 1) * (hours * 60 + minutes);
}

const TENS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];

/** The double nearest to the decimal text: division is exact enough while both operands are safe integers; longer fractions are parsed as text. */
function withFraction(seconds: number, fraction: string): number {
  const tens = TENS[fraction.length];
  const parts = seconds * Number(tens) + Number(fraction);
  return tens !== undefined && Number.isSafeInteger(parts) ? parts / tens : Number(`${seconds}.${fraction}`);
}
