import type { FindRow, ReadRecord, RejectedRecord } from '../model/listing.ts';
import { INVALID, type Invalid, isMissing, isObject, labelText, wholeNumber } from '../model/values.ts';
import type { StateMeanings } from './alert-state.ts';
import type { RecordField, Resource } from './fields.ts';

/** What the records of a station are read with. */
export interface RecordContext {
  readonly texts: InternedTexts;
  readonly states: StateMeanings;
}

/**
 * Reads one record; undefined when it has no valid id. No record makes the listing fail. What is the same in the row before is taken from
 * it: that stays in V8's old space, and the copies die in the new space.
 */
export function readResource(
  record: unknown,
  { texts, states }: RecordContext,
  find?: FindRow<Resource>,
): ReadRecord<Resource> | undefined {
  if (!isObject(record)) return undefined;
  const id = readRecordId(record);
  if (id === undefined) return undefined;
  const before = find?.(id);
  let invalid = NO_FIELDS;
  const valid = <T>(field: RecordField, value: T | Invalid, otherwise: T): T => {
    if (value !== INVALID) return value;
    invalid = [...invalid, field];
    return otherwise;
  };
  const type = resourceType(record['resource_type']);
  if (type.isInvalid) invalid = ['resource_type'];
  const state = texts.intern(valid('state', token(record['state']), ''), before?.state);
  // What only other listings and labels fill is left out until it is joined: each field takes 8 bytes of every row.
  const row: Resource = {
    id: before?.id ?? labelText(id),
    name: same(valid('name', textField(record['name']), ''), before?.name),
    displayName: same(valid('display_name', textField(record['display_name']), ''), before?.displayName),
    type: texts.intern(type.key, before?.type),
    typeLabel: texts.intern(type.label, before?.typeLabel),
    state,
    alertState: states.alertStateOf(state),
    sku: texts.intern(valid('sku', textField(record['sku']), ''), before?.sku),
    gpuModel: texts.intern(valid('gpu_model', textField(record['gpu_model']), ''), before?.gpuModel),
    alertRules: valid('alert_rules_count', optionalNumber(record['alert_rules_count'], wholeNumber), undefined),
    createdSeconds: valid('create_time', optionalNumber(record['create_time'], timestampSeconds), undefined),
    product: '',
  };
  return { row: before && isEqual(row, before) ? before : row, id: same(id, row.id), invalid };
}

/** One copy of equal texts: the one that is already in memory. */
function same(text: string, known: string | undefined): string {
  return text === known ? known : text;
}

/** First by what changes most often: listing the keys of every record takes time. */
function isEqual(a: Resource, b: Resource): boolean {
  if (a.alertRules !== b.alertRules || a.state !== b.state) return false;
  return (Object.keys(a) as (keyof Resource)[]).every((field) => a[field] === b[field]);
}

/** Reads the id of a record, for listings that only need the ids. */
export function readId(record: unknown, find?: FindRow<string>): ReadRecord<string> | undefined {
  const id = isObject(record) ? readRecordId(record) : undefined;
  if (id === undefined) return undefined;
  const row = find?.(id) ?? labelText(id);
  return { row, id: same(id, row), invalid: NO_FIELDS };
}

const NO_FIELDS: readonly RecordField[] = [];

function readRecordId(record: Readonly<Record<string, unknown>>): string | undefined {
  const id = record['resource_id'];
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** What can be read of a record without a valid id. */
export function rejectedTexts(record: Readonly<Record<string, unknown>>): RejectedRecord['texts'] {
  return {
    name: textOrEmpty(record['name']),
    display_name: textOrEmpty(record['display_name']),
    resource_type: resourceType(record['resource_type']).key,
  };
}

function resourceType(value: unknown): { key: string; label: string; isInvalid: boolean } {
  if (!isObject(value)) return { key: '', label: '', isInvalid: !isMissing(value) };
  const key = textField(value['key']);
  const label = textField(value['label']);
  const isInvalid = key === INVALID || label === INVALID;
  return { key: emptyIfInvalid(key), label: emptyIfInvalid(label), isInvalid };
}

function textField(value: unknown): string | Invalid {
  if (isMissing(value)) return '';
  return typeof value === 'string' ? labelText(value) : INVALID;
}

function textOrEmpty(value: unknown): string {
  return emptyIfInvalid(textField(value));
}

function emptyIfInvalid(text: string | Invalid): string {
  return text === INVALID ? '' : text;
}

/** An enum value: its name, or the number that a gateway prints for a name it does not know. */
function token(value: unknown): string | Invalid {
  return textField(typeof value === 'number' ? String(value) : value);
}

const TIMESTAMP =
  /^\d{4}-\d\d-\d\d[Tt ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** An RFC 3339 timestamp as Unix seconds; invalid for dates that do not exist and for times before 1970. */
function timestampSeconds(value: unknown): number | Invalid {
  if (typeof value !== 'string' || !TIMESTAMP.test(value)) return INVALID;
  // Date.parse takes February 30 for March 1.
  const day = value.slice(8, 10);
  if (day > '28' && new Date(value.slice(0, 10)).getUTCDate() !== Number(day)) return INVALID;
  const seconds = Math.floor(Date.parse(value) / 1000);
  // Date.parse ignores what is shorter than a millisecond.
  const fraction = value.slice(19, /[Zz]$/.test(value) ? -1 : -6);
  return seconds >= 0 ? seconds + Number(fraction) : INVALID;
}

function optionalNumber(value: unknown, read: (value: unknown) => number | Invalid): number | undefined | Invalid {
  return isMissing(value) ? undefined : read(value);
}

/** Enough for the types, states and skus of real stations; with more, the table is cleared and starts again. */
const MAX_TEXTS = 10_000;

/** Longer texts are not shared by many resources. */
const MAX_TEXT_LENGTH = 128;

/** Keeps one copy of texts that many resources share. */
export class InternedTexts {
  readonly #texts = new Map<string, string>();

  /** `known` is an interned text that it may be equal to. */
  intern(text: string, known?: string): string {
    if (text === known) return known;
    const interned = this.#texts.get(text);
    if (interned !== undefined) return interned;
    if (text.length > MAX_TEXT_LENGTH) return text;
    if (this.#texts.size >= MAX_TEXTS) this.#texts.clear();
    this.#texts.set(text, text);
    return text;
  }
}
