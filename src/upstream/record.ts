import { labelText } from '../station/label-text.ts';
import type { ReadField } from '../station/listing.ts';
import type { Resource } from '../station/resource.ts';
import type { SharedTexts } from './shared-texts.ts';
import { readTimestamp } from './timestamp.ts';

/** A resource and the fields whose values could not be used. */
interface ReadResource {
  readonly row: Resource;
  readonly invalid: readonly ReadField[];
}

/** Reads what can be read of one record; undefined when it has no usable id. Nothing in it can make the listing fail. */
export function readResource(value: unknown, shared: SharedTexts): ReadResource | undefined {
  if (!isObject(value)) return undefined;
  const id = usableId(value);
  if (id === undefined) return undefined;
  let invalid = NOTHING_INVALID;
  const usable = <T>(field: ReadField, read: T | Unusable, otherwise: T): T => {
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
    type: shared.one(type.key),
    typeLabel: shared.one(type.label),
    state: shared.one(usable('state', token(value['state']), '')),
    sku: shared.one(sku),
    quantity: shared.quantity(sku),
    gpuModel: shared.one(usable('gpu_model', text(value['gpu_model']), '')),
    alertRules: usable('alert_rules_count', given(value['alert_rules_count'], wholeNumber), undefined),
    createdSeconds: usable('create_time', given(value['create_time'], timestamp), undefined),
    product: '',
    alertable: undefined,
  };
  return { row, invalid };
}

/** Of a listing that only tells what belongs to it, the id is all there is to read. */
export function readId(value: unknown): { readonly row: string; readonly invalid: readonly ReadField[] } | undefined {
  const id = isObject(value) ? usableId(value) : undefined;
  return id === undefined ? undefined : { row: id, invalid: NOTHING_INVALID };
}

const NOTHING_INVALID: readonly ReadField[] = [];

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
