import { type FindRow, type ReadRecord, TOTAL_FIELD } from '../model/listing.ts';
import {
  INVALID,
  type Invalid,
  isMissing,
  isObject,
  labelText,
  readText,
  readTimestamp,
  readToken,
  readWholeNumber,
} from '../model/values.ts';
import type { CellValue, Column } from '../text/records.ts';
import { ALERT_STATES, type AlertState, type StateMeanings } from './alert-state.ts';
import type { InternedTexts } from './interned-texts.ts';
import { skuQuantity } from './quantities.ts';

type FieldValue = string | number | undefined;

/** A recording has values that match as they are, or a pseudonym of each; undefined: others are replaced, because their content is unknown. */
export type Recorded = RegExp | 'pseudonym' | undefined;

interface Field<Value extends FieldValue = FieldValue, Wire extends string = string, Name extends string = string> {
  /** Its name on the wire: what cannot be read is counted under it. */
  readonly wire: Wire;
  /** Where the value is: `wire`, or a part of the object there. */
  readonly path: string;
  readonly read: (value: unknown) => Value | Invalid;
  /** The value of a resource without a usable one. */
  readonly missing: Value;
  /** Whether many resources share its values. */
  readonly isInterned: boolean;
  readonly recorded: Recorded;
  /** What `absent_fields` accepts for it; undefined: a record without the field is like one with an empty value. */
  readonly ifAbsent: string | undefined;
  readonly column: FieldColumn<Value, Name>;
}

interface FieldColumn<Value, Name> {
  /** In JSON, CSV, `list`, sort keys and links. */
  readonly name: Name;
  /** In the table of `list`. */
  readonly heading: string;
  /** The columns with the highest number are omitted first from a narrow table. Without one it is in JSON and CSV only, and no sort key. */
  readonly rank?: number;
  readonly isNumber?: true;
  /** Shown instead of the value. */
  readonly cell?: (value: Value) => CellValue;
}

type WireOf<Path extends string> = Path extends `${infer Wire}.${string}` ? Wire : Path;

interface Declaration<Value, Name> extends Partial<Pick<Field, 'isInterned' | 'recorded' | 'ifAbsent'>> {
  readonly column: FieldColumn<Value, Name>;
}

function field<const Path extends string, const Name extends string, Value extends FieldValue>(
  path: Path,
  read: (value: unknown) => Value | Invalid,
  missing: Value,
  { isInterned = false, recorded, ifAbsent, column }: Declaration<Value, Name>,
): Field<Value, WireOf<Path>, Name> {
  const [wire] = path.split('.') as [WireOf<Path>];
  return { wire, path, read, missing, isInterned, recorded, ifAbsent, column };
}

/** Many resources share its texts, and no text identifies one of them. */
const SHARED = { isInterned: true, recorded: /^/ } as const;

/** The fields beside the ID, in the order in which metrics list them. Texts are valid label values. */
export const FIELDS = {
  type: field('resource_type.key', readText, '', {
    ...SHARED,
    column: { name: 'resource_type', heading: 'TYPE', rank: 4 },
  }),
  typeLabel: field('resource_type.label', readText, '', {
    ...SHARED,
    column: { name: 'resource_type_label', heading: 'TYPE LABEL' },
  }),
  createdSeconds: field('create_time', readTimestamp, undefined, {
    recorded: /^[\d:.TtZz +-]*$/,
    column: { name: 'created', heading: 'CREATED', rank: 6, cell: isoTime },
  }),
  sku: field('sku', readText, '', { ...SHARED, column: { name: 'sku', heading: 'SKU', rank: 9 } }),
  state: field('state', readToken, '', {
    ...SHARED,
    ifAbsent: 'a state: a non-empty string or a number',
    column: { name: 'state', heading: 'STATE', rank: 2 },
  }),
  displayName: field('display_name', readText, '', {
    recorded: 'pseudonym',
    column: { name: 'display_name', heading: 'DISPLAY NAME', rank: 1 },
  }),
  alertRules: field('alert_rules_count', readWholeNumber, undefined, {
    recorded: /^\d+$/,
    ifAbsent: 'an integer of at least 0',
    column: { name: 'alert_rules', heading: 'RULES', rank: 3, isNumber: true },
  }),
  name: field('name', readText, '', { recorded: 'pseudonym', column: { name: 'name', heading: 'NAME', rank: 5 } }),
  gpuModel: field('gpu_model', readText, '', {
    ...SHARED,
    column: { name: 'gpu_model', heading: 'GPU MODEL', rank: 10 },
  }),
} as const;

type Fields = typeof FIELDS;
type FieldKey = keyof Fields;

export type RecordField = Fields[FieldKey]['wire'];

export const RECORD_FIELDS: readonly RecordField[] = [...new Set(Object.values(FIELDS).map(({ wire }) => wire))];

/** Fields whose invalid values are counted, by their names on the wire. */
export const LISTING_FIELDS: readonly string[] = [...RECORD_FIELDS, TOTAL_FIELD];

type FieldValues = { readonly [Key in FieldKey]: Fields[Key]['missing'] };

/** What other listings and the configuration say about a resource. */
export interface AssignedFields {
  /** The first configured product whose listing contains the resource; '' for none. */
  readonly product: string;
  /** What the listing of alertable resources says; undefined: alertability is off, or that listing is incomplete. */
  readonly listedAlertable?: boolean | undefined;
  /** The entry of `resource_labels` that exempts the resource from alert rules, by its index; undefined for none. */
  readonly exemptBy?: number | undefined;
  /** The labels of `resource_labels`, if there are entries; a label without a value is missing or ''. Equal ones are the same object. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

export interface Resource extends FieldValues, AssignedFields {
  readonly id: string;
  readonly alertState: AlertState;
  /** Whether it can have alerts that it needs: as listed, but not if it is exempt. */
  readonly alertable?: boolean | undefined;
}

/** The value of a label of `resource_labels`; '' for none. */
export function resourceLabel({ labels }: Pick<Resource, 'labels'>, name: string): string {
  return labels?.[name] ?? '';
}

export interface ResourceColumn extends Column<Resource, CellValue> {
  /** Where the record has it; undefined when another listing or another column provides it. */
  readonly path?: string;
  readonly heading: string;
  readonly rank?: number;
  /** What it is sorted by; without it the column is no sort key. */
  readonly sortBy?: (resource: Resource) => FieldValue;
}

function columnOf(key: FieldKey): ResourceColumn {
  const { path, column } = FIELDS[key] as Field;
  const { name, cell = (value) => value ?? null, ...layout } = column;
  const sortBy = (resource: Resource) => resource[key];
  return { ...layout, path, cell: (resource) => cell(resource[key]), ...(layout.rank !== undefined && { sortBy }) };
}

/** The columns of JSON and CSV output, in their order; null is a missing or invalid value. */
export const RESOURCE_COLUMNS = {
  resource_id: { path: 'resource_id', heading: 'ID', rank: 0, sortBy: ({ id }) => id, cell: ({ id }) => id },
  name: columnOf('name'),
  display_name: columnOf('displayName'),
  resource_type: columnOf('type'),
  resource_type_label: columnOf('typeLabel'),
  product: { heading: 'PRODUCT', rank: 8, sortBy: ({ product }) => product, cell: ({ product }) => product },
  state: columnOf('state'),
  alert_state: { heading: 'ALERT STATE', rank: 2, sortBy: urgencyOf, cell: ({ alertState }) => alertState },
  alertable: { heading: 'ALERTABLE', rank: 7, sortBy: alertableOf, cell: ({ alertable }) => alertable ?? null },
  alert_rules: columnOf('alertRules'),
  created: columnOf('createdSeconds'),
  sku: columnOf('sku'),
  sku_quantity: { heading: 'QUANTITY', isNumber: true, cell: ({ sku }) => skuQuantity(sku)?.value ?? null },
  sku_unit: { heading: 'UNIT', cell: ({ sku }) => skuQuantity(sku)?.unit ?? null },
  gpu_model: columnOf('gpuModel'),
} as const satisfies ResourceColumns & { readonly [Key in FieldKey as Fields[Key]['column']['name']]: ResourceColumn };

type ResourceColumns = Readonly<Record<string, ResourceColumn>>;

export type ResourceColumnName = keyof typeof RESOURCE_COLUMNS;

/** The columns with those of `resource_labels`, under their names. */
export function columnsWith(labelNames: readonly string[]): ResourceColumns {
  const labels = labelNames.map((name) => {
    const cell = (resource: Resource) => resourceLabel(resource, name);
    return [name, { heading: name.toUpperCase(), rank: 4, cell }] as const;
  });
  return { ...RESOURCE_COLUMNS, ...Object.fromEntries(labels) };
}

export const ALERTABLE = ['yes', 'no', 'unknown'] as const;

export type Alertable = (typeof ALERTABLE)[number];

export function alertableOf({ alertable }: Pick<Resource, 'alertable'>): Alertable {
  if (alertable === undefined) return 'unknown';
  return alertable ? 'yes' : 'no';
}

/** Lower for what is more urgent; undefined: unknown. */
function urgencyOf({ alertState }: Resource): number | undefined {
  return alertState === 'unknown' ? undefined : ALERT_STATES.indexOf(alertState);
}

export function isoTime(seconds: number | undefined): CellValue {
  return seconds === undefined ? null : new Date(seconds * 1000).toISOString();
}

/** The fields that a record may lack for a reason: a gateway leaves out what is zero. */
export const ABSENT_FIELDS = Object.values(FIELDS).filter(({ ifAbsent }) => ifAbsent !== undefined);

const ABSENT_WIRES = ABSENT_FIELDS.map(({ wire }) => wire);

/** The values that records have in fields that they lack, as if the service had sent them; null and unreadable values stay unknown. */
export type AbsentFields = Readonly<Partial<Record<RecordField, string | number>>>;

export interface RecordContext {
  readonly texts: InternedTexts;
  readonly states: StateMeanings;
  readonly absentFields?: AbsentFields | undefined;
}

/** Reads one record; undefined when it has no valid id. No record makes the listing fail. What is the same in the row before is taken from it. */
export function readResource(
  record: unknown,
  { texts, states, absentFields }: RecordContext,
  find?: FindRow<Resource>,
): ReadRecord<Resource> | undefined {
  const id = recordId(record);
  if (id === undefined) return undefined;
  const before = find?.(id);
  const sent = record as SentRecord;
  if (absentFields) addAbsentFields(sent, absentFields);
  const { resource_type } = sent;
  const type = isObject(resource_type) ? resource_type : {};
  let invalid: readonly RecordField[] =
    type === resource_type || isMissing(resource_type) ? NO_FIELDS : [FIELDS.type.wire];
  const read = <Value extends FieldValue>(
    { wire, read: readValue, missing, isInterned }: Field<Value, RecordField>,
    value: unknown,
    known: Value | undefined,
  ): Value => {
    if (isMissing(value)) return missing;
    // A text that was read before is read as itself.
    if (typeof value === 'string' && value === known) return known;
    const result = readValue(value);
    if (result === INVALID) {
      if (!invalid.includes(wire)) invalid = [...invalid, wire];
      return missing;
    }
    if (result === known) return known as Value;
    return isInterned && typeof result === 'string' ? (texts.intern(result) as Value) : result;
  };
  const state = read(FIELDS.state, sent.state, before?.state);
  // Field by field: a loop over them takes three times as long. What is joined later is left out: it takes 8 bytes of every row.
  const row: Resource = {
    id: before?.id ?? labelText(id),
    name: read(FIELDS.name, sent.name, before?.name),
    displayName: read(FIELDS.displayName, sent.display_name, before?.displayName),
    type: read(FIELDS.type, type['key'], before?.type),
    typeLabel: read(FIELDS.typeLabel, type['label'], before?.typeLabel),
    state,
    alertState: states.alertStateOf(state),
    sku: read(FIELDS.sku, sent.sku, before?.sku),
    gpuModel: read(FIELDS.gpuModel, sent.gpu_model, before?.gpuModel),
    alertRules: read(FIELDS.alertRules, sent.alert_rules_count, before?.alertRules),
    createdSeconds: read(FIELDS.createdSeconds, sent.create_time, before?.createdSeconds),
    product: '',
  };
  return {
    row: before && isEqual(row, before) ? before : row,
    id: id === row.id ? row.id : id,
    invalid,
    absent: absentIn(sent),
  };
}

/**
 * The resource as if its record had been read with the present values. A field was absent if it has the former value or, where there was
 * none, if it is unknown.
 */
export function withAbsentFields(resource: Resource, former: AbsentFields, present: AbsentFields): Resource {
  const absent = (Object.entries(FIELDS) as [FieldKey, Field][]).filter(
    ([key, field]) => field.ifAbsent !== undefined && resource[key] === valueIfAbsent(field, former),
  );
  return { ...resource, ...Object.fromEntries(absent.map(([key, field]) => [key, valueIfAbsent(field, present)])) };
}

function valueIfAbsent({ wire, read, missing }: Field, absentFields: AbsentFields): FieldValue | Invalid {
  const value = absentFields[wire as RecordField];
  return value === undefined ? missing : read(value);
}

type SentRecord = Partial<Record<RecordField, unknown>>;

/** Changes the record, which no one else has yet: a copy takes several times as long. */
function addAbsentFields(sent: SentRecord, absentFields: AbsentFields): void {
  for (const [wire, value] of Object.entries(absentFields) as [RecordField, string | number][])
    if (sent[wire] === undefined) sent[wire] = value;
}

/** The fields that the record lacks. Records that lack none share a list. */
function absentIn(sent: SentRecord): readonly RecordField[] {
  const isAbsent = (wire: RecordField) => sent[wire] === undefined;
  return ABSENT_WIRES.some(isAbsent) ? ABSENT_WIRES.filter(isAbsent) : NO_FIELDS;
}

export const NO_FIELDS: readonly RecordField[] = [];

/** undefined: the record has no usable id. */
export function recordId(record: unknown): string | undefined {
  const id = isObject(record) ? record['resource_id'] : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** First by what changes most often: listing the keys of every record takes time. */
function isEqual(a: Resource, b: Resource): boolean {
  if (a.alertRules !== b.alertRules || a.state !== b.state) return false;
  return (Object.keys(a) as (keyof Resource)[]).every((key) => a[key] === b[key]);
}

export function joinedResource(
  listed: Resource,
  { product, listedAlertable, exemptBy, labels }: AssignedFields,
): Resource {
  // Field by field: a spread takes twenty times as long.
  const joined: { readonly [Key in keyof Required<Resource>]: Resource[Key] } = {
    id: listed.id,
    name: listed.name,
    displayName: listed.displayName,
    type: listed.type,
    typeLabel: listed.typeLabel,
    state: listed.state,
    alertState: listed.alertState,
    sku: listed.sku,
    gpuModel: listed.gpuModel,
    alertRules: listed.alertRules,
    createdSeconds: listed.createdSeconds,
    product,
    listedAlertable,
    exemptBy,
    alertable: exemptBy === undefined ? listedAlertable : false,
    labels,
  };
  return joined;
}
