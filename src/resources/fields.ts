import { TOTAL_FIELD } from '../model/listing.ts';
import type { CellValue, Column } from '../text/column.ts';
import type { AlertState } from './alert-state.ts';
import { skuQuantity } from './quantities.ts';

/** The fields of a record beside its id, by their names on the wire: what cannot be read of them is counted per field. */
export const RECORD_FIELDS = [
  'resource_type',
  'create_time',
  'sku',
  'state',
  'display_name',
  'alert_rules_count',
  'name',
  'gpu_model',
] as const;

/** Fields whose invalid values are counted, by their names on the wire. */
export const LISTING_FIELDS = [...RECORD_FIELDS, TOTAL_FIELD];

export type RecordField = (typeof RECORD_FIELDS)[number];

/**
 * One resource of a station. Texts are valid label values (see `labelText`), '' when the service sent none;
 * undefined means missing or invalid.
 */
export interface Resource {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly type: string;
  readonly typeLabel: string;
  readonly state: string;
  /** What the state means. */
  readonly alertState: AlertState;
  readonly sku: string;
  readonly gpuModel: string;
  readonly alertRules: number | undefined;
  readonly createdSeconds: number | undefined;
  /** The first configured product whose listing contains the resource; '' for none. */
  readonly product: string;
  /** What the listing of alertable resources says; undefined: alertability is off, or that listing is incomplete. */
  readonly listedAlertable?: boolean | undefined;
  /** The entry of `resource_labels` that exempts the resource from alert rules, by its index; undefined for none. */
  readonly exemptBy?: number | undefined;
  /** Whether it can have alerts that it needs: as listed, but not if it is exempt. */
  readonly alertable?: boolean | undefined;
  /** The labels of `resource_labels`, if there are entries; a label without a value is missing or ''. Equal ones are the same object. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** The value of a label of `resource_labels`; '' for none. */
export function resourceLabel({ labels }: Pick<Resource, 'labels'>, name: string): string {
  return labels?.[name] ?? '';
}

export interface ResourceColumn extends Column<Resource, CellValue> {
  /** Where the record has it; undefined when another listing or another column provides it. */
  readonly field?: RecordField | 'resource_id' | `${RecordField}.${string}`;
}

/** The columns of JSON and CSV output, in their order; null is a missing or invalid value. */
export const RESOURCE_COLUMNS = {
  resource_id: { field: 'resource_id', cell: ({ id }) => id },
  name: { field: 'name', cell: ({ name }) => name },
  display_name: { field: 'display_name', cell: ({ displayName }) => displayName },
  resource_type: { field: 'resource_type.key', cell: ({ type }) => type },
  resource_type_label: { field: 'resource_type.label', cell: ({ typeLabel }) => typeLabel },
  product: { cell: ({ product }) => product },
  state: { field: 'state', cell: ({ state }) => state },
  alert_state: { cell: ({ alertState }) => alertState },
  alertable: { cell: ({ alertable }) => alertable ?? null },
  alert_rules: { field: 'alert_rules_count', cell: ({ alertRules }) => alertRules ?? null },
  created: {
    field: 'create_time',
    cell: ({ createdSeconds }) => (createdSeconds === undefined ? null : new Date(createdSeconds * 1000).toISOString()),
  },
  sku: { field: 'sku', cell: ({ sku }) => sku },
  sku_quantity: { cell: ({ sku }) => skuQuantity(sku)?.value ?? null },
  sku_unit: { cell: ({ sku }) => skuQuantity(sku)?.unit ?? null },
  gpu_model: { field: 'gpu_model', cell: ({ gpuModel }) => gpuModel },
} as const satisfies Readonly<Record<string, ResourceColumn>>;

export type ResourceColumnName = keyof typeof RESOURCE_COLUMNS;

/** The columns with those of `resource_labels`, under their names. */
export function columnsWith(labelNames: readonly string[]): Readonly<Record<string, ResourceColumn>> {
  const labels = labelNames.map(
    (name) => [name, { cell: (resource: Resource) => resourceLabel(resource, name) }] as const,
  );
  return { ...RESOURCE_COLUMNS, ...Object.fromEntries(labels) };
}
