import type { ListingField } from '../station/listing.ts';
import { labelText, type Quantity, type Resource } from '../station/resource.ts';

/** A resource and the fields whose values could not be used. */
interface ReadResource {
  readonly row: Resource;
  readonly invalid: readonly ListingField[];
}

/** Reads what can be read of one record; undefined when it has no usable id. Nothing in it can make the listing fail. */
export function readResource(value: unknown, shared: InternedTexts): ReadResource | undefined {
  if (!isObject(value)) return undefined;
  const id = usableId(value);
  if (id === undefined) return undefined;
  let invalid = NOTHING_INVALID;
  const usable = <T>(field: ListingField, read: T | Unusable, otherwise: T): T => {
    if (read !== UNUSABLE) return read;
    invalid = [...invalid, field];
    return otherwise;
  };
  const type = resourceType(value['resource_type']);
  if (type.unusable) invalid = ['resource_type'];
  const sku = usable('sku', text(value['sku']), '');
  const row = {
    id,
    name: usable('name', text(value['name']), ''),
    displayName: usable('display_name', text(value['display_name']), ''),
    type: shared.intern(type.key),
    typeLabel: shared.intern(type.label),
    state: shared.intern(usable('state', token(value['state']), '')),
    sku: shared.intern(sku),
    quantity: shared.quantity(sku),
    gpuModel: shared.intern(usable('gpu_model', text(value['gpu_model']), '')),
    alertRules: usable('alert_rules_count', given(value['alert_rules_count'], wholeNumber), undefined),
    createdSeconds: usable('create_time', given(value['create_time'], timestamp), undefined),
    product: '',
    alertable: undefined,
  };
  return { row, invalid };
}

/** Of a listing that only tells what belongs to it, the id is all there is to read. */
export function readId(value: unknown): { readonly row: string; readonly invalid: readonly ListingField[] } | undefined {
  const id = isObject(value) ? usableId(value) : undefined;
  return id === undefined ? undefined : { row: id, invalid: NOTHING_INVALID };
}

const NOTHING_INVALID: readonly ListingField[] = [];

function usableId(record: Readonly<Record<string, unknown>>): string | undefined {
  const id = record['resource_id'];
  return typeof id === 'string' && id !== '' ? labelText(id) : undefined;
}

const UNUSABLE = Symbol('unusable');
type Unusable = typeof UNUSABLE;

/** A JSON number or a decimal text, as gateways write 64-bit integers; whole and not negative. */
export function wholeNumber(value: unknown): number | Unusable {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 ? number : UNUSABLE;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function resourceType(value: unknown): { key: string; label: string; unusable: boolean } {
  if (!isObject(value)) return { key: '', label: '', unusable: !isMissing(value) };
  const key = text(value['key']);
  const label = text(value['label']);
  const unusable = key === UNUSABLE || label === UNUSABLE;
  return { key: key === UNUSABLE ? '' : key, label: label === UNUSABLE ? '' : label, unusable };
}

function text(value: unknown): string | Unusable {
  if (isMissing(value)) return '';
  return typeof value === 'string' ? labelText(value) : UNUSABLE;
}

/** An enumeration value: its name, or the bare number that a gateway prints for one it does not know. */
function token(value: unknown): string | Unusable {
  return text(typeof value === 'number' ? String(value) : value);
}

function timestamp(value: unknown): number | Unusable {
  return (typeof value === 'string' ? readTimestamp(value) : undefined) ?? UNUSABLE;
}

function given(value: unknown, read: (value: unknown) => number | Unusable): number | undefined | Unusable {
  return isMissing(value) ? undefined : read(value);
}

function isMissing(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** Enough for every type, state and sku of a real fleet; more than that are not worth sharing. */
const MAX_TEXTS = 10_000;

/** Keeps one copy of what many resources have in common. */
export class InternedTexts {
  readonly #texts = new Map<string, string>();
  readonly #quantities = new Map<string, Quantity | undefined>();

  intern(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (this.#texts.size < MAX_TEXTS) this.#texts.set(text, text);
    return text;
  }

  /** What the sku states, when it has the form `<quantity> <unit>`. */
  quantity(sku: string): Quantity | undefined {
    const known = this.#quantities.get(sku);
    if (known !== undefined || sku === '') return known;
    const quantity = readQuantity(sku);
    if (this.#quantities.size < MAX_TEXTS) this.#quantities.set(sku, quantity);
    return quantity;
  }
}

function readQuantity(sku: string): Quantity | undefined {
  const [, quantity, unit] = /^\s*(\d+(?:\.\d+)?)\s+(\S+)\s*$/.exec(sku) ?? [];
  if (quantity === undefined || unit === undefined) return undefined;
  const value = Number(quantity);
  return Number.isFinite(value) ? { value, unit } : undefined;
}

const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
const DAYS_BEFORE_1970 = 719_162;

/** Seconds since 1970 of an RFC 3339 timestamp; undefined for anything else, for dates that do not exist and for times before 1970. */
export function readTimestamp(text: string): number | undefined {
  const day = dayOf(digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10));
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  if (!(isSeparated(text) && hour <= 23 && minute <= 59 && second <= 59)) return undefined;
  const end = endOfFraction(text);
  const seconds = day * 86_400 + (hour * 60 + minute - offsetMinutes(text, end)) * 60 + second;
  // Whatever could not be read has made it NaN.
  if (!(seconds >= 0)) return undefined;
  return end === 19 ? seconds : withFraction(seconds, text.slice(20, end));
}

/** NaN for anything but digits, also past the end of the text. */
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

/** Where the offset begins; 0 for a point that no digit follows. */
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

/** The nearest number to what was written: a quotient of two whole numbers that a double holds exactly is, and so is what is read as text. */
function withFraction(seconds: number, fraction: string): number {
  const tens = TENS[fraction.length];
  const parts = seconds * Number(tens) + Number(fraction);
  return tens !== undefined && Number.isSafeInteger(parts) ? parts / tens : Number(`${seconds}.${fraction}`);
}
